"""How large the errors of sums can be, computed from what is summed; and inputs without errors.

Rounding changes each result by at most its unit roundoff `u`, relative to the result. Whatever the
order of a sum of `n` terms, each of them goes through fewer than `n` additions, so that the error
is at most `n * u` times the sum of their magnitudes, to first order. A product that is rounded
before it is added costs one more; the accumulator is one more term.
"""

from __future__ import annotations

import math

import numpy as np

from tilewright.ir.attributes import Type
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
