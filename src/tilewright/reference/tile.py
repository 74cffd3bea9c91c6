"""Representation of tiles: NumPy arrays, with the blocks of a batch as the first axis.

A tile of shape 4x8 is an array of shape (n, 4, 8) for n blocks, or (1, 4, 8) if it is the same in
all of them; the two are combined by broadcasting.

| elements           | array                                                              |
|--------------------|--------------------------------------------------------------------|
| i1                 | bool                                                               |
| i4                 | int8, from -8 to 7                                                 |
| i8 to i64          | int8 to int64                                                      |
| f16, f32, f64      | float16, float32, float64                                          |
| tf32               | float32 whose low 13 bits are zero                                 |
| bf16, f8.., f4..   | the type of that name in ml_dtypes                                 |
| fnv8E5M3FNU        | uint8, the bit patterns                                            |
| pointers           | uint64, the addresses: in bytes, but in nibbles for f4E2M1FN    |
"""

from __future__ import annotations

from math import prod
from typing import Any, Final, TypeGuard, cast

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from tilewright.dialects.cuda_tile.types import PtrType, TileType
from tilewright.dialects.nv_tileaa import types as nv_tileaa
from tilewright.ir.attributes import Type
from tilewright.ir.types import (
    BF16,
    F4E2M1FN,
    F8E4M3FN,
    F8E5M2,
    F8E8M0FNU,
    F16,
    F32,
    F64,
    FNV8E5M3FNU,
    I1,
    I4,
    I8,
    I16,
    I32,
    I64,
    TF32,
    FloatType,
    IntegerType,
    TensorType,
)
from tilewright.ir.values import Value
from tilewright.support.floats import FORMATS, FloatFormat

Array = NDArray[Any]
DType = np.dtype[Any]

Pointer = PtrType | nv_tileaa.PtrType
"""Pointer types of cuda_tile and nv_tileaa."""

DTYPES: Final[dict[Type, DType]] = {
    I1: np.dtype(np.bool_),
    I4: np.dtype(np.int8),
    I8: np.dtype(np.int8),
    I16: np.dtype(np.int16),
    I32: np.dtype(np.int32),
    I64: np.dtype(np.int64),
    F16: np.dtype(np.float16),
    BF16: np.dtype(ml_dtypes.bfloat16),
    F32: np.dtype(np.float32),
    F64: np.dtype(np.float64),
    TF32: np.dtype(np.float32),
    F8E4M3FN: np.dtype(ml_dtypes.float8_e4m3fn),
    F8E5M2: np.dtype(ml_dtypes.float8_e5m2),
    F8E8M0FNU: np.dtype(ml_dtypes.float8_e8m0fnu),
    F4E2M1FN: np.dtype(ml_dtypes.float4_e2m1fn),
    FNV8E5M3FNU: np.dtype(np.uint8),
}
"""The dtypes of tiles of numbers."""

ADDRESS: Final[DType] = np.dtype(np.uint64)
TF32_BITS: Final = np.uint32(0xFFFFE000)


def is_array(value: object) -> TypeGuard[Array]:
    """Whether a value is a tile: tokens and views are not."""
    return isinstance(value, np.ndarray)


def dtype(element: Type) -> DType:
    """The dtype of tiles with an element type."""
    return ADDRESS if isinstance(element, Pointer) else DTYPES[element]


def shape(value: Value) -> tuple[int, ...]:
    """The shape of a tile; empty for scalars, which may be bare elements."""
    type = value.type
    return type.shape or () if isinstance(type, TileType | TensorType) else ()


def element(value: Value) -> Type:
    """The element type of a tile."""
    type = value.type
    return type.element if isinstance(type, TileType | TensorType) else type


def integer(value: Value) -> IntegerType:
    """The element type of a tile of integers."""
    return cast("IntegerType", element(value))


def format_of(element: Type) -> FloatFormat:
    """The format of a float type."""
    return FORMATS[cast("FloatType", element).format]


def pointee(value: Value) -> Type:
    """The pointee type of a tile of pointers."""
    return cast("Pointer", element(value)).pointee


def stride_in_memory(element: Type) -> int:
    """The distance of elements in memory: in bytes, or in nibbles for f4E2M1FN."""
    return DTYPES[element].itemsize


def from_memory(stored: Array, element: Type) -> Array:
    """Convert stored elements to elements of a tile."""
    if element is I1:
        return stored.view(np.uint8) != 0
    if element is TF32:
        return (stored.view(np.uint32) & TF32_BITS).view(np.float32)
    return stored


def from_patterns(patterns: Array, element: Type) -> Array:
    """Make a tile from bit patterns, unsigned integers of the element size."""
    if element is I1:
        return patterns != 0
    if element is I4:
        return wrap(patterns.view(np.int8), I4)
    if element is TF32:
        return (patterns.astype(np.uint32) << np.uint32(13)).view(np.float32)
    return patterns.view(dtype(element))


def to_patterns(array: Array, element: Type) -> Array:
    """The bit patterns of a tile, as unsigned integers."""
    if element is TF32:
        return array.view(np.uint32) >> np.uint32(13)
    if element is I4:
        return array.view(np.uint8) & np.uint8(15)
    return array.view(f"u{array.dtype.itemsize}")


def constant(data: bytes, element: Type, shape: tuple[int, ...]) -> Array:
    """Make a tile from dense data, uniform over the blocks."""
    width = (cast("IntegerType | FloatType", element).width + 7) // 8
    raw = np.frombuffer(data, np.uint8).reshape(-1, width)
    stored_width = 4 if width == 3 else width
    patterns = np.zeros((len(raw), stored_width), np.uint8)
    patterns[:, :width] = raw
    elements = from_patterns(patterns.view(f"<u{stored_width}").reshape(-1), element)
    return np.broadcast_to(elements, (prod(shape),)).reshape(1, *shape)


def signed(array: Array) -> Array:
    """Interpret integers as signed: an i1 is 0 or -1."""
    return -array.view(np.int8) if array.dtype == np.bool_ else array


def unsigned(array: Array) -> Array:
    """Interpret integers as unsigned: an i1 is 0 or 1."""
    return array.view(f"u{array.dtype.itemsize}")


def wrap(array: Array, element: Type) -> Array:
    """Reduce integers modulo 2 to the width of an element type."""
    if element is I1:
        return (array & 1) != 0
    if element is I4:
        return ((array.astype(np.int8) & np.int8(15)) ^ np.int8(8)) - np.int8(8)
    return array.astype(dtype(element), copy=False)


def per_block(array: Array, count: int) -> Array:
    """Broadcast a tile to `count` blocks."""
    return np.broadcast_to(array, (count, *array.shape[1:]))
