"""Stores of what a warp holds: the layout of a store follows that of the accumulators it is from.

A coalesced store spreads the rows of a tile over all warps; a warp of a dot holds some rows of
the accumulators. If each warp stores its own rows, the conversion between both layouts exchanges
data within warps alone: it needs no barrier, and warpgroups that do not wait for each other store
while others multiply. The conversion is the last operation before the store, where elements are
narrow already. Between warps, a large tile is exchanged in pieces that some warps hold alone: all
registers of the source stay live beside those of the result. Within warps, both shrink and grow
piece by piece.

An atomic operation on a tile of a view returns no tile: it is a store of single elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.conversion import ConversionOp
from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileas.attributes import in_shared_memory, laid_out, layout_of
from tilewright.dialects.nv_tileas.memory import TiledAtomicRmwOp, TiledStoreOp
from tilewright.dialects.nv_tileas.shape import (
    ConvertLayoutOp,
    ExpandDimsOp,
    PermuteOp,
    Rearrangement,
    ViewOp,
)
from tilewright.dialects.nv_tileas.types import register_bytes
from tilewright.layout.transfer import Move, transfer
from tilewright.layout.warp_stores import warp_stores
from tilewright.transforms.kernel_pass import KernelPass
from tilewright.transforms.nv_tileas.stage_reads import led_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.layout.linear import Layout
    from tilewright.support.diagnostics import Sink


class LocalizeStores(KernelPass):
    """Let each warp store the elements that it holds, where it holds whole lines of memory."""

    name = "localize-stores"
    change = Change.IMPROVE

    def run_on(self, function: FuncOp, sink: Sink) -> None:
        for convert in [inner for inner in function.walk() if isinstance(inner, ConvertLayoutOp)]:
            stored = None if in_shared_memory(convert.result) else _stored_tile(convert)
            if stored is None or not _crosses_warps(convert):
                continue
            layout = _local_layout(stored)
            if layout is not None or stored.is_narrowed:
                _convert_last(stored, layout or layout_of(stored.store.tile))


class StoredTile(NamedTuple):
    """A converted tile that is only stored, after operations that take any layout."""

    convert: ConvertLayoutOp
    ops: Sequence[Rearrangement | ConversionOp]
    store: TiledStoreOp | TiledAtomicRmwOp

    @property
    def is_narrowed(self) -> bool:
        """Whether its elements are narrower when it is stored."""
        converted, stored = self.convert.result.type, self.store.tile.type
        return register_bytes(element_of(stored)) < register_bytes(element_of(converted))


def _stored_tile(convert: ConvertLayoutOp) -> StoredTile | None:
    """The store of a converted tile, if it has no other use."""
    ops: list[Rearrangement | ConversionOp] = []
    tile = convert.result
    while tile.has_one_use:
        user = next(iter(tile.users))
        if isinstance(user, TiledStoreOp | TiledAtomicRmwOp):
            return StoredTile(convert, ops, user)
        if not isinstance(user, ViewOp | ExpandDimsOp | PermuteOp | ConversionOp):
            return None
        ops.append(user)
        tile = user.results[0]
    return None


def _crosses_warps(convert: ConvertLayoutOp) -> bool:
    exchange = transfer(layout_of(convert.source), layout_of(convert.result))
    return exchange.move is Move.SHARED


def _local_layout(stored: StoredTile) -> Layout | None:
    """The layout of the store in which no element leaves its warp; None if there is none."""
    layout, store = layout_of(stored.convert.source), stored.store
    for op in stored.ops:
        layout = led_on(op, layout) if isinstance(op, Rearrangement) else layout
    bytes = register_bytes(element_of(store.tile.type))
    vector = store.vector if isinstance(store, TiledStoreOp) else 1
    return warp_stores(layout, layout_of(store.tile), vector, bytes)


def _convert_last(stored: StoredTile, layout: Layout) -> None:
    """Convert a tile to the layout of its store right before it."""
    tile = stored.convert.source
    for op in stored.ops:
        own = layout_of(tile)
        own = led_on(op, own) if isinstance(op, Rearrangement) else own
        made = op.like([tile], [laid_out(element_of(op.results[0].type), own)])
        made.insert_before(op)
        tile = made.results[0]
    type = laid_out(element_of(tile.type), layout)
    last = stored.convert.like([tile], [type])
    last.insert_before(stored.store)
    stored.store.replace_operand(stored.store.tile, last.results[0])
    for op in reversed((stored.convert, *stored.ops)):
        op.erase()
