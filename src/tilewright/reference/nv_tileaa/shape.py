"""Tile shapes, slices of tiles, select."""

from __future__ import annotations

import numpy as np

from tilewright.dialects.nv_tileaa import shape as d
from tilewright.reference.batch import Batch
from tilewright.reference.core import (
    count_up,
    extract_part,
    insert_part,
    joined,
    packed,
    unpacked,
)
from tilewright.reference.evaluators import evaluator
from tilewright.reference.tile import Array, element, shape, unsigned


@evaluator(d.SplatOp)
def splat(op: d.SplatOp, at: Batch) -> Array:
    """Broadcast a scalar to a tile."""
    source, extents = at[op.source], shape(op.result)
    spread = source.reshape(len(source), *[1] * len(extents))
    return np.broadcast_to(spread, (len(source), *extents))


@evaluator(d.MakeRangeOp)
def make_range(op: d.MakeRangeOp, at: Batch) -> Array:
    """Consecutive integers from a start."""
    return count_up(op.result, op.start)


@evaluator(d.ViewOp, d.ExpandDimsOp)
def view(op: d.Rearrangement, at: Batch) -> Array:
    """Reshape a tile."""
    source = at[op.source]
    return source.reshape(len(source), *shape(op.result))


@evaluator(d.BroadcastOp)
def broadcast(op: d.BroadcastOp, at: Batch) -> Array:
    """Broadcast along dimensions of extent one."""
    source = at[op.source]
    return np.broadcast_to(source, (len(source), *shape(op.result)))


@evaluator(d.PermuteOp)
def permute(op: d.PermuteOp, at: Batch) -> Array:
    """Dimension `i` of the result is `order[i]` of the source."""
    return at[op.source].transpose(0, *(dim + 1 for dim in op.order))


@evaluator(d.CatOp)
def cat(op: d.CatOp, at: Batch) -> Array:
    """Concatenate two tiles along a dimension."""
    return joined(at[op.lhs], at[op.rhs], op.axis)


@evaluator(d.ExtractOp)
def extract(op: d.ExtractOp, at: Batch) -> Array:
    """Extract one element."""
    rank = len(op.indices)
    return extract_part(op, at, op.source, op.indices, (1,) * rank).reshape(-1)


@evaluator(d.ExtractSliceOp)
def extract_slice(op: d.ExtractSliceOp, at: Batch) -> Array:
    """Extract a slice at an index in units of slices."""
    return extract_part(op, at, op.source, op.indices, shape(op.result))


@evaluator(d.InsertSliceOp)
def insert_slice(op: d.InsertSliceOp, at: Batch) -> Array:
    """Insert the source into a copy of the destination."""
    return insert_part(op, at, op.source, op.destination, op.indices)


@evaluator(d.SelectOp)
def select(op: d.SelectOp, at: Batch) -> Array:
    """Select elementwise."""
    values: tuple[Array, Array] = at[op.true_value], at[op.false_value]
    return np.where(at[op.condition], *values)


@evaluator(d.PackOp)
def pack(op: d.PackOp, at: Batch) -> Array:
    """Pack a tile into bytes."""
    return packed(at[op.source], element(op.source))


@evaluator(d.UnpackOp)
def unpack(op: d.UnpackOp, at: Batch) -> Array:
    """Unpack a tile from bytes."""
    return unpacked(at[op.source], element(op.result))


@evaluator(d.HistogramOp)
def histogram(op: d.HistogramOp, at: Batch) -> Array:
    """Count how often each number occurs; numbers without a bin are ignored."""
    (bins,) = shape(op.result)
    source = at[op.source]
    numbers = unsigned(source).reshape(len(source), -1, 1)
    return (numbers == np.arange(bins)).sum(axis=1, dtype=np.int32)
