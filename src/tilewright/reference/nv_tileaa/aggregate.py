"""Operations with a body per element: reduce, scan, generate."""

from __future__ import annotations

import numpy as np

from tilewright.dialects.arith.literals import pattern_of
from tilewright.dialects.nv_tileaa import aggregate as d
from tilewright.ir.attributes import FloatAttr, IntegerAttr, element_bytes
from tilewright.reference import tile
from tilewright.reference.aggregate import Combination, captures, reduced, run_body, scanned
from tilewright.reference.batch import Batch
from tilewright.reference.evaluators import evaluator
from tilewright.reference.tile import Array, element, shape
from tilewright.reference.walk import Crossing, Passage, leave

evaluator(d.YieldOp)(leave)


@evaluator(d.ReduceOp)
def reduce(op: d.ReduceOp, at: Batch) -> Crossing:
    """Reduce elements along an axis."""
    return reduced(Combination(op.sources, op.axis, op.body), shape(op.results[0]), at)


@evaluator(d.ScanOp)
def scan(op: d.ScanOp, at: Batch) -> Crossing:
    """Inclusive or exclusive scan along an axis."""
    combination = Combination(op.sources, op.axis, op.body)
    _, columns, _ = yield from scanned(combination, at, reverse=op.reverse)
    if not op.inclusive:
        columns = [_shifted(op, index, column) for index, column in enumerate(columns)]
    return Passage(at, [combination.restored(column) for column in columns], [])


def _shifted(op: d.ScanOp, index: int, column: Array) -> Array:
    """Convert an inclusive scan to an exclusive one, with the identity first."""
    first = np.broadcast_to(_identity(op, index), column[:1].shape)
    parts = [column[1:], first] if op.reverse else [first, column[:-1]]
    return np.concatenate(parts)


def _identity(op: d.ScanOp, index: int) -> Array:
    assert op.identities is not None
    number, kind = list(op.identities)[index], element(op.sources[index])
    assert isinstance(number, IntegerAttr | FloatAttr)
    return tile.constant(pattern_of(number).to_bytes(element_bytes(kind), "little"), kind, ())


@evaluator(d.GenerateOp)
def generate(op: d.GenerateOp, at: Batch) -> Crossing:
    """Generate a tile by running the body on the indices of each element."""
    extents = shape(op.result)
    blocks = at.count if captures(op.body) else 1
    lanes, *indices = np.indices((blocks, *extents), np.int32).reshape(len(extents) + 1, -1)
    _, (generated,), _ = yield from run_body(op.body, at, lanes, indices)
    return Passage(at, [generated.reshape(blocks, *extents)], [])
