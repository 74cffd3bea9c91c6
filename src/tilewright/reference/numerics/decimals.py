"""Math functions in double precision, by multi-precision decimal arithmetic.

For platforms whose `long double` is no wider than a double: slow, one number at a time, but
precise. Zeros, infinities and NaN are evaluated by C.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any, Final

import numpy as np

from tilewright.reference.tile import Array
from tilewright.support.diagnostics import Unsupported

DIGITS: Final = 60
LONGEST: Final = 420
"""The integer part of a double has up to 309 digits; its remainder modulo pi needs more."""
ENORMOUS: Final = 10_000
"""e to the power of a larger exponent overflows a double."""

EXACT: Final = frozenset(("copysign", "rint", "trunc"))
"""Functions whose results need no rounding, by the name of the NumPy function."""

Number = Callable[..., Decimal]


def evaluate(compute: Callable[..., Array], *operands: Array) -> Array:
    """Evaluate a NumPy function for doubles with correct rounding."""
    approximate = compute(*operands)
    if compute.__name__ in EXACT:
        return approximate
    if compute.__name__ not in FUNCTIONS:
        raise Unsupported(f"'{compute.__name__}' of f64 where 'long double' is a double")
    regular = ~np.isnan(approximate)
    for operand in operands:
        regular &= np.isfinite(operand) & (operand != 0)
    exact = np.frompyfunc(_in_floats(FUNCTIONS[compute.__name__]), len(operands), 1)
    chosen = [np.broadcast_to(operand, approximate.shape)[regular] for operand in operands]
    result = np.array(approximate)
    result[regular] = np.asarray(exact(*chosen), np.float64)
    return result


def _in_floats(compute: Number) -> Callable[..., float]:
    def run(*numbers: float) -> float:
        with _digits(DIGITS):
            return float(compute(*map(Decimal, map(float, numbers))))

    return run


def _digits(count: int) -> Any:
    context = decimal.Context(prec=count, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[])
    return decimal.localcontext(context)


@cache
def pi() -> Decimal:
    """Pi by Machin's formula, in integers."""
    unit = 10 ** (LONGEST + 10)
    quarter = 4 * _arctan_inverse(5, unit) - _arctan_inverse(239, unit)
    return Decimal(4 * quarter).scaleb(-LONGEST - 10, decimal.Context(prec=LONGEST + 20))


def _arctan_inverse(n: int, unit: int) -> int:
    """`arctan(1 / n)` as a fixed-point number with `unit` for one."""
    result, power, k = 0, unit // n, 1
    while power:
        result += power // k if k % 4 == 1 else -(power // k)
        power //= n * n
        k += 2
    return result


def _series(first: Decimal, ratio: Callable[[int], Decimal]) -> Decimal:
    """Sum a series given by its first term and the ratios of consecutive terms."""
    result, term, k = first, first, 0
    while term and term.adjusted() > result.adjusted() - DIGITS - 3:
        k += 1
        term *= ratio(k)
        result += term
    return result


def exp(x: Decimal) -> Decimal:
    """e to the power of `x`."""
    if abs(x) > ENORMOUS:
        return Decimal("Infinity") if x > 0 else Decimal(0)
    return x.exp()


def log2(x: Decimal) -> Decimal:
    """The logarithm to the base 2."""
    return x.ln() / Decimal(2).ln()


def exp2(x: Decimal) -> Decimal:
    """2 to the power of `x`."""
    return exp(x * Decimal(2).ln())


def power(base: Decimal, exponent: Decimal) -> Decimal:
    """`base ** exponent`; a negative base has an integer exponent."""
    size = exp(exponent * abs(base).ln())
    return -size if base < 0 and exponent % 2 else size


def sinh(x: Decimal) -> Decimal:
    """The hyperbolic sine; that of a small number without cancellation."""
    if abs(x) < 1:
        return _series(x, lambda k: x * x / (2 * k * (2 * k + 1)))
    return (exp(x) - exp(-x)) / 2


def cosh(x: Decimal) -> Decimal:
    """The hyperbolic cosine."""
    return (exp(x) + exp(-x)) / 2


def tanh(x: Decimal) -> Decimal:
    """The hyperbolic tangent."""
    return Decimal(1).copy_sign(x) if abs(x) > 100 else sinh(x) / cosh(x)


def sin(x: Decimal) -> Decimal:
    """The sine."""
    return _sine(x, 0)


def cos(x: Decimal) -> Decimal:
    """The cosine: the sine shifted by a quarter period."""
    return _sine(x, 1)


def tan(x: Decimal) -> Decimal:
    """The tangent."""
    return sin(x) / cos(x)


def _sine(x: Decimal, quarters: int) -> Decimal:
    """The sine of `x` plus a number of quarter periods."""
    with _digits(LONGEST):
        periods = (2 * x / pi()).to_integral_value()
        rest = x - periods * pi() / 2
    quadrant = (int(periods) + quarters) % 4
    square = -rest * rest
    if quadrant % 2:
        size = _series(Decimal(1), lambda k: square / (2 * k * (2 * k - 1)))
    else:
        size = _series(+rest, lambda k: square / (2 * k * (2 * k + 1)))
    return -size if quadrant > 1 else size


def atan2(y: Decimal, x: Decimal) -> Decimal:
    """The angle of the point `(x, y)`."""
    if abs(y) > abs(x):
        return (pi() / 2).copy_sign(y) - _angle(x / y)
    return _angle(y / x) + (pi().copy_sign(y) if x < 0 else 0)


def _angle(slope: Decimal) -> Decimal:
    """`arctan` of a number from -1 to 1, as eight times that of an eighth of the angle."""
    for _ in range(3):
        slope = slope / (1 + (1 + slope * slope).sqrt())
    return 8 * _series(slope, lambda k: -slope * slope * (2 * k - 1) / (2 * k + 1))


def rsqrt(x: Decimal) -> Decimal:
    """`1 / sqrt(x)`."""
    return 1 / x.sqrt()


FUNCTIONS: Final[dict[str, Number]] = {
    "exp": exp,
    "exp2": exp2,
    "log": Decimal.ln,
    "log2": log2,
    "sin": sin,
    "cos": cos,
    "tan": tan,
    "sinh": sinh,
    "cosh": cosh,
    "tanh": tanh,
    "arctan2": atan2,
    "power": power,
    "rsqrt": rsqrt,
}
"""By the name of the NumPy function."""
