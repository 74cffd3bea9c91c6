"""Floating-point types of arithmetic instructions: decode to numbers, round and encode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tilewright.ptxsim import rounding
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, Array, ScalarType


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """A type whose registers contain `lanes` floats each.

    `decode` returns float64, float32 if the type is f32; `encode` rounds a float64 to the type.
    """

    type: ScalarType
    element: str
    lanes: int

    @property
    def is_single(self) -> bool:
        """Whether elements are f32."""
        return self.element == "f32"

    @property
    def tiny(self) -> float:
        """The smallest normal number."""
        return {"f16": 2.0**-14, "f64": 2.0**-1022}.get(self.element, rounding.TINY)

    @property
    def precision(self) -> int:
        """The number of significand bits, with the implicit one."""
        return {"f16": 11, "bf16": 8, "f32": 24}.get(self.element, 53)

    def decode(self, values: Array) -> Array:
        """Decode the floats in registers into one vector."""
        if self.element in ("f32", "f64"):
            return values if self.lanes == 1 else np.ascontiguousarray(values).view(np.float32)
        if self.element == "f16":
            half = np.ascontiguousarray(values).view(np.float16)
            return rounding.quiet(half.astype(np.float64))
        return rounding.widen_bf16(np.ascontiguousarray(values).view(np.uint16))

    def encode(self, values: Array, mode: str) -> Array:
        """Round float64 numbers (rounded to odd if inexact) and encode them into registers."""
        if self.element == "f64":
            return values
        if self.element == "f32":
            return self.pack(rounding.canonical(rounding.narrow(values, rounding.F32, mode)))
        if self.element == "f16":
            half = rounding.narrow(values, np.dtype(np.float16), mode)
            bits = np.where(np.isnan(half), np.uint16(0x7FFF), half.view(np.uint16))
            return self.pack(bits)
        return self.pack(rounding.narrow_bf16(values, mode))

    def pack(self, elements: Array) -> Array:
        """Pack elements into registers."""
        return elements.view(self.type.dtype)


_ELEMENTS: Final = {
    "f16": ("f16", 1), "bf16": ("bf16", 1), "f32": ("f32", 1), "f64": ("f64", 1),
    "f16x2": ("f16", 2), "bf16x2": ("bf16", 2), "f32x2": ("f32", 2),
}  # fmt: skip

FORMATS: Final = {
    name: FloatFormat(SCALAR_TYPES[name], element, lanes)
    for name, (element, lanes) in _ELEMENTS.items()
}
