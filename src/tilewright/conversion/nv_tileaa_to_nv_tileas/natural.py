"""The layouts in which memory is best accessed: neighbours in memory beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.dialects.nv_tileaa import atomics, memory, view
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.view import tiled_view
from tilewright.layout.spread import spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


class Access(NamedTuple):
    """How the threads of a block access a tile in memory."""

    layout: Layout
    vector: int
    """How many registers go at once."""


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


def natural(op: Operation, tile: Value, warps: int) -> Access:
    """The best way for so many warps to access a tile."""
    extents = shape(tile.type)
    vector = 1
    return Access(spread(extents, warps, vector=vector, order=memory_order(op, extents)), vector)


def memory_order(op: Operation, extents: Sequence[int]) -> list[int]:
    """The dimensions of the tile, the one whose neighbours lie side by side in memory first."""
    order = list(range(len(extents) - 1, -1, -1))
    if not isinstance(op, view.TileAccessOp):
        return order
    type = tiled_view(op.operands[0] if isinstance(op, view.TileLoadOp) else op.operands[1])
    strides = [type.source.strides[dim] for dim in type.dims]
    if 1 in strides:
        fastest = strides.index(1)
        order.remove(fastest)
        order.insert(0, fastest)
    return order
