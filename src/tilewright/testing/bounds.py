"""How large the errors of sums can be, computed from what is summed; and inputs without errors.

Rounding changes each result by at most its unit roundoff `u`, relative to the result. Whatever the
order of a sum of `n` terms, each of them goes through fewer than `n` additions, so that the error
is at most `n * u` times the sum of their magnitudes, to first order. A product that is rounded
before it is added costs one more; the accumulator is one more term.

Whole warpgroups of an H200 keep 14 bits of sums of 8-bit floats (docs/ptxsim.md). An instruction
takes 32 products and the sum so far, cuts each 13 bits below the greatest of them, and then their
sum: 34 errors of up to `2**-13` times the sum of the magnitudes. Every 128 products such a sum goes
to another one in single precision, and the next begins anew. With `fast_acc` it goes on instead.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from tilewright.ir.attributes import Type
from tilewright.ir.types import F32
from tilewright.reference.numerics.rounding import widen
from tilewright.reference.tile import Array, format_of
from tilewright.testing.compare import Tolerance


def unit_roundoff(element: Type) -> float:
    """The largest relative error of rounding to the nearest number of a type."""
    return 2.0 ** -format_of(element).precision


def sum_tolerance(magnitudes: Array, terms: int, element: Type) -> Tolerance:
    """For sums in `element` of so many terms, whose magnitudes sum up to `magnitudes`."""
    return Tolerance(absolute=terms * unit_roundoff(element) * magnitudes)


def reduction_tolerance(terms: Array, axis: int, element: Type) -> Tolerance:
    """For the sums of an array of elements along an axis."""
    magnitudes = np.abs(widen(terms, element)).sum(axis=axis)
    return sum_tolerance(magnitudes, terms.shape[axis], element)


def scan_tolerance(terms: Array, axis: int, element: Type, *, reverse: bool = False) -> Tolerance:
    """For the sums of the elements up to each one, or from each one on."""
    magnitudes = np.abs(widen(terms, element))
    ordered = np.flip(magnitudes, axis) if reverse else magnitudes
    sums = np.cumsum(ordered, axis=axis)
    return sum_tolerance(np.flip(sums, axis) if reverse else sums, terms.shape[axis], element)


def product_tolerance(lhs: Array, rhs: Array, acc: Array, element: Type) -> Tolerance:
    """For `lhs @ rhs + acc` summed up in `element`; all three in double precision."""
    magnitudes = np.matmul(np.abs(lhs), np.abs(rhs)) + np.abs(acc)
    return sum_tolerance(magnitudes, lhs.shape[-1] + 1, element)


CUT: Final = 2.0**-13
"""What a warpgroup cuts off a term of 8-bit floats is less than this part of the greatest."""
CUT_AT_ONCE: Final = 32
CUT_IN_ALL: Final = 128
"""How many products of 8-bit floats one instruction adds, and how many are added so in a row."""


def cut_error(lhs: Array, rhs: Array, acc: Array, factor: Type, *, fast: bool = False) -> Array:
    """How far off `lhs @ rhs + acc` of 8-bit floats may be where warpgroups sum it up in f32."""
    # The hardware takes the exponent of a subnormal number for that of the least normal one.
    least = 2.0 ** format_of(factor).min_exponent
    large = [np.where(each == 0, 0.0, np.maximum(np.abs(each), least)) for each in (lhs, rhs)]
    size, terms = np.matmul(*large), lhs.shape[-1]
    row = terms if fast else min(terms, CUT_IN_ALL)
    cuts = row + 2 * -(-row // CUT_AT_ONCE)
    wide = 2 + -(-terms // CUT_AT_ONCE)
    total = size + np.abs(acc)
    return cuts * CUT * (total if fast else size) + wide * unit_roundoff(F32) * total


def exact_limit(terms: int, factor: Type, accumulator: Type) -> int:
    """The largest integers whose products can be summed in any order without rounding.

    Every partial sum of `terms` products is an integer that the accumulator holds exactly.
    """
    sums, factors = format_of(accumulator), format_of(factor)
    product_limit = min(2**sums.precision, 2 ** (sums.max_exponent + 1) - 1) // terms
    factor_limit = min(2**factors.precision, 2 ** (factors.max_exponent + 1) - 1)
    limit = min(math.isqrt(product_limit), factor_limit)
    if limit < 1:
        raise ValueError(f"expected fewer than {terms} terms: {accumulator} cannot count them")
    return limit


def small_integers(
    rng: np.random.Generator, shape: tuple[int, ...], limit: int, *, signed: bool = True
) -> Array:
    """Integers up to a limit, in double precision."""
    low = -limit if signed else 0
    return rng.integers(low, limit, shape, endpoint=True).astype(np.float64)
