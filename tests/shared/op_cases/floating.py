"""Cases of float arithmetic, against exact fractions that are rounded by looking up neighbours."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from op_cases.kernel import Case, deferred, elementwise, tile
from op_cases.numbers import Exact, elements, rounded, worth
from op_cases.values import FLOATS, Effort
from tilewright.dialects.cuda_tile.enums import ComparisonOrdering, ComparisonPredicate, Rounding
from tilewright.ir.types import F32, I1, FloatType
from tilewright.reference.tile import Array

IEEE = (Rounding.NEAREST_EVEN, Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF)
TINY = Fraction(1, 2**126)
"""The smallest normal number of f32."""


def exact(number: float) -> Exact:
    """A number as a fraction, if it is one."""
    return Fraction(number) if math.isfinite(number) else number


def flushed(number: float) -> float:
    """A subnormal number of f32 as a zero of its sign."""
    return math.copysign(0.0, number) if abs(number) < 2.0**-126 else number


def is_tiny(x: Exact, mode: Rounding) -> bool:
    """Whether a number rounds to a subnormal one, were there all exponents in f32.

    Of 24 bits, the largest number below 2**-126 is `last`.
    """
    if not isinstance(x, Fraction) or x == 0:
        return False
    last = TINY - Fraction(1, 2**150)
    if mode is Rounding.NEAREST_EVEN:
        return abs(x) < (last + TINY) / 2
    grows = mode is not Rounding.ZERO and (mode is Rounding.POSITIVE_INF) == (x > 0)
    return abs(x) <= last if grows else abs(x) < TINY


Formula = Callable[..., tuple[Exact, bool]]
"""The exact result of finite operands, and whether a zero is negative when rounding to nearest."""


def _add(a: float, b: float) -> tuple[Exact, bool]:
    return exact(a) + exact(b), math.copysign(1, a + b) < 0


def _subtract(a: float, b: float) -> tuple[Exact, bool]:
    return _add(a, -b)


def _multiply(a: float, b: float) -> tuple[Exact, bool]:
    return exact(a) * exact(b), math.copysign(1, a) != math.copysign(1, b)


def _divide(a: float, b: float) -> tuple[Exact, bool]:
    negative = math.copysign(1, a) != math.copysign(1, b)
    if b == 0:
        return (math.nan if a == 0 else math.copysign(math.inf, -negative or 1.0)), negative
    return Fraction(a) / Fraction(b), negative


def _fma(a: float, b: float, c: float) -> tuple[Exact, bool]:
    multiplied, negative = _multiply(a, b)
    if multiplied == 0:
        zero = -0.0 if negative else 0.0
        return exact(c), math.copysign(1, zero + c) < 0
    return multiplied + exact(c), False


def _special_quotient(a: float, b: float) -> float:
    if math.isinf(b):
        return math.nan if math.isinf(a) else a * math.copysign(0.0, b)
    return a * math.copysign(1.0, b) + b * 0


def _special_fma(a: float, b: float, c: float) -> float:
    # The exact multiplication of finite numbers is finite, however large.
    return c if math.isfinite(a) and math.isfinite(b) else a * b + c


FORMULAS: dict[str, tuple[Formula, Callable[..., float], int]] = {
    "addf": (_add, operator.add, 2),
    "subf": (_subtract, operator.sub, 2),
    "mulf": (_multiply, operator.mul, 2),
    "divf": (_divide, _special_quotient, 2),
    "fma": (_fma, _special_fma, 3),
}
"""For each operation: the exact result, what to do with infinities and NaN, how many operands."""


def _one(name: str, row: Sequence[float], element: FloatType, mode: Rounding, flush: bool) -> int:
    formula, special, _ = FORMULAS[name]
    if flush:
        row = [flushed(number) for number in row]
    if not all(map(math.isfinite, row)):
        result = special(*row)
        return rounded(exact(result), element, mode, negative_zero=math.copysign(1, result) < 0)
    x, negative = formula(*row)
    if x == 0 and mode is Rounding.NEGATIVE_INF and _cancels(name, row):
        negative = True
    if flush and is_tiny(x, mode):
        x, negative = Fraction(0), x < 0
    return rounded(x, element, mode, negative_zero=negative)


def _cancels(name: str, row: Sequence[float]) -> bool:
    """Whether a zero is a sum of unlike signs, which rounding down makes negative."""
    if name == "fma":
        row = [math.copysign(1, row[0]) * math.copysign(1, row[1]), row[2]]
    elif name == "subf":
        row = [row[0], -row[1]]
    elif name != "addf":
        return False
    return math.copysign(1, row[0]) != math.copysign(1, row[1])


def _modes(name: str) -> Iterator[tuple[FloatType, Rounding, bool]]:
    for element in FLOATS:
        for mode in IEEE:
            yield element, mode, False
            if element is F32:
                yield element, mode, True
    fast = {"divf": (Rounding.APPROX, Rounding.FULL), "sqrt": (Rounding.APPROX,)}
    for mode in fast.get(name, ()):
        yield from ((F32, mode, flush) for flush in (False, True))


def _modifiers(mode: Rounding, flush: bool) -> str:
    return f"rounding<{mode.keyword}>{' flush_to_zero' if flush else ''}"


def arithmetic(effort: Effort) -> Iterator[Case]:
    """`addf`, `subf`, `mulf`, `divf` and `fma`."""
    for name, (_, _, arity) in FORMULAS.items():
        for element, mode, flush in _modes(name):
            columns = effort.tuples([element] * arity, name, mode, flush)
            rows = zip(*(worth(column, element).tolist() for column in columns), strict=True)
            nearest = mode if mode in IEEE else Rounding.NEAREST_EVEN
            expected = [_one(name, row, element, nearest, flush) for row in rows]

            def write(
                *names: str,
                name: str = name,
                end: str = f"{_modifiers(mode, flush)} : {tile(columns[0].shape, element)}",
            ) -> str:
                return f"{name} {', '.join(names)} {end}"

            operands = [(column, element) for column in columns]
            yield elementwise(name, write, operands, elements(expected, element), element)


def _root(number: float, element: FloatType, mode: Rounding, flush: bool) -> int:
    """The root by halving intervals of squares: `x` rounds like the root if its square says so."""
    number = flushed(number) if flush else number
    if not number > 0 or number == math.inf:
        root = number if number == 0 or number == math.inf else math.nan
        return rounded(exact(root), element, mode, negative_zero=math.copysign(1, number) < 0)
    # Enough bits to tell every mode apart, and one more for what is left.
    x = Fraction(number)
    scale = 2 ** (2 * 1200)
    root = math.isqrt(x.numerator * scale // x.denominator)
    sticky = Fraction(0) if Fraction(root * root, scale) == x else Fraction(1, 2)
    return rounded((root + sticky) / 2**1200, element, mode)


def roots(effort: Effort) -> Iterator[Case]:
    """Square roots."""
    for element, mode, flush in _modes("sqrt"):
        patterns = effort.patterns(element, "sqrt", mode, flush)
        nearest = mode if mode in IEEE else Rounding.NEAREST_EVEN
        numbers = worth(patterns, element).tolist()
        expected = [_root(number, element, nearest, flush) for number in numbers]
        type = tile(patterns.shape, element)

        def write(a: str, end: str = f"{_modifiers(mode, flush)} : {type}") -> str:
            return f"sqrt {a} {end}"

        yield elementwise(
            "sqrt", write, [(patterns, element)], elements(expected, element), element
        )


def _remainder(a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b) or math.isinf(a) or b == 0:
        return math.nan
    return math.fmod(a, b)


def remainders(effort: Effort) -> Iterator[Case]:
    """Remainders, by C's `fmod`, which is exact."""
    for element in FLOATS:
        a, b = effort.tuples([element] * 2, "remf")
        rows = zip(worth(a, element).tolist(), worth(b, element).tolist(), strict=True)
        results = [_remainder(*row) for row in rows]
        expected = _patterns(results, element)
        type = tile(a.shape, element)
        yield elementwise(
            "remf", lambda x, y, type=type: f"remf {x}, {y} : {type}",
            [(a, element), (b, element)], elements(expected, element), element,
        )  # fmt: skip


def _patterns(numbers: Sequence[float], element: FloatType) -> list[int]:
    """The patterns of numbers that the type holds."""
    return [rounded(exact(n), element, negative_zero=math.copysign(1, n) < 0) for n in numbers]


def _extreme(a: float, b: float, larger: bool, propagate: bool) -> float:
    if math.isnan(a) or math.isnan(b):
        if propagate or (math.isnan(a) and math.isnan(b)):
            return math.nan
        return b if math.isnan(a) else a

    def order(x: float) -> tuple[float, float]:
        return (x, math.copysign(1, x))

    return (max if larger else min)(a, b, key=order)


def extremes(effort: Effort) -> Iterator[Case]:
    """Maximum and minimum."""
    for name in ("maxf", "minf"):
        for element in FLOATS:
            for propagate in (False, True):
                for flush in (False, True) if element is F32 else (False,):
                    yield _extremes(effort, name, element, propagate, flush)


@deferred
def _extremes(effort: Effort, name: str, element: FloatType, propagate: bool, flush: bool) -> Case:
    a, b = effort.tuples([element] * 2, name, propagate, flush)
    columns = [worth(column, element).tolist() for column in (a, b)]
    if flush:
        columns = [[flushed(x) for x in column] for column in columns]
    pairs = zip(*columns, strict=True)
    results = [_extreme(x, y, name == "maxf", propagate) for x, y in pairs]
    flags = " flush_to_zero" * flush + " propagate_nan" * propagate
    type = tile(a.shape, element)
    return elementwise(
        name,
        lambda x, y: f"{name} {x}, {y}{flags} : {type}",
        [(a, element), (b, element)],
        elements(_patterns(results, element), element),
        element,
    )


RELATIONS: dict[ComparisonPredicate, Callable[[float, float], bool]] = {
    ComparisonPredicate.EQUAL: operator.eq,
    ComparisonPredicate.NOT_EQUAL: operator.ne,
    ComparisonPredicate.LESS_THAN: operator.lt,
    ComparisonPredicate.LESS_THAN_OR_EQUAL: operator.le,
    ComparisonPredicate.GREATER_THAN: operator.gt,
    ComparisonPredicate.GREATER_THAN_OR_EQUAL: operator.ge,
}


def comparisons(effort: Effort) -> Iterator[Case]:
    """Comparisons."""
    for element in FLOATS:
        for predicate, holds in RELATIONS.items():
            for ordering in ComparisonOrdering:
                a, b = effort.tuples([element] * 2, "cmpf", predicate, ordering)
                rows = zip(worth(a, element).tolist(), worth(b, element).tolist(), strict=True)
                unordered = ordering is ComparisonOrdering.UNORDERED
                expected = [
                    unordered if math.isnan(x) or math.isnan(y) else holds(x, y) for x, y in rows
                ]
                types = f"{tile(a.shape, element)} -> {tile(a.shape, I1)}"
                start = f"cmpf {predicate.keyword} {ordering.keyword}"
                yield elementwise(
                    "cmpf",
                    lambda x, y, start=start, types=types: f"{start} {x}, {y} : {types}",
                    [(a, element), (b, element)],
                    np.array(expected),
                    I1,
                )


def _integral(number: float, up: bool) -> float:
    if not math.isfinite(number):
        return number
    whole = math.ceil(number) if up else math.floor(number)
    return math.copysign(float(whole), number)


UNARY: dict[str, Callable[[float], float]] = {
    "ceil": lambda x: _integral(x, True),
    "floor": lambda x: _integral(x, False),
}


def integral(effort: Effort) -> Iterator[Case]:
    """Rounding to integers."""
    for name, formula in UNARY.items():
        for element in FLOATS:
            patterns = effort.patterns(element, name)
            expected = _patterns([formula(x) for x in worth(patterns, element).tolist()], element)
            yield _unary(name, patterns, elements(expected, element), element)


def signs(effort: Effort) -> Iterator[Case]:
    """Magnitude and negation, which are operations on bits; NaNs keep theirs."""
    for name in ("absf", "negf"):
        for element in FLOATS:
            patterns = effort.patterns(element, name)
            sign = patterns.dtype.type(1 << (element.width - 1))
            expected: Array = patterns & ~sign if name == "absf" else patterns ^ sign
            yield _unary(name, patterns, elements(expected.tolist(), element), element)


def _unary(name: str, patterns: Array, expected: Array, element: FloatType) -> Case:
    type = tile(patterns.shape, element)
    return elementwise(
        name, lambda a: f"{name} {a} : {type}", [(patterns, element)], expected, element
    )


def cases(effort: Effort) -> Iterator[Case]:
    """All cases of this file."""
    for group in (arithmetic, roots, remainders, extremes, comparisons, integral, signs):
        yield from group(effort)
