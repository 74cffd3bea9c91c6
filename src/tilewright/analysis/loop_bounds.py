"""Bounds of loops: constants, equal ones, and loops that go on where the one before ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.arith.integer import MaxSIOp, MaxUIOp, MinSIOp, MinUIOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.rules import constant_of

if TYPE_CHECKING:
    from tilewright.dialects.scf import ForOp
    from tilewright.ir.values import Value


def integer_of(value: Value) -> int | None:
    """The number that a value is, if it is a constant."""
    known = constant_of(value)
    return known.value if isinstance(known, IntegerAttr) else None


def is_same_bound(one: Value, other: Value) -> bool:
    """Whether two bounds are one value, or equal constants."""
    known = integer_of(one)
    return one is other or (known is not None and known == integer_of(other))


def are_consecutive(first: ForOp, second: ForOp) -> bool:
    """Whether one loop over the bounds of both has the iterations of the first, then the second."""
    if first.unsigned_cmp != second.unsigned_cmp:
        return False
    if integer_of(first.step) != 1 or integer_of(second.step) != 1:
        return False
    start, end = integer_of(first.lower_bound), integer_of(second.upper_bound)
    middle = integer_of(first.upper_bound)
    if middle is not None and middle == integer_of(second.lower_bound):
        return start is not None and end is not None and start <= middle <= end
    smaller, larger = (MinUIOp, MaxUIOp) if first.unsigned_cmp else (MinSIOp, MaxSIOp)
    upper = first.upper_bound.defined_by(smaller)
    lower = second.lower_bound.defined_by(larger)
    if upper is None or lower is None:
        return False
    return any(
        is_same_bound(end, second.upper_bound)
        and is_same_bound(start, first.lower_bound)
        and a is b
        for end, a in ((upper.lhs, upper.rhs), (upper.rhs, upper.lhs))
        for start, b in ((lower.lhs, lower.rhs), (lower.rhs, lower.lhs))
    )
