"""Between which numbers integers lie: intervals of scalars, and of all elements of tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from tilewright.analysis.intervals import (
    Interval,
    anything,
    between,
    clipped,
    exactly,
    hull,
    widened,
)
from tilewright.analysis.numbers import integer_width
from tilewright.analysis.solver import Analysis, Rule
from tilewright.dialects.arith import integer as arith
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa import conversion, integer, misc, program, shape, view
from tilewright.dialects.nv_tileaa.attributes import RoundingMode, Signedness
from tilewright.dialects.nv_tileaa.constraints import shape as extents
from tilewright.dialects.nv_tileaa.predicates import BoundedAttr
from tilewright.dialects.nv_tileaa.types import MemrefType
from tilewright.ir.attributes import DenseElementsAttr, FloatAttr, IntegerAttr
from tilewright.ir.types import DYNAMIC, IndexType, IntegerType
from tilewright.support.bits import mask, to_signed
from tilewright.target.arch import MAX_CLUSTER

if TYPE_CHECKING:
    from tilewright.dialects.scf import ForOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

LIMIT: Final = 4096
"""How many different elements of a constant are looked at."""
MOST_PROGRAMS: Final = (1 << 31) - 1
"""No grid has more blocks along a dimension."""

Bounds = tuple[int, int]


class Ranges(Analysis[Interval]):
    """The intervals of the integers of a function."""

    __slots__ = ()

    rules: ClassVar[dict[type[Operation], Rule | None]] = {}

    def top(self, value: Value) -> Interval:
        return anything(integer_width(value))

    def join(self, a: Interval, b: Interval) -> Interval:
        return hull(a, b)

    def widen(self, value: Value, a: Interval, b: Interval) -> Interval:
        return widened(a, b)

    def tracks(self, value: Value) -> bool:
        return isinstance(element_of(value.type), IntegerType | IndexType)

    def counter(self, loop: ForOp) -> Interval:
        """From the lower bound to below the upper one: the index never wraps around."""
        first, end = self.of(loop.lower_bound), self.of(loop.upper_bound)
        if loop.unsigned_cmp:
            return between(first.width, unsigned=(first.ulow, end.uhigh - 1))
        return between(first.width, signed=(first.low, end.high - 1))


def _is_signed(op: Any) -> bool:
    return op.signedness is Signedness.SIGNED


def _constant(at: Ranges, op: ConstantOp) -> Interval | None:
    """The elements themselves."""
    value, result = op.value, op.result
    if not at.tracks(result) or isinstance(value, FloatAttr):
        return None
    width = integer_width(result)
    if isinstance(value, IntegerAttr):
        return exactly(value.value & mask(width), width)
    assert isinstance(value, DenseElementsAttr)
    patterns = value.elements() if value.is_splat or _count(op) <= LIMIT else None
    if not patterns:
        return None
    numbers = [to_signed(pattern, width) for pattern in patterns]
    return between(width, (min(numbers), max(numbers)), (min(patterns), max(patterns)))


def _count(op: ConstantOp) -> int:
    product = 1
    for extent in extents(op.result.type):
        product *= extent
    return product


def _make_range(at: Ranges, op: shape.MakeRangeOp) -> Interval:
    """From the start, as many as there are."""
    (count,) = extents(op.result.type)
    return between(integer_width(op.result), unsigned=(op.start, op.start + count - 1))


def _same(at: Ranges, op: Operation) -> Interval | None:
    """Rearranged elements have the same bounds."""
    return at.of(op.operands[0]) if at.tracks(op.results[0]) else None


def _either(at: Ranges, op: Operation) -> Interval | None:
    """Elements of one operand or of the other."""
    if not at.tracks(op.results[0]):
        return None
    return hull(at.of(op.operands[0]), at.of(op.operands[1]))


def _select(at: Ranges, op: shape.SelectOp) -> Interval | None:
    """Elements of one of the last two operands."""
    return hull(at.of(op.true_value), at.of(op.false_value)) if at.tracks(op.result) else None


def _kept(bounds: Bounds, whole: Bounds, is_assumed: bool) -> Bounds | None:
    """Bounds of a result that would be right without wrap-around; assumed ones are clamped."""
    if is_assumed:
        return max(bounds[0], whole[0]), min(bounds[1], whole[1])
    return bounds if whole[0] <= bounds[0] and bounds[1] <= whole[1] else None


def _wrapping(op: integer.OverflowingInteger, signed: Bounds, unsigned: Bounds) -> Interval:
    """Bounds without wrap-around, as far as there is none."""
    whole, assumption = anything(integer_width(op.result)), op.overflow
    return between(
        whole.width,
        _kept(signed, (whole.low, whole.high), "nsw" in assumption),
        _kept(unsigned, (0, whole.uhigh), "nuw" in assumption),
    )


def _add(at: Ranges, op: integer.AddIOp) -> Interval:
    """[a, b] + [c, d] = [a + c, b + d]."""
    a, b = at.of(op.lhs), at.of(op.rhs)
    return _wrapping(op, (a.low + b.low, a.high + b.high), (a.ulow + b.ulow, a.uhigh + b.uhigh))


def _sub(at: Ranges, op: integer.SubIOp) -> Interval:
    """[a, b] - [c, d] = [a - d, b - c]."""
    a, b = at.of(op.lhs), at.of(op.rhs)
    return _wrapping(op, (a.low - b.high, a.high - b.low), (a.ulow - b.uhigh, a.uhigh - b.ulow))


def _mul(at: Ranges, op: integer.MulIOp) -> Interval:
    """The bounds of a multiplication are among the products of the ends."""
    a, b = at.of(op.lhs), at.of(op.rhs)
    ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return _wrapping(op, (min(ends), max(ends)), (a.ulow * b.ulow, a.uhigh * b.uhigh))


def _shl(at: Ranges, op: integer.ShLIOp) -> Interval:
    """A shift to the left multiplies by a power of two."""
    a, b = at.of(op.lhs), at.of(op.rhs)
    if b.uhigh >= a.width:
        return anything(a.width)
    ends = [x << y for x in (a.low, a.high) for y in (b.ulow, b.uhigh)]
    return _wrapping(op, (min(ends), max(ends)), (a.ulow << b.ulow, a.uhigh << b.uhigh))


def _shr(at: Ranges, op: integer.ShRIOp) -> Interval:
    """A shift to the right is a quotient that is rounded down."""
    a, b = at.of(op.lhs), at.of(op.rhs)
    if b.uhigh >= a.width:
        return anything(a.width)
    low, high = a.within(_is_signed(op))
    ends = [x >> y for x in (low, high) for y in (b.ulow, b.uhigh)]
    bounds = min(ends), max(ends)
    if _is_signed(op):
        return between(a.width, signed=bounds)
    return between(a.width, unsigned=bounds)


def _quotient(a: int, b: int, rounding: RoundingMode) -> int:
    down = a // b
    if rounding is RoundingMode.NEGATIVE_INF or a % b == 0:
        return down
    if rounding is RoundingMode.POSITIVE_INF:
        return down + 1
    return down + 1 if down < 0 else down


def _div(at: Ranges, op: integer.DivIOp) -> Interval:
    """The extremes of a quotient are those of ends by ends of the divisor nearest to zero or not.

    A divisor is not zero, and no quotient leaves the type: both are undefined.
    """
    a, b = at.of(op.lhs), at.of(op.rhs)
    is_signed = _is_signed(op)
    low, high = b.within(is_signed)
    divisors = [x for x in (low, high, -1, 1) if x and low <= x <= high]
    if not divisors:
        return anything(a.width)
    ends = [_quotient(x, y, op.rounding_mode) for x in a.within(is_signed) for y in divisors]
    whole = anything(a.width).within(is_signed)
    bounds = _kept((min(ends), max(ends)), whole, True)
    return between(a.width, bounds) if is_signed else between(a.width, unsigned=bounds)


def _rem(at: Ranges, op: integer.RemIOp) -> Interval:
    """A remainder is nearer to zero than the divisor, and than what is divided; it has its sign."""
    a, b = at.of(op.lhs), at.of(op.rhs)
    if not _is_signed(op):
        return between(a.width, unsigned=(0, min(a.uhigh, max(b.uhigh - 1, 0))))
    reach = max(abs(b.low), abs(b.high)) - 1
    low = 0 if a.low >= 0 else max(a.low, -reach)
    high = 0 if a.high <= 0 else min(a.high, reach)
    return between(a.width, signed=(min(low, 0), max(high, 0)))


def _and(at: Ranges, op: integer.AndIOp) -> Interval:
    """Fewer bits than either has."""
    a, b = at.of(op.lhs), at.of(op.rhs)
    return between(a.width, unsigned=(0, min(a.uhigh, b.uhigh)))


def _or(at: Ranges, op: integer.OrIOp | integer.XOrIOp) -> Interval:
    """No higher bit than the highest of both; all bits of either, unless they cancel."""
    a, b = at.of(op.operands[0]), at.of(op.operands[1])
    least = max(a.ulow, b.ulow) if isinstance(op, integer.OrIOp) else 0
    return between(a.width, unsigned=(least, mask(max(a.uhigh, b.uhigh).bit_length())))


def _ext(at: Ranges, op: conversion.ExtIOp) -> Interval:
    """The same number, in more bits."""
    a, width = at.of(op.source), integer_width(op.result)
    if _is_signed(op):
        return between(width, signed=(a.low, a.high))
    return between(width, unsigned=(a.ulow, a.uhigh))


def _trunc(at: Ranges, op: conversion.TruncIOp) -> Interval:
    """The same number where it fits."""
    a, width = at.of(op.source), integer_width(op.result)
    return between(width, (a.low, a.high), (a.ulow, a.uhigh))


def _extreme(at: Ranges, op: arith.BinaryInteger) -> Interval | None:
    """The extreme of two numbers lies between the extremes of their bounds."""
    if not at.tracks(op.result):
        return None
    a, b = at.of(op.lhs), at.of(op.rhs)
    pick = max if isinstance(op, arith.MaxSIOp | arith.MaxUIOp) else min
    if isinstance(op, arith.MaxSIOp | arith.MinSIOp):
        return between(a.width, signed=(pick(a.low, b.low), pick(a.high, b.high)))
    return between(a.width, unsigned=(pick(a.ulow, b.ulow), pick(a.uhigh, b.uhigh)))


def _abs(at: Ranges, op: integer.AbsIOp) -> Interval:
    """The magnitude, as an unsigned number."""
    a = at.of(op.source)
    low = 0 if a.low <= 0 <= a.high else min(abs(a.low), abs(a.high))
    return between(a.width, unsigned=(low, max(abs(a.low), abs(a.high))))


def _neg(at: Ranges, op: integer.NegIOp) -> Interval:
    """-[a, b] = [-b, -a]."""
    a = at.of(op.source)
    return between(a.width, signed=(-a.high, -a.low))


_UNSIGNED: Final = frozenset(
    (CmpIPredicate.ULT, CmpIPredicate.ULE, CmpIPredicate.UGT, CmpIPredicate.UGE)
)
_MIRRORED: Final = {
    CmpIPredicate.SGT: CmpIPredicate.SLT,
    CmpIPredicate.SGE: CmpIPredicate.SLE,
    CmpIPredicate.UGT: CmpIPredicate.ULT,
    CmpIPredicate.UGE: CmpIPredicate.ULE,
}


def _cmp(at: Ranges, op: integer.CmpIOp) -> Interval:
    """A comparison of intervals that do not overlap is decided."""
    a, b, predicate = at.of(op.lhs), at.of(op.rhs), op.predicate
    if predicate in _MIRRORED:
        a, b, predicate = b, a, _MIRRORED[predicate]
    x, y = (each.within(predicate not in _UNSIGNED) for each in (a, b))
    if predicate in (CmpIPredicate.EQ, CmpIPredicate.NE):
        if x[1] < y[0] or y[1] < x[0]:
            return exactly(int(predicate is CmpIPredicate.NE), 1)
        return anything(1)
    strict = predicate in (CmpIPredicate.SLT, CmpIPredicate.ULT)
    if x[1] < y[0] or (not strict and x[1] == y[0]):
        return exactly(1, 1)
    if y[1] < x[0] or (strict and y[1] == x[0]):
        return exactly(0, 1)
    return anything(1)


def _assume(at: Ranges, op: misc.AssumeOp) -> Interval | None:
    """An assumption holds."""
    # Programs begin with many of these: no detour by the fields.
    value, assumption = op.operands[0], op.attributes["predicate"]
    if isinstance(assumption, BoundedAttr):
        return clipped(at.of(value), (assumption.lower, assumption.upper))
    return at.of(value) if at.tracks(value) else None


def _program_id(at: Ranges, op: program.GetProgramIdOp) -> list[Interval] | None:
    """Blocks are counted from zero; a given coordinate may be out of range."""
    if op.program_id is not None:
        return None
    return [between(32, signed=(0, MOST_PROGRAMS - 1))] * 3


def _program_count(at: Ranges, op: Operation) -> list[Interval]:
    """A grid has a block at least."""
    return [between(32, signed=(1, MOST_PROGRAMS))] * 3


def _cta_rank(at: Ranges, op: Operation) -> Interval:
    """The ranks of the largest cluster."""
    return between(32, signed=(0, MAX_CLUSTER - 1))


def _dim_size(at: Ranges, op: view.GetDimSizeOp) -> Interval | None:
    """The extent that the type has."""
    source = op.source.type
    if not isinstance(source, MemrefType) or source.shape[op.dim] == DYNAMIC:
        return None
    width = integer_width(op.result)
    return exactly(source.shape[op.dim] & mask(width), width)


Ranges.rules.update(
    {
        ConstantOp: _constant,
        shape.MakeRangeOp: _make_range,
        shape.SplatOp: _same,
        shape.ViewOp: _same,
        shape.ExpandDimsOp: _same,
        shape.BroadcastOp: _same,
        shape.PermuteOp: _same,
        shape.ExtractOp: _same,
        shape.ExtractSliceOp: _same,
        shape.InsertSliceOp: _either,
        shape.CatOp: _either,
        shape.SelectOp: _select,
        integer.AddIOp: _add,
        integer.SubIOp: _sub,
        integer.MulIOp: _mul,
        integer.ShLIOp: _shl,
        integer.ShRIOp: _shr,
        integer.DivIOp: _div,
        integer.RemIOp: _rem,
        integer.AndIOp: _and,
        integer.OrIOp: _or,
        integer.XOrIOp: _or,
        integer.AbsIOp: _abs,
        integer.NegIOp: _neg,
        integer.CmpIOp: _cmp,
        conversion.ExtIOp: _ext,
        conversion.TruncIOp: _trunc,
        arith.MaxSIOp: _extreme,
        arith.MaxUIOp: _extreme,
        arith.MinSIOp: _extreme,
        arith.MinUIOp: _extreme,
        misc.AssumeOp: _assume,
        program.GetProgramIdOp: _program_id,
        program.GetNumProgramsOp: _program_count,
        program.GetCtaRankOp: _cta_rank,
        view.GetDimSizeOp: _dim_size,
    }
)
