"""Axis facts of constants, and of operations that rearrange elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis import axis_arithmetic as transfer
from tilewright.analysis.numbers import integer_width
from tilewright.analysis.runs import MOST, Axes, Run, joined, made, power, reshaped, uniform
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import splat_of
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa import shape
from tilewright.dialects.nv_tileaa.constraints import count
from tilewright.dialects.nv_tileaa.constraints import shape as extents
from tilewright.ir.attributes import DenseElementsAttr
from tilewright.ir.types import FloatType
from tilewright.support.bits import mask

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilewright.analysis.axis import AxisFacts
    from tilewright.analysis.solver import Rule
    from tilewright.ir.operation import Operation

LIMIT: Final = 1024
"""How many elements of a constant are looked at."""


def _constant(at: AxisFacts, op: ConstantOp) -> Axes | None:
    """Equal elements, or what one sees of them."""
    type, value = op.result.type, op.value
    same = splat_of(value)
    if same is not None:
        is_float = isinstance(element_of(type), FloatType)
        return uniform(extents(type), 1 if is_float else power(same))
    if not isinstance(value, DenseElementsAttr) or count(type) > LIMIT:
        return None
    return observed(value.elements(), extents(type), integer_width(op.result))


def observed(patterns: Sequence[int], shape: Sequence[int], width: int) -> Axes:
    """The best facts of given elements."""
    dims: list[Run] = []
    stride = len(patterns)
    indices = range(len(patterns))
    for extent in shape:
        stride //= extent
        lengths = [1 << bit for bit in range(power(extent).bit_length())]
        coordinates = [index // stride % extent for index in indices]

        def holds(
            step: int, length: int, stride: int = stride, at: list[int] = coordinates
        ) -> bool:
            return all(
                (patterns[p] - patterns[p - stride] - step) & mask(width) == 0
                for p in indices
                if at[p] % length
            )

        contiguity = max(length for length in lengths if holds(1, length))
        constancy = max(length for length in lengths if holds(0, length))
        starts = [power(patterns[p]) for p in indices if coordinates[p] % contiguity == 0]
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
    """The dimensions are permuted."""
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
    """The join of both, in runs that the seam does not split."""
    seam = [MOST] * len(extents(op.result.type))
    seam[op.axis] = power(extents(op.lhs.type)[op.axis])
    return _shortened(joined(at.of(op.lhs), at.of(op.rhs)), seam)


def _extract(at: AxisFacts, op: shape.ExtractOp) -> Axes:
    """A common divisor of the elements divides each of them."""
    a = at.of(op.source)
    return Axes((), a.divisor, a.unit)


def _extract_slice(at: AxisFacts, op: shape.ExtractSliceOp) -> Axes:
    """Parts start at multiples of their extents."""
    return _shortened(at.of(op.source), [power(extent) for extent in extents(op.result.type)])


def _insert_slice(at: AxisFacts, op: shape.InsertSliceOp) -> Axes:
    """The join of both, in runs inside or outside of the slice."""
    lengths = [power(extent) for extent in extents(op.source.type)]
    return joined(at.of(op.source), _shortened(at.of(op.destination), lengths))


def _select(at: AxisFacts, op: shape.SelectOp) -> Axes:
    """The join of both where the condition is constant."""
    return transfer.selected(at.of(op.condition), at.of(op.true_value), at.of(op.false_value))


SHAPE_RULES: Final[Mapping[type[Operation], Rule]] = {
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
}
