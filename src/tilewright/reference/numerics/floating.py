"""Float arithmetic on arrays: the exact result, rounded once in the element type.

`support.numerics.floating` says the same for single numbers, without NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tilewright.dialects.cuda_tile.enums import Rounding
from tilewright.ir.attributes import Type
from tilewright.ir.types import F64
from tilewright.reference.numerics.rounding import (
    flush as flushed,
)
from tilewright.reference.numerics.rounding import (
    round_and_flush,
    round_to,
    to_odd,
    two_sum,
    widen,
)
from tilewright.reference.tile import Array, dtype
from tilewright.support import floats as formats
from tilewright.support.numerics import floating as exact

NEAREST: Final = Rounding.NEAREST_EVEN
FAST: Final = (Rounding.APPROX, Rounding.FULL)
"""The modes that ask for a good approximation: the nearest number is the best one."""


def add(
    a: Array, b: Array, element: Type, mode: Rounding = NEAREST, *, flush: bool = False
) -> Array:
    """`a + b`."""
    if mode is NEAREST and not flush:
        return np.add(a, b)
    return _rounded(_sum, exact.add, element, mode, flush, a, b)


def subtract(
    a: Array, b: Array, element: Type, mode: Rounding = NEAREST, *, flush: bool = False
) -> Array:
    """`a - b`."""
    return add(a, np.negative(b), element, mode, flush=flush)


def multiply(
    a: Array, b: Array, element: Type, mode: Rounding = NEAREST, *, flush: bool = False
) -> Array:
    """`a * b`."""
    if mode is NEAREST and not flush:
        return np.multiply(a, b)
    return _rounded(_product, exact.multiply, element, mode, flush, a, b)


def divide(
    a: Array, b: Array, element: Type, mode: Rounding = NEAREST, *, flush: bool = False
) -> Array:
    """`a / b`."""
    mode = NEAREST if mode in FAST else mode
    if mode is NEAREST and not flush:
        return np.divide(a, b)
    return _rounded(_quotient, exact.divide, element, mode, flush, a, b)


def fma(
    a: Array, b: Array, c: Array, element: Type, mode: Rounding = NEAREST, *, flush: bool = False
) -> Array:
    """`a * b + c`, rounded once."""
    return _rounded(_fma, exact.fma, element, mode, flush, a, b, c)


def sqrt(a: Array, element: Type, mode: Rounding = NEAREST, *, flush: bool = False) -> Array:
    """The square root; that of -0 is -0, that of a negative number NaN."""
    mode = NEAREST if mode in FAST else mode
    if mode is NEAREST and not flush:
        return np.sqrt(a)
    return _rounded(_root, exact.sqrt, element, mode, flush, a)


def absolute(a: Array) -> Array:
    """`a` with its sign bit cleared, NaNs too."""
    return np.abs(a)


def negate(a: Array) -> Array:
    """`a` with its sign bit flipped, NaNs too."""
    return np.negative(a)


def ceil(a: Array, element: Type) -> Array:
    """The smallest integer not below `a`; a zero keeps the sign of `a`."""
    return round_to(np.ceil(widen(a, element)), element)


def floor(a: Array, element: Type) -> Array:
    """The largest integer not above `a`; a zero keeps the sign of `a`."""
    return round_to(np.floor(widen(a, element)), element)


def remainder(a: Array, b: Array, element: Type) -> Array:
    """`a - b * trunc(a / b)`, which is exact, with the sign of `a`."""
    return round_to(np.fmod(widen(a, element), widen(b, element)), element)


def maximum(a: Array, b: Array, *, propagate_nan: bool = False, flush: bool = False) -> Array:
    """The larger of two, where -0 < +0. A NaN loses against a number, or wins if it propagates."""
    return _extreme(a, b, np.greater, np.bitwise_and, propagate_nan, flush)


def minimum(a: Array, b: Array, *, propagate_nan: bool = False, flush: bool = False) -> Array:
    """The smaller of two, where -0 < +0. A NaN loses against a number, or wins if it propagates."""
    return _extreme(a, b, np.less, np.bitwise_or, propagate_nan, flush)


def _extreme(
    a: Array,
    b: Array,
    wins: Callable[[Array, Array], Array],
    ties: Callable[[Array, Array], Array],
    propagate_nan: bool,
    flush: bool,
) -> Array:
    if flush:
        a, b = flushed(a), flushed(b)
    bits = f"u{a.dtype.itemsize}"
    # Of equal numbers only zeros differ, in their signs: both must have one for it to win.
    tie = ties(a.view(bits), b.view(bits)).view(a.dtype)
    chosen = np.where(wins(a, b), a, np.where(a == b, tie, b))
    a_is_nan, b_is_nan = np.isnan(a), np.isnan(b)
    if propagate_nan:
        return np.where(a_is_nan | b_is_nan, np.array(np.nan, a.dtype), chosen)
    return np.where(b_is_nan, np.where(a_is_nan, np.array(np.nan, a.dtype), a), chosen)


def _rounded(
    odd: Callable[..., Array],
    one: Callable[..., int],
    element: Type,
    mode: Rounding,
    flush: bool,
    *operands: Array,
) -> Array:
    """An operation that `odd` computes in double precision, and `one` for single patterns."""
    if element is F64:
        return _one_by_one(one, mode, *operands)
    if flush:
        operands = tuple(flushed(operand) for operand in operands)
    wide = np.broadcast_arrays(*(widen(operand, element) for operand in operands))
    computed = odd(*wide, mode)
    return round_and_flush(computed, mode) if flush else round_to(computed, element, mode)


def _one_by_one(one: Callable[..., int], mode: Rounding, *operands: Array) -> Array:
    """Double precision has no wider type to compute in: each number for itself, exactly."""
    rounding = formats.Rounding[mode.name]

    def compute(*patterns: Any) -> int:
        return one(*map(int, patterns), formats.F64, rounding)

    patterns = [operand.view(np.uint64) for operand in operands]
    found = np.frompyfunc(compute, len(operands), 1)(*patterns)
    return np.asarray(found).astype(np.uint64).view(dtype(F64))


def _sum(a: Array, b: Array, mode: Rounding) -> Array:
    total, rest = two_sum(a, b)
    if mode is Rounding.NEGATIVE_INF:  # then a zero out of unlike signs is -0
        cancelled = (total == 0) & (np.signbit(a) != np.signbit(b))
        total = np.where(cancelled, -0.0, total)
    return to_odd(total, rest)


def _product(a: Array, b: Array, mode: Rounding) -> Array:
    return a * b  # exact: at most 48 bits


def _fma(a: Array, b: Array, c: Array, mode: Rounding) -> Array:
    return _sum(a * b, c, mode)


def _quotient(a: Array, b: Array, mode: Rounding) -> Array:
    quotient = a / b
    # What is left is exact: both halves of the quotient have so few bits that their products with
    # `b`, which has no more than single precision, fit double precision.
    high = _upper_half(quotient)
    rest = (a - high * b) - (quotient - high) * b
    return to_odd(quotient, np.where(b < 0, -rest, rest))


def _root(a: Array, mode: Rounding) -> Array:
    root = np.sqrt(a)
    high = _upper_half(root)
    low = root - high
    return to_odd(root, ((a - high * high) - 2 * high * low) - low * low)


def _upper_half(x: Array) -> Array:
    """Numbers with 26 of their 53 bits."""
    return (x.view(np.int64) & ~0x7FFFFFF).view(np.float64)
