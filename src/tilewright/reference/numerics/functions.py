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
from tilewright.reference.numerics import rounding
from tilewright.reference.numerics.rounding import round_and_flush, round_to, widen
from tilewright.reference.tile import Array

Function = Callable[..., Array]

LONG_DOUBLE_IS_LONGER: Final = np.finfo(np.longdouble).nmant > np.finfo(np.float64).nmant
"""Whether C's `long double` has more bits than a double: on most machines it does."""


def error_bound(element: Type) -> float:
    """The largest error of a result, in units of its last place: half of one and a little."""
    if element is not F64:
        return 0.5 + 2.0**-24
    return 0.5 + 2.0**-8 if LONG_DOUBLE_IS_LONGER else 2.0


def evaluate(compute: Function, element: Type, *operands: Array, flush: bool = False) -> Array:
    """A function of elements of one type; `flush` takes and gives subnormal numbers as zeros."""
    if flush:
        operands = tuple(rounding.flush(operand) for operand in operands)
    found = compute(*(_with_more_bits(operand, element) for operand in operands))
    if flush:
        return round_and_flush(found, Rounding.NEAREST_EVEN)
    return _rounded(found, element)


def power(base: Array, exponent: Array, element: Type) -> Array:
    """Elements to the power of signed integers."""
    wide = _with_more_bits(base, element)
    return _rounded(np.power(wide, exponent.astype(wide.dtype)), element)


def _with_more_bits(operand: Array, element: Type) -> Array:
    return operand.astype(np.longdouble) if element is F64 else widen(operand, element)


def _rounded(found: Array, element: Type) -> Array:
    return found.astype(np.float64) if element is F64 else round_to(found, element)


def reciprocal_root(x: Array) -> Array:
    """`1 / sqrt(x)`; that of a zero is an infinity of its sign."""
    return 1.0 / np.sqrt(x)
