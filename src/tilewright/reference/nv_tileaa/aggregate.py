"""Operations with a body per element: reduce, scan, generate."""

from __future__ import annotations

import numpy as np

from tilewright.dialects.nv_tileaa import aggregate as d
from tilewright.reference.aggregate import Combination, captures, reduced, run_body, scanned
from tilewright.reference.batch import Batch
from tilewright.reference.evaluators import decoder, evaluator
from tilewright.reference.tile import shape
from tilewright.reference.walk import Crossing, Passage, leave

decoder(d.YieldOp)(leave)


@evaluator(d.ReduceOp)
def reduce(op: d.ReduceOp, at: Batch) -> Crossing:
    """Reduce elements along an axis."""
    return reduced(Combination(op.sources, op.axis, op.body), shape(op.results[0]), at)


@evaluator(d.ScanOp)
def scan(op: d.ScanOp, at: Batch) -> Crossing:
    """Inclusive or exclusive scan along an axis."""
    combination = Combination(op.sources, op.axis, op.body)
    identities = None if op.inclusive else op.identities
    return scanned(combination, at, identities, reverse=op.reverse)


@evaluator(d.GenerateOp)
def generate(op: d.GenerateOp, at: Batch) -> Crossing:
    """Generate a tile by running the body on the indices of each element."""
    extents = shape(op.result)
    blocks = at.count if captures(op.body) else 1
    lanes, *indices = np.indices((blocks, *extents), np.int32).reshape(len(extents) + 1, -1)
    _, (generated,), _ = yield from run_body(op.body, at, lanes, indices)
    return Passage(at, [generated.reshape(blocks, *extents)], [])
