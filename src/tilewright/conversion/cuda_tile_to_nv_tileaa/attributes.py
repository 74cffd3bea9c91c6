"""Conversion of attributes of Tile IR."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.attributes import FastMathAttr, OverflowAttr
from tilewright.dialects.cuda_tile import attributes as old
from tilewright.dialects.nv_tileaa import attributes as new
from tilewright.dialects.nv_tileaa import predicates
from tilewright.ir.attributes import Attribute, StringAttr

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation

FAST_MATH: Final = "fastmath"
NO_NAMES: Final[Mapping[str, str]] = {}


def _same_names(
    before: type[old.TileEnum], after: type[Attribute], **others: str
) -> dict[Attribute, Attribute]:
    """Map members of two enumerations by name; `others` has those with different names."""
    return {
        member: getattr(after, others.get(member.name, member.name))
        for member in before
        if hasattr(after, others.get(member.name, member.name))
    }


MEMBERS: Final[Mapping[Attribute, Attribute]] = {
    **_same_names(old.Signedness, new.Signedness),
    **_same_names(old.Rounding, new.RoundingMode),
    **_same_names(old.MemoryOrdering, new.MemSemantic),
    **_same_names(old.MemoryScope, new.MemScope, DEVICE="GPU"),
    **_same_names(old.AtomicMode, new.RmwMode, ADDU="ADD"),
    **_same_names(old.PaddingValue, new.PaddingValue),
    old.Overflow.NONE: OverflowAttr(),
    old.Overflow.NO_SIGNED_WRAP: OverflowAttr("nsw"),
    old.Overflow.NO_UNSIGNED_WRAP: OverflowAttr("nuw"),
    old.Overflow.NO_WRAP: OverflowAttr("nsw", "nuw"),
}
"""The members of enumerations."""


def convert_attribute(name: str, value: Attribute) -> Attribute:
    """Convert an attribute; those that are not specific to Tile IR stay."""
    if isinstance(value, old.TileEnum):
        return MEMBERS.get(value, value)
    if name == FAST_MATH and isinstance(value, StringAttr):
        return FastMathAttr(*[flag.strip() for flag in value.value.split(",")])
    return value


def converted(
    op: Operation, names: Mapping[str, str] = NO_NAMES, left_out: tuple[str, ...] = ()
) -> dict[str, Attribute]:
    """Return the converted attributes of an operation, renamed by `names`."""
    return {
        names.get(name, name): convert_attribute(name, value)
        for name, value in op.attributes.items()
        if name not in left_out
    }


@lru_cache
def convert_predicate(predicate: Attribute) -> predicates.Predicate:
    """Convert the predicate of an assumption."""
    match predicate:
        case old.DivByAttr(divisor=divisor, every=every, along=along):
            return predicates.DivByAttr(divisor, every, along)
        case old.BoundedAttr(lower=lower, upper=upper):
            return predicates.BoundedAttr(lower, upper)
        case old.SameElementsAttr(values=values):
            return predicates.SameElementsAttr(values)
        case _:
            raise AssertionError(predicate)
