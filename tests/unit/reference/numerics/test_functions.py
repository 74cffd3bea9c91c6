"""Math functions at the special points of C's Annex F, and at points that are hard to round."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from tilewright.ir.types import BF16, F16, F32, F64, FloatType
from tilewright.reference.numerics import functions
from tilewright.reference.numerics.rounding import round_to, widen
from tilewright.testing.compare import error_in_ulps

TYPES = (F16, BF16, F32, F64)


@pytest.fixture(params=[True, False], ids=["long", "decimal"])
def precision(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Test with C's `long double`, if it is wider than double here, and without it."""
    if request.param and not functions.LONG_DOUBLE_IS_LONGER:
        pytest.skip("long double is no longer")
    monkeypatch.setattr(functions, "LONG_DOUBLE_IS_LONGER", request.param)


INF, NAN = math.inf, math.nan

SPECIAL: list[tuple[Callable[..., Any], tuple[float, ...], float]] = [
    (np.sin, (-0.0,), -0.0),
    (np.tan, (-0.0,), -0.0),
    (np.sinh, (-0.0,), -0.0),
    (np.tanh, (-0.0,), -0.0),
    (np.tanh, (-INF,), -1.0),
    (np.sin, (INF,), NAN),
    (np.exp, (-INF,), 0.0),
    (np.exp, (0.0,), 1.0),
    (np.exp2, (-3.0,), 0.125),
    (np.exp2, (INF,), INF),
    (np.log, (-0.0,), -INF),
    (np.log, (1.0,), 0.0),
    (np.log, (-1.0,), NAN),
    (np.log2, (8.0,), 3.0),
    (functions.rsqrt, (-0.0,), -INF),
    (functions.rsqrt, (4.0,), 0.5),
    (functions.rsqrt, (INF,), 0.0),
    (functions.rsqrt, (-1.0,), NAN),
    (np.arctan2, (0.0, -0.0), math.pi),
    (np.arctan2, (-0.0, 0.0), -0.0),
    (np.arctan2, (-0.0, -1.0), -math.pi),
    (np.arctan2, (1.0, 0.0), math.pi / 2),
    (np.arctan2, (INF, -INF), 3 * math.pi / 4),
    (np.power, (-0.0, -3.0), -INF),
    (np.power, (-0.0, -2.0), INF),
    (np.power, (-8.0, 1 / 3), NAN),
    (np.power, (-2.0, 3.0), -8.0),
    (np.power, (1.0, NAN), 1.0),
    (np.power, (NAN, 0.0), 1.0),
    (np.power, (-1.0, INF), 1.0),
    (np.power, (0.5, -INF), INF),
]


@pytest.mark.usefixtures("precision")
@pytest.mark.parametrize("type", TYPES, ids=str)
def test_special_points(type: FloatType) -> None:
    with np.errstate(all="ignore"):
        for compute, operands, value in SPECIAL:
            elements = [round_to(np.array([x]), type) for x in operands]
            actual = widen(functions.evaluate(compute, type, *elements), type)
            expected = widen(round_to(np.array([value]), type), type)
            assert actual.tobytes() == expected.tobytes() or (
                np.isnan(actual) & np.isnan(expected)
            ), (compute, operands)


@pytest.mark.usefixtures("precision")
@pytest.mark.parametrize("type", TYPES, ids=str)
def test_powers_with_integers(type: FloatType) -> None:
    base = round_to(np.array([0.0, -0.0, -2.0, NAN, INF, 0.5]), type)
    exponents = np.array([-1, -1, 5, 0, -3, -4], np.int32)
    with np.errstate(all="ignore"):
        actual = widen(functions.power(base, exponents, type), type)
    assert actual.tolist() == [INF, -INF, -32.0, 1.0, 0.0, 16.0]


# Arguments close to multiples of pi/2, and near which results lie close to the middle between two
# doubles (Lefèvre and Muller).
HARD: list[tuple[Callable[..., Any], Callable[..., Any], float]] = [
    (np.cos, mpmath.cos, 6381956970095103.0 * 2.0**797),
    (np.sin, mpmath.sin, 6381956970095103.0 * 2.0**797),
    (np.tan, mpmath.tan, 6381956970095103.0 * 2.0**797),
    (np.sin, mpmath.sin, 1e22),
    (np.exp, mpmath.exp, 7.541752774995959e-10),
    (np.log, mpmath.log, 1.0 + 2.0**-30),
    (np.tanh, mpmath.tanh, 2.0**-20),
    (np.sinh, mpmath.sinh, 2.0**-20),
]


@pytest.mark.usefixtures("precision")
@pytest.mark.parametrize("type", [F32, F64], ids=str)
def test_hard_points(type: FloatType) -> None:
    for compute, formula, x in HARD:
        if type is F32 and abs(x) > 1e38:
            continue
        element = round_to(np.array([x]), type)
        with mpmath.workprec(400):
            exact = formula(mpmath.mpf(float(widen(element, type)[0])))
            high = float(exact)
            low = float(exact - mpmath.mpf(high))
        wide = np.array([high]).astype(np.longdouble) + np.longdouble(low)
        error = error_in_ulps(functions.evaluate(compute, type, element), wide, type)
        assert error.max() <= functions.error_bound(type), (compute, x)


FORMULAS: list[tuple[Callable[..., Any], Callable[..., Any], float]] = [
    (np.exp, mpmath.exp, 300.0),
    (np.exp2, lambda x: mpmath.power(2, x), 500.0),
    (np.log, mpmath.log, 0.0),
    (np.log2, lambda x: mpmath.log(x, 2), 0.0),
    (np.sin, mpmath.sin, 1e6),
    (np.cos, mpmath.cos, 1e300),
    (np.tan, mpmath.tan, 10.0),
    (np.sinh, mpmath.sinh, 2.0),
    (np.cosh, mpmath.cosh, 300.0),
    (np.tanh, mpmath.tanh, 3.0),
    (functions.rsqrt, lambda x: 1 / mpmath.sqrt(x), 0.0),
    (np.arctan2, mpmath.atan2, 1.0),
    (np.power, mpmath.power, 0.0),
]
"""Functions, exact references, and the magnitude of signed arguments: 0 for positive ones only."""


@pytest.mark.usefixtures("precision")
@pytest.mark.parametrize(("compute", "formula", "spread"), FORMULAS)
def test_doubles_have_the_nearest_results(
    compute: Callable[..., Any], formula: Callable[..., Any], spread: float
) -> None:
    rng = np.random.default_rng(3)
    first = np.exp2(rng.uniform(-30, 30, 40)) if not spread else rng.uniform(-spread, spread, 40)
    second = rng.normal(size=40) * 5
    operands = [first, second] if compute in (np.arctan2, np.power) else [first]
    with mpmath.workprec(1400):
        exact = [formula(*map(mpmath.mpf, row)) for row in zip(*operands, strict=True)]
        highs = [float(number) for number in exact]
        lows = [float(a - b) for a, b in zip(exact, highs, strict=True)]
    wide = np.array(highs).astype(np.longdouble) + np.array(lows)
    actual = functions.evaluate(compute, F64, *operands)
    if functions.LONG_DOUBLE_IS_LONGER:
        assert error_in_ulps(actual, wide, F64).max() <= functions.error_bound(F64)
    else:
        assert actual.tolist() == highs


def test_flushing_is_by_sign() -> None:
    small = np.array([-(2.0**-127), 2.0**-127], np.float32)
    with np.errstate(all="ignore"):
        actual = functions.evaluate(functions.rsqrt, F32, small, flush=True)
        assert actual.tolist() == [-INF, INF]
        kept = functions.evaluate(functions.rsqrt, F32, small[1:])
        assert kept.tolist() == [np.float32(2.0**63.5)]
        tiny = np.array([-126.5, -126.0], np.float32)
        assert functions.evaluate(np.exp2, F32, tiny, flush=True).tolist() == [0.0, 2.0**-126]
        assert functions.evaluate(np.exp2, F32, tiny).tolist()[0] > 0
