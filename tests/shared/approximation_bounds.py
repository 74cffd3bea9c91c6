"""How far approximate functions may be from the exact value: what the PTX manual promises."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

# By a factor of the result, and by a difference. The factors leave room for both sides to round:
# the manual speaks of exact values, the emulator rounds them, and so does the GPU.
BOUNDS: dict[str, tuple[float, float]] = {
    "sin.f32": (0.0, 2.0**-20.5), "cos.f32": (0.0, 2.0**-20.5),
    "lg2.f32": (2.0**-22, 2.0**-22), "ex2.f32": (2.0**-22, 0.0),
    "rcp.f32": (2.0**-22.9, 0.0), "rsqrt.f32": (2.0**-22.4, 0.0), "sqrt.f32": (2.0**-22.4, 0.0),
    "tanh.f32": (2.0**-11, 0.0), "div.f32": (2.0**-21.9, 2.0**-149),
    "rcp.f64": (2.0**-20, 0.0), "rsqrt.f64": (2.0**-20, 0.0),
    "tanh.f16": (0.0, 2.0**-10.9), "tanh.bf16": (0.0, 2.0**-8),
    "ex2.f16": (2.0**-9.9, 2.0**-24), "ex2.bf16": (2.0**-7, 0.0),
}  # fmt: skip
DOUBLE_ROOT = (2.0**-51, 0.0)


def bound(opcode: str) -> tuple[float, float]:
    """The factor and the difference of an instruction."""
    if opcode == "rsqrt.approx.f64":
        return DOUBLE_ROOT
    first, *_, type = opcode.split(".")
    return BOUNDS[f"{first}.{type.removesuffix('x2')}"]


def numbers(opcode: str, bits: Array) -> Array:
    """Results as float64."""
    type = opcode.split(".")[-1].removesuffix("x2")
    raw = np.ascontiguousarray(bits)
    if type == "bf16":
        wide = raw.view(np.uint16).astype(np.uint32) << np.uint32(16)
        return wide.view(np.float32).astype(np.float64)
    return raw.view(np.dtype(f"f{int(type[1:]) // 8}")).astype(np.float64)


def errors(opcode: str, found: Array, wanted: Array) -> Array:
    """How far results are apart, in units of the bound; infinite for a NaN against a number."""
    a, b = numbers(opcode, found), numbers(opcode, wanted)
    factor, difference = bound(opcode)
    with np.errstate(invalid="ignore"):
        room = factor * np.abs(b) + difference
        apart = np.where(a == b, 0.0, np.abs(a - b) / np.where(room == 0, 1.0, room))
    both = np.isnan(a) & np.isnan(b)
    return np.where(both, 0.0, np.where(np.isnan(apart), np.inf, apart))
