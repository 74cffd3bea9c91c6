"""The builder: makes operations from their declarations, at a place, with a location."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar, cast

from tilewright.ir.attributes import Attribute
from tilewright.ir.declare import Arity, AttributeField, OperandField, RegionField
from tilewright.ir.operation import Block, Operation, Region
from tilewright.ir.traits import SameType
from tilewright.ir.values import Value
from tilewright.support.diagnostics import InternalError
from tilewright.support.location import UNKNOWN, Location

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.declare import Schema

OpT = TypeVar("OpT", bound=Operation)


class InsertPoint:
    """A place in a block: in front of `before`, or at the end."""

    __slots__ = ("before", "block")

    def __init__(self, block: Block, before: Operation | None = None) -> None:
        self.block = block
        self.before = before

    @staticmethod
    def at_end(block: Block) -> InsertPoint:
        """Behind everything in the block."""
        return InsertPoint(block)

    @staticmethod
    def at_start(block: Block) -> InsertPoint:
        """Before everything in the block."""
        return InsertPoint(block, block.first)

    @staticmethod
    def in_front_of(op: Operation) -> InsertPoint:
        """Right before an operation."""
        assert op.parent is not None
        return InsertPoint(op.parent, op)

    @staticmethod
    def behind(op: Operation) -> InsertPoint:
        """Right after an operation."""
        assert op.parent is not None
        return InsertPoint(op.parent, op.next)

    def insert(self, op: Operation) -> None:
        """Put a detached operation here."""
        if self.before is None:
            self.block.append(op)
        else:
            op.insert_before(self.before)


class Builder:
    """Creates operations at `point`; they get `location` unless told otherwise."""

    __slots__ = ("location", "point")

    def __init__(self, point: InsertPoint, location: Location = UNKNOWN) -> None:
        self.point = point
        self.location = location

    def insert(self, op: OpT) -> OpT:
        """Put an operation at the insertion point; if it has no location, it gets this one."""
        if op.location is UNKNOWN:
            op.location = self.location
        self.point.insert(op)
        return op

    def create(
        self,
        kind: type[OpT],
        *,
        types: Sequence[Type] | None = None,
        successors: Sequence[Block] = (),
        location: Location | None = None,
        **fields: object,
    ) -> OpT:
        """Make an operation from its fields by name and insert it; see `create_op`."""
        place = self.location if location is None else location
        return self.insert(_made(kind, types, successors, place, fields))


def create_op(
    kind: type[OpT],
    *,
    types: Sequence[Type] | None = None,
    successors: Sequence[Block] = (),
    location: Location = UNKNOWN,
    **fields: object,
) -> OpT:
    """Make a detached operation: operands, attributes and regions by their declared names.

    Attributes are given as Python values or as attributes. Result types may be left out where the
    declaration determines them: a constraint with a single type, or a `SameType` trait.
    """
    return _made(kind, types, successors, location, fields)


def _made(
    kind: type[OpT],
    types: Sequence[Type] | None,
    successors: Sequence[Block],
    location: Location,
    fields: dict[str, object],
) -> OpT:
    schema = kind.schema
    if not fields.keys() <= schema.by_name.keys():
        unknown = sorted(fields.keys() - schema.by_name.keys())
        raise InternalError(f"'{kind.name}' has no field {unknown[0]!r}")
    values, sizes = _operands(kind, schema, fields)
    return kind(
        values,
        _infer_types(kind, fields) if types is None else types,
        _attributes(kind, schema, fields) if schema.attributes else {},
        _regions(schema, fields) if schema.regions else (),
        location,
        successors,
        sizes if schema.has_segments else None,
    )


def _operands(
    kind: type[Operation], schema: Schema, fields: dict[str, object]
) -> tuple[list[Value], tuple[int, ...]]:
    if not schema.variable_operands:
        plain = [fields.get(field.name) for field in schema.operands]
        if None not in plain:
            return cast("list[Value]", plain), ()
    values: list[Value] = []
    sizes: list[int] = []
    for field in schema.operands:
        given = _group(field, fields.get(field.name))
        if field.arity is Arity.ONE and not given:
            raise InternalError(f"'{kind.name}' needs operand '{field.name}'")
        values += given
        sizes.append(len(given))
    return values, tuple(sizes)


def _group(field: OperandField[object], given: object) -> list[Value]:
    if given is None:
        return []
    if field.arity is Arity.VARIADIC:
        return list(cast("Iterable[Value]", given))
    return [cast("Value", given)]


def _attributes(
    kind: type[Operation], schema: Schema, fields: dict[str, object]
) -> dict[str, Attribute]:
    attributes: dict[str, Attribute] = {}
    for field in schema.attributes:
        given = fields.get(field.name, field.default)
        if given is None or (field.optional and given is False):
            if field.is_required:
                raise InternalError(f"'{kind.name}' needs attribute '{field.name}'")
            continue
        attributes[field.spelling] = _wrapped(field, given)
    return attributes


def _wrapped(field: AttributeField[object], given: object) -> Attribute:
    if isinstance(given, Attribute) and field.kind.accepts(given):
        return given
    return field.kind.wrap(given)


def _regions(schema: Schema, fields: dict[str, object]) -> list[Region]:
    return [_region(field, fields.get(field.name)) for field in schema.regions]


def _region(field: RegionField, given: object) -> Region:
    if isinstance(given, Region):
        return given
    if isinstance(given, Block):
        return Region([given])
    return Region()


def _infer_types(kind: type[Operation], fields: dict[str, object]) -> list[Type]:
    sources = _type_sources.get(kind)
    if sources is None:
        sources = _type_sources[kind] = _find_type_sources(kind)
    return [
        _group(source, fields[source.name])[0].type if isinstance(source, OperandField) else source
        for source in sources
    ]


_type_sources: dict[type[Operation], list[Type | OperandField[object]]] = {}


def _find_type_sources(kind: type[Operation]) -> list[Type | OperandField[object]]:
    """Where the type of each result comes from: the only one there is, or that of an operand."""
    same = next((trait for trait in kind.traits if isinstance(trait, SameType)), None)
    sources: list[Type | OperandField[object]] = []
    for field in kind.schema.results:
        if field.constraint.only is not None:
            sources.append(field.constraint.only)
        elif same is not None and field.name in same.fields:
            sources.append(next(f for f in kind.schema.operands if f.name in same.fields))
        else:
            raise InternalError(f"'{kind.name}' needs the type of result '{field.name}'")
    return sources
