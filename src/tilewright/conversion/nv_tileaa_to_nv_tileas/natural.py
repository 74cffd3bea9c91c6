"""The layouts in which memory is best accessed: neighbours in memory beside each other."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

from tilewright.conversion.nv_tileaa_to_nv_tileas.vectors import reach
from tilewright.dialects.nv_tileaa import atomics, memory, view
from tilewright.dialects.nv_tileaa.constraints import count, shape
from tilewright.layout.linear import REGISTER
from tilewright.layout.spread import spread
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from tilewright.analysis.axis import AxisFacts
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


class Access(NamedTuple):
    """How the threads of a block access a tile in memory."""

    layout: Layout
    vector: int
    """How many registers go at once."""
    dim: int
    """Along which dimension of the tile they lie side by side."""


def accessed(op: Operation) -> Value | None:
    """The tile that an operation loads, stores or combines with memory, if it does."""
    match op:
        case memory.LoadOp() | atomics.AtomicOp():
            return op.result
        case memory.StoreOp():
            return op.value
        case view.TileLoadOp() | view.TileStoreOp() | view.TiledAtomicRmwOp():
            return op.tile
        case _:
            return None


def natural(op: Operation, tile: Value, warps: int, facts: AxisFacts) -> Access:
    """The best way for so many warps to access a tile: no warp is idle for a wider vector."""
    extents = shape(tile.type)
    dim, vector = reach(op, tile, facts)
    vector = max(min(vector, count(tile.type) // (warps * WARP_SIZE)), 1)
    order = [dim, *(other for other in reversed(range(len(extents))) if other != dim)]
    return Access(spread(extents, warps, vector=vector, order=order), vector, dim)


def settled(access: Access, layout: Layout) -> Access:
    """The same access in the layout that others have chosen, as wide as that allows."""
    return Access(layout, min(access.vector, _beside(layout, access.dim)), access.dim)


def _beside(layout: Layout, dim: int) -> int:
    """How many of a thread's first registers lie side by side along a dimension."""
    stride = prod(layout.shape[dim + 1 :])
    length = 1
    for vector in layout.vectors(REGISTER):
        if vector != length * stride or length == layout.shape[dim]:
            break
        length *= 2
    return length
