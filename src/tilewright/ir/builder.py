"""The builder: creates operations from their declarations at an insertion point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, TypeVar, cast

from tilewright.ir.attributes import Attribute
from tilewright.ir.declare import Arity, AttributeField, OperandField
from tilewright.ir.operation import Block, Operation, Region
from tilewright.ir.traits import SameType
from tilewright.ir.values import Value
from tilewright.support.diagnostics import InternalError
from tilewright.support.location import UNKNOWN, Location

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type

OpT = TypeVar("OpT", bound=Operation)
Infer = Callable[["Mapping[str, Sequence[Type]]", "Mapping[str, Attribute]"], "Sequence[Type]"]


class InsertPoint:
    """A position in a block: before the operation `anchor`, or at the end of the block."""

    __slots__ = ("anchor", "block")

    def __init__(self, block: Block, anchor: Operation | None = None) -> None:
        self.block = block
        self.anchor = anchor

    @staticmethod
    def at_end(block: Block) -> InsertPoint:
        """The end of a block."""
        return InsertPoint(block)

    @staticmethod
    def at_start(block: Block) -> InsertPoint:
        """The start of a block."""
        return InsertPoint(block, block.first)

    @staticmethod
    def before(op: Operation) -> InsertPoint:
        """Right before an operation."""
        assert op.parent is not None
        return InsertPoint(op.parent, op)

    @staticmethod
    def after(op: Operation) -> InsertPoint:
        """Right after an operation."""
        assert op.parent is not None
        return InsertPoint(op.parent, op.next)

    def insert(self, op: Operation) -> None:
        """Insert a detached operation."""
        if self.anchor is None:
            self.block.append(op)
        else:
            op.insert_before(self.anchor)


class Builder:
    """Creates operations at `point`, with `location` unless another one is given."""

    __slots__ = ("location", "point")

    def __init__(self, point: InsertPoint, location: Location = UNKNOWN) -> None:
        self.point = point
        self.location = location

    def insert(self, op: OpT) -> OpT:
        """Insert an operation at the insertion point; give it a location if it has none."""
        if op.location is UNKNOWN:
            op.location = self.location
        self.point.insert(op)
        return op

    def create(
        self,
        kind: type[OpT],
        /,
        *,
        types: Sequence[Type] | None = None,
        successors: Sequence[Block] = (),
        location: Location | None = None,
        **fields: object,
    ) -> OpT:
        """Make an operation from its fields by name and insert it; see `create_op`."""
        chosen = self.location if location is None else location
        return self.insert(_made(kind, types, successors, chosen, fields))


def create_op(
    kind: type[OpT],
    /,
    *,
    types: Sequence[Type] | None = None,
    successors: Sequence[Block] = (),
    location: Location = UNKNOWN,
    **fields: object,
) -> OpT:
    """Make a detached operation: operands, attributes and regions by their declared names.

    Attributes are given as Python values or as attributes. Result types may be left out where the
    declaration determines them: a constraint with a single type, a `SameType` trait, or the
    class itself by `infer_results(types, attributes)`, from the types of the operands by field
    and the attributes by name.
    """
    return _made(kind, types, successors, location, fields)


def _made(
    kind: type[OpT],
    types: Sequence[Type] | None,
    successors: Sequence[Block],
    location: Location,
    fields: dict[str, object],
) -> OpT:
    plan = _plans.get(kind)
    if plan is None:
        plan = _plans[kind] = _Plan(kind)
    if not fields.keys() <= plan.names:
        unknown = sorted(fields.keys() - plan.names)
        raise InternalError(f"'{kind.name}' has no field {unknown[0]!r}")
    values, sizes = plan.operands_of(fields)
    attributes = plan.attributes_of(fields) if plan.attributes else {}
    return kind(
        values,
        plan.types_of(fields, attributes) if types is None else types,
        attributes,
        plan.regions_of(fields) if plan.regions else (),
        location,
        successors,
        sizes,
    )


class _Plan:
    """The declaration of an operation class, preprocessed for building."""

    __slots__ = (
        "attributes",
        "infer",
        "kind",
        "names",
        "operands",
        "regions",
        "schema",
        "take",
        "types",
    )

    def __init__(self, kind: type[Operation]) -> None:
        schema = kind.schema
        self.kind = kind
        self.schema = schema
        self.names = frozenset(schema.by_name)
        self.operands = schema.operands
        self.take = None if schema.variable_operands else _taker([f.name for f in schema.operands])
        """Gives the operands from the fields, if each is exactly one value."""
        self.attributes = [(f.name, f.spelling, _default(f), f) for f in schema.attributes]
        self.regions = schema.regions
        self.infer: Infer | None = getattr(kind, "infer_results", None)
        self.types: list[Type | OperandField[object]] | None = None
        """The source of each result type; computed on first use."""

    def operands_of(
        self, fields: dict[str, object]
    ) -> tuple[Sequence[Value], tuple[int, ...] | None]:
        """The operands, and the sizes of their groups where they must be stored."""
        if self.take is not None:
            try:
                plain = self.take(fields)
            except KeyError:
                plain = (None,)
            if None not in plain:
                return cast("Sequence[Value]", plain), None
        values: list[Value] = []
        sizes: list[int] = []
        for field in self.operands:
            given = _group(field, fields.get(field.name))
            if field.arity is Arity.ONE and not given:
                raise InternalError(f"'{self.kind.name}' needs operand '{field.name}'")
            values += given
            sizes.append(len(given))
        return values, tuple(sizes) if self.schema.has_segments else None

    def attributes_of(self, fields: dict[str, object]) -> dict[str, Attribute]:
        """The attributes, wrapped where Python values were given."""
        attributes: dict[str, Attribute] = {}
        for name, spelling, default, field in self.attributes:
            if name not in fields and default is not None:
                attributes[spelling] = default
                continue
            given = fields.get(name)
            if given is None or (given is False and field.optional):
                if field.is_required:
                    raise InternalError(f"'{self.kind.name}' needs attribute '{name}'")
                continue
            attributes[spelling] = _wrapped(field, given)
        return attributes

    def regions_of(self, fields: dict[str, object]) -> list[Region]:
        """The regions; those that were not given are empty."""
        return [_region(fields.get(field.name)) for field in self.regions]

    def types_of(
        self, fields: dict[str, object], attributes: dict[str, Attribute]
    ) -> Sequence[Type]:
        """The types of the results, as far as the declaration determines them."""
        if self.infer is not None:
            known = {
                field.name: [value.type for value in _group(field, fields.get(field.name))]
                for field in self.operands
            }
            return self.infer(known, attributes)
        sources = self.types
        if sources is None:
            sources = self.types = self._type_sources()
        types: list[Type] = []
        for source in sources:
            if isinstance(source, OperandField):
                source = _group(source, fields[source.name])[0].type
            types.append(source)
        return types

    def _type_sources(self) -> list[Type | OperandField[object]]:
        """For each result its only possible type, or the operand whose type it shares."""
        traits = self.kind.traits
        same = next((trait for trait in traits if isinstance(trait, SameType)), None)
        sources: list[Type | OperandField[object]] = []
        for field in self.schema.results:
            if field.constraint.only is not None:
                sources.append(field.constraint.only)
            elif same is not None and field.name in same.fields:
                sources.append(next(f for f in self.operands if f.name in same.fields))
            else:
                raise InternalError(f"'{self.kind.name}' needs the type of result '{field.name}'")
        return sources


_plans: dict[type[Operation], _Plan] = {}


def _taker(names: list[str]) -> Callable[[dict[str, object]], Sequence[object]]:
    """A function that gives the fields with these names."""
    if len(names) > 1:
        return itemgetter(*names)
    if not names:
        return lambda fields: ()
    name = names[0]
    return lambda fields: (fields[name],)


def _default(field: AttributeField[object]) -> Attribute | None:
    """The attribute that is stored where none is given."""
    default = field.default
    if default is None or (default is False and field.optional):
        return None
    return _wrapped(field, default)


def _group(field: OperandField[object], given: object) -> list[Value]:
    if given is None:
        return []
    if field.arity is Arity.VARIADIC:
        return list(cast("Iterable[Value]", given))
    return [cast("Value", given)]


def _wrapped(field: AttributeField[object], given: object) -> Attribute:
    if isinstance(given, Attribute) and field.kind.accepts(given):
        return given
    return field.kind.wrap(given)


def _region(given: object) -> Region:
    if isinstance(given, Region):
        return given
    return Region([given]) if isinstance(given, Block) else Region()
