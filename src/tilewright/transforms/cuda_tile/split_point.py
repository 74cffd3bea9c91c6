"""The split point of a loop: bounds of its two parts that cannot overflow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.cuda_tile.core import ConstantOp
from tilewright.dialects.cuda_tile.enums import Rounding, Signedness
from tilewright.dialects.cuda_tile.integer import (
    AddIOp,
    DivIOp,
    MaxIOp,
    MinIOp,
    MulIOp,
    SubIOp,
)
from tilewright.dialects.cuda_tile.simplify.constants import (
    is_signed,
    signed_value,
    splat,
    splat_value,
    width,
)
from tilewright.support.numerics.integer import fits

if TYPE_CHECKING:
    from tilewright.dialects.cuda_tile.control_flow import ForOp
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.values import Value


def loop_signedness(loop: ForOp) -> Signedness:
    """How a loop reads its bounds."""
    return Signedness.UNSIGNED if loop.unsigned_cmp else Signedness.SIGNED


def split_bounds(
    loop: ForOp, bound: Value, inclusive: bool, build: Rewriter
) -> tuple[Value, Value]:
    """The upper bound of a first loop, which takes the counters below `bound` (or equal to it, if
    `inclusive`), and the lower bound of a second loop, which takes the others.
    """
    signedness = loop_signedness(loop)
    is_between = _is_between(loop, bound)
    split = _successor(loop, bound, is_between, build) if inclusive else bound
    if splat_value(loop.step) != 1:
        split = _aligned(loop, split, is_between, build)
    upper = build.create(MinIOp, lhs=split, rhs=loop.upper_bound, signedness=signedness)
    lower = build.create(MaxIOp, lhs=split, rhs=loop.lower_bound, signedness=signedness)
    return upper.result, lower.result


def _one(like: Value, build: Rewriter) -> Value:
    return build.create(ConstantOp, value=splat(1, like.type), types=[like.type]).result


def _successor(loop: ForOp, bound: Value, is_between: bool, build: Rewriter) -> Value:
    """The number after a bound; that of the last counter suffices, and cannot overflow."""
    one = _one(bound, build)
    if not is_between:
        last = build.create(SubIOp, lhs=loop.upper_bound, rhs=one).result
        bound = build.create(MinIOp, lhs=bound, rhs=last, signedness=loop_signedness(loop)).result
    return build.create(AddIOp, lhs=bound, rhs=one).result


def _aligned(loop: ForOp, split: Value, is_between: bool, build: Rewriter) -> Value:
    """The first value of the counter, or the one after the last, that is not below a number."""
    signedness = loop_signedness(loop)
    lower = loop.lower_bound
    if not is_between:
        # Between the bounds, the distance from the lower one is right as an unsigned number.
        below = build.create(MinIOp, lhs=split, rhs=loop.upper_bound, signedness=signedness)
        split = build.create(MaxIOp, lhs=below.result, rhs=lower, signedness=signedness).result
        signedness = Signedness.UNSIGNED
    distance = build.create(SubIOp, lhs=split, rhs=lower).result
    steps = build.create(
        DivIOp,
        lhs=distance,
        rhs=loop.step,
        signedness=signedness,
        rounding=Rounding.POSITIVE_INF,
    ).result
    covered = build.create(MulIOp, lhs=steps, rhs=loop.step).result
    return build.create(AddIOp, lhs=lower, rhs=covered).result


def _is_between(loop: ForOp, value: Value) -> bool:
    """Whether a number is known to be one that the counter passes, at a distance that fits."""
    read = splat_value if loop.unsigned_cmp else signed_value
    lower, upper, number = read(loop.lower_bound), read(loop.upper_bound), read(value)
    if lower is None or upper is None or number is None:
        return False
    signed = is_signed(loop_signedness(loop))
    return lower <= number < upper and fits(upper - lower, width(value.type), signed=signed)
