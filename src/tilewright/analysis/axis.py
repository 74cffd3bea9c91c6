"""Axis facts of every tile: contiguity, divisibility and constancy along each dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from tilewright.analysis import axis_arithmetic as laws
from tilewright.analysis.ranges import Ranges
from tilewright.analysis.runs import (
    MOST,
    Axes,
    Run,
    joined,
    made,
    power,
    reshaped,
    uniform,
    unit_of,
    unknown,
)
from tilewright.analysis.solver import Analysis, Rule
from tilewright.dialects.arith import integer as arith
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import splat_of
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa import conversion, integer, memory, misc, shape, view
from tilewright.dialects.nv_tileaa.attributes import MemSemantic, RoundingMode, Signedness
from tilewright.dialects.nv_tileaa.constraints import ELEMENTWISE, count
from tilewright.dialects.nv_tileaa.constraints import shape as extents
from tilewright.dialects.nv_tileaa.predicates import DivByAttr, SameElementsAttr
from tilewright.dialects.nv_tileaa.types import MemrefType, PtrType
from tilewright.ir.attributes import DenseElementsAttr
from tilewright.ir.types import INDEX, FloatType, IntegerType, TensorType
from tilewright.support.bits import mask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.scf import ForOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

LIMIT: Final = 1024
"""How many elements of a constant are looked at."""


class AxisFacts(Analysis[Axes]):
    """The axis facts of the values of a function.

    Of floats constancy alone is known; of tensors in memory, what divides the address.
    """

    __slots__ = ("_function", "_ranges")

    rules: ClassVar[dict[type[Operation], Rule | None]] = {}

    def __init__(self, function: Operation) -> None:
        self._function = function
        self._ranges: Ranges | None = None
        super().__init__(function)

    @property
    def ranges(self) -> Ranges:
        """The intervals of the same function; many programs never ask for them."""
        if self._ranges is None:
            self._ranges = Ranges(self._function)
        return self._ranges

    def top(self, value: Value) -> Axes:
        type = value.type
        if isinstance(type, TensorType):
            return unknown(len(type.shape or ()), unit_of(type))
        return unknown(0, unit_of(type))

    def join(self, a: Axes, b: Axes) -> Axes:
        return joined(a, b)

    def tracks(self, value: Value) -> bool:
        type = value.type
        return isinstance(type, TensorType | IntegerType | PtrType | MemrefType) or type is INDEX

    def counter(self, loop: ForOp) -> Axes:
        """From the lower bound by steps: what divides both divides the index."""
        return Axes((), min(self.of(loop.lower_bound).divisor, self.of(loop.step).divisor))

    def default_rule(self, kind: type[Operation]) -> Rule | None:
        """Functions of elements give equal results for equal operands."""
        is_plain = kind.name.startswith("arith.") and bool(kind.schema.operands)
        is_known = is_plain or ELEMENTWISE in kind.traits
        return _elementwise if is_known and not issubclass(kind, misc.ForeignOp) else None

    def is_uniform(self, value: Value) -> bool:
        """Whether all elements of a tile are equal; a scalar is by itself."""
        return self.of(value).is_uniform(extents(value.type))


def constant_of(value: Value) -> int | None:
    """The pattern of all elements, if it is written in the program."""
    op = value.defining_op()
    while isinstance(op, shape.SplatOp | shape.Rearrangement):
        op = op.operands[0].defining_op()
    return splat_of(op.value) if isinstance(op, ConstantOp) else None


def _width(value: Value) -> int:
    element = element_of(value.type)
    return element.width if isinstance(element, IntegerType) else 64


def _elementwise(at: AxisFacts, op: Operation) -> Any:
    """Equal operands give equal results; scalars are equal everywhere."""
    rank = len(extents(op.results[0].type))
    found = [each for each in map(at.of, op.operands) if len(each.dims) == rank]
    if not found:
        return None
    fact = laws.pointwise(*found)
    return fact if len(op.results) == 1 else [fact] * len(op.results)


def _constant(at: AxisFacts, op: ConstantOp) -> Axes | None:
    """Equal elements, or what one sees of them."""
    type, value = op.result.type, op.value
    same = splat_of(value)
    if same is not None:
        is_float = isinstance(element_of(type), FloatType)
        return uniform(extents(type), 1 if is_float else power(same))
    if not isinstance(value, DenseElementsAttr) or count(type) > LIMIT:
        return None
    return observed(value.elements(), extents(type), _width(op.result))


def observed(patterns: Sequence[int], shape: Sequence[int], width: int) -> Axes:
    """The best facts of given elements."""
    dims: list[Run] = []
    stride = len(patterns)
    places = range(len(patterns))
    for extent in shape:
        stride //= extent
        lengths = [1 << bit for bit in range(power(extent).bit_length())]
        coordinates = [place // stride % extent for place in places]

        def holds(
            step: int, length: int, stride: int = stride, at: list[int] = coordinates
        ) -> bool:
            return all(
                (patterns[p] - patterns[p - stride] - step) & mask(width) == 0
                for p in places
                if at[p] % length
            )

        contiguity = max(length for length in lengths if holds(1, length))
        constancy = max(length for length in lengths if holds(0, length))
        starts = [power(patterns[p]) for p in places if coordinates[p] % contiguity == 0]
        dims.append(Run(contiguity, min(starts), constancy))
    return made(dims, min(map(power, patterns)))


def _make_range(at: AxisFacts, op: shape.MakeRangeOp) -> Axes:
    """One run, from the start."""
    (extent,) = extents(op.result.type)
    length = power(extent)
    divisor = power(op.start)
    start = divisor if length == extent else min(divisor, length)
    return made((Run(length, start, 1),), 1)


def _splat(at: AxisFacts, op: shape.SplatOp) -> Axes:
    """The scalar everywhere."""
    scalar = at.of(op.source)
    return uniform(extents(op.result.type), scalar.divisor, scalar.unit)


def _broadcast(at: AxisFacts, op: shape.BroadcastOp) -> Axes:
    """Constant along the dimensions that are repeated."""
    a = at.of(op.source)
    before, after = extents(op.source.type), extents(op.result.type)
    dims = [
        run if old == new else Run(1, run.divisibility, power(new))
        for run, old, new in zip(a.dims, before, after, strict=True)
    ]
    return Axes(tuple(dims), a.divisor, a.unit)


def _reshape(at: AxisFacts, op: shape.Rearrangement) -> Axes:
    """The same elements in another shape."""
    a = at.of(op.source)
    return reshaped(a, extents(op.source.type), extents(op.result.type))


def _permute(at: AxisFacts, op: shape.PermuteOp) -> Axes:
    """The dimensions change places."""
    a = at.of(op.source)
    return Axes(tuple([a.dims[dim] for dim in op.order]), a.divisor, a.unit)


def _shortened(a: Axes, lengths: Sequence[int]) -> Axes:
    """Runs that are no longer than given lengths, one for each dimension."""
    dims: list[Run] = []
    for dim, (run, most) in enumerate(zip(a.dims, lengths, strict=True)):
        length = min(run.contiguity, most)
        dims.append(Run(length, a.start(dim, length), min(run.constancy, most)))
    return made(dims, a.divisor, a.unit)


def _cat(at: AxisFacts, op: shape.CatOp) -> Axes:
    """What holds of both, in runs that the seam does not cut."""
    seam = [MOST] * len(extents(op.result.type))
    seam[op.axis] = power(extents(op.lhs.type)[op.axis])
    return _shortened(joined(at.of(op.lhs), at.of(op.rhs)), seam)


def _extract(at: AxisFacts, op: shape.ExtractOp) -> Axes:
    """What divides all elements divides one."""
    a = at.of(op.source)
    return Axes((), a.divisor, a.unit)


def _extract_slice(at: AxisFacts, op: shape.ExtractSliceOp) -> Axes:
    """Parts start at multiples of their extents."""
    return _shortened(at.of(op.source), [power(extent) for extent in extents(op.result.type)])


def _insert_slice(at: AxisFacts, op: shape.InsertSliceOp) -> Axes:
    """What holds of both, in runs that lie inside or outside of the part."""
    lengths = [power(extent) for extent in extents(op.source.type)]
    return joined(at.of(op.source), _shortened(at.of(op.destination), lengths))


def _select(at: AxisFacts, op: shape.SelectOp) -> Axes:
    """What holds of both where the condition stays the same."""
    return laws.selected(at.of(op.condition), at.of(op.true_value), at.of(op.false_value))


def _add(at: AxisFacts, op: integer.AddIOp) -> Axes:
    """See `added`."""
    return laws.added(at.of(op.operands[0]), at.of(op.operands[1]))


def _sub(at: AxisFacts, op: integer.SubIOp) -> Axes:
    """See `subtracted`."""
    return laws.subtracted(at.of(op.operands[0]), at.of(op.operands[1]))


def _mul(at: AxisFacts, op: integer.MulIOp) -> Axes:
    """A product with one is the other factor."""
    lhs, rhs = op.operands
    a, b = at.of(lhs), at.of(rhs)
    if a.dims and constant_of(rhs) == 1:
        return a
    if b.dims and constant_of(lhs) == 1:
        return b
    return laws.multiplied(a, b)


def _div(at: AxisFacts, op: integer.DivIOp) -> Axes:
    """Rounded down, or of numbers that are not negative; exact quotients lose what divides."""
    a, b = at.of(op.lhs), at.of(op.rhs)
    by = constant_of(op.rhs)
    divisor = 1
    if by and by & (by - 1) == 0 and a.divisor >= by and by < 1 << (_width(op.rhs) - 1):
        divisor = MOST if a.divisor == MOST else a.divisor // by
    if not a.dims or not _rounds_down(at, op):
        return laws.pointwise(a, b, divisor=divisor)
    found = laws.divided(a, b, _width(op.result))
    return made(found.dims, divisor)


def _rounds_down(at: AxisFacts, op: integer.DivIOp) -> bool:
    rounding = op.rounding_mode
    if op.signedness is Signedness.UNSIGNED:
        return rounding is RoundingMode.ZERO
    if rounding is RoundingMode.ZERO:
        return at.ranges.of(op.lhs).is_natural
    return rounding is RoundingMode.NEGATIVE_INF and at.ranges.of(op.rhs).is_natural


def _rem(at: AxisFacts, op: integer.RemIOp) -> Axes:
    """Of numbers that are not negative; otherwise the remainder has another sign."""
    a, b = at.of(op.lhs), at.of(op.rhs)
    is_plain = op.signedness is Signedness.UNSIGNED
    if a.dims and (is_plain or at.ranges.of(op.lhs).is_natural):
        return laws.remainder(a, b, _width(op.result))
    return laws.pointwise(a, b, divisor=min(a.divisor, b.divisor))


def _and(at: AxisFacts, op: integer.AndIOp) -> Axes:
    """See `masked` and `conjoined`."""
    lhs, rhs = op.operands
    pattern = constant_of(rhs)
    if pattern is None:
        lhs, rhs, pattern = rhs, lhs, constant_of(lhs)
    a, b = at.of(lhs), at.of(rhs)
    if pattern is None:
        return laws.conjoined(a, b)
    return laws.masked(a, b, pattern, _width(op.result))


def _or(at: AxisFacts, op: integer.OrIOp | integer.XOrIOp) -> Axes:
    """See `disjoined`."""
    return laws.disjoined(at.of(op.operands[0]), at.of(op.operands[1]), _width(op.result))


def _shl(at: AxisFacts, op: integer.ShLIOp) -> Axes:
    """A product with a power of two; by nothing it is the operand."""
    a, b = at.of(op.lhs), at.of(op.rhs)
    amount = constant_of(op.rhs)
    if amount == 0:
        return a
    by = 0 if amount is None or amount >= _width(op.rhs) else amount
    return laws.pointwise(a, b, divisor=min(a.divisor << by, MOST))


def _shr(at: AxisFacts, op: integer.ShRIOp) -> Axes:
    """See `shifted_right`."""
    a, b = at.of(op.lhs), at.of(op.rhs)
    amount = constant_of(op.rhs)
    if amount is None or amount >= _width(op.rhs):
        return laws.pointwise(a, b)
    return laws.shifted_right(a, b, amount, _width(op.result))


def _cmp(at: AxisFacts, op: integer.CmpIOp) -> Axes:
    """See `compared`."""
    lhs, rhs = op.operands
    return laws.compared(at.of(lhs), at.of(rhs), op.predicate, _width(lhs))


def _common(at: AxisFacts, op: Operation) -> Axes:
    """What divides all operands divides the one that is chosen, or what is negated."""
    found = [at.of(operand) for operand in op.operands]
    return laws.pointwise(*found, divisor=min([each.divisor for each in found]))


def _ext(at: AxisFacts, op: conversion.ExtIOp) -> Axes:
    """See `extended`."""
    return widened(at, op.source, op.signedness is Signedness.SIGNED)


def widened(at: AxisFacts, value: Value, is_signed: bool) -> Axes:
    """Integers in more bits."""
    a, width = at.of(value), _width(value)
    # Unsigned numbers have no sign that changes half way.
    reach = width if is_signed else width + 1
    if all(laws.aligned(a, dim, reach) == run.contiguity for dim, run in enumerate(a.dims)):
        return a
    low, high = at.ranges.of(value).within(is_signed)
    ends = -(1 << (width - 1)) if is_signed else 0, mask(width - 1 if is_signed else width)
    # A run that wraps around has both ends of the type in it.
    return laws.extended(a, reach, is_safe=low > ends[0] or high < ends[1])


def _trunc(at: AxisFacts, op: conversion.TruncIOp) -> Axes:
    """Fewer bits: runs are runs, modulo less."""
    return at.of(op.source)


def _bitcast(at: AxisFacts, op: conversion.BitcastOp) -> Axes:
    """The same numbers, if both are numbers; pointers to others run by other steps."""
    a, type = at.of(op.source), op.result.type
    if isinstance(element_of(type), FloatType) or isinstance(element_of(op.source.type), FloatType):
        return laws.pointwise(a)
    return _with_unit(a, unit_of(type))


def _with_unit(a: Axes, unit: int) -> Axes:
    """The same numbers in another unit; runs of another unit are none."""
    if unit == a.unit:
        return a
    dims = [Run(1, a.divisor, run.constancy) for run in a.dims]
    return Axes(tuple(dims), a.divisor, unit)


def _int_to_ptr(at: AxisFacts, op: conversion.IntToPtrOp | conversion.PtrToIntOp) -> Axes:
    """The same numbers, which run by single bytes."""
    return _with_unit(at.of(op.operands[0]), unit_of(op.results[0].type))


def _addptr(at: AxisFacts, op: memory.AddPtrOp) -> Axes:
    """Offsets are signed, and as wide as addresses."""
    return laws.moved(at.of(op.pointers), widened(at, op.offsets, True), op.in_bytes)


def _load(at: AxisFacts, op: memory.LoadOp) -> Any:
    """What is read twice from one place without an order of its own is the same."""
    if op.semantic is not MemSemantic.WEAK or op.volatile:
        return None
    sources = [value for value in (op.pointers, op.mask, op.other) if value is not None]
    if op.mask is not None and op.other is None:
        return None
    found = laws.pointwise(*[at.of(value) for value in sources])
    return (Axes(found.dims, 1, unit_of(op.result.type)),)


def _assume(at: AxisFacts, op: misc.AssumeOp) -> Axes:
    """A promise holds."""
    # Programs begin with many of these: no detour by the fields.
    a, promise = at.of(op.operands[0]), op.attributes["predicate"]
    if isinstance(promise, DivByAttr):
        return _divisible(a, promise)
    if isinstance(promise, SameElementsAttr):
        return _constant_runs(a, promise.values)
    return a


def _constant_runs(a: Axes, lengths: Sequence[int]) -> Axes:
    """Blocks of equal elements; those of extent zero say nothing."""
    dims = [
        Run(run.contiguity, run.divisibility, max(run.constancy, power(length or 1)))
        for run, length in zip(a.dims, lengths, strict=True)
    ]
    return Axes(tuple(dims), a.divisor, a.unit)


def _divisible(a: Axes, promise: DivByAttr) -> Axes:
    """All elements, or the first of each run of a length, which is contiguous."""
    if not a.dims:
        return a if a.divisor >= promise.divisor else Axes((), promise.divisor, a.unit)
    if promise.every is None or promise.along is None:
        return made(a.dims, max(a.divisor, promise.divisor), a.unit)
    length, along = power(promise.every or 1), promise.along
    run = a.dims[along]
    start = promise.divisor if length == promise.every else min(promise.divisor, length * a.unit)
    if run.contiguity > length:
        new = Run(run.contiguity, max(run.divisibility, start), run.constancy)
    else:
        new = Run(length, max(a.start(along, length), start), run.constancy)
    return made((*a.dims[:along], new, *a.dims[along + 1 :]), a.divisor, a.unit)


def _make_memref(at: AxisFacts, op: view.MakeMemrefOp) -> Axes:
    """The address is that of the first element."""
    return Axes((), at.of(op.base).divisor)


AxisFacts.rules.update(
    {
        ConstantOp: _constant,
        shape.MakeRangeOp: _make_range,
        shape.SplatOp: _splat,
        shape.BroadcastOp: _broadcast,
        shape.ViewOp: _reshape,
        shape.ExpandDimsOp: _reshape,
        shape.PermuteOp: _permute,
        shape.CatOp: _cat,
        shape.ExtractOp: _extract,
        shape.ExtractSliceOp: _extract_slice,
        shape.InsertSliceOp: _insert_slice,
        shape.SelectOp: _select,
        integer.AddIOp: _add,
        integer.SubIOp: _sub,
        integer.MulIOp: _mul,
        integer.DivIOp: _div,
        integer.RemIOp: _rem,
        integer.AndIOp: _and,
        integer.OrIOp: _or,
        integer.XOrIOp: _or,
        integer.ShLIOp: _shl,
        integer.ShRIOp: _shr,
        integer.CmpIOp: _cmp,
        integer.NegIOp: _common,
        integer.AbsIOp: _common,
        arith.MaxSIOp: _common,
        arith.MaxUIOp: _common,
        arith.MinSIOp: _common,
        arith.MinUIOp: _common,
        conversion.ExtIOp: _ext,
        conversion.TruncIOp: _trunc,
        conversion.BitcastOp: _bitcast,
        conversion.IntToPtrOp: _int_to_ptr,
        conversion.PtrToIntOp: _int_to_ptr,
        memory.AddPtrOp: _addptr,
        memory.LoadOp: _load,
        misc.AssumeOp: _assume,
        view.MakeMemrefOp: _make_memref,
    }
)
