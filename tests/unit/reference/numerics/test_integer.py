"""Integer arrays against the specification: all of 16 bits, all pairs of 8, samples of wider."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from element_checks import check_elements
from patterns import edges, every, pairs

from tilewright.dialects.cuda_tile import bitwise as db
from tilewright.dialects.cuda_tile import conversion as dc
from tilewright.dialects.cuda_tile import integer as di
from tilewright.dialects.cuda_tile.enums import ComparisonPredicate, Rounding
from tilewright.ir.types import I1, I8, I16, I32, I64, IntegerType
from tilewright.reference.bitwise import LOGIC
from tilewright.reference.numerics import comparison, integer, overflow
from tilewright.support import floats
from tilewright.support.numerics import comparison as exact_comparison
from tilewright.support.numerics import conversion as exact_conversion
from tilewright.support.numerics import integer as exact

TYPES = (I1, I8, I16, I32, I64)
SIGNS = (False, True)


def operands(type: IntegerType, count: int) -> list[tuple[Any, IntegerType]]:
    a, b = pairs(type, count, np.random.default_rng(type.width))
    return [(a, type), (b, type)]


@pytest.mark.parametrize("type", TYPES, ids=str)
@pytest.mark.parametrize("name", ["absolute", "negate"])
def test_one_operand(name: str, type: IntegerType, sample_size: int) -> None:
    patterns = every(type) if type.width <= 16 else operands(type, sample_size)[0][0]
    check_elements(
        lambda a: getattr(integer, name)(a, type),
        lambda a: getattr(exact, name)(a, type.width),
        [(patterns, type)],
        type,
    )


@pytest.mark.parametrize("type", TYPES, ids=str)
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "multiply_high", "shift_left"])
def test_two_operands(name: str, type: IntegerType, sample_size: int) -> None:
    check_elements(
        lambda a, b: getattr(integer, name)(a, b, type),
        lambda a, b: getattr(exact, name)(a, b, type.width),
        operands(type, sample_size),
        type,
    )


@pytest.mark.parametrize("signed", SIGNS)
@pytest.mark.parametrize("type", TYPES, ids=str)
@pytest.mark.parametrize("name", ["remainder", "shift_right"])
def test_two_operands_with_a_sign(
    name: str, type: IntegerType, signed: bool, sample_size: int
) -> None:
    check_elements(
        lambda a, b: getattr(integer, name)(a, b, type, is_signed=signed),
        lambda a, b: getattr(exact, name)(a, b, type.width, signed=signed),
        operands(type, sample_size),
        type,
    )


@pytest.mark.parametrize("signed", SIGNS)
@pytest.mark.parametrize("type", TYPES, ids=str)
@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_min_and_max(name: str, type: IntegerType, signed: bool, sample_size: int) -> None:
    check_elements(
        lambda a, b: getattr(integer, name)(a, b, is_signed=signed),
        lambda a, b: getattr(exact, name)(a, b, type.width, signed=signed),
        operands(type, sample_size),
        type,
    )


@pytest.mark.parametrize("signed", SIGNS)
@pytest.mark.parametrize("type", TYPES, ids=str)
@pytest.mark.parametrize("mode", [Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF])
def test_div(mode: Rounding, type: IntegerType, signed: bool, sample_size: int) -> None:
    rounding = floats.Rounding[mode.name]
    check_elements(
        lambda a, b: integer.divide(a, b, type, is_signed=signed, mode=mode),
        lambda a, b: exact.divide(a, b, type.width, signed=signed, rounding=rounding),
        operands(type, sample_size),
        type,
    )


@pytest.mark.parametrize("signed", SIGNS)
@pytest.mark.parametrize("type", TYPES, ids=str)
@pytest.mark.parametrize("predicate", ComparisonPredicate)
@pytest.mark.sampled(20)
def test_comparisons(
    predicate: ComparisonPredicate, type: IntegerType, signed: bool, sample_size: int
) -> None:
    same = exact_comparison.Predicate[predicate.name]
    check_elements(
        lambda a, b: comparison.compare_integers(predicate, a, b, is_signed=signed),
        lambda a, b: exact_comparison.compare_integers(same, a, b, type.width, signed=signed),
        operands(type, sample_size // 4),
        I1,
    )


WRAPS: list[tuple[type, Callable[..., bool]]] = [
    (di.AddIOp, exact.add_overflows),
    (di.SubIOp, exact.subtract_overflows),
    (di.MulIOp, exact.multiply_overflows),
    (di.ShLIOp, exact.shift_left_overflows),
    (di.NegIOp, exact.negate_overflows),
]


@pytest.mark.parametrize("signed", SIGNS)
@pytest.mark.parametrize("type", TYPES, ids=str)
@pytest.mark.parametrize(("kind", "overflows"), WRAPS)
@pytest.mark.sampled(12)
def test_overflow_of_arithmetic(
    kind: Any, overflows: Callable[..., bool], type: IntegerType, signed: bool, sample_size: int
) -> None:
    given = operands(type, sample_size)[: 1 if kind is di.NegIOp else 2]
    check_elements(
        lambda *row: overflow.wraps(kind, row, type, is_signed=signed),
        lambda *row: overflows(*row, type.width, signed=signed),
        given,
        I1,
    )


@pytest.mark.parametrize("signed", SIGNS)
@pytest.mark.parametrize(
    ("source", "target"), [(a, b) for a in TYPES for b in TYPES if a.width > b.width]
)
def test_overflow_of_truncation(source: IntegerType, target: IntegerType, signed: bool) -> None:
    width = source.width
    check_elements(
        lambda a: overflow.wraps(dc.TruncIOp, [a], target, is_signed=signed),
        lambda a: exact_conversion.truncate_overflows(a, width, target.width, signed=signed),
        [(every(source) if width <= 16 else edges(source), source)],
        I1,
    )


@pytest.mark.parametrize("type", TYPES, ids=str)
@pytest.mark.parametrize(
    ("kind", "specified"),
    [
        (db.AndIOp, exact.bitwise_and),
        (db.OrIOp, exact.bitwise_or),
        (db.XOrIOp, exact.bitwise_xor),
    ],
)
def test_logic(
    kind: Any, specified: Callable[..., int], type: IntegerType, sample_size: int
) -> None:
    check_elements(LOGIC[kind], specified, operands(type, sample_size), type)
