"""Descriptors of tensor maps: the box that one copies, its element type and its swizzle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.gpu.attributes import SHARED_SPACE
from tilewright.dialects.nv_tileas.tensor_map import boxes_of
from tilewright.dialects.nvgpu.attributes import Swizzle
from tilewright.dialects.nvgpu.types import TensorMapDescriptorType
from tilewright.ir.types import MemRefType
from tilewright.layout.swizzle import CHUNK

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileas.types import TensorMapType

SWIZZLES: Final = {each.span or CHUNK: each for each in Swizzle}
"""By the bytes of a swizzled row; 16 is no swizzle."""


def descriptor_type(map: TensorMapType) -> TensorMapDescriptorType:
    """The type of the tensor map that copies one box of a tile."""
    boxes = boxes_of(map)
    # TMA rounds to tf32 if that is the type of the map.
    box = MemRefType(boxes.extents, map.tile.element, None, SHARED_SPACE)
    return TensorMapDescriptorType(box, SWIZZLES[boxes.span])
