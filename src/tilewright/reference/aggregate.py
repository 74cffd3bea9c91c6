"""Reduce and scan: the body combines elements along a dimension.

The body works on scalars. Each pair of elements runs as a block of its own, so that one
interpretation of the body combines many pairs at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from tilewright.dialects.arith.literals import pattern_of
from tilewright.dialects.cuda_tile import aggregate as d
from tilewright.ir.attributes import Attribute, FloatAttr, IntegerAttr, element_bytes
from tilewright.ir.operation import Region
from tilewright.ir.values import Value
from tilewright.reference import tile
from tilewright.reference.batch import Batch
from tilewright.reference.evaluators import evaluator
from tilewright.reference.tile import Array, element, per_block, shape
from tilewright.reference.walk import Crossing, Passage, walk

Columns = list[Array]
"""For each operand an array of shape (extent, blocks, other elements)."""


class Combination(NamedTuple):
    """Elements along an axis, and the body that combines them."""

    sources: Sequence[Value]
    axis: int
    body: Region

    def columns(self, at: Batch) -> tuple[Columns, int]:
        """The elements, and the number of blocks."""
        sources = [at[source] for source in self.sources]
        blocks = at.count if captures(self.body) else max(map(len, sources))
        columns = (np.moveaxis(per_block(source, blocks), self.axis + 1, 0) for source in sources)
        return [array.reshape(len(array), blocks, -1) for array in columns], blocks

    def combine(self, at: Batch, lhs: Columns, rhs: Columns) -> Crossing:
        """Run the body on pairs of elements."""
        extents = lhs[0].shape
        lanes = np.broadcast_to(np.arange(int(extents[1]))[:, np.newaxis], extents).reshape(-1)
        pairs = [side.reshape(-1) for pair in zip(lhs, rhs, strict=True) for side in pair]
        outcome = yield from run_body(self.body, at, lanes, pairs)
        return Passage(at, [value.reshape(extents) for value in outcome.results], [])

    def restored(self, column: Array) -> Array:
        """Reshape a column to a tile of the operands' shape."""
        blocks, extents = column.shape[1], shape(self.sources[0])
        around = extents[: self.axis] + extents[self.axis + 1 :]
        return np.moveaxis(column.reshape(len(column), blocks, *around), 0, self.axis + 1)


def captures(body: Region) -> bool:
    """Whether a body captures values from outside, which may differ between blocks."""
    inside: set[Value] = set(body.block.args)
    inside.update(value for inner in body.walk() for value in inner.results)
    return any(value not in inside for inner in body.walk() for value in inner.operands)


def run_body(body: Region, at: Batch, lanes: Array, arguments: Sequence[Array]) -> Crossing:
    """Run a body once per argument; `lanes` are the blocks of the arguments."""
    inner = at.narrow(lanes)
    inner.bind(body.block.args, arguments)
    (exit,) = yield from walk(body.block, inner)
    return Passage(at, [per_block(value, len(lanes)) for value in exit.values], [])


@evaluator(d.ReduceOp)
def reduce(op: d.ReduceOp, at: Batch) -> Crossing:
    """Reduce elements along a dimension."""
    return reduced(Combination(op.sources, op.dim, op.body), shape(op.results[0]), at)


def reduced(combination: Combination, result: tuple[int, ...], at: Batch) -> Crossing:
    """Combine adjacent pairs until one element is left, which needs associativity only."""
    columns, blocks = combination.columns(at)
    while len(columns[0]) > 1:
        even, odd = [column[0::2] for column in columns], [column[1::2] for column in columns]
        _, columns, _ = yield from combination.combine(at, even, odd)
    return Passage(at, [column.reshape(blocks, *result) for column in columns], [])


@evaluator(d.ScanOp)
def scan(op: d.ScanOp, at: Batch) -> Crossing:
    """Inclusive or exclusive scan along a dimension."""
    combination = Combination(op.sources, op.dim, op.body)
    identities = op.identities if op.inclusive is False else None
    return scanned(combination, at, identities, reverse=op.reverse)


def scanned(
    combination: Combination, at: Batch, identities: Iterable[Attribute] | None, *, reverse: bool
) -> Crossing:
    """Scan along an axis; with identities the scan is exclusive, and begins with them."""
    _, columns, _ = yield from _prefixes(combination, at, reverse=reverse)
    if identities is not None:
        firsts = map(_identity, identities, combination.sources)
        pairs = zip(columns, firsts, strict=True)
        columns = [_shifted(column, first, reverse=reverse) for column, first in pairs]
    return Passage(at, [combination.restored(column) for column in columns], [])


def _identity(number: Attribute, source: Value) -> Array:
    assert isinstance(number, IntegerAttr | FloatAttr)
    kind = element(source)
    return tile.constant(pattern_of(number).to_bytes(element_bytes(kind), "little"), kind, ())


def _shifted(column: Array, identity: Array, *, reverse: bool) -> Array:
    """Convert an inclusive scan to an exclusive one, with the identity first."""
    first = np.broadcast_to(identity, column[:1].shape)
    return np.concatenate([column[1:], first] if reverse else [first, column[:-1]])


def _prefixes(combination: Combination, at: Batch, *, reverse: bool) -> Crossing:
    """Scan by combining elements at distance 1, 2, 4 and so on (Hillis-Steele)."""
    columns, _ = combination.columns(at)
    if reverse:
        columns = [column[::-1] for column in columns]
    distance = 1
    while distance < len(columns[0]):
        before, after = [c[:-distance] for c in columns], [c[distance:] for c in columns]
        _, combined, _ = yield from combination.combine(at, before, after)
        joined = zip(columns, combined, strict=True)
        columns = [np.concatenate([column[:distance], new]) for column, new in joined]
        distance *= 2
    return Passage(at, [column[::-1] for column in columns] if reverse else columns, [])
