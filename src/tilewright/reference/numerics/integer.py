"""Integer arithmetic on arrays, modulo 2 to the width of the element type.

`support.numerics.integer` is the same for single numbers, without NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tilewright.dialects.cuda_tile.enums import Rounding
from tilewright.ir.attributes import Type
from tilewright.ir.types import I1, I4
from tilewright.reference.tile import Array, signed, unsigned, wrap


def read(array: Array, is_signed: bool) -> Array:
    """Interpret integers as signed or unsigned numbers."""
    return signed(array) if is_signed else unsigned(array)


def _modular(compute: Callable[[Array, Array], Array]) -> Callable[[Array, Array, Type], Array]:
    """Wrap an operation whose result depends only on the low bits of its operands."""

    def run(a: Array, b: Array, element: Type) -> Array:
        if element is I1:
            a, b = unsigned(a), unsigned(b)
        return wrap(compute(a, b), element)

    return run


add: Final = _modular(np.add)
subtract: Final = _modular(np.subtract)
multiply: Final = _modular(np.multiply)

WRAPPING: Final = {add: np.add, subtract: np.subtract, multiply: np.multiply}


def of_type(
    compute: Callable[[Array, Array, Type], Array], element: Type
) -> Callable[[Array, Array], Array]:
    """An operation on an element type; NumPy's own one if it wraps as the type does."""
    if element not in (I1, I4) and compute in WRAPPING:
        return WRAPPING[compute]
    return lambda a, b: compute(a, b, element)


def negate(a: Array, element: Type) -> Array:
    """`-a`."""
    return subtract(np.zeros_like(a), a, element)


def absolute(a: Array, element: Type) -> Array:
    """`|a|` of a signed number, as an unsigned one."""
    return wrap(np.abs(signed(a)), element)


def multiply_high(a: Array, b: Array, element: Type) -> Array:
    """The high bits of the double-width unsigned result of `a * b`."""
    x, y = unsigned(a), unsigned(b)
    if element is I1:
        return np.zeros_like(x * y, np.bool_)
    if x.dtype.itemsize < 8:
        width = np.uint64(8 * x.dtype.itemsize)
        return wrap((x.astype(np.uint64) * y.astype(np.uint64)) >> width, element)
    return _high_half(x, y).view(np.int64)


def _high_half(x: Array, y: Array) -> Array:
    """The high 64 bits of `x * y`, from 32-bit partial results."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    x1, x0, y1, y0 = x >> half, x & low, y >> half, y & low
    middle = x1 * y0 + ((x0 * y0) >> half)
    return x1 * y1 + (middle >> half) + ((x0 * y1 + (middle & low)) >> half)


def divide(a: Array, b: Array, element: Type, *, is_signed: bool, mode: Rounding) -> Array:
    """`a / b` rounded to an integer; division by zero is undefined."""
    x, y = read(a, is_signed), read(b, is_signed)
    divisor = np.where(y == 0, np.ones_like(y), y)
    quotient = np.floor_divide(x, divisor)
    inexact = quotient * divisor != x
    if mode is Rounding.POSITIVE_INF:
        quotient = quotient + inexact
    elif mode is Rounding.ZERO:
        quotient = quotient + (inexact & ((x < 0) != (divisor < 0)))
    return wrap(quotient, element)


def remainder(a: Array, b: Array, element: Type, *, is_signed: bool) -> Array:
    """The remainder of truncated division, with the sign of `a`."""
    x, y = read(a, is_signed), read(b, is_signed)
    return wrap(np.fmod(x, np.where(y == 0, np.ones_like(y), y)), element)


def maximum(a: Array, b: Array, *, is_signed: bool) -> Array:
    """Maximum."""
    return np.where(read(a, is_signed) >= read(b, is_signed), a, b)


def minimum(a: Array, b: Array, *, is_signed: bool) -> Array:
    """Minimum."""
    return np.where(read(a, is_signed) <= read(b, is_signed), a, b)


def shift_left(a: Array, amount: Array, element: Type) -> Array:
    """`a << amount`; zero if the unsigned amount is at least the width."""
    x, by = unsigned(a), unsigned(amount)
    width = 1 if element is I1 else 8 * x.dtype.itemsize
    fits = by < width
    return wrap(np.where(fits, x << np.where(fits, by, 0).astype(x.dtype), 0), element)


def shift_right(a: Array, amount: Array, element: Type, *, is_signed: bool) -> Array:
    """`a >> amount`; copies of the sign if the unsigned amount is at least the width."""
    x, by = read(a, is_signed), unsigned(amount)
    width = 1 if element is I1 else 8 * x.dtype.itemsize
    fits = by < width
    last = x < 0
    shifted = x >> np.where(fits, by, 0).astype(x.dtype)
    return wrap(np.where(fits, shifted, -last.astype(x.dtype)), element)
