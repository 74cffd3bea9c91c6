"""Tensor maps: the descriptor of one, and whether TMA reaches the tiles of a view.

Its coordinates, extents and strides have limits.

A coordinate is a signed 32-bit integer, so TMA reaches the first 2**31 elements along a dimension.
An extent has 32 bits; a larger one saturates. A tile is right nevertheless along a dimension

- of at most 2**31 elements: the extent is exact, and what coordinates do not reach is out of
  bounds; or
- where it ends at 2**31 or before: an element of it is below the saturated extent if and only if it
  is below the exact one.

Sizes, strides and indices are unsigned, so a view of i32 needs a proof, too. A stride has less than
2**40 bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.tensor_divisors import origin_of
from tilewright.dialects.elements import pointee_bytes
from tilewright.dialects.gpu.attributes import SHARED_SPACE
from tilewright.dialects.nv_tileaa.view import BlockTileOp, tiled_view
from tilewright.dialects.nv_tileas.tensor_map import boxes_of
from tilewright.dialects.nvgpu.attributes import Swizzle
from tilewright.dialects.nvgpu.types import TensorMapDescriptorType
from tilewright.ir.types import DYNAMIC, MemRefType
from tilewright.layout.swizzle import CHUNK
from tilewright.support.tensor_map_parameters import COORDINATES, STRIDE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.analysis.ranges import Ranges
    from tilewright.dialects.nv_tileaa.types import TiledViewType
    from tilewright.dialects.nv_tileas.types import TensorMapType
    from tilewright.ir.values import Value

SWIZZLES: Final = {each.span or CHUNK: each for each in Swizzle}
"""By the bytes of a swizzled row; 16 is no swizzle."""


def descriptor_type(map: TensorMapType) -> TensorMapDescriptorType:
    """The type of the tensor map that copies one box of a tile."""
    boxes = boxes_of(map)
    # TMA rounds to tf32 if that is the type of the map.
    box = MemRefType(boxes.extents, map.tile.element, None, SHARED_SPACE)
    return TensorMapDescriptorType(box, SWIZZLES[boxes.span])


def limit_problem(
    tiles: Value, indices: Sequence[Value], ranges: Ranges, *, is_store: bool = False
) -> str | None:
    """Why TMA may not reach the tile of a view at some indices; None if it does."""
    type, block = tiled_view(tiles), tiles.defined_by(BlockTileOp)
    made = None if block is None else origin_of(block.source)
    sizes = _largest(type.source.shape, () if made is None else made.sizes, ranges)
    strides = _largest(type.source.strides, () if made is None else made.strides, ranges)
    for number, (dim, index) in enumerate(zip(type.dims, indices, strict=True)):
        size, step = sizes[dim], type.counted[number]
        reached = reached_tiles(type, number) * step if is_store else COORDINATES
        end = ranges.of(index).uhigh * step + type.tile[number]
        if (size is None or size > reached) and end > COORDINATES:
            return f"its coordinates are not known to be below {COORDINATES}"
    bytes = pointee_bytes(type.source.element)
    for size, stride in zip(type.source.shape, strides, strict=True):
        if size != 1 and (stride is None or stride * bytes >= STRIDE_LIMIT):
            return f"its strides are not known to be below {STRIDE_LIMIT} bytes"
    return None


def reached_tiles(view: TiledViewType, dimension: int) -> int:
    """How many tiles along a dimension end where coordinates do, or before: a store has no others.

    A load has boxes that start beyond and are out of bounds, which a store must not have.
    """
    return (COORDINATES - view.tile[dimension]) // view.counted[dimension] + 1


def _largest(numbers: Sequence[int], operands: Sequence[Value], ranges: Ranges) -> list[int | None]:
    """Upper bounds of numbers: dynamic ones are operands, in order. None: nothing is known."""
    rest = iter(operands)
    largest: list[int | None] = []
    for number in numbers:
        operand = next(rest, None) if number == DYNAMIC else None
        bound = None if operand is None else ranges.of(operand).uhigh
        largest.append(bound if number == DYNAMIC else number)
    return largest
