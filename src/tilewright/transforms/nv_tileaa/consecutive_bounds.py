"""Consecutive loops: the second goes on where the first ends, as `loop-split` makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.arith.integer import MaxSIOp, MaxUIOp, MinSIOp, MinUIOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.rules import constant_of

if TYPE_CHECKING:
    from tilewright.dialects.scf import ForOp
    from tilewright.ir.values import Value


def are_consecutive(first: ForOp, second: ForOp) -> bool:
    """Whether one loop over the bounds of both has the iterations of the first, then the second."""
    if first.unsigned_cmp != second.unsigned_cmp:
        return False
    if integer(first.step) != 1 or integer(second.step) != 1:
        return False
    start, end = integer(first.lower_bound), integer(second.upper_bound)
    middle = integer(first.upper_bound)
    if middle is not None and middle == integer(second.lower_bound):
        return start is not None and end is not None and start <= middle <= end
    smaller, larger = (MinUIOp, MaxUIOp) if first.unsigned_cmp else (MinSIOp, MaxSIOp)
    upper = first.upper_bound.defined_by(smaller)
    lower = second.lower_bound.defined_by(larger)
    if upper is None or lower is None:
        return False
    return any(
        _is_same(end, second.upper_bound) and _is_same(start, first.lower_bound) and a is b
        for end, a in ((upper.lhs, upper.rhs), (upper.rhs, upper.lhs))
        for start, b in ((lower.lhs, lower.rhs), (lower.rhs, lower.lhs))
    )


def integer(value: Value) -> int | None:
    """The value of a constant."""
    known = constant_of(value)
    return known.value if isinstance(known, IntegerAttr) else None


def _is_same(one: Value, other: Value) -> bool:
    known = integer(one)
    return one is other or (known is not None and known == integer(other))
