"""Stores by TMA: each warp stages what it holds of a tile, and one lane stores it box by box."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from math import prod
from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa import view as tileaa_view
from tilewright.dialects.nv_tileaa.attributes import RMW_MODE, MemSemantic, RmwMode
from tilewright.dialects.nv_tileas.async_copy import AllocTensorOp, residency_problems
from tilewright.dialects.nv_tileas.attributes import laid_out, layout_of
from tilewright.dialects.nv_tileas.residency import LAID_OUT
from tilewright.dialects.nv_tileas.tensor_map import boxes_of, tile_order
from tilewright.dialects.nv_tileas.types import (
    BUFFER,
    TENSOR_MAP,
    TensorMapType,
    buffer,
    tensor_map,
)
from tilewright.ir import declare as d
from tilewright.ir.operation import Operation
from tilewright.ir.types import F32, I32
from tilewright.layout.linear import WARP
from tilewright.layout.tma_boxes import NoBoxes
from tilewright.layout.warp_boxes import warp_boxes

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.types import TiledViewType
    from tilewright.ir.attributes import Type
    from tilewright.layout.linear import Layout
    from tilewright.layout.warp_boxes import WarpBoxes


REDUCTIONS: Final[Mapping[Type, Collection[RmwMode]]] = {
    F32: (RmwMode.ADDF,),
    I32: (RmwMode.ADD, RmwMode.AND, RmwMode.OR, RmwMode.XOR),
}
"""The modes of atomic accesses to views that TMA has, by element type."""


class AsyncTiledStoreOp(tileaa_view.TiledStoreOp):
    """Start to store one tile of a view by TMA, through its tensor map.

    Each warp writes the elements that it holds to stages of the buffer that are its own, a box at a
    time, and one lane starts to store the box. A stage is written again when its last box has been
    read. The buffer has as many stages for each warp, at most one for each box of the warp. The
    stores are complete after a `store_wait`. No token orders one after writes of threads to the
    same memory. With `rmw_mode` the elements are combined with those of the view, atomically.
    """

    name = "nv_tileas.async.tiled_store"
    traits = (*tileaa_view.TiledStoreOp.traits, LAID_OUT)
    syntax = (
        "custom<Ordering>($semantic, $scope) $tile `,` $view `[` $indices `]` `map` `=` $map "
        "`buffer` `=` $buffer (`token` `=` $token^)? attr-dict `:` type($tile) `,` "
        "custom<Indexed>($view, $indices) `,` type($map) `,` type($buffer)"
    )

    map = d.operand(TENSOR_MAP)
    buffer = d.operand(BUFFER)
    mode = d.optional_attribute(RMW_MODE, spelling="rmw_mode")

    @property
    def boxes(self) -> WarpBoxes:
        """The boxes of each warp."""
        return stored_boxes(layout_of(self.tile), tileaa_view.tiled_view(self.view))

    @property
    def stages(self) -> int:
        """The stages of the buffer that each warp has."""
        return buffer(self.buffer).stages // layout_of(self.tile).extent(WARP)

    def verify(self) -> Iterator[str]:
        problems = list(super().verify())
        yield from problems
        semantic = MemSemantic.WEAK if self.mode is None else MemSemantic.RELAXED
        if self.semantic is not semantic or self.volatile:
            yield f"expected a {semantic.keyword} access that is not volatile"
        element = element_of(self.tile.type)
        if self.mode is not None and self.mode not in REDUCTIONS.get(element, ()):
            yield f"cannot reduce '{element}' by '{self.mode.keyword}'"
        if problems:
            return
        try:
            expected = store_map_type(layout_of(self.tile), tileaa_view.tiled_view(self.view))
        except NoBoxes as error:
            yield str(error)
            return
        if self.map.type is not expected:
            yield f"expected a map of type '{expected}', got '{self.map.type}'"
            return
        yield from self._buffer_problems()

    def verify_context(self) -> Iterator[str]:
        if self.buffer.defined_by(AllocTensorOp) is None:
            yield "expected a buffer straight from its allocation"

    def _buffer_problems(self) -> Iterator[str]:
        type, boxes, warps = buffer(self.buffer), self.boxes, layout_of(self.tile).extent(WARP)
        yield from residency_problems("a buffer", type)
        box = boxes_of(tensor_map(self.map)).extents
        if type.shape != box or type.element is not element_of(self.tile.type):
            yield f"expected stages that hold a box, {box}, got '{type}'"
        elif type.stages % warps or boxes.per_warp % max(type.stages // warps, 1):
            wanted = f"stages for {warps} warps, a divisor of {boxes.per_warp} boxes each"
            yield f"expected {wanted}, got {type.stages}"


class StoreWaitOp(Operation):
    """Wait until all stores by TMA that the threads have started are complete.

    Afterwards the lanes of a warp see what the warp has stored; a barrier makes it visible to the
    other warps.
    """

    name = "nv_tileas.async.store_wait"
    syntax = "attr-dict"


def stored_boxes(layout: Layout, view: TiledViewType) -> WarpBoxes:
    """The boxes by which each warp stores what it holds of a tile; `NoBoxes` says why it cannot."""
    boxes = warp_boxes(layout, pointee_bytes(view.source.element), tile_order(view))
    type = TensorMapType(view, laid_out(view.source.element, boxes.placement))
    extents = boxes_of(type).extents
    if prod(extents) != boxes.box:
        message = f"expected boxes of {boxes.box} elements, got {extents}"
        raise NoBoxes(message)
    return boxes


def store_map_type(layout: Layout, view: TiledViewType) -> TensorMapType:
    """The type of the tensor map by which warps store a tile in a layout."""
    placement = stored_boxes(layout, view).placement
    return TensorMapType(view, laid_out(view.source.element, placement))
