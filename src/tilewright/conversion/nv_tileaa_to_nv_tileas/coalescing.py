"""Coalesced layouts: neighbouring lanes access neighbouring elements, in vectors where possible."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

from tilewright.conversion.nv_tileaa_to_nv_tileas.vectorize import vectorize
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.constraints import count, shape
from tilewright.dialects.nv_tileaa.multimem import MULTIMEM_WORD, AnyMultimemOp
from tilewright.layout.linear import REGISTER
from tilewright.layout.spread import spread
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.analysis.axis import AxisFacts
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


class MemoryAccess(NamedTuple):
    """How the threads of a block access a tile in memory."""

    layout: Layout
    vector: int
    """The number of elements of one load or store instruction."""
    dim: int
    """The dimension of the tile along which these are contiguous."""
    whole: int
    """How many of them are certainly all in bounds, or all out of bounds."""
    least: int = 1
    """The fewest elements that an instruction can access, if there are as many at once."""

    @property
    def is_partial(self) -> bool:
        """Whether only some elements of an instruction may be in bounds."""
        return self.vector > self.whole


def coalesced(op: Operation, tile: Value, warps: int, facts: AxisFacts) -> MemoryAccess:
    """The coalesced access of `warps` warps to a tile; no warp is idle for a wider vector."""
    extents = shape(tile.type)
    dim, vector, whole = vectorize(op, tile, facts)
    least = min(_least(op, tile), vector)
    vector = max(min(vector, count(tile.type) // (warps * WARP_SIZE)), least)
    return MemoryAccess(_spread_along(extents, warps, vector, dim), vector, dim, whole, least)


def _least(op: Operation, tile: Value) -> int:
    """Accesses of multimem addresses are of 4 bytes or more."""
    size = pointee_bytes(element_of(tile.type))
    return max(MULTIMEM_WORD // size, 1) if isinstance(op, AnyMultimemOp) else 1


def in_layout(access: MemoryAccess, layout: Layout) -> MemoryAccess:
    """The same access in another layout, with the widest vector that layout allows."""
    vector = min(access.vector, _contiguous(layout, access.dim))
    return MemoryAccess(layout, vector, access.dim, access.whole, access.least)


def is_narrowed(access: MemoryAccess, layout: Layout, warps: int) -> bool:
    """Whether a layout is a coalesced one for an access, with vectors that are at most as wide."""
    vector = _contiguous(layout, access.dim)
    coalesced = _spread_along(layout.shape, warps, vector, access.dim)
    return access.least <= vector <= access.vector and layout == coalesced


def _spread_along(extents: Sequence[int], warps: int, vector: int, dim: int) -> Layout:
    """A tile spread over all threads, neighbours along a dimension side by side."""
    order = [dim, *(other for other in reversed(range(len(extents))) if other != dim)]
    return spread(extents, warps, vector=vector, order=order)


def _contiguous(layout: Layout, dim: int) -> int:
    """The number of a thread's first registers that are contiguous along a dimension."""
    stride = prod(layout.shape[dim + 1 :])
    length = 1
    for vector in layout.vectors(REGISTER):
        if vector != length * stride or length == layout.shape[dim]:
            break
        length *= 2
    return length
