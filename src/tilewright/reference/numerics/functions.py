"""Mathematical functions on arrays: computed with more bits than the type has, and rounded once.

A result is the nearest number of its type, or, where the exact value lies so close to the middle
between two that the spare bits cannot tell, one of these: `error_bound` is how far off it may be.
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

Elsewhere it is a double, or a pair of doubles, whose functions promise little."""


def error_bound(element: Type) -> float:
    """The largest error of a result, in units of its last place: half of one and a little."""
    return 0.5 + (2.0**-8 if element is F64 else 2.0**-24)


def evaluate(compute: Function, element: Type, *operands: Array, flush: bool = False) -> Array:
    """A function of elements of one type; `flush` takes and gives subnormal numbers as zeros."""
    if element is F64 and not LONG_DOUBLE_IS_LONGER:
        return decimals.evaluate(compute, *operands)
    if flush:
        operands = tuple(rounding.flush(operand) for operand in operands)
    found = compute(*(_with_more_bits(operand, element) for operand in operands))
    if flush:
        return round_and_flush(found, Rounding.NEAREST_EVEN)
    return found.astype(np.float64) if element is F64 else round_to(found, element)


def power(base: Array, exponent: Array, element: Type) -> Array:
    """Elements to the power of signed integers."""
    if element is F64:
        return evaluate(np.power, F64, base, exponent.astype(np.float64))
    return round_to(np.power(widen(base, element), exponent.astype(np.float64)), element)


def _with_more_bits(operand: Array, element: Type) -> Array:
    return operand.astype(np.longdouble) if element is F64 else widen(operand, element)


def reciprocal_root(x: Array) -> Array:
    """`1 / sqrt(x)`; that of a zero is an infinity of its sign."""
    return 1.0 / np.sqrt(x)
