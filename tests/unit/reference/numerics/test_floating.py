"""Float arithmetic in arrays against the specification."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import Any

import numpy as np
import pytest
from element_checks import check_elements
from patterns import every, pairs, sample
from repeats import keep_first

from tilewright.dialects.cuda_tile.enums import ComparisonPredicate, Rounding
from tilewright.dialects.cuda_tile.floating import IEEE
from tilewright.ir.types import BF16, F16, F32, F64, I1, FloatType
from tilewright.reference.numerics import comparison, floating
from tilewright.reference.tile import Array, format_of, from_patterns
from tilewright.support import floats
from tilewright.support.numerics import comparison as exact_comparison
from tilewright.support.numerics import floating as exact

TYPES = (F16, BF16, F32, F64)
MODES = [(type, False) for type in TYPES] + [(F32, True)]
"""The types, and whether subnormal numbers are flushed."""


def some(type: FloatType, count: int) -> Array:
    if type.width <= 16:
        return every(type)
    return sample(type, 4 * count, np.random.default_rng(type.width))


def operands(type: FloatType, count: int) -> list[tuple[Array, FloatType]]:
    a, b = pairs(type, count, np.random.default_rng(type.width))
    return [(a, type), (b, type)]


@pytest.mark.parametrize(("type", "flush"), keep_first(MODES))
@pytest.mark.parametrize("mode", IEEE)
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
@pytest.mark.sampled(4)
def test_two_operands(
    name: str, mode: Rounding, type: FloatType, flush: bool, sample_size: int
) -> None:
    format, rounding = format_of(type), floats.Rounding[mode.name]
    check_elements(
        lambda a, b: getattr(floating, name)(a, b, type, mode, flush=flush),
        lambda a, b: getattr(exact, name)(a, b, format, rounding, flush=flush),
        operands(type, sample_size),
        type,
    )


@pytest.mark.parametrize(("type", "flush"), MODES)
@pytest.mark.parametrize("mode", IEEE)
@pytest.mark.sampled(2)
def test_fma(mode: Rounding, type: FloatType, flush: bool, sample_size: int) -> None:
    format, rounding = format_of(type), floats.Rounding[mode.name]
    a, b = operands(type, sample_size)
    rng = np.random.default_rng(5)
    c = sample(type, len(a[0]), rng)
    # c near -(a * b), for cancellation.
    rounded = map(exact.multiply, a[0].tolist(), b[0].tolist(), repeat(format))
    near = np.array(list(rounded), c.dtype)
    c = np.where(rng.random(len(c)) < 0.3, near ^ c.dtype.type(format.sign), c)
    check_elements(
        lambda a, b, c: floating.fma(a, b, c, type, mode, flush=flush),
        lambda a, b, c: exact.fma(a, b, c, format, rounding, flush=flush),
        [a, b, (c, type)],
        type,
    )


@pytest.mark.parametrize(("type", "flush"), MODES)
@pytest.mark.parametrize("mode", IEEE)
@pytest.mark.sampled(5)
def test_sqrt(mode: Rounding, type: FloatType, flush: bool, sample_size: int) -> None:
    format, rounding = format_of(type), floats.Rounding[mode.name]
    check_elements(
        lambda a: floating.sqrt(a, type, mode, flush=flush),
        lambda a: exact.sqrt(a, format, rounding, flush=flush),
        [(some(type, sample_size), type)],
        type,
    )


ONE_OPERAND: dict[str, Callable[[Array, FloatType], Array]] = {
    "absolute": lambda a, type: floating.absolute(a),
    "negate": lambda a, type: floating.negate(a),
    "ceil": floating.ceil,
    "floor": floating.floor,
}


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("name", ONE_OPERAND)
@pytest.mark.sampled(8)
def test_one_operand(name: str, type: FloatType, sample_size: int) -> None:
    check_elements(
        lambda a: ONE_OPERAND[name](a, type),
        lambda a: getattr(exact, name)(a, format_of(type)),
        [(some(type, sample_size), type)],
        type,
    )


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("name", ["absolute", "negate"])
def test_signs_of_nan_change_too(name: str, type: FloatType) -> None:
    """Compare bits: comparing NaNs as equal would hide a sign that did not change."""
    format = format_of(type)
    assert format.nan is not None
    patterns = [format.nan, format.nan | format.sign]
    kind = np.dtype(f"u{type.width // 8}")
    elements = from_patterns(np.array(patterns, kind), type)
    actual = ONE_OPERAND[name](elements, type).view(kind).tolist()
    assert actual == [getattr(exact, name)(pattern, format) for pattern in patterns]


@pytest.mark.parametrize("type", TYPES)
def test_remainders(type: FloatType, sample_size: int) -> None:
    check_elements(
        lambda a, b: floating.remainder(a, b, type),
        lambda a, b: exact.remainder(a, b, format_of(type)),
        operands(type, sample_size),
        type,
    )


@pytest.mark.parametrize(("type", "flush"), MODES)
@pytest.mark.parametrize("propagate", [False, True])
@pytest.mark.parametrize("name", ["maximum", "minimum"])
@pytest.mark.sampled(6)
def test_min_and_max(
    name: str, propagate: bool, type: FloatType, flush: bool, sample_size: int
) -> None:
    flags: dict[str, Any] = {"propagate_nan": propagate, "flush": flush}
    check_elements(
        lambda a, b: getattr(floating, name)(a, b, **flags),
        lambda a, b: getattr(exact, name)(a, b, format_of(type), **flags),
        operands(type, sample_size),
        type,
    )


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("predicate", ComparisonPredicate)
@pytest.mark.sampled(6)
def test_comparisons(
    predicate: ComparisonPredicate, ordered: bool, type: FloatType, sample_size: int
) -> None:
    same = exact_comparison.Predicate[predicate.name]
    check_elements(
        lambda a, b: comparison.compare_floats(predicate, a, b, ordered=ordered),
        lambda a, b: exact_comparison.compare_floats(same, a, b, format_of(type), ordered=ordered),
        operands(type, sample_size // 4),
        I1,
    )
