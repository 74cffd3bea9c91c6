"""One declaration per operation: fields, and the schema that everything else derives from.

    class AddFOp(Operation):
        name = "cuda_tile.addf"
        lhs = d.operand(FLOAT_TILE)
        rhs = d.operand(FLOAT_TILE)
        rounding_mode = d.attribute(ROUNDING, default=Rounding.NEAREST_EVEN)
        flush_to_zero = d.flag()
        result = d.result(FLOAT_TILE)

`op.lhs` is a `Value`, `op.rounding_mode` a `Rounding`, `op.flush_to_zero` a `bool`. Fields keep
the order of their declaration, those of base classes first; it is the order of the operands, of
the generic form and of the bytecode.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar, cast, overload

from tilewright.ir.attribute_kinds import UNIT_ATTR, AttributeKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tilewright.ir.attributes import Attribute
    from tilewright.ir.constraints import TypeConstraint
    from tilewright.ir.operation import Operation, Region
    from tilewright.ir.values import OpResult, Value

T = TypeVar("T")
V = TypeVar("V")
Version = tuple[int, int]


class Arity(Enum):
    """The number of values of a field."""

    ONE = "one"
    OPTIONAL = "optional"
    VARIADIC = "variadic"


TEXT_ONLY: Final[Version] = (1 << 16, 0)
"""The version of fields that no version of the bytecode has."""


class Field:
    """Base of all declared fields."""

    __slots__ = ("name", "position", "since")

    def __init__(self, since: Version | None) -> None:
        self.since = since
        """The version that added this field, where it is newer than the operation."""
        self.name = ""
        self.position = -1
        """The field's number among those of its kind."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name


class OperandField(Field, Generic[V]):
    """An operand, an optional operand, or a group of them."""

    __slots__ = ("arity", "constraint")

    def __init__(
        self, constraint: TypeConstraint, arity: Arity, since: Version | None = None
    ) -> None:
        super().__init__(since)
        self.constraint = constraint
        self.arity = arity

    @overload
    def __get__(self, op: None, owner: type) -> Self: ...
    @overload
    def __get__(self, op: Operation, owner: type) -> V: ...
    def __get__(self, op: Operation | None, owner: type) -> Self | V:
        if op is None:
            return self
        schema = op.schema
        if not schema.variable_operands:
            return cast("V", op.operands[self.position])
        return cast("V", self.pick(schema.operand_group(op, self.position)))

    def pick(self, group: tuple[Value, ...]) -> Value | tuple[Value, ...] | None:
        """The Python value of `op.field` for the values of this field."""
        if self.arity is Arity.VARIADIC:
            return group
        return group[0] if group else None


class ResultField(Field, Generic[V]):
    """A result, an optional result, or a group of them."""

    __slots__ = ("arity", "constraint")

    def __init__(
        self, constraint: TypeConstraint, arity: Arity, since: Version | None = None
    ) -> None:
        super().__init__(since)
        self.constraint = constraint
        self.arity = arity

    @overload
    def __get__(self, op: None, owner: type) -> Self: ...
    @overload
    def __get__(self, op: Operation, owner: type) -> V: ...
    def __get__(self, op: Operation | None, owner: type) -> Self | V:
        if op is None:
            return self
        schema = op.schema
        if not schema.variable_results and self.position < len(op.results):
            return cast("V", op.results[self.position])
        group = schema.result_group(op, self.position)
        if self.arity is Arity.VARIADIC:
            return cast("V", group)
        return cast("V", group[0] if group else None)


class AttributeField(Field, Generic[T]):
    """An attribute, seen as a Python value; absent ones read as their default."""

    __slots__ = ("default", "discardable", "kind", "optional", "spelling")

    def __init__(
        self,
        kind: AttributeKind[Any],
        default: T,
        optional: bool,
        spelling: str,
        since: Version | None,
        discardable: bool = False,
    ) -> None:
        super().__init__(since)
        self.kind = kind
        self.default = default
        self.optional = optional
        """Whether the attribute may be absent (an optional or a unit attribute)."""
        self.spelling = spelling
        """The attribute's name in the IR."""
        self.discardable = discardable
        """Whether MLIR's generic form prints it among the discardable attributes."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.spelling = self.spelling or name

    @property
    def is_required(self) -> bool:
        """Whether the attribute is required."""
        return not self.optional and self.default is None

    @overload
    def __get__(self, op: None, owner: type) -> Self: ...
    @overload
    def __get__(self, op: Operation, owner: type) -> T: ...
    def __get__(self, op: Operation | None, owner: type) -> Self | T:
        if op is None:
            return self
        stored = op.attributes.get(self.spelling)
        return self.default if stored is None else self.kind.unwrap(stored)

    def __set__(self, op: Operation, value: T) -> None:
        if self.optional and (value is None or value is False):
            op.attributes.pop(self.spelling, None)
        else:
            op.attributes[self.spelling] = self.kind.wrap(value)


class RegionField(Field):
    """A region."""

    __slots__ = ("max_blocks", "min_blocks", "terminator")

    def __init__(self, min_blocks: int, max_blocks: int | None, terminator: str | None) -> None:
        super().__init__(None)
        self.min_blocks = min_blocks
        self.max_blocks = max_blocks
        self.terminator = terminator
        """The operation that ends a block whose text leaves the terminator out."""

    @overload
    def __get__(self, op: None, owner: type) -> Self: ...
    @overload
    def __get__(self, op: Operation, owner: type) -> Region: ...
    def __get__(self, op: Operation | None, owner: type) -> Self | Region:
        if op is None:
            return self
        position = self.position
        if position < 0:
            # Fields get their numbers with the schema, which is made when it is first asked for.
            position = op.schema.regions.index(self)
        return op.regions[position]


def operand(constraint: TypeConstraint, since: Version | None = None) -> OperandField[Value]:
    """Declare an operand."""
    return OperandField(constraint, Arity.ONE, since)


def optional_operand(
    constraint: TypeConstraint, since: Version | None = None
) -> OperandField[Value | None]:
    """Declare an operand that may be absent."""
    return OperandField(constraint, Arity.OPTIONAL, since)


def operands(
    constraint: TypeConstraint, since: Version | None = None
) -> OperandField[tuple[Value, ...]]:
    """Declare a group of operands."""
    return OperandField(constraint, Arity.VARIADIC, since)


def result(constraint: TypeConstraint, since: Version | None = None) -> ResultField[OpResult]:
    """Declare a result."""
    return ResultField(constraint, Arity.ONE, since)


def results(
    constraint: TypeConstraint, since: Version | None = None
) -> ResultField[tuple[OpResult, ...]]:
    """Declare a group of results."""
    return ResultField(constraint, Arity.VARIADIC, since)


def attribute(
    kind: AttributeKind[T],
    default: T | None = None,
    spelling: str = "",
    since: Version | None = None,
    discardable: bool = False,
) -> AttributeField[T]:
    """Declare an attribute that is required, or has a default."""
    return AttributeField(kind, cast("T", default), False, spelling, since, discardable)


def optional_attribute(
    kind: AttributeKind[T], spelling: str = "", since: Version | None = None
) -> AttributeField[T | None]:
    """Declare an attribute that may be absent."""
    return AttributeField(kind, None, True, spelling, since)


def flag(
    spelling: str = "", since: Version | None = None, discardable: bool = False
) -> AttributeField[bool]:
    """Declare a unit attribute: present is true."""
    return AttributeField(UNIT_ATTR, False, True, spelling, since, discardable)


def region(
    min_blocks: int = 1, max_blocks: int | None = 1, terminator: str | None = None
) -> RegionField:
    """Declare a region, by default of exactly one block."""
    return RegionField(min_blocks, max_blocks, terminator)


def _of_kind(fields: list[Any], kind: type[Field]) -> list[Any]:
    return [field for field in fields if isinstance(field, kind)]


def _varying(fields: Sequence[OperandField[Any] | ResultField[Any]]) -> int:
    """The position of the first field that may vary in size; their number if there is none."""
    for field in fields:
        if field.arity is not Arity.ONE:
            return field.position
    return len(fields)


def _group(values: tuple[V, ...], fields: int, varying: int, position: int) -> tuple[V, ...]:
    """The values of one of several fields, all but one of which have one value each."""
    if position < varying:
        return values[position : position + 1]
    rest = len(values) - fields
    if position == varying:
        return values[position : position + rest + 1]
    return values[position + rest : position + rest + 1]


class Schema:
    """The fields of an operation class by kind, with access to their values."""

    __slots__ = (
        "attributes",
        "by_name",
        "has_segments",
        "inherent",
        "operands",
        "regions",
        "results",
        "variable_operands",
        "variable_results",
        "varying_operand",
        "varying_result",
    )

    def __init__(self, fields: Iterable[Field]) -> None:
        self.by_name = {field.name: field for field in fields}
        ordered: list[Any] = list(self.by_name.values())
        self.operands: list[OperandField[Any]] = _of_kind(ordered, OperandField)
        self.results: list[ResultField[Any]] = _of_kind(ordered, ResultField)
        self.attributes: list[AttributeField[Any]] = _of_kind(ordered, AttributeField)
        self.regions: list[RegionField] = _of_kind(ordered, RegionField)
        for group in (self.operands, self.results, self.attributes, self.regions):
            for position, field in enumerate(group):
                # Classes share the fields of a base, so these must come first in all of them.
                assert field.position in (-1, position), field.name
                field.position = position
        self.inherent = {field.spelling: field for field in self.attributes}
        self.variable_operands = sum(f.arity is not Arity.ONE for f in self.operands)
        self.variable_results = sum(f.arity is not Arity.ONE for f in self.results)
        self.varying_operand = _varying(self.operands)
        self.varying_result = _varying(self.results)
        self.has_segments = self.variable_operands > 1
        """Whether operand segment sizes must be stored, since they are ambiguous otherwise."""

    def group_sizes(self, op: Operation) -> tuple[int, ...]:
        """How many operands each field has."""
        if op.segments is not None:
            return op.segments
        rest = len(op.operands) - len(self.operands) + self.variable_operands
        return tuple(1 if f.arity is Arity.ONE else rest for f in self.operands)

    def operand_group(self, op: Operation, position: int) -> tuple[Value, ...]:
        """The operands of one field."""
        if op.segments is None and not self.has_segments:
            return _group(op.operands, len(self.operands), self.varying_operand, position)
        sizes = self.group_sizes(op)
        start = sum(sizes[:position])
        return op.operands[start : start + sizes[position]]

    def result_group(self, op: Operation, position: int) -> tuple[OpResult, ...]:
        """The results of one field; at most one field may vary in size."""
        return _group(op.results, len(self.results), self.varying_result, position)

    def is_default(self, op: Operation, name: str) -> bool:
        """Whether a stored attribute equals the default that its absence means."""
        field = self.inherent.get(name)
        if field is None or field.optional or field.default is None:
            return False
        return field.kind.wrap(field.default) is op.attributes[name]

    def values(self, op: Operation, name: str) -> tuple[Value, ...]:
        """The operands or results of the field with this name."""
        field = self.by_name[name]
        if isinstance(field, OperandField):
            return self.operand_group(op, field.position)
        return self.result_group(op, field.position)


class _LazySchema:
    """Descriptor that computes the schema of a class on first use and replaces itself by it."""

    __slots__ = ()

    def __get__(self, op: object, owner: type) -> Schema:
        fields: dict[str, Field] = {}
        for base in reversed(owner.__mro__):
            own = vars(base).items()
            fields.update((key, field) for key, field in own if isinstance(field, Field))
        schema = Schema(fields.values())
        owner.schema = schema
        return schema


class OperationMeta(type):
    """Makes every operation class slotted, with a schema of its own and its traits as flags."""

    def __new__(
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]
    ) -> OperationMeta:
        namespace.setdefault("__slots__", ())
        namespace["schema"] = _LazySchema()
        traits = namespace.get("traits")
        if traits is not None:
            names = [trait.name for trait in traits]
            namespace["is_terminator"] = "terminator" in names
            namespace["is_isolated"] = "isolated from above" in names
        return super().__new__(cls, name, bases, namespace)


def coerce_inherent(op_class: type[Operation], attributes: dict[str, Attribute]) -> None:
    """Store the attributes of the generic form as the declaration wants them."""
    for spelling, field in op_class.schema.inherent.items():
        stored = attributes.get(spelling)
        if stored is not None:
            attributes[spelling] = field.kind.coerce(stored)
