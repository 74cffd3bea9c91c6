"""Type constraints of Tile IR operands and results."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.cuda_tile.types import (
    FNV8E5M3FNU,
    TOKEN,
    GatherScatterViewType,
    PartitionViewType,
    PtrType,
    StridedViewType,
    TensorViewType,
    TileType,
    ViewType,
)
from tilewright.ir.attributes import Type
from tilewright.ir.constraints import TypeConstraint, exactly, instance_of
from tilewright.ir.types import (
    BF16,
    F4E2M1FN,
    F8E4M3FN,
    F8E5M2,
    F8E8M0FNU,
    F16,
    F32,
    F64,
    I1,
    I4,
    I8,
    I16,
    I32,
    I64,
    TF32,
)

INTEGERS: Final = (I1, I8, I16, I32, I64)
FLOATS: Final = (F16, BF16, F32, F64)
"""The float types that arithmetic supports."""
ALL_FLOATS: Final = (*FLOATS, TF32, F8E4M3FN, F8E5M2, F8E8M0FNU, F4E2M1FN, FNV8E5M3FNU)
NUMBERS: Final = (*INTEGERS, *ALL_FLOATS)


def tile_of(description: str, *elements: Type, rank: int | None = None) -> TypeConstraint:
    """Tiles of one of the given element types, of any rank or of `rank`."""
    allowed = frozenset(elements)

    def accepts(type: Type) -> bool:
        if not isinstance(type, TileType) or type.element not in allowed:
            return False
        return rank is None or len(type.shape) == rank

    return TypeConstraint(description, accepts)


def _is_tile_of_pointers(type: Type) -> bool:
    return isinstance(type, TileType) and isinstance(type.element, PtrType)


def _is_scalar_pointer(type: Type) -> bool:
    return isinstance(type, TileType) and not type.shape and isinstance(type.element, PtrType)


def _named(*elements: Type) -> str:
    *most, last = [element.spell() for element in elements]
    return f"{', '.join(most)} or {last}" if most else last


def _tile(*elements: Type, rank: int | None = None) -> TypeConstraint:
    noun = {None: "tile", 0: "scalar tile", 1: "rank-1 tile"}[rank]
    return tile_of(f"{noun} of {_named(*elements)}", *elements, rank=rank)


INT_TILE: Final = _tile(*INTEGERS)
INT4_TILE: Final = _tile(I4, *INTEGERS)
FLOAT_TILE: Final = _tile(*FLOATS)
ANY_FLOAT_TILE: Final = _tile(*ALL_FLOATS)
NUMBER_TILE: Final = _tile(*NUMBERS)
PTR_TILE: Final = TypeConstraint("tile of pointers", _is_tile_of_pointers)
ANY_TILE: Final = instance_of(TileType, "tile")
BOOL_TILE: Final = _tile(I1)
I8_TILE: Final = _tile(I8)
I32_TILE: Final = _tile(I32)
I64_TILE: Final = _tile(I64)
INT_VECTOR: Final = _tile(*INTEGERS, rank=1)
I8_VECTOR: Final = _tile(I8, rank=1)
NUMBER4_VECTOR: Final = _tile(I4, *NUMBERS, rank=1)
SCALAR_INT: Final = _tile(*INTEGERS, rank=0)
SCALAR_I1: Final = exactly(TileType((), I1), "scalar tile of i1")
SCALAR_I32: Final = exactly(TileType((), I32), "scalar tile of i32")
SCALAR_PTR: Final = TypeConstraint("scalar tile of pointer", _is_scalar_pointer)
TOKEN_TYPE: Final = exactly(TOKEN, "token")
TENSOR_VIEW: Final = instance_of(TensorViewType, "tensor_view")
PARTITION_VIEW: Final = instance_of(PartitionViewType, "partition_view")
STRIDED_VIEW: Final = instance_of(StridedViewType, "strided_view")
GATHER_SCATTER_VIEW: Final = instance_of(GatherScatterViewType, "gather_scatter_view")
VIEW: Final = instance_of(ViewType, "partition_view, strided_view or gather_scatter_view")
