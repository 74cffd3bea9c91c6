"""Correctly rounded floating-point arithmetic on vectors: add, mul, fma, div, sqrt.

Every narrow format is computed in float64. A float64 result that is itself inexact is rounded to
odd: 53 bits suffice for a second rounding to then yield the correctly rounded result (Boldo and
Melquiond, "Emulation of a FMA and correctly rounded sums", 2008).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import numpy as np

from tilewright.ptxsim.scalar_types import Array
from tilewright.ptxsim.vectors import any_set

F64: Final = np.dtype(np.float64)
F32: Final = np.dtype(np.float32)
TINY: Final = float(np.finfo(np.float32).tiny)
_SPLIT: Final = 134217729.0  # 2**27 + 1 splits a float64 in two


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded sum and its error; together they are exact."""
    rounded = a + b
    part = rounded - a
    return rounded, (a - (rounded - part)) + (b - part)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """`a * b` rounded and its error; exact unless there is overflow or underflow."""
    rounded = a * b
    a_high, b_high = a * _SPLIT, b * _SPLIT
    a_high, b_high = a_high - (a_high - a), b_high - (b_high - b)
    a_low, b_low = a - a_high, b - b_high
    error = ((a_high * b_high - rounded) + a_high * b_low + a_low * b_high) + a_low * b_low
    return rounded, error


def to_odd(value: Array, error: Array) -> Array:
    """Round `value + error` to odd, where `value` is their sum rounded to nearest."""
    bits = value.view(np.int64)
    inexact = (error != 0) & np.isfinite(value) & ((bits & 1) == 0)
    if not inexact.any():
        return value
    outward = np.where((error > 0) == (value > 0), 1, -1)
    return np.where(inexact, bits + outward, bits).view(np.float64)


def sum_to_odd(a: Array, b: Array) -> Array:
    """Add float64 vectors, rounded to odd."""
    return to_odd(*two_sum(a, b))


def narrow(value: Array, dtype: np.dtype[Any], mode: str) -> Array:
    """Round float64 to `dtype`: to nearest even, to zero, down or up (rn, rz, rm, rp)."""
    result = value.astype(dtype)
    if mode == "rn":
        return result
    back = result.astype(np.float64)
    if mode == "rz":
        return np.where(abs(back) > abs(value), np.nextafter(result, dtype.type(0)), result)
    if mode == "rm":
        return np.where(back > value, np.nextafter(result, dtype.type(-np.inf)), result)
    return np.where(back < value, np.nextafter(result, dtype.type(np.inf)), result)


def narrow_bf16(value: Array, mode: str) -> Array:
    """Round float64 to bf16, as bits."""
    single = narrow(value, F32, "rz")
    bits = single.view(np.uint32).copy()
    sticky = (single.astype(np.float64) != value) & ~np.isnan(value)
    # The lower 16 bits of a float32 are enough for rounding to odd.
    bits |= sticky.astype(np.uint32)
    lower: Array = bits & np.uint32(0xFFFF)
    upper: Array = bits >> np.uint32(16)
    negative: Array = (bits >> np.uint32(31)).astype(bool)
    if mode == "rn":
        half = np.uint32(0x8000)
        up: Array = (lower > half) | ((lower == half) & ((upper & np.uint32(1)) == 1))
    elif mode == "rz":
        up = np.zeros(len(bits), bool)
    else:
        up = (lower != 0) & (negative == (mode == "rm"))
    up &= np.isfinite(value)
    result: Array = (upper + up.astype(np.uint32)).astype(np.uint16)
    return np.where(np.isnan(value), np.uint16(0x7FFF), result)


def widen_bf16(bits: Array) -> Array:
    """Convert bf16 bits to float64."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)


def flush(value: Array, tiny: float = TINY) -> Array:
    """Flush subnormal numbers to a zero of the same sign."""
    small = abs(value) < tiny
    if not any_set(small):
        return value
    return np.where(small, np.copysign(value.dtype.type(0), value), value)


def canonical(value: Array) -> Array:
    """Replace float32 NaNs by the hardware's canonical NaN."""
    nan = np.isnan(value)
    if not any_set(nan):
        return value
    return np.where(nan, np.uint32(0x7FFFFFFF), value.view(np.uint32)).view(np.float32)


def with_ordered_zeros(result: Array, a: Array, b: Array, *, greater: bool) -> Array:
    """The maximum or minimum of two vectors, where -0 is less than +0.

    NumPy returns either zero, depending on the processor.
    """
    zeros = (a == 0) & (b == 0)
    if not any_set(zeros):
        return result
    negative = np.signbit(a) & np.signbit(b) if greater else np.signbit(a) | np.signbit(b)
    return np.where(zeros, np.where(negative, -0.0, 0.0).astype(result.dtype), result)


def quiet(value: Array) -> Array:
    """Make float64 NaNs quiet, as conversions do.

    Whether NumPy does so when it converts float16 depends on the processor.
    """
    nan = np.isnan(value)
    if not any_set(nan):
        return value
    bits = value.view(np.uint64)
    return np.where(nan, bits | np.uint64(1 << 51), bits).view(np.float64)


def vanishes(exact: Array, tiny: float, precision: int, mode: str) -> Array:
    """Whether an exact float64 result is less than `tiny` when rounded to the precision with an
    unbounded exponent: such results are flushed to zero."""
    size = abs(exact)
    if mode in ("rn", "rz"):
        return size < (tiny * (1 - 0.5 ** (precision + 1)) if mode == "rn" else tiny)
    away = exact < 0 if mode == "rm" else exact > 0
    return np.where(away, size <= tiny * (1 - 0.5**precision), size < tiny)


_QUIET: Final = np.uint64(1 << 51)
_DEFAULT_NAN: Final = np.uint64(0xFFF8 << 48)


def with_nans(result: Array, *operands: Array, quiet: bool = True) -> Array:
    """Replace float64 NaNs by those of the hardware: the first NaN operand, made quiet.

    Without a NaN operand, the NaN is negative. Atomics in memory keep signaling NaNs.
    """
    nan = np.isnan(result)
    if not any_set(nan):
        return result
    bits = np.where(nan, _DEFAULT_NAN, result.view(np.uint64))
    for operand in reversed(operands):
        given = np.ascontiguousarray(operand).view(np.uint64)
        given = given | _QUIET if quiet else given
        bits = np.where(nan & np.isnan(operand), given, bits)
    return bits.view(np.float64)


def relu(value: Array) -> Array:
    """`max(value, +0)`; NaN stays NaN."""
    return np.where(value <= 0, value.dtype.type(0), value)


def saturate(value: Array) -> Array:
    """Clamp to [0, 1]; NaN becomes 0."""
    one, zero = value.dtype.type(1), value.dtype.type(0)
    # A comparison with NaN fails, and so does one of -0 with 0.
    return np.where(value > zero, np.minimum(value, one), zero)


def fma_f32(a: Array, b: Array, c: Array) -> Array:
    """`a * b + c` of float32 vectors, rounded once, to nearest."""
    exact_mul = a.astype(np.float64) * b.astype(np.float64)
    addend = c.astype(np.float64)
    result = exact_mul + addend
    bits = result.view(np.uint64) & np.uint64(0x1FFFFFFF)
    # Double rounding is wrong only at a midpoint of two float32 numbers, which for
    # subnormal ones may be anywhere.
    doubtful = (bits == 0x10000000) | ((abs(result) < TINY) & (result != 0))
    if any_set(doubtful):
        result = sum_to_odd(exact_mul, addend)
    return result.astype(np.float32)


def fma_f64(a: Array, b: Array, c: Array, mode: str = "rn") -> Array:
    """`a * b + c` of float64 vectors, rounded once."""
    a, b, c = np.broadcast_arrays(a, b, c)
    if mode != "rn":
        return exact_f64(_fma_exactly, mode, a, b, c)
    rounded = a * b
    size = abs(rounded)
    simple = (abs(a) < 2.0**990) & (abs(b) < 2.0**990) & (abs(c) < 2.0**990) & (size < 2.0**990)
    simple &= (size > 2.0**-900) | (a == 0) | (b == 0)
    high, low = two_product(a, b)
    middle, rest = two_sum(c, low)
    top, carry = two_sum(high, middle)
    result = top + sum_to_odd(rest, carry)
    # Exact zeros take their sign from the operands, which the plain sum gets right.
    result = np.where(result == 0, rounded + c, result)
    if simple.all():
        return result
    hard: Array = ~simple
    result[hard] = exact_f64(_fma_exactly, mode, a[hard], b[hard], c[hard])
    return result


Exactly = Callable[..., tuple[Fraction | None, float]]


def exact_f64(function: Exactly, mode: str, *operands: Array) -> Array:
    """A float64 operation on exact numbers, per lane, rounded once.

    The function returns the exact result, and the IEEE result if there is none or if it is zero.
    """
    rows = np.broadcast_arrays(*operands)
    results = [_round(*function(mode, *map(float, row)), mode) for row in zip(*rows, strict=True)]
    return np.array(results, np.float64)


def _round(exact: Fraction | None, plain: float, mode: str) -> float:
    if not exact:
        return plain
    try:
        nearest = exact.numerator / exact.denominator
    except OverflowError:
        nearest = math.inf if exact > 0 else -math.inf
    if mode == "rn" or nearest == exact:
        return nearest
    above = nearest > exact
    if mode == "rm" or (mode == "rz" and exact > 0):
        return math.nextafter(nearest, -math.inf) if above else nearest
    return nearest if above else math.nextafter(nearest, math.inf)


def _finite(*values: float) -> bool:
    return all(map(math.isfinite, values))


def _zero_sum(mode: str, plain: float, *terms: float) -> float:
    """The sign of an exact zero sum: negative only if all terms are, or when rounding down."""
    if plain != 0:
        return plain
    negative = [math.copysign(1, term) < 0 for term in terms]
    return -0.0 if all(negative) or (mode == "rm" and any(negative)) else 0.0


def _fma_exactly(mode: str, a: float, b: float, c: float) -> tuple[Fraction | None, float]:
    if not _finite(a, b, c):
        # With an infinity or a NaN there is no rounding, but a * b must not overflow into one.
        a_times_b = a * b if not _finite(a, b) else math.copysign(1, a) * math.copysign(1, b)
        return None, a_times_b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    sign = math.copysign(1, a) * math.copysign(1, b)
    return exact, _zero_sum(mode, 0.0, sign, c)


def _add_exactly(mode: str, a: float, b: float) -> tuple[Fraction | None, float]:
    if not _finite(a, b):
        return None, a + b
    return Fraction(a) + Fraction(b), _zero_sum(mode, 0.0, a, b)


def _multiply_exactly(mode: str, a: float, b: float) -> tuple[Fraction | None, float]:
    return (Fraction(a) * Fraction(b) if _finite(a, b) else None), a * b


def _divide_exactly(mode: str, a: float, b: float) -> tuple[Fraction | None, float]:
    if not _finite(a, b) or b == 0:
        return None, float(np.float64(a) / np.float64(b))
    return Fraction(a) / Fraction(b), float(np.float64(a) / np.float64(b))


def add_f64(a: Array, b: Array, mode: str) -> Array:
    """`a + b` of float64 vectors."""
    return a + b if mode == "rn" else exact_f64(_add_exactly, mode, a, b)


def multiply_f64(a: Array, b: Array, mode: str) -> Array:
    """`a * b` of float64 vectors."""
    return a * b if mode == "rn" else exact_f64(_multiply_exactly, mode, a, b)


def divide_f64(a: Array, b: Array, mode: str) -> Array:
    """`a / b` of float64 vectors."""
    return a / b if mode == "rn" else exact_f64(_divide_exactly, mode, a, b)


def sqrt_f64(a: Array, mode: str) -> Array:
    """The square root of a float64 vector."""
    nearest = np.sqrt(a)
    if mode == "rn":
        return nearest
    results = [
        _directed_root(float(x), float(root), mode) for x, root in zip(a, nearest, strict=True)
    ]
    return np.array(results, np.float64)


def _directed_root(x: float, root: float, mode: str) -> float:
    if not _finite(x, root):
        return root
    square = Fraction(root) ** 2
    if mode == "rp":
        return math.nextafter(root, math.inf) if square < Fraction(x) else root
    return math.nextafter(root, -math.inf) if square > Fraction(x) else root


def divide_f32(a: Array, b: Array, mode: str) -> Array:
    """`a / b` of float32 vectors."""
    nearest = a / b
    if mode == "rn":
        return nearest
    # The remainder is exact in float64, and its sign is the direction of the exact quotient.
    wide = b.astype(np.float64)
    remainder = a.astype(np.float64) - nearest.astype(np.float64) * wide
    return _round_toward(nearest, np.sign(remainder) * np.sign(wide), a, b, mode)


def sqrt_f32(a: Array, mode: str) -> Array:
    """The square root of a float32 vector."""
    nearest = np.sqrt(a)
    if mode == "rn":
        return nearest
    wide = nearest.astype(np.float64)
    return _round_toward(nearest, np.sign(a.astype(np.float64) - wide * wide), a, a, mode)


def _round_toward(nearest: Array, side: Array, a: Array, b: Array, mode: str) -> Array:
    """The neighbour of a rounded quotient or root toward the exact one, if the rounding mode
    requires it; `side` is the sign of exact minus nearest."""
    overflow = np.isinf(nearest) & np.isfinite(a) & np.isfinite(b) & (b != 0)
    side = np.where(overflow, -np.sign(nearest), side)
    down, up = np.float32(-np.inf), np.float32(np.inf)
    positive = nearest > 0
    lower: Array = (side < 0) & ((mode == "rm") | ((mode == "rz") & positive))
    raise_: Array = (side > 0) & ((mode == "rp") | ((mode == "rz") & ~positive))
    # A quotient that underflowed to zero still has a sign.
    zero = nearest == 0
    if mode == "rz":
        lower, raise_ = lower & ~zero, raise_ & ~zero
    result = np.where(lower, np.nextafter(nearest, down), nearest)
    return np.where(raise_, np.nextafter(nearest, up), result)
