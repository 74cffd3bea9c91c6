"""Type conversion from Tile IR to nv_tileaa, and materializations between the levels.

Notes on NVIDIA's compiler name a materialization after its user: a "source" one creates a value
of nv_tileaa from one of cuda_tile, which our converter calls a target materialization.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tilewright.conversion.cuda_tile_to_nv_tileaa.attributes import MEMBERS
from tilewright.dialects.builtin import unrealized_cast
from tilewright.dialects.cuda_tile.types import (
    GatherScatterViewType,
    PartitionViewType,
    PtrType,
    StridedViewType,
    TensorViewType,
    TileType,
    TokenType,
)
from tilewright.dialects.nv_tileaa import types as nv_tileaa
from tilewright.dialects.nv_tileaa.attributes import PaddingValue
from tilewright.dialects.nv_tileaa.constraints import tile_type
from tilewright.ir.attributes import Type
from tilewright.ir.type_converter import TypeConverter

if TYPE_CHECKING:
    from tilewright.dialects.cuda_tile.enums import PaddingValue as OldPadding
    from tilewright.ir.builder import Builder
    from tilewright.ir.operation import Operation
    from tilewright.ir.type_converter import Materialize, Types
    from tilewright.ir.values import Value


def convert_pointer(type: PtrType) -> nv_tileaa.PtrType:
    """Convert a pointer, which is always to global memory."""
    return nv_tileaa.PtrType(type.pointee)


def convert_tile(type: TileType) -> Type:
    """Convert a tile to a tensor, or to its element type if it has rank 0."""
    element = type.element
    if isinstance(element, PtrType):
        element = convert_pointer(element)
    return tile_type(type.shape, element)


def convert_token(type: TokenType) -> Type:
    """Convert the token type."""
    return nv_tileaa.MEM_TOKEN


def convert_tensor_view(type: TensorViewType) -> nv_tileaa.MemrefType:
    """Convert a tensor view to a memref."""
    return nv_tileaa.MemrefType(type.shape, type.element, type.strides)


def _padding(padding: OldPadding | None) -> PaddingValue | None:
    if padding is None:
        return None
    member = MEMBERS[padding]
    assert isinstance(member, PaddingValue)
    return member


def _convert_partition(type: PartitionViewType) -> nv_tileaa.TiledViewType:
    source = convert_tensor_view(type.tensor_view)
    return nv_tileaa.TiledViewType(
        type.tile_shape, source, dims=type.dim_map, padding=_padding(type.padding)
    )


def _convert_strided(type: StridedViewType) -> nv_tileaa.TiledViewType:
    source = convert_tensor_view(type.tensor_view)
    steps, padding = type.traversal_strides, _padding(type.padding)
    return nv_tileaa.TiledViewType(type.tile_shape, source, steps, type.dim_map, padding=padding)


def _convert_gather(type: GatherScatterViewType) -> nv_tileaa.TiledViewType:
    source = convert_tensor_view(type.tensor_view)
    return nv_tileaa.TiledViewType(
        type.tile_shape, source, sparse=type.sparse_dim, padding=_padding(type.padding)
    )


def _keep(type: Type) -> Type | None:
    """Keep types of other dialects."""
    return None if type.mnemonic.startswith("cuda_tile.") else type


def _materialization(
    kind: type[Type], of: Callable[[Types, tuple[Value, ...]], Type]
) -> Materialize:
    """Return a cast materialization for a class of Tile IR types; `of` selects the type."""

    def cast(build: Builder, types: Types, values: tuple[Value, ...]) -> Operation | None:
        return (
            unrealized_cast(build, types, values) if isinstance(of(types, values), kind) else None
        )

    return cast


def _is_pointer(type: Type) -> bool:
    return isinstance(type, TileType) and isinstance(type.element, PtrType)


def _from_pointer(build: Builder, types: Types, values: tuple[Value, ...]) -> Operation | None:
    """Cast a pointer of nv_tileaa to one of cuda_tile, or to a tile of them."""
    target = types[0]
    is_pointer = isinstance(target, PtrType) or _is_pointer(target)
    return unrealized_cast(build, types, values) if is_pointer else None


def _old_type(types: Types, values: tuple[Value, ...]) -> Type:
    return values[0].type


TO_NV_TILEAA: Final = (
    _materialization(TileType, _old_type),
    _materialization(TokenType, _old_type),
)
"""Materializations of nv_tileaa values, of tiles and tokens."""

TO_CUDA_TILE: Final = _from_pointer
"""Materialization of cuda_tile values, of pointers."""


def tileaa_types() -> TypeConverter:
    """Create the type converter; tiles, tokens and pointers have materializations."""
    types = TypeConverter()
    types.add(Type, _keep)
    types.add(TileType, convert_tile)
    types.add_target(TO_NV_TILEAA[0])
    types.add(PtrType, convert_pointer)
    types.add_source(TO_CUDA_TILE)
    types.add(TokenType, convert_token)
    types.add_target(TO_NV_TILEAA[1])
    types.add(TensorViewType, convert_tensor_view)
    types.add(PartitionViewType, _convert_partition)
    types.add(StridedViewType, _convert_strided)
    types.add(GatherScatterViewType, _convert_gather)
    return types
