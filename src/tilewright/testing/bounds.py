"""Error bounds of accumulations, computed from their terms; and inputs that accumulate exactly.

Rounding changes each result by at most its unit roundoff `u`, relative to the result. In any order
of adding `n` terms, each of them goes through fewer than `n` additions, so that the error is at
most `n * u` times the sum of their magnitudes, to first order. A term that is rounded before it is
added costs one more; the accumulator is one more term.

wgmma of fp8 on an H200 keeps 14 bits (docs/ptxsim.md). An instruction takes 32 terms and the
accumulator, truncates each 13 bits below the greatest of them, and then their sum: 34 errors of up
to `2**-13` times the sum of the magnitudes. Every 128 terms the accumulator is added to another one
in f32, and restarted at zero. With `fast_acc` it is not.
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
    """The largest relative error of rounding to nearest in a type."""
    return 2.0 ** -format_of(element).precision


def sum_tolerance(magnitudes: Array, terms: int, element: Type) -> Tolerance:
    """The tolerance of adding terms in `element` whose magnitudes add up to `magnitudes`."""
    return Tolerance(absolute=terms * unit_roundoff(element) * magnitudes)


def reduction_tolerance(terms: Array, axis: int, element: Type) -> Tolerance:
    """The tolerance of adding the elements of an array along an axis."""
    magnitudes = np.abs(widen(terms, element)).sum(axis=axis)
    return sum_tolerance(magnitudes, terms.shape[axis], element)


def scan_tolerance(terms: Array, axis: int, element: Type, *, reverse: bool = False) -> Tolerance:
    """The tolerance of an add scan along an axis, forward or reverse."""
    magnitudes = np.abs(widen(terms, element))
    ordered = np.flip(magnitudes, axis) if reverse else magnitudes
    prefix = np.cumsum(ordered, axis=axis)
    return sum_tolerance(np.flip(prefix, axis) if reverse else prefix, terms.shape[axis], element)


def dot_tolerance(lhs: Array, rhs: Array, acc: Array, element: Type) -> Tolerance:
    """The tolerance of `lhs @ rhs + acc` accumulated in `element`; operands in f64."""
    magnitudes = np.matmul(np.abs(lhs), np.abs(rhs)) + np.abs(acc)
    return sum_tolerance(magnitudes, lhs.shape[-1] + 1, element)


TRUNCATION: Final = 2.0**-13
"""The relative error of truncating a term of an fp8 wgmma, with respect to the greatest term."""
TERMS_PER_WGMMA: Final = 32
TERMS_PER_ACCUMULATOR: Final = 128
"""The number of fp8 terms per instruction, and until the accumulator is added to one in f32."""


def truncation_error(
    lhs: Array, rhs: Array, acc: Array, operand: Type, *, fast: bool = False
) -> Array:
    """The maximum error of an fp8 `lhs @ rhs + acc` by wgmma with an f32 accumulator."""
    # The hardware uses the least normal exponent for subnormal numbers.
    least = 2.0 ** format_of(operand).min_exponent
    large = [np.where(each == 0, 0.0, np.maximum(np.abs(each), least)) for each in (lhs, rhs)]
    size, terms = np.matmul(*large), lhs.shape[-1]
    row = terms if fast else min(terms, TERMS_PER_ACCUMULATOR)
    truncations = row + 2 * -(-row // TERMS_PER_WGMMA)
    wide: int = 2 + -(-terms // TERMS_PER_WGMMA)
    magnitude = size + np.abs(acc)
    return (
        truncations * TRUNCATION * (magnitude if fast else size)
        + wide * unit_roundoff(F32) * magnitude
    )


def exact_limit(terms: int, operand: Type, accumulator: Type) -> int:
    """The largest integers whose dot is exact in any order of accumulation.

    Every partial result of `terms` terms is an integer that the accumulator represents exactly.
    """
    accumulated, multiplied = format_of(accumulator), format_of(operand)
    term_limit = min(2**accumulated.precision, 2 ** (accumulated.max_exponent + 1) - 1) // terms
    operand_limit = min(2**multiplied.precision, 2 ** (multiplied.max_exponent + 1) - 1)
    limit = min(math.isqrt(term_limit), operand_limit)
    if limit < 1:
        raise ValueError(f"expected fewer than {terms} terms: {accumulator} cannot count them")
    return limit


def small_integers(
    rng: np.random.Generator, shape: tuple[int, ...], limit: int, *, signed: bool = True
) -> Array:
    """Random integers up to a limit, in f64."""
    low = -limit if signed else 0
    return rng.integers(low, limit, shape, endpoint=True).astype(np.float64)
