"""Decode the bit patterns of matrix elements with ml_dtypes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from ptx_probes import Array

from tilewright.ir.types import F16, F32, F64

DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "s32": np.int32}
TYPES = {"f16": F16, "f32": F32, "f64": F64}


def numbers(type: str, matrix: Array) -> Array:
    """Return patterns as float64."""
    if type in ("e4m3", "e5m2"):
        name = {"e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}[type]
        return matrix.view(getattr(ml_dtypes, name)).astype(np.float64)
    if type == "bf16":
        return matrix.view(ml_dtypes.bfloat16).astype(np.float64)
    if type == "tf32":
        # Matrix units do not look at the rest of the register.
        return (matrix & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)
    if type == "s4":
        return np.where(matrix > 7, matrix.astype(np.int64) - 16, matrix).astype(np.float64)
    if type == "s8":
        return matrix.view(np.int8).astype(np.float64)
    if type in DTYPES:
        return matrix.view(DTYPES[type]).astype(np.float64)
    return matrix.astype(np.float64)
