"""PTX scalar types: width, sign, NumPy dtype."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class ScalarType:
    """One type, `s32` for example; `dtype` is the NumPy type for arithmetic.

    NumPy has no type for bf16, tf32, f8 and packed pairs: those are unsigned bit patterns.
    """

    name: str
    bits: int
    kind: str
    dtype: np.dtype[Any]

    @property
    def bytes(self) -> int:
        """The size of a value in memory, in bytes."""
        return max(1, self.bits // 8)

    @property
    def is_float(self) -> bool:
        """Whether it is a floating-point type, packed or not."""
        return self.kind == "f"

    @property
    def is_signed(self) -> bool:
        """Whether values are two's-complement numbers."""
        return self.kind == "s"

    @property
    def unsigned(self) -> np.dtype[Any]:
        """The NumPy type of the bit pattern."""
        return UNSIGNED[self.bits]


# A 128-bit register is a pair of 64-bit words, low word first; its rows have two columns.
UNSIGNED: Final[dict[int, np.dtype[Any]]] = {
    1: np.dtype(np.bool_),
    8: np.dtype(np.uint8),
    16: np.dtype(np.uint16),
    32: np.dtype(np.uint32),
    64: np.dtype(np.uint64),
    128: np.dtype(np.uint64),
}
SIGNED: Final[dict[int, np.dtype[Any]]] = {
    8: np.dtype(np.int8),
    16: np.dtype(np.int16),
    32: np.dtype(np.int32),
    64: np.dtype(np.int64),
}
_FLOATS: Final[dict[str, tuple[int, np.dtype[Any]]]] = {
    "f16": (16, np.dtype(np.float16)),
    "f32": (32, np.dtype(np.float32)),
    "f64": (64, np.dtype(np.float64)),
}
_PATTERNS: Final = {
    "bf16": 16, "tf32": 32, "f16x2": 32, "bf16x2": 32, "f32x2": 64,
    "e4m3": 8, "e5m2": 8, "e4m3x2": 16, "e5m2x2": 16, "e4m3x4": 32, "e5m2x4": 32,
    "e2m1": 4, "e2m3": 8, "e3m2": 8, "ue8m0": 8, "ue4m3": 8,
    "e2m1x2": 8, "e2m3x2": 16, "e3m2x2": 16, "ue8m0x2": 16,
    "e2m1x4": 16, "e2m3x4": 32, "e3m2x4": 32,
}  # fmt: skip
_INTEGER_PAIRS: Final = {"u16x2": 32, "s16x2": 32, "u8x4": 32, "s8x4": 32}


def _table() -> dict[str, ScalarType]:
    types = [ScalarType("pred", 1, "p", UNSIGNED[1])]
    for bits in (8, 16, 32, 64):
        types.append(ScalarType(f"u{bits}", bits, "u", UNSIGNED[bits]))
        types.append(ScalarType(f"s{bits}", bits, "s", SIGNED[bits]))
    for bits in (8, 16, 32, 64, 128):
        types.append(ScalarType(f"b{bits}", bits, "b", UNSIGNED[bits]))
    for name, (bits, dtype) in _FLOATS.items():
        types.append(ScalarType(name, bits, "f", dtype))
    for name, bits in _PATTERNS.items():
        types.append(ScalarType(name, bits, "f", UNSIGNED[max(8, bits)]))
    for name, bits in _INTEGER_PAIRS.items():
        types.append(ScalarType(name, bits, name[0], UNSIGNED[bits]))
    types += [ScalarType(name, 4, name[0], UNSIGNED[8]) for name in ("u4", "s4")]
    types.append(ScalarType("b1", 1, "b", UNSIGNED[8]))
    return {type.name: type for type in types}


SCALAR_TYPES: Final = _table()
