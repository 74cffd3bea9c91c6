"""Math functions on arrays: computed with extra precision, and rounded once.

A result is correctly rounded unless the exact value is so close to the midpoint of two numbers
that the extra bits do not decide: `error_bound` is the maximum error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tilewright.dialects.cuda_tile.enums import Rounding
from tilewright.ir.attributes import Type
from tilewright.ir.types import F64
from tilewright.reference.numerics import decimals, rounding
from tilewright.reference.numerics.rounding import round_and_flush, round_to, widen
from tilewright.reference.tile import Array

Function = Callable[..., Array]

LONG_DOUBLE_IS_LONGER: Final = np.finfo(np.longdouble).nmant in (63, 112)
"""Whether C's `long double` has 80 or 128 bits, as on x86-64 and aarch64 with Linux.

Elsewhere it is a double, or a pair of doubles, whose functions are imprecise."""


def error_bound(element: Type) -> float:
    """The maximum error of a result in ulp: slightly more than a half."""
    return 0.5 + (2.0**-8 if element is F64 else 2.0**-24)


def evaluate(compute: Function, element: Type, *operands: Array, flush: bool = False) -> Array:
    """Evaluate a function elementwise; `flush` flushes subnormal operands and results to zero."""
    if element is F64 and not LONG_DOUBLE_IS_LONGER:
        return decimals.evaluate(compute, *operands)
    if flush:
        operands = tuple(rounding.flush(operand) for operand in operands)
    result = compute(*(_with_more_bits(operand, element) for operand in operands))
    if flush:
        return round_and_flush(result, Rounding.NEAREST_EVEN)
    return result.astype(np.float64) if element is F64 else round_to(result, element)


def power(base: Array, exponent: Array, element: Type) -> Array:
    """`base ** exponent` with signed integer exponents."""
    if element is F64:
        return evaluate(np.power, F64, base, exponent.astype(np.float64))
    return round_to(np.power(widen(base, element), exponent.astype(np.float64)), element)


def _with_more_bits(operand: Array, element: Type) -> Array:
    return operand.astype(np.longdouble) if element is F64 else widen(operand, element)


def rsqrt(x: Array) -> Array:
    """`1 / sqrt(x)`; signed infinity for zeros."""
    return 1.0 / np.sqrt(x)
