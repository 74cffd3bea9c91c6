"""Tensor maps, by which TMA copies tiles of views into the stages of a pipeline.

A kernel gets pointers, not tensor maps: the warp that issues the copies encodes the maps itself, in
a slot of global memory that belongs to the block until it releases the maps. A launcher that
encodes maps passes them as parameters; then the warp only prefetches them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import pointee_bytes
from tilewright.dialects.nv_tileaa.attributes import PaddingValue
from tilewright.dialects.nv_tileaa.constraints import TILED_VIEW
from tilewright.dialects.nv_tileas.agents import agent_of
from tilewright.dialects.nv_tileas.attributes import layout_of
from tilewright.dialects.nv_tileas.types import TENSOR_MAP, TensorMapType, tensor_map
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I64_ATTR
from tilewright.ir.operation import Operation
from tilewright.ir.types import DYNAMIC, TF32, FloatType, IntegerType
from tilewright.layout.tma_boxes import NoBoxes, TilePart, TmaBoxes, part_of, tma_boxes
from tilewright.support.tensor_map_parameters import STRIDE_LIMIT
from tilewright.target.engines import TMA

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.types import MemrefType, TiledViewType

MAX_MAPS: Final = 32
"""Maps that the lanes of a warp encode at the same time."""


class CreateTensorMapsOp(Operation):
    """Encode a tensor map for each view; an agent of one warp does.

    Memory starts at a multiple of 16 bytes, and so do its rows: all strides but that of the
    contiguous dimension are multiples of 16 bytes, and below 2**40 bytes. Elements from coordinate
    2**31 on count as out of bounds. The maps have to be released before the block ends.
    """

    name = "nv_tileas.create_tensor_maps"
    syntax = "$views attr-dict `:` type($views) `->` type($maps)"

    views = d.operands(TILED_VIEW)
    scratch = d.optional_attribute(I64_ATTR)
    """The byte offset of the memory in which the maps are encoded, 128 bytes for each."""
    maps = d.results(TENSOR_MAP)

    def verify(self) -> Iterator[str]:
        if not 1 <= len(self.views) <= MAX_MAPS or len(self.maps) != len(self.views):
            actual = f"{len(self.views)} views and {len(self.maps)} maps"
            yield f"expected 1 to {MAX_MAPS} views, and a map for each, got {actual}"
            return
        for view, map in zip(self.views, self.maps, strict=True):
            type = tensor_map(map)
            if type.view is not view.type:
                yield f"expected a map of '{view.type}', got one of '{type.view}'"
            try:
                part_boxes(type)
            except NoBoxes as error:
                yield str(error)

    def verify_context(self) -> Iterator[str]:
        yield from _agent_problems(self)
        users = [user for map in self.maps for user in map.users]
        if not any(isinstance(user, ReleaseTensorMapsOp) for user in users):
            yield "expected maps that are released"


class ReleaseTensorMapsOp(Operation):
    """End the lifetime of the maps of one creation.

    All copies through them have completed: consumers have released the stages that they filled.
    """

    name = "nv_tileas.release_tensor_maps"
    syntax = "$maps attr-dict `:` type($maps)"

    maps = d.operands(TENSOR_MAP)

    def verify_context(self) -> Iterator[str]:
        creation = self.creation
        if creation is None or tuple(creation.maps) != tuple(self.maps):
            yield "expected all maps of one creation, in order"

    @property
    def creation(self) -> CreateTensorMapsOp | None:
        """The operation that created the maps."""
        return self.maps[0].defined_by(CreateTensorMapsOp) if self.maps else None


class PrefetchTensorMapsOp(Operation):
    """Prefetch tensor maps that are parameters of the kernel; an agent of one warp does."""

    name = "nv_tileas.prefetch_tensor_maps"
    syntax = "$maps attr-dict `:` type($maps)"

    maps = d.operands(TENSOR_MAP)

    def verify_context(self) -> Iterator[str]:
        yield from _agent_problems(self)
        if any(map.defining_op() is not None for map in self.maps):
            yield "expected maps that are parameters of the kernel"


def _agent_problems(op: Operation) -> Iterator[str]:
    """Check that an agent of one warp executes an operation."""
    agent = agent_of(op)
    if agent is None or agent.warps != 1:
        actual = "all warps" if agent is None else f"{agent.warps}"
        yield f"expected an agent of one warp, got {actual}"


def boxes_of(type: TensorMapType) -> TmaBoxes:
    """The boxes by which TMA copies a tile of a view; `NoBoxes` says why it cannot."""
    view, element = type.view, type.view.source.element
    if view.sparse is not None:
        raise NoBoxes("expected a view without a sparse dimension")
    if view.padding not in (None, PaddingValue.ZERO):
        message = f"expected zeros as padding, got '{view.padding.keyword}'"
        raise NoBoxes(message)
    has_width = isinstance(element, IntegerType | FloatType) and element.width in TMA.element_bits
    if not has_width and element is not TF32:
        message = f"expected elements of 8, 16, 32 or 64 bits, got '{element}'"
        raise NoBoxes(message)
    return tma_boxes(layout_of(type.tile), pointee_bytes(element), tile_order(view), type.parts)


def part_boxes(type: TensorMapType) -> TilePart:
    """The boxes of one part of a tile; `NoBoxes` says why there are no such parts."""
    return part_of(boxes_of(type), type.parts)


def tile_order(view: TiledViewType) -> tuple[int, ...]:
    """The dimensions of a tile in the order of memory, the contiguous one last."""
    return tuple([view.dims.index(dimension) for dimension in memory_order(view.source)])


def memory_order(source: MemrefType) -> tuple[int, ...]:
    """The dimensions of memory, the contiguous one last; `NoBoxes` if TMA takes no such strides."""
    dimensions = range(source.rank)
    unit = [number for number in dimensions if source.strides[number] == 1]
    # The stride along an extent of 1 is never taken.
    contiguous = [number for number in unit if source.shape[number] != 1] or unit[-1:]
    if len(contiguous) != 1:
        message = f"expected one dimension with a stride of 1, got '{source}'"
        raise NoBoxes(message)
    others = [number for number in dimensions if number not in contiguous]
    bytes = pointee_bytes(source.element)
    for number in others:
        stride = source.strides[number]
        if source.shape[number] == 1 or stride == DYNAMIC:
            continue
        if stride * bytes % TMA.alignment:
            message = (
                f"expected strides that are multiples of {TMA.alignment} bytes, got '{source}'"
            )
            raise NoBoxes(message)
        if stride * bytes >= STRIDE_LIMIT:
            message = f"expected strides below {STRIDE_LIMIT} bytes, got '{source}'"
            raise NoBoxes(message)
    return (*others, *contiguous)
