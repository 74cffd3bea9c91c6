"""Float arithmetic on arrays: correctly rounded in the element type.

`support.numerics.floating` is the same for single numbers, without NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tilewright.dialects.cuda_tile.enums import Rounding
from tilewright.ir.attributes import Type
from tilewright.ir.types import F64
from tilewright.reference.numerics.fused import multiply_add
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
"""The modes that allow an approximation: the correctly rounded result is used."""


def add(
    a: Array, b: Array, element: Type, mode: Rounding = NEAREST, *, flush: bool = False
) -> Array:
    """`a + b`."""
    if mode is NEAREST and not flush:
        return np.add(a, b)
    if element is F64:
        return multiply_add(np.ones(1), a, b, mode)
    return _rounded(_add, element, mode, flush, a, b)


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
    if element is F64:
        zero = np.where(np.signbit(a) ^ np.signbit(b), -0.0, 0.0)
        return multiply_add(a, b, zero, mode)
    return _rounded(_multiply, element, mode, flush, a, b)


def divide(
    a: Array, b: Array, element: Type, mode: Rounding = NEAREST, *, flush: bool = False
) -> Array:
    """`a / b`."""
    mode = NEAREST if mode in FAST else mode
    if mode is NEAREST and not flush:
        return np.divide(a, b)
    if element is F64:
        return _elementwise(exact.divide, mode, a, b)
    return _rounded(_divide, element, mode, flush, a, b)


def fma(
    a: Array, b: Array, c: Array, element: Type, mode: Rounding = NEAREST, *, flush: bool = False
) -> Array:
    """`a * b + c`, rounded once."""
    if element is F64:
        return multiply_add(a, b, c, mode)
    return _rounded(_fma, element, mode, flush, a, b, c)


def sqrt(a: Array, element: Type, mode: Rounding = NEAREST, *, flush: bool = False) -> Array:
    """The square root; that of -0 is -0, that of a negative number NaN."""
    mode = NEAREST if mode in FAST else mode
    if mode is NEAREST and not flush:
        return np.sqrt(a)
    if element is F64:
        return _elementwise(exact.sqrt, mode, a)
    return _rounded(_sqrt, element, mode, flush, a)


def absolute(a: Array) -> Array:
    """`a` with its sign bit cleared, NaNs too."""
    return np.abs(a)


def negate(a: Array) -> Array:
    """`a` with its sign bit flipped, NaNs too."""
    return np.negative(a)


def ceil(a: Array, element: Type) -> Array:
    """Round up to an integer; a zero keeps the sign of `a`."""
    return round_to(np.ceil(widen(a, element)), element)


def floor(a: Array, element: Type) -> Array:
    """Round down to an integer; a zero keeps the sign of `a`."""
    return round_to(np.floor(widen(a, element)), element)


def remainder(a: Array, b: Array, element: Type) -> Array:
    """`a - b * trunc(a / b)`, exact, with the sign of `a`."""
    return round_to(np.fmod(widen(a, element), widen(b, element)), element)


def maximum(a: Array, b: Array, *, propagate_nan: bool = False, flush: bool = False) -> Array:
    """Maximum with -0 < +0; the other operand if one is NaN, unless NaN propagates."""
    return _extreme(a, b, np.greater, np.bitwise_and, propagate_nan, flush)


def minimum(a: Array, b: Array, *, propagate_nan: bool = False, flush: bool = False) -> Array:
    """Minimum with -0 < +0; the other operand if one is NaN, unless NaN propagates."""
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
    # Equal numbers differ only in the sign of zero, which the bitwise operation resolves.
    tie = ties(a.view(bits), b.view(bits)).view(a.dtype)
    chosen = np.where(wins(a, b), a, np.where(a == b, tie, b))
    a_is_nan, b_is_nan = np.isnan(a), np.isnan(b)
    if propagate_nan:
        return np.where(a_is_nan | b_is_nan, np.array(np.nan, a.dtype), chosen)
    return np.where(b_is_nan, np.where(a_is_nan, np.array(np.nan, a.dtype), a), chosen)


def _rounded(
    odd: Callable[..., Array], element: Type, mode: Rounding, flush: bool, *operands: Array
) -> Array:
    """Round an operation that `odd` computes in f64, which is wider than the type."""
    if flush:
        operands = tuple(flushed(operand) for operand in operands)
    wide = np.broadcast_arrays(*(widen(operand, element) for operand in operands))
    computed = odd(*wide, mode)
    return round_and_flush(computed, mode) if flush else round_to(computed, element, mode)


def _elementwise(one: Callable[..., int], mode: Rounding, *operands: Array) -> Array:
    """Compute f64 div and sqrt in integers, one element at a time."""
    rounding = formats.Rounding[mode.name]

    def compute(*patterns: Any) -> int:
        return one(*map(int, patterns), formats.F64, rounding)

    patterns = [operand.view(np.uint64) for operand in operands]
    results = np.frompyfunc(compute, len(operands), 1)(*patterns)
    return np.asarray(results).astype(np.uint64).view(dtype(F64))


def _add(a: Array, b: Array, mode: Rounding) -> Array:
    rounded, rest = two_sum(a, b)
    if mode is Rounding.NEGATIVE_INF:  # then opposite numbers cancel to -0
        cancelled = (rounded == 0) & (np.signbit(a) != np.signbit(b))
        rounded = np.where(cancelled, -0.0, rounded)
    return to_odd(rounded, rest)


def _multiply(a: Array, b: Array, mode: Rounding) -> Array:
    return a * b  # exact: at most 48 bits


def _fma(a: Array, b: Array, c: Array, mode: Rounding) -> Array:
    return _add(a * b, c, mode)


def _divide(a: Array, b: Array, mode: Rounding) -> Array:
    quotient = a / b
    # The residual is exact: each half of the quotient has so few bits that its multiple of `b`,
    # which has at most f32 precision, fits f64.
    high = _upper_half(quotient)
    rest = (a - high * b) - (quotient - high) * b
    return to_odd(quotient, np.where(b < 0, -rest, rest))


def _sqrt(a: Array, mode: Rounding) -> Array:
    root = np.sqrt(a)
    high = _upper_half(root)
    low = root - high
    return to_odd(root, ((a - high * high) - 2 * high * low) - low * low)


def _upper_half(x: Array) -> Array:
    """Keep 26 of the 53 bits of the significand."""
    return (x.view(np.int64) & ~0x7FFFFFF).view(np.float64)
