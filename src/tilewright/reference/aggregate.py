"""Reduce and scan: the body combines elements along a dimension.

The body works on scalars. Here each of its runs stands for a block of its own, so that one walk
through it combines many pairs at once, whatever it does.
"""

from __future__ import annotations

import numpy as np

from tilewright.dialects.cuda_tile import aggregate as d
from tilewright.dialects.cuda_tile.control_flow import YieldOp
from tilewright.ir.values import Value
from tilewright.reference.batch import Batch
from tilewright.reference.control_flow import Crossing, Passage, walk
from tilewright.reference.meanings import meaning
from tilewright.reference.tile import Array, per_block, tile_type

Columns = list[Array]
"""For each operand an array of shape (extent, blocks, other elements)."""


def _columns(op: d.AggregateOp, at: Batch) -> tuple[Columns, int]:
    sources = [at[source] for source in op.sources]
    blocks = at.count if _captures(op) else max(map(len, sources))
    moved = (np.moveaxis(per_block(source, blocks), op.dim + 1, 0) for source in sources)
    return [array.reshape(len(array), blocks, -1) for array in moved], blocks


def _captures(op: d.AggregateOp) -> bool:
    """Whether the body uses values from outside, which may differ between blocks."""
    inside: set[Value] = set(op.body.block.args)
    inside.update(value for inner in op.body.walk() for value in inner.results)
    return any(value not in inside for inner in op.body.walk() for value in inner.operands)


def _combine(op: d.AggregateOp, at: Batch, lhs: Columns, rhs: Columns) -> Crossing:
    """Run the body on pairs of elements."""
    shape = lhs[0].shape
    lanes = np.broadcast_to(np.arange(int(shape[1]))[:, np.newaxis], shape).reshape(-1)
    inner = at.narrow(lanes)
    pairs = [side.reshape(-1) for both in zip(lhs, rhs, strict=True) for side in both]
    inner.bind(op.body.block.args, pairs)
    (exit,) = yield from walk(op.body.block, inner)
    assert exit.by is YieldOp
    combined = [per_block(value, len(lanes)).reshape(shape) for value in exit.values]
    return Passage(at, combined, [])


@meaning(d.ReduceOp)
def reduce(op: d.ReduceOp, at: Batch) -> Crossing:
    """Neighbours are combined until one is left, so that the body need only be associative."""
    columns, blocks = _columns(op, at)
    while len(columns[0]) > 1:
        even, odd = [column[0::2] for column in columns], [column[1::2] for column in columns]
        _, columns, _ = yield from _combine(op, at, even, odd)
    shape = tile_type(op.results[0]).shape
    return Passage(at, [column.reshape(blocks, *shape) for column in columns], [])


@meaning(d.ScanOp)
def scan(op: d.ScanOp, at: Batch) -> Crossing:
    """Each element is combined with ever more of those before it: 1, 2, 4 and so on."""
    columns, _ = _columns(op, at)
    if op.reverse:
        columns = [column[::-1] for column in columns]
    distance = 1
    while distance < len(columns[0]):
        before, after = [c[:-distance] for c in columns], [c[distance:] for c in columns]
        _, combined, _ = yield from _combine(op, at, before, after)
        joined = zip(columns, combined, strict=True)
        columns = [np.concatenate([column[:distance], new]) for column, new in joined]
        distance *= 2
    if op.reverse:
        columns = [column[::-1] for column in columns]
    return Passage(at, [_restored(op, at, c) for c in columns], [])


def _restored(op: d.ScanOp, at: Batch, column: Array) -> Array:
    """A column as a tile of the operands' shape."""
    blocks, shape = column.shape[1], tile_type(op.results[0]).shape
    outer = column.reshape(shape[op.dim], blocks, *shape[: op.dim], *shape[op.dim + 1 :])
    return np.moveaxis(outer, 0, op.dim + 1)
