"""The shape of tiles, parts of tiles, and choices."""

from __future__ import annotations

import numpy as np

from tilewright.dialects.nv_tileaa import shape as d
from tilewright.reference.batch import Batch
from tilewright.reference.core import (
    count_up,
    joined,
    packed,
    replaced_part,
    taken_part,
    unpacked,
)
from tilewright.reference.meanings import meaning
from tilewright.reference.tile import Array, element, shape, unsigned


@meaning(d.SplatOp)
def splat(op: d.SplatOp, at: Batch) -> Array:
    """A scalar in every place."""
    source, extents = at[op.source], shape(op.result)
    spread = source.reshape(len(source), *[1] * len(extents))
    return np.broadcast_to(spread, (len(source), *extents))


@meaning(d.MakeRangeOp)
def make_range(op: d.MakeRangeOp, at: Batch) -> Array:
    """The integers from a start on."""
    return count_up(op.result, op.start)


@meaning(d.ViewOp, d.ExpandDimsOp)
def view(op: d.Rearrangement, at: Batch) -> Array:
    """The same elements in another shape."""
    source = at[op.source]
    return source.reshape(len(source), *shape(op.result))


@meaning(d.BroadcastOp)
def broadcast(op: d.BroadcastOp, at: Batch) -> Array:
    """Repetition along the dimensions of extent one."""
    source = at[op.source]
    return np.broadcast_to(source, (len(source), *shape(op.result)))


@meaning(d.PermuteOp)
def permute(op: d.PermuteOp, at: Batch) -> Array:
    """Dimension `i` of the result is `order[i]` of the source."""
    return at[op.source].transpose(0, *(dim + 1 for dim in op.order))


@meaning(d.CatOp)
def cat(op: d.CatOp, at: Batch) -> Array:
    """Two tiles one after the other along a dimension."""
    return joined(at[op.lhs], at[op.rhs], op.axis)


@meaning(d.ExtractOp)
def extract(op: d.ExtractOp, at: Batch) -> Array:
    """One element."""
    rank = len(op.indices)
    return taken_part(op, at, op.source, op.indices, (1,) * rank).reshape(-1)


@meaning(d.ExtractSliceOp)
def extract_slice(op: d.ExtractSliceOp, at: Batch) -> Array:
    """One of the parts that the source is cut into."""
    return taken_part(op, at, op.source, op.indices, shape(op.result))


@meaning(d.InsertSliceOp)
def insert_slice(op: d.InsertSliceOp, at: Batch) -> Array:
    """A copy of the destination, one part of which is the source."""
    return replaced_part(op, at, op.source, op.destination, op.indices)


@meaning(d.SelectOp)
def select(op: d.SelectOp, at: Batch) -> Array:
    """One of two values for each element."""
    values: tuple[Array, Array] = at[op.true_value], at[op.false_value]
    return np.where(at[op.condition], *values)


@meaning(d.PackOp)
def pack(op: d.PackOp, at: Batch) -> Array:
    """The bytes that hold a tile."""
    return packed(at[op.source], element(op.source))


@meaning(d.UnpackOp)
def unpack(op: d.UnpackOp, at: Batch) -> Array:
    """The tile that bytes hold."""
    return unpacked(at[op.source], element(op.result))


@meaning(d.HistogramOp)
def histogram(op: d.HistogramOp, at: Batch) -> Array:
    """How often each number occurs; those without a bin are not counted."""
    (bins,) = shape(op.result)
    source = at[op.source]
    numbers = unsigned(source).reshape(len(source), -1, 1)
    return (numbers == np.arange(bins)).sum(axis=1, dtype=np.int32)
