"""Stores of what a warp holds: the layout of a store follows that of the accumulators it is from.

A coalesced store spreads the rows of a tile over all warps; a warp of a dot holds some rows of
the accumulators. If each warp stores its own rows, the conversion between both layouts exchanges
data within warps alone: it needs no barrier, and warpgroups that do not wait for each other store
while others multiply.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileas.attributes import in_shared_memory, laid_out, layout_of
from tilewright.dialects.nv_tileas.memory import TiledStoreOp
from tilewright.dialects.nv_tileas.shape import (
    ConvertLayoutOp,
    ExpandDimsOp,
    PermuteOp,
    Rearrangement,
    ViewOp,
)
from tilewright.dialects.nv_tileas.types import register_bytes
from tilewright.ir.passes import Pass
from tilewright.layout.transfer import Move, transfer
from tilewright.layout.warp_stores import warp_stores
from tilewright.transforms.nv_tileas.stage_copies import led_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.operation import Operation
    from tilewright.layout.linear import Layout
    from tilewright.support.diagnostics import Sink


class LocalizeStores(Pass):
    """Let each warp store the elements that it holds, where it holds whole lines of memory."""

    name = "localize-stores"

    def run(self, op: Operation, sink: Sink) -> None:
        for convert in [inner for inner in op.walk() if isinstance(inner, ConvertLayoutOp)]:
            stored = _stored_tile(convert)
            layout = None if stored is None else _local_layout(convert, stored)
            if stored is not None and layout is not None:
                _convert_to(convert, stored, layout)


class StoredTile(NamedTuple):
    """A converted tile that is only stored, after shape operations that reorder nothing."""

    shape_ops: Sequence[Rearrangement]
    store: TiledStoreOp


def _stored_tile(convert: ConvertLayoutOp) -> StoredTile | None:
    """The store of a converted tile, if it has no other use."""
    shape_ops: list[Rearrangement] = []
    tile = convert.result
    while tile.has_one_use:
        user = next(iter(tile.users))
        if isinstance(user, TiledStoreOp):
            return StoredTile(shape_ops, user)
        if not isinstance(user, ViewOp | ExpandDimsOp | PermuteOp):
            return None
        shape_ops.append(user)
        tile = user.result
    return None


def _local_layout(convert: ConvertLayoutOp, stored: StoredTile) -> Layout | None:
    """The layout of a converted tile that does not leave its warps; None if there is none."""
    if in_shared_memory(convert.result):
        return None
    source = layout_of(convert.source)
    if transfer(source, layout_of(convert.result)).move is not Move.SHARED:
        return None
    for op in stored.shape_ops:
        source = led_on(op, source)
    store = stored.store
    bytes = register_bytes(element_of(store.tile.type))
    layout = warp_stores(source, layout_of(store.tile), store.vector, bytes)
    if layout is None:
        return None
    for op in reversed(stored.shape_ops):
        layout = op.led_back(layout)
    return layout


def _convert_to(convert: ConvertLayoutOp, stored: StoredTile, layout: Layout) -> None:
    """Convert a tile to another layout, and store it in that."""
    element = element_of(convert.result.type)
    tile = convert.source
    old: list[Operation] = [convert, *stored.shape_ops]
    for op in old:
        layout = led_on(op, layout) if isinstance(op, Rearrangement) else layout
        made = op.like([tile], [laid_out(element, layout)])
        made.insert_before(op)
        tile = made.results[0]
    stored.store.replace_operand(old[-1].results[0], tile)
    for op in reversed(old):
        op.erase()
