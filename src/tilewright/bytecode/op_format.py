"""The encoding of each operation in each version, derived from its declaration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from tilewright.bytecode.versions import OLDEST, Version
from tilewright.ir.attributes import Attribute
from tilewright.ir.declare import Arity, AttributeField, Field, OperandField, ResultField
from tilewright.ir.operation import Operation

FieldT = TypeVar("FieldT", bound=Field)


class OpFormat:
    """The encoding of an operation: the order of its fields in the bytecode.

    The order is: number of results, their types, flags, attributes, operands, regions. The flags
    say which optional attributes and operands there are; their bits go by age, so that a newer
    member never renumbers an older one. Fields that are newer than the version are absent.
    """

    __slots__ = (
        "absent_attributes",
        "absent_operands",
        "absent_results",
        "attributes",
        "bits",
        "counts_operands",
        "counts_results",
        "has_flags",
        "has_groups",
        "kind",
        "operand_limits",
        "operands",
        "region_count",
        "result_limits",
        "results",
    )

    def __init__(self, kind: type[Operation], version: Version) -> None:
        schema = kind.schema
        born = kind.since or OLDEST
        self.kind = kind
        self.attributes, self.absent_attributes = _split(schema.attributes, version)
        self.operands, self.absent_operands = _split(schema.operands, version)
        self.results, self.absent_results = _split(schema.results, version)
        self.region_count = len(schema.regions)
        self.has_groups = schema.has_segments
        """Whether operands are encoded in groups with explicit sizes."""
        self.counts_operands = not schema.has_segments and schema.variable_operands > 0
        values = (*schema.operands, *schema.results)
        self.counts_results = any(field.arity is Arity.VARIADIC for field in values)
        self.operand_limits = _limits(self.operands)
        self.result_limits = _limits(self.results)

        optional: list[AttributeField[Any] | OperandField[Any]] = []
        optional += [field for field in self.attributes if field.optional]
        if self.has_groups:
            optional += [field for field in self.operands if field.arity is Arity.OPTIONAL]
        optional.sort(key=lambda field: field.since or born)
        self.bits = {field.name: bit for bit, field in enumerate(optional)}
        self.has_flags = bool(optional)

    def mask(self, field: AttributeField[Any] | OperandField[Any]) -> int:
        """Return the presence bit of a member; zero if it is always present."""
        bit = self.bits.get(field.name)
        return 0 if bit is None else 1 << bit


def default_of(field: AttributeField[Any]) -> Attribute | None:
    """Return the default value of an attribute."""
    if field.default is None or field.default is False:
        return None
    return field.kind.wrap(field.default)


def _limits(fields: Iterable[OperandField[Any] | ResultField[Any]]) -> tuple[int, int]:
    """Return the minimum and maximum number of values of fields."""
    arities = [field.arity for field in fields]
    most = 1 << 32 if Arity.VARIADIC in arities else len(arities)
    return arities.count(Arity.ONE), most


def _split(fields: Sequence[FieldT], version: Version) -> tuple[list[FieldT], list[FieldT]]:
    """Split fields into those of a version and newer ones."""
    known = [field for field in fields if field.since is None or field.since <= version]
    return known, [field for field in fields if field not in known]
