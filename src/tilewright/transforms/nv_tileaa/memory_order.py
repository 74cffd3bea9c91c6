"""Loads of tiles whose dimensions are not in the order of memory, replaced by loads and permutes.

A stage of a pipeline has the tile as memory has it. K of attention is loaded with its dimensions
exchanged; in the order of memory, K and V have stages of one type, and may share a pipeline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from tilewright.dialects.nv_tileaa.shape import PermuteOp
from tilewright.dialects.nv_tileaa.types import TiledViewType
from tilewright.dialects.nv_tileaa.view import BlockTileOp, TiledLoadOp, tiled_view
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.types import TensorType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.values import Value

T = TypeVar("T")


def in_memory_order(type: TiledViewType) -> TiledViewType:
    """The view with the dimensions of its tiles in the order of the source."""
    return TiledViewType(
        _ordered(type.tile, type),
        type.source,
        _ordered(type.steps, type),
        padding=type.padding,
    )


class MemoryOrder:
    """Replaces loads of a function, with one view for all that have the same."""

    __slots__ = ("_views",)

    def __init__(self) -> None:
        self._views: dict[Value, Value] = {}

    def load(self, load: TiledLoadOp) -> None:
        """Load a tile in the order of memory, and permute it."""
        old, view = tiled_view(load.view), self._view(load)
        if view is None:
            return
        type = tiled_view(view)
        operands = list(load.operands)
        at = operands.index(load.view)
        operands[at : at + 1 + old.rank] = [view, *_ordered(load.indices, old)]
        tile = TensorType(type.tile, type.source.element)
        build = Builder(InsertPoint.before(load), load.location)
        new = build.insert(load.like(operands, [tile, load.result_token.type]))
        if load.in_bounds is not None:
            new.in_bounds = _ordered(load.in_bounds, old)
        permuted = build.create(PermuteOp, source=new.tile, order=old.dims, types=[load.tile.type])
        load.tile.replace_all_uses_with(permuted.result)
        load.result_token.replace_all_uses_with(new.result_token)
        load.erase()

    def _view(self, load: TiledLoadOp) -> Value | None:
        """The view in the order of memory; None if that of the load is."""
        old, cutter = tiled_view(load.view), load.view.defined_by(BlockTileOp)
        if cutter is None or old.sparse is not None or old.dims == tuple(range(old.rank)):
            return None
        if load.view not in self._views:
            build = Builder(InsertPoint.after(cutter), cutter.location)
            types = [in_memory_order(old)]
            made = build.create(BlockTileOp, source=cutter.source, types=types)
            self._views[load.view] = made.result
        return self._views[load.view]


def _ordered(values: Sequence[T], type: TiledViewType) -> tuple[T, ...]:
    """What belongs to the dimensions of a tile, in the order of the source."""
    return tuple(values[type.dims.index(dim)] for dim in range(type.rank))
