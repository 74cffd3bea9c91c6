"""Operations whose body says how elements come about: reduce, scan, generate."""

from __future__ import annotations

import numpy as np

from tilewright.dialects.arith.literals import pattern_of
from tilewright.dialects.nv_tileaa import aggregate as d
from tilewright.ir.attributes import FloatAttr, IntegerAttr, element_bytes
from tilewright.reference import tile
from tilewright.reference.aggregate import Combination, captures, reduced, run_body, scanned
from tilewright.reference.batch import Batch
from tilewright.reference.meanings import meaning
from tilewright.reference.tile import Array, element, shape
from tilewright.reference.walk import Crossing, Passage, leave

meaning(d.YieldOp)(leave)


@meaning(d.ReduceOp)
def reduce(op: d.ReduceOp, at: Batch) -> Crossing:
    """All elements along an axis become one."""
    return reduced(Combination(op.sources, op.axis, op.body), shape(op.results[0]), at)


@meaning(d.ScanOp)
def scan(op: d.ScanOp, at: Batch) -> Crossing:
    """Each element is combined with those before it."""
    what = Combination(op.sources, op.axis, op.body)
    _, columns, _ = yield from scanned(what, at, reverse=op.reverse)
    if not op.inclusive:
        columns = [_shifted(op, place, column) for place, column in enumerate(columns)]
    return Passage(at, [what.restored(column) for column in columns], [])


def _shifted(op: d.ScanOp, place: int, column: Array) -> Array:
    """What is before each element alone; the first one has what combines with nothing."""
    first = np.broadcast_to(_identity(op, place), column[:1].shape)
    parts = [column[1:], first] if op.reverse else [first, column[:-1]]
    return np.concatenate(parts)


def _identity(op: d.ScanOp, place: int) -> Array:
    assert op.identities is not None
    number, kind = list(op.identities)[place], element(op.sources[place])
    assert isinstance(number, IntegerAttr | FloatAttr)
    return tile.constant(pattern_of(number).to_bytes(element_bytes(kind), "little"), kind, ())


@meaning(d.GenerateOp)
def generate(op: d.GenerateOp, at: Batch) -> Crossing:
    """A tile whose elements the body makes, each from its indices."""
    extents = shape(op.result)
    blocks = at.count if captures(op.body) else 1
    lanes, *indices = np.indices((blocks, *extents), np.int32).reshape(len(extents) + 1, -1)
    _, (made,), _ = yield from run_body(op.body, at, lanes, indices)
    return Passage(at, [made.reshape(blocks, *extents)], [])
