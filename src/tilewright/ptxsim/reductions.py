"""Reductions of `cp.reduce.async.bulk` and `red.async` on bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tilewright.ptxsim import rounding
from tilewright.ptxsim.float_formats import FORMATS
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, Array

Reduction = Callable[[Array, Array], Array]

OPERATIONS: Final = ("add", "min", "max", "inc", "dec", "and", "or", "xor")


def _increment(old: Array, limit: Array) -> Array:
    return np.where(old >= limit, np.zeros_like(old), old + old.dtype.type(1))


def _decrement(old: Array, limit: Array) -> Array:
    return np.where((old == 0) | (old > limit), limit, old - old.dtype.type(1))


_INTEGER: Final[dict[str, Reduction]] = {
    "add": np.add, "min": np.minimum, "max": np.maximum, "inc": _increment, "dec": _decrement,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip


def _float(name: str, type: str) -> Reduction:
    format = FORMATS[type]

    def reduce(old: Array, new: Array) -> Array:
        a, b = (format.decode(each).astype(np.float64) for each in (old, new))
        if name == "add":
            result = rounding.sum_to_odd(a, b)
        else:
            result = (np.fmin if name == "min" else np.fmax)(a, b)
        return format.encode(result, "rn")

    return reduce


def _add_f32(old: Array, new: Array) -> Array:
    return rounding.canonical(old + new)


def reduction(name: str, type: str) -> Reduction:
    """The reduction of vectors of old and new bytes to the bytes to store."""
    if type in ("f16", "bf16"):
        compute = _float(name, type)
    elif type == "f32":
        compute = _add_f32
    else:
        compute = _INTEGER[name]
    dtype = SCALAR_TYPES[type].dtype

    def reduce(old: Array, new: Array) -> Array:
        result = compute(
            np.ascontiguousarray(old).view(dtype), np.ascontiguousarray(new).view(dtype)
        )
        return result.view(np.uint8)

    return reduce
