"""Cases of mathematical functions, against mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import mpmath
import numpy as np

from op_cases.floating import flushed
from op_cases.kernel import Case, deferred, elementwise, tile
from op_cases.numbers import integers, worth
from op_cases.values import FLOATS, Effort
from tilewright.ir.types import F32, F64, I1, I8, I16, I32, FloatType
from tilewright.reference.numerics.functions import LONG_DOUBLE_IS_LONGER, error_bound
from tilewright.reference.tile import Array
from tilewright.testing.compare import Tolerance

PRECISION = 200
"""How many bits mpmath computes with: more than twice as many as any type has."""

Number = Any
"""A number of mpmath."""
Formula = Callable[..., Number]
UNARY: dict[str, Formula] = {
    "exp": mpmath.exp,
    "exp2": lambda x: mpmath.power(2, x),
    "log": mpmath.log,
    "log2": lambda x: mpmath.log(x) / mpmath.log(2),
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
}
MODIFIERS: dict[str, tuple[str, ...]] = {
    "exp": ("rounding<full>", "rounding<approx>"),
    "tanh": ("rounding<full>", "rounding<approx>"),
    "exp2": ("", "flush_to_zero"),
    "rsqrt": ("", "flush_to_zero"),
}
"""The modifiers of f32; other types support only the first."""


def special(name: str, x: float) -> float | None:
    """The value where the function has no finite one, or where there is nothing to compute."""
    if math.isnan(x):
        return x
    if name in ("log", "log2", "rsqrt"):
        return _special_root(name, x)
    if not math.isinf(x):
        return x if x == 0 and name in ("sin", "tan", "sinh", "tanh") else None
    if name in ("sin", "cos", "tan"):
        return math.nan
    if name in ("exp", "exp2"):
        return x if x > 0 else 0.0
    return {"sinh": x, "cosh": math.inf, "tanh": math.copysign(1.0, x)}[name]


def _special_root(name: str, x: float) -> float | None:
    if x == 0:
        return math.copysign(math.inf, x) if name == "rsqrt" else -math.inf
    if x < 0:
        return math.nan
    if math.isinf(x):
        return 0.0 if name == "rsqrt" else math.inf
    return None


def special_power(x: float, y: float) -> float | None:
    """What C says of powers with special operands; `math` raises where the result is not finite."""
    odd = math.isfinite(y) and y == math.trunc(y) and math.fmod(y, 2) != 0
    if x == 0 and y < 0:
        return math.copysign(math.inf, x) if odd else math.inf
    if math.isfinite(x) and x < 0 and math.isfinite(y) and y != math.trunc(y):
        return math.nan
    if x == 0 or y == 0 or abs(x) == 1 or not (math.isfinite(x) and math.isfinite(y)):
        return math.pow(x, y)
    return None


def special_angle(x: float, y: float) -> float | None:
    """Angles of points on an axis or at infinity, of which `math` has the right signs."""
    if x == 0 or y == 0 or not (math.isfinite(x) and math.isfinite(y)):
        return math.atan2(x, y)
    return None


def number(x: Number) -> tuple[float, float]:
    """A number as the sum of two doubles: the nearest one, and what is left."""
    if x == 0 or mpmath.isnan(x) or mpmath.isinf(x):
        return float(x), 0.0
    exponent = mpmath.frexp(x)[1]
    if exponent > 20_000 or exponent < -20_000:
        return (float(mpmath.sign(x)) * (math.inf if exponent > 0 else 0.0)), 0.0
    high = float(x)
    return (high, float(x - mpmath.mpf(high))) if math.isfinite(high) else (high, 0.0)


def expected(pairs: Sequence[tuple[float, float]], element: FloatType) -> Array:
    """Exact values in a type with more bits than the element has."""
    high = np.array([pair[0] for pair in pairs])
    if element is not F64 or not LONG_DOUBLE_IS_LONGER:
        return high
    low = np.array([pair[1] for pair in pairs])
    with np.errstate(invalid="ignore"):  # NaNs that signal
        return high.astype(np.longdouble) + low.astype(np.longdouble)


def evaluate(
    formula: Formula, special: Callable[..., float | None], rows: Sequence[Sequence[float]]
) -> list[tuple[float, float]]:
    """The exact values of a function."""
    results: list[tuple[float, float]] = []
    with mpmath.workprec(PRECISION):
        for row in rows:
            value = special(*row)
            known = value is not None
            results.append((value, 0.0) if known else number(formula(*map(mpmath.mpf, row))))
    return results


def _inputs(name: str, patterns: Array, element: FloatType) -> Array:
    """Fewer infinite results: most functions are interesting only near zero."""
    if name in ("log", "log2", "rsqrt"):
        sign = patterns.dtype.type((1 << (element.width - 1)) - 1)
        patterns = np.where(np.arange(len(patterns)) % 8 > 0, patterns & sign, patterns)
    return patterns


def unary(effort: Effort) -> Iterator[Case]:
    """Functions of one number."""
    for name, formula in UNARY.items():
        for element in FLOATS:
            modifiers = MODIFIERS.get(name, ("",))
            for modifier in modifiers if element is F32 else modifiers[:1]:
                patterns = effort.patterns(element, name, modifier)
                patterns = _inputs(name, patterns, element)
                yield _unary(name, formula, modifier, patterns, element)


@deferred
def _unary(name: str, formula: Formula, modifier: str, patterns: Array, element: FloatType) -> Case:
    rows = [[x] for x in worth(patterns, element).tolist()]
    flush = modifier == "flush_to_zero"
    if flush:
        rows = [[flushed(x)] for (x,) in rows]
    values = expected(evaluate(formula, lambda x: special(name, x), rows), element)
    if flush:
        values = np.where(np.abs(values) < 2.0**-126, np.copysign(0.0, values), values)
    type = tile(patterns.shape, element)
    return elementwise(
        name,
        lambda a: f"{name} {a} {modifier} : {type}",
        [(patterns, element)],
        values,
        element,
        Tolerance(ulps=error_bound(element)),
    )


def binary(effort: Effort) -> Iterator[Case]:
    """Powers and angles."""
    table: dict[str, tuple[Formula, Callable[..., float | None]]] = {
        "fpowf": (mpmath.power, special_power),
        "atan2": (mpmath.atan2, special_angle),
    }
    for name, (formula, exception) in table.items():
        for element in FLOATS:
            a, b = effort.tuples([element] * 2, name)
            rows = list(zip(worth(a, element).tolist(), worth(b, element).tolist(), strict=True))
            values = expected(evaluate(formula, exception, rows), element)
            type = tile(a.shape, element)
            yield elementwise(
                name,
                lambda x, y, name=name, type=type: f"{name} {x}, {y} : {type}",
                [(a, element), (b, element)],
                values,
                element,
                Tolerance(ulps=error_bound(element)),
            )


def powers(effort: Effort) -> Iterator[Case]:
    """Powers with integer exponents."""
    for element in FLOATS:
        for exponent in (I1, I8, I16, I32):
            a = effort.patterns(element, "fpowi", exponent)
            b = np.resize(effort.patterns(exponent, "fpowi"), len(a))
            if exponent is not I1:
                small = b.dtype.type(15)
                b = np.where(np.arange(len(b)) % 2 == 0, b & small, b)
            numbers = integers(b, exponent, signed=True)
            rows = list(zip(worth(a, element).tolist(), map(float, numbers), strict=True))
            values = expected(evaluate(mpmath.power, special_power, rows), element)
            types = f"{tile(a.shape, element)}, {tile(b.shape, exponent)}"
            yield elementwise(
                "fpowi",
                lambda x, y, types=types: f"fpowi {x}, {y} : {types}",
                [(a, element), (b, exponent)],
                values,
                element,
                Tolerance(ulps=error_bound(element)),
            )


def cases(effort: Effort) -> Iterator[Case]:
    """All cases of this file."""
    for group in (unary, binary, powers):
        yield from group(effort)
