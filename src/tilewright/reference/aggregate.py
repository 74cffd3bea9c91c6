"""Reduce and scan: the body combines elements along a dimension.

The body works on scalars. Here each of its runs stands for a block of its own, so that one walk
through it combines many pairs at once, whatever it does.
"""

from __future__ import annotations

import numpy as np

from tilewright.dialects.cuda_tile import aggregate as d
from tilewright.dialects.cuda_tile.control_flow import YieldOp
from tilewright.reference.batch import Batch
from tilewright.reference.control_flow import Crossing, Passage, walk
from tilewright.reference.meanings import meaning
from tilewright.reference.tile import Array, per_block

Columns = list[Array]
"""For each operand an array of shape (extent, blocks, other elements)."""


def _columns(op: d.AggregateOp, at: Batch) -> tuple[Columns, int]:
    sources = [at[source] for source in op.sources]
    blocks = max(map(len, sources))
    moved = (np.moveaxis(per_block(source, blocks), op.dim + 1, 0) for source in sources)
    return [array.reshape(len(array), blocks, -1) for array in moved], blocks


def _combine(op: d.AggregateOp, at: Batch, lhs: Columns, rhs: Columns) -> Crossing:
    """Run the body on pairs of elements."""
    shape = lhs[0].shape
    lanes = np.broadcast_to(np.arange(shape[1])[:, np.newaxis], shape).reshape(-1)
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
    shapes = (result.type.shape for result in op.results)  # pyright: ignore
    results = [c.reshape(blocks, *shape) for c, shape in zip(columns, shapes, strict=True)]
    return Passage(at, results, [])


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
    blocks, *shape = column.shape[1], *op.results[0].type.shape  # pyright: ignore
    outer = column.reshape(shape[op.dim], blocks, *shape[: op.dim], *shape[op.dim + 1 :])
    return np.moveaxis(outer, 0, op.dim + 1)
