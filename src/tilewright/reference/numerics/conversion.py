"""Conversions of arrays between element types."""

from __future__ import annotations

import numpy as np

from tilewright.dialects.cuda_tile.enums import Rounding
from tilewright.ir.attributes import Type
from tilewright.ir.types import F64, I1, I4, IntegerType
from tilewright.reference.numerics.integer import read
from tilewright.reference.numerics.rounding import round_to, widen
from tilewright.reference.tile import Array, dtype, format_of, wrap


def extend(a: Array, source: Type, target: Type, *, is_signed: bool) -> Array:
    """`exti`: sign- or zero-extend."""
    if source is I4 and not is_signed:
        return wrap(a & np.int8(15), target)
    return wrap(read(a, is_signed), target)


def float_to_float(a: Array, source: Type, target: Type, mode: Rounding) -> Array:
    """`ftof`: round to the target type; types of up to eight bits saturate."""
    return round_to(widen(a, source), target, mode, saturate=format_of(target).width <= 8)


def int_to_float(a: Array, target: Type, *, is_signed: bool) -> Array:
    """`itof`: the nearest number, ties to even."""
    number = read(a, is_signed)
    saturate = format_of(target).width <= 8
    if number.dtype.itemsize < 8 or target is F64:
        return round_to(number.astype(np.float64), target, saturate=saturate)
    # Round to odd: f64 has 53 bits, so lower bits are ORed into the last one.
    eleven = number.dtype.type(11)
    lost: Array = (number & number.dtype.type(0x7FF)) != 0
    odd: Array = ((number >> eleven) | lost).astype(np.float64) * 2048.0
    small = np.abs(number.astype(np.float64)) < 2.0**53
    return round_to(np.where(small, number.astype(np.float64), odd), target, saturate=saturate)


def float_to_int(a: Array, source: Type, target: IntegerType, *, is_signed: bool) -> Array:
    """`ftoi`: truncate and saturate; NaN becomes zero."""
    whole = np.trunc(widen(a, source))
    low, high = _limits(target, is_signed)
    whole = np.where(np.isnan(whole), 0.0, whole)
    wide = np.int64 if is_signed else np.uint64
    inside = np.where((whole >= low) & (whole < high + 1.0), whole, 0.0).astype(wide)
    limited = np.where(whole < low, wide(low), inside)
    limited = np.where(whole >= high + 1.0, wide(high), limited)
    return wrap(limited, target)


def float_to_bool(a: Array, source: Type) -> Array:
    """`ftoi` to i1 without saturation: whether a float is nonzero, which NaN is."""
    return widen(a, source) != 0


def fits_integer(a: Array, source: Type, target: IntegerType, *, is_signed: bool) -> Array:
    """Whether the truncated value is in range; NaN and infinities are not."""
    whole = np.trunc(widen(a, source))
    low, high = _limits(target, is_signed)
    return (whole >= low) & (whole < high + 1.0)


def _limits(type: IntegerType, is_signed: bool) -> tuple[int, int]:
    width = type.width
    return (-(1 << width - 1), (1 << width - 1) - 1) if is_signed else (0, (1 << width) - 1)


def bitcast(a: Array, target: Type) -> Array:
    """`bitcast`: reinterpret the bits."""
    return a if target is I1 else a.view(dtype(target))
