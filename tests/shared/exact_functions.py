"""Correctly rounded mathematical functions, and the error bounds of CUDA's library.

Bounds are the table of the CUDA C++ Programming Guide: ulps from the correctly rounded result, in
single and in double precision. Half precision is computed in single precision
and rounded, which is one unit. Fast forms have the bounds of the guide's table of intrinsics.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from tilewright.ir.types import BF16, F16, F32, F64
from tilewright.reference.numerics.rounding import round_to, widen
from tilewright.testing.compare import ulp

ULPS = {
    "acos": (2, 2),
    "acosh": (4, 3),
    "asin": (2, 2),
    "asinh": (3, 3),
    "atan": (2, 2),
    "atan2": (3, 2),
    "atanh": (3, 2),
    "cbrt": (1, 1),
    "cos": (2, 2),
    "cosh": (2, 1),
    "erf": (2, 2),
    "erfc": (4, 5),
    "exp": (1, 1),
    "exp2": (2, 1),
    "expm1": (1, 1),
    "log": (1, 1),
    "log10": (2, 1),
    "log1p": (1, 1),
    "log2": (1, 1),
    "pow": (4, 2),
    "rsqrt": (2, 1),
    "sin": (2, 2),
    "sinh": (3, 2),
    "sqrt": (0, 0),
    "tan": (4, 2),
    "tanh": (2, 1),
}

_ELEMENTS = {"float32": F32, "float64": F64, "float16": F16, "bfloat16": BF16}
_DIGITS = 60


def _functions() -> dict[str, Callable[..., Any]]:
    """Functions whose names differ in mpmath."""
    mp = mpmath()
    return {
        "exp2": lambda x: mp.power(2, x),
        "log1p": mp.log1p,
        "log2": lambda x: mp.log(x, 2),
        "pow": mp.power,
        "rsqrt": lambda x: 1 / mp.sqrt(x),
        "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    }


@cache
def mpmath() -> Any:
    """Return mpmath with the needed precision."""
    from mpmath import MPContext  # noqa: PLC0415

    context = MPContext()
    context.dps = _DIGITS
    return context


def exact(name: str, *arguments: Any) -> Any:
    """A function of finite numbers inside its domain, as elements of the type of the first."""
    element = _ELEMENTS[arguments[0].dtype.name]
    function = _functions().get(name) or getattr(mpmath(), name)
    columns = [_numbers(each).reshape(-1).tolist() for each in arguments]
    values = [float(function(*numbers)) for numbers in zip(*columns, strict=True)]
    return round_to(np.array(values), element).reshape(arguments[0].shape)


def _numbers(array: Any) -> Any:
    if array.dtype.kind in "iu":
        return array.astype(np.int64)
    return widen(array, _ELEMENTS[array.dtype.name]).astype(np.float64)


def documented(name: str, expected: Any) -> Any:
    """Return the documented error bounds around the correctly rounded results."""
    element = _ELEMENTS[expected.dtype.name]
    single, double = ULPS[name]
    units = {F32: single, F64: double}.get(element, 1)
    return units * ulp(_numbers(expected), element)
