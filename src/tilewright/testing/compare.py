"""Comparison of results: one contract for all executors.

| result                                               | must be                                 |
|------------------------------------------------------|-----------------------------------------|
| integers, copies, and ops with defined rounding      | the same bits; all NaNs are equal       |
| reductions, scans, dots of small integers            | the same bits: every order is exact     |
| reductions, scans, dots of other numbers             | within `n * u * sum(|a| * |b|)`         |
| fp8 dots by wgmma                                    | the same, `u` of 14 bits for 128 terms  |
| functions and approximate forms                      | within the documented error             |

No tolerance is picked by hand: `bounds` computes those of reductions, `documented` has those of
functions, and `estimate` combines them for whole kernels.
With a tolerance, NaNs must still be at the same indices, zeros of either sign are equal, and
overflow counts as the number one step beyond the largest of the type.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tilewright.ir.attributes import Type
from tilewright.ir.types import F64, I4, TF32, FloatType
from tilewright.reference.numerics.rounding import max_finite, widen
from tilewright.reference.tile import DTYPES, Array, dtype, format_of, to_patterns
from tilewright.support.floats import FloatFormat


class Tolerance:
    """The maximum distance of a result from the expected number: the sum of its parts.

    `ulps` are ulps of the expected number, `relative` is a fraction of it,
    `absolute` a bound; each is a number or an array.
    """

    __slots__ = ("absolute", "relative", "ulps")

    def __init__(self, ulps: Any = 0, relative: Any = 0, absolute: Any = 0) -> None:
        self.ulps = ulps
        self.relative = relative
        self.absolute = absolute

    def of(self, expected: Array, element: Type) -> Array:
        """The maximum distances, in the precision of `expected`."""
        units, part = self.ulps * ulp(expected, element), self.relative * np.abs(expected)
        return units + part + self.absolute


EXACT: Final = Tolerance()
"""The same bits."""

_ELEMENT_TYPES: Final = {dtype: type for type, dtype in DTYPES.items() if type not in (I4, TF32)}
"""The element type of a dtype; of two types with one dtype, the wider."""


def element_type(array: Array) -> Type:
    """The element type of an array, by its dtype."""
    return _ELEMENT_TYPES[array.dtype]


class Difference:
    """The first difference of a result from the expected one, and the number of differences."""

    __slots__ = ("actual", "count", "expected", "index", "size")

    def __init__(self, wrong: Array, actual: Array, expected: Array) -> None:
        self.count = int(np.count_nonzero(wrong))
        self.size = wrong.size
        self.index = tuple(int(i) for i in np.argwhere(wrong)[0])
        self.actual = actual[self.index]
        self.expected = expected[self.index]

    def __str__(self) -> str:
        gist = f"expected {self.expected} at {list(self.index)}, got {self.actual}"
        return f"{gist}; {self.count} of {self.size} differ"


def difference(
    actual: Array, expected: Array, element: Type, tolerance: Tolerance = EXACT
) -> Difference | None:
    """Compare arrays of elements; return a `Difference` if some exceed the tolerance.

    The arrays have one shape. With a tolerance, the expected numbers may have a wider float type,
    and then a smaller error of their own.
    """
    if actual.shape != expected.shape or actual.dtype != dtype(element):
        raise ValueError(f"expected {_gist(expected)} of {element}, got {_gist(actual)}")
    with np.errstate(all="ignore"):
        same = _same(actual, expected, element, tolerance)
    return None if same.all() else Difference(~same, actual, expected)


def array_difference(
    actual: Array, expected: Array, tolerance: Tolerance = EXACT
) -> Difference | None:
    """Compare arrays whose dtype is their element type: those that a kernel changed.

    Integers with a tolerance are compared in f64.
    """
    if tolerance is not EXACT and actual.dtype.kind in "biu":
        return difference(actual.astype(np.float64), expected, F64, tolerance)
    if actual.dtype.kind == "u":
        signed = np.dtype(f"i{actual.dtype.itemsize}")
        actual, expected = actual.view(signed), expected.view(signed)
    return difference(actual, expected, element_type(actual), tolerance)


def _gist(array: Array) -> str:
    return f"an array of shape {array.shape} and dtype {array.dtype}"


def _same(actual: Array, expected: Array, element: Type, tolerance: Tolerance) -> Array:
    if tolerance is EXACT:
        if expected.dtype != actual.dtype:
            raise ValueError(f"expected elements of {element}, got {_gist(expected)}")
        equal = to_patterns(actual, element) == to_patterns(expected, element)
        return equal | (is_nan(actual, element) & is_nan(expected, element))
    a, b = _numbers(actual, element), _numbers(expected, element)
    near, goal = _beyond(a, element), _beyond(b, element)
    close = np.abs(near - goal) <= tolerance.of(goal, element)
    return (a == b) | close | (np.isnan(a) & np.isnan(b))


def is_nan(array: Array, element: Type) -> Array:
    """Mask of the NaNs."""
    if not isinstance(element, FloatType):
        return np.zeros(array.shape, np.bool_)
    return np.isnan(_numbers(array, element))


def _numbers(array: Array, element: Type) -> Array:
    """Widen elements, unless they are wide already."""
    is_wide = array.dtype.kind == "f" and array.dtype.itemsize >= 8
    return array if is_wide else widen(array, element)


def _beyond(numbers: Array, element: Type) -> Array:
    """Clip numbers to one step beyond the largest number of a type."""
    limit = numbers.dtype.type(max_finite(element)) + ulp(np.array(max_finite(element)), element)
    return np.clip(numbers, -limit, limit)


def ulp(numbers: Array, element: Type) -> Array:
    """The distance of adjacent numbers of a type (ulp)."""
    format: FloatFormat = format_of(element)
    finite = np.where(np.isfinite(numbers), numbers, max_finite(element))
    exponent = np.where(finite == 0, format.min_exponent, np.frexp(finite)[1] - 1)
    exponent = np.clip(exponent, format.min_exponent, format.max_exponent)
    return np.ldexp(finite.dtype.type(1), exponent - format.mantissa_bits)


def error_in_ulps(actual: Array, exact: Array, element: Type) -> Array:
    """The error of elements with respect to numbers of a wider type, in ulp."""
    a = _numbers(actual, element).astype(exact.dtype)
    with np.errstate(all="ignore"):
        errors = np.abs(_beyond(a, element) - _beyond(exact, element)) / ulp(exact, element)
    return np.where((a == exact) | (np.isnan(a) & np.isnan(exact)), 0, errors)
