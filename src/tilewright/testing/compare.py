"""How results are compared: one contract for everything that runs a program.

| result                                               | must be                                 |
|------------------------------------------------------|-----------------------------------------|
| integers, moves, and whatever has a defined rounding | the same bits; all NaNs are the same    |
| sums, scans, matrix products of small integers       | the same bits: every order is exact     |
| sums, scans, matrix products of other numbers        | within `n * u * sum(|a| * |b|)`         |
| those of 8-bit floats by whole warpgroups            | the same, `u` of 14 bits for 128 terms  |
| functions and approximate forms                      | as near as documented                   |

No tolerance is picked by hand: `bounds` computes those of sums, `documented` knows the others, and
`estimate` puts both together for whole kernels.
Where something may differ, NaNs must still be in the same places, zeros of both signs are equal,
and whatever is too large for the type counts as the number one step beyond its largest.
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
    """How far from the expected number a result may be: the sum of what is given.

    `ulps` are units in the last place of the expected number, `relative` is a part of it,
    `absolute` a bound; each is a number or an array.
    """

    __slots__ = ("absolute", "relative", "ulps")

    def __init__(self, ulps: Any = 0, relative: Any = 0, absolute: Any = 0) -> None:
        self.ulps = ulps
        self.relative = relative
        self.absolute = absolute

    def of(self, expected: Array, element: Type) -> Array:
        """How far off results may be, in the precision of `expected`."""
        units, part = self.ulps * ulp(expected, element), self.relative * np.abs(expected)
        return units + part + self.absolute


EXACT: Final = Tolerance()
"""The same bits."""

_HELD: Final = {held: type for type, held in DTYPES.items() if type not in (I4, TF32)}
"""What an array of a dtype holds; of two types with one dtype, the larger."""


def element_held(array: Array) -> Type:
    """What an array holds, by its dtype."""
    return _HELD[array.dtype]


class Difference:
    """Where a result is not what it must be."""

    __slots__ = ("count", "expected", "found", "place", "size")

    def __init__(self, wrong: Array, found: Array, expected: Array) -> None:
        self.count = int(np.count_nonzero(wrong))
        self.size = wrong.size
        self.place = tuple(int(index) for index in np.argwhere(wrong)[0])
        self.found = found[self.place]
        self.expected = expected[self.place]

    def __str__(self) -> str:
        gist = f"expected {self.expected} at {list(self.place)}, got {self.found}"
        return f"{gist}; {self.count} of {self.size} differ"


def difference(
    found: Array, expected: Array, element: Type, tolerance: Tolerance = EXACT
) -> Difference | None:
    """Where elements differ by more than they may.

    Both are arrays of elements, of one shape. What is expected up to a tolerance may also be
    given in a wider float type, and then with fewer errors of its own.
    """
    if found.shape != expected.shape or found.dtype != dtype(element):
        raise ValueError(f"expected {_gist(expected)} of {element}, got {_gist(found)}")
    with np.errstate(all="ignore"):
        same = _same(found, expected, element, tolerance)
    return None if same.all() else Difference(~same, found, expected)


def array_difference(
    found: Array, expected: Array, tolerance: Tolerance = EXACT
) -> Difference | None:
    """The same for arrays that say by their dtype what they hold: those that a kernel changed.

    Integers up to a tolerance are compared as numbers of double precision.
    """
    if tolerance is not EXACT and found.dtype.kind in "biu":
        return difference(found.astype(np.float64), expected, F64, tolerance)
    if found.dtype.kind == "u":
        signed = np.dtype(f"i{found.dtype.itemsize}")
        found, expected = found.view(signed), expected.view(signed)
    return difference(found, expected, element_held(found), tolerance)


def _gist(array: Array) -> str:
    return f"an array of shape {array.shape} and dtype {array.dtype}"


def _same(found: Array, expected: Array, element: Type, tolerance: Tolerance) -> Array:
    if tolerance is EXACT:
        if expected.dtype != found.dtype:
            raise ValueError(f"expected elements of {element}, got {_gist(expected)}")
        equal = to_patterns(found, element) == to_patterns(expected, element)
        return equal | (is_nan(found, element) & is_nan(expected, element))
    a, b = _numbers(found, element), _numbers(expected, element)
    near, goal = _beyond(a, element), _beyond(b, element)
    close = np.abs(near - goal) <= tolerance.of(goal, element)
    return (a == b) | close | (np.isnan(a) & np.isnan(b))


def is_nan(array: Array, element: Type) -> Array:
    """Which elements are no numbers."""
    if not isinstance(element, FloatType):
        return np.zeros(array.shape, np.bool_)
    return np.isnan(_numbers(array, element))


def _numbers(array: Array, element: Type) -> Array:
    """Elements, or what is wider already, as numbers to compute with."""
    is_wide = array.dtype.kind == "f" and array.dtype.itemsize >= 8
    return array if is_wide else widen(array, element)


def _beyond(numbers: Array, element: Type) -> Array:
    """The same numbers, but what is too large one step beyond the largest number of a type."""
    limit = numbers.dtype.type(max_finite(element)) + ulp(np.array(max_finite(element)), element)
    return np.clip(numbers, -limit, limit)


def ulp(numbers: Array, element: Type) -> Array:
    """The distance between neighbours of a type around numbers."""
    format: FloatFormat = format_of(element)
    finite = np.where(np.isfinite(numbers), numbers, max_finite(element))
    exponent = np.where(finite == 0, format.min_exponent, np.frexp(finite)[1] - 1)
    exponent = np.clip(exponent, format.min_exponent, format.max_exponent)
    return np.ldexp(finite.dtype.type(1), exponent - format.mantissa_bits)


def error_in_ulps(found: Array, exact: Array, element: Type) -> Array:
    """How far elements are from numbers of a wider type, in units of the last place."""
    a = _numbers(found, element).astype(exact.dtype)
    with np.errstate(all="ignore"):
        errors = np.abs(_beyond(a, element) - _beyond(exact, element)) / ulp(exact, element)
    return np.where((a == exact) | (np.isnan(a) & np.isnan(exact)), 0, errors)
