"""Folds of float operations, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from each_case import each_case
from folding import fold, known, unknown, vector

from tilewright.dialects.cuda_tile import floating
from tilewright.dialects.cuda_tile.enums import Rounding
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.ir.builder import create_op
from tilewright.ir.operation import Operation
from tilewright.ir.types import BF16, F16, F32, F64, FloatType

Array = np.ndarray[Any, np.dtype[Any]]

DTYPES: dict[FloatType, Any] = {
    F16: np.float16,
    BF16: ml_dtypes.bfloat16,
    F32: np.float32,
    F64: np.float64,
}
BITS: dict[FloatType, Any] = {F16: np.uint16, BF16: np.uint16, F32: np.uint32, F64: np.uint64}


def sample(element: FloatType) -> Array:
    """Zeros, ones, ends of the range, subnormals, infinities, NaN, and numbers in between."""
    info = ml_dtypes.finfo(DTYPES[element])
    positive = [
        0.0, 1.0, 1.5, 2.0, 3.0, 0.1, 0.3, 7.0, 1e-3, 100.0,
        info.max, info.smallest_normal, info.smallest_subnormal,
        info.smallest_normal - info.smallest_subnormal, info.eps, np.inf,
    ]  # fmt: skip
    values = np.array(positive, DTYPES[element])
    return np.concatenate([values, -values])


def patterns(values: Array, element: FloatType) -> list[int]:
    return values.astype(DTYPES[element]).view(BITS[element]).tolist()


def numbers(actual: object, element: FloatType) -> Array:
    return np.array(actual, BITS[element]).view(DTYPES[element])


def assert_same(actual: object, expected: Array, element: FloatType) -> None:
    """Compare bitwise, except for NaN payloads."""
    result = numbers(actual, element)
    is_nan = np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(result), is_nan)
    bits = BITS[element]
    expected = expected.astype(DTYPES[element])
    np.testing.assert_array_equal(result.view(bits)[~is_nan], expected.view(bits)[~is_nan])


@each_case("element", DTYPES)
@each_case(
    ("kind", "judge"),
    [
        (floating.AddFOp, np.add),
        (floating.SubFOp, np.subtract),
        (floating.MulFOp, np.multiply),
        (floating.DivFOp, np.divide),
        (floating.RemFOp, np.fmod),
    ],
)
def test_basic_operations_round_to_nearest(
    kind: type[Operation], judge: Callable[[Array, Array], Array], element: FloatType
) -> None:
    values = sample(element)
    pairs = list(product(range(32), repeat=2))
    a, b = values[[i for i, _ in pairs]], values[[j for _, j in pairs]]
    with np.errstate(all="ignore"):
        expected = judge(a, b)
    lhs, rhs = (vector(patterns(side, element), element) for side in (a, b))
    assert_same(fold(kind, lhs=lhs, rhs=rhs), expected, element)


def round_exactly(exact: Fraction, mode: Rounding) -> np.float16:
    """The f16 number that an exact number rounds to in a mode."""
    with np.errstate(over="ignore"):
        near = np.float16(float(exact))
    down, up = near, near
    if Fraction(float(near)) < exact:
        up = np.nextafter(near, np.float16(np.inf))
    elif Fraction(float(near)) > exact:
        down = np.nextafter(near, np.float16(-np.inf))
    toward_zero = down if exact > 0 else up
    return {
        Rounding.NEGATIVE_INF: down,
        Rounding.POSITIVE_INF: up,
        Rounding.ZERO: toward_zero,
        Rounding.NEAREST_EVEN: near,
    }[mode]


@each_case("mode", [Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF, Rounding.ZERO])
@each_case(
    ("kind", "judge"),
    [
        (floating.AddFOp, lambda a, b: a + b),
        (floating.SubFOp, lambda a, b: a - b),
        (floating.MulFOp, lambda a, b: a * b),
        (floating.DivFOp, lambda a, b: a / b),
    ],
)
def test_directed_rounding_of_f16(
    kind: type[Operation], judge: Callable[[Fraction, Fraction], Fraction], mode: Rounding
) -> None:
    choices = [1.0, 1.5, 3.0, 0.1, 0.3, 7.0, 2e-3, 100.0, -1.1, -0.7, 60.0]
    for a, b in product(np.array(choices, np.float16), repeat=2):
        exact = judge(Fraction(float(a)), Fraction(float(b)))
        if exact == 0:
            continue
        lhs, rhs = (vector(patterns(np.array([side]), F16), F16) for side in (a, b))
        folded = fold(kind, lhs=lhs, rhs=rhs, rounding_mode=mode)
        expected = round_exactly(exact, mode)
        value = {id(lhs): a, id(rhs): b}.get(id(folded))
        if value is None:
            value = numbers(folded, F16)[0]
        assert value == expected, (a, b, mode)


@each_case("element", DTYPES)
def test_square_roots_and_whole_numbers(element: FloatType) -> None:
    values = sample(element)
    source = vector(patterns(values, element), element)
    with np.errstate(all="ignore"):
        assert_same(fold(floating.SqrtOp, source=source), np.sqrt(values), element)
    assert_same(fold(floating.CeilOp, source=source), np.ceil(values), element)
    assert_same(fold(floating.FloorOp, source=source), np.floor(values), element)


@each_case("element", DTYPES)
def test_signs_are_bits_that_nan_has_too(element: FloatType) -> None:
    sign = 1 << (element.width - 1)
    nan = patterns(np.array([np.nan]), element)[0] & (sign - 1)
    source = vector([nan, nan | sign, sign, 0], element)
    assert fold(floating.NegFOp, source=source) == [nan | sign, nan, 0, sign]
    assert fold(floating.AbsFOp, source=source) == [nan, nan, 0, 0]


def test_an_fma_is_rounded_once() -> None:
    # (1 + 2**-12) squared is 1 + 2**-11 + 2**-24: the last part is lost if the square is rounded.
    a = np.float32(1 + 2**-12)
    operands = [vector(patterns(np.array([v]), F32), F32) for v in (a, a, -(1 + 2**-11))]
    folded = fold(floating.FmaOp, lhs=operands[0], rhs=operands[1], acc=operands[2])
    assert numbers(folded, F32)[0] == np.float32(2**-24)


def test_flushing_takes_subnormals_as_zeros_of_their_sign() -> None:
    tiny, least = 0x00000001, 0x00800000
    one, half = 0x3F800000, 0x3F000000
    lhs = vector([tiny, tiny | 1 << 31, least, least | 1 << 31], F32)
    rhs = vector([one, one, half, half], F32)
    flushed = fold(floating.MulFOp, lhs=lhs, rhs=rhs, flush_to_zero=True)
    assert flushed == [0, 1 << 31, 0, 1 << 31]
    kept = fold(floating.MulFOp, lhs=lhs, rhs=rhs)
    assert kept == [tiny, tiny | 1 << 31, 0x00400000, 0x00400000 | 1 << 31]


@pytest.mark.parametrize("propagate", [False, True])
@pytest.mark.parametrize(("kind", "larger"), [(floating.MaxFOp, True), (floating.MinFOp, False)])
def test_extremes(kind: type[Operation], larger: bool, propagate: bool) -> None:
    values = [*sample(F16).tolist(), np.nan]
    for a, b in product(values, repeat=2):
        lhs, rhs = (vector(patterns(np.array([v]), F16), F16) for v in (a, b))
        actual = numbers(fold(kind, lhs=lhs, rhs=rhs, propagate_nan=propagate), F16)[0]
        nans = int(np.isnan(a)) + int(np.isnan(b))
        if nans == 2 or (nans and propagate):
            assert np.isnan(actual)
        elif nans:
            assert actual == (b if np.isnan(a) else a)
        else:
            # -0.0 counts as smaller than 0.0.
            order = sorted([a, b], key=lambda v: (v, not np.signbit(v)))
            expected = order[larger]
            assert (actual, np.signbit(actual)) == (expected, np.signbit(expected))


def test_approximations_stay() -> None:
    one = vector([0x3F800000], F32)
    for mode in (Rounding.APPROX, Rounding.FULL):
        assert fold(floating.DivFOp, lhs=one, rhs=one, rounding_mode=mode) is None
    assert fold(floating.SqrtOp, source=one, rounding_mode=Rounding.APPROX) is None


ZERO, MINUS_ZERO, ONE = 0, 1 << 15, 0x3C00
DOWN = Rounding.NEGATIVE_INF


@each_case(
    ("kind", "constant", "mode", "is_neutral"),
    [
        (floating.AddFOp, ZERO, Rounding.NEAREST_EVEN, False),  # -0.0 + 0.0 is 0.0
        (floating.AddFOp, MINUS_ZERO, Rounding.NEAREST_EVEN, True),
        (floating.AddFOp, MINUS_ZERO, Rounding.ZERO, True),
        (floating.AddFOp, MINUS_ZERO, Rounding.POSITIVE_INF, True),
        (floating.AddFOp, MINUS_ZERO, DOWN, False),  # 0.0 + -0.0 is -0.0 when rounding down
        (floating.AddFOp, ZERO, DOWN, True),
        (floating.SubFOp, ZERO, Rounding.NEAREST_EVEN, True),
        (floating.SubFOp, MINUS_ZERO, Rounding.NEAREST_EVEN, False),
        (floating.SubFOp, ZERO, DOWN, False),
        (floating.SubFOp, MINUS_ZERO, DOWN, True),
        (floating.MulFOp, ONE, Rounding.NEAREST_EVEN, True),
        (floating.MulFOp, ONE, DOWN, True),
        (floating.MulFOp, ZERO, Rounding.NEAREST_EVEN, False),  # inf * 0.0 is NaN
        (floating.DivFOp, ONE, Rounding.NEAREST_EVEN, True),
    ],
)
def test_identity_operands(
    kind: type[Operation], constant: int, mode: Rounding, is_neutral: bool
) -> None:
    x, c = unknown(TileType((4,), F16)), known([constant], F16, (4,))
    assert fold(kind, lhs=x, rhs=c, rounding_mode=mode) is (x if is_neutral else None)
    commutes = kind in (floating.AddFOp, floating.MulFOp)
    swapped = fold(kind, lhs=c, rhs=x, rounding_mode=mode)
    assert swapped is (x if is_neutral and commutes else None)


@each_case(
    ("kind", "constant", "judge"),
    [
        (floating.AddFOp, -0.0, np.add),
        (floating.SubFOp, 0.0, np.subtract),
        (floating.MulFOp, 1.0, np.multiply),
        (floating.DivFOp, 1.0, np.divide),
    ],
)
def test_identity_operands_hold_for_every_f16(
    kind: type[Operation], constant: float, judge: Callable[[Array, Array], Array]
) -> None:
    x, c = unknown(TileType((4,), F16)), known(patterns(np.array([constant]), F16), F16, (4,))
    assert fold(kind, lhs=x, rhs=c) is x
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    with np.errstate(all="ignore"):
        same = judge(every, np.array(constant, np.float16)).view(np.uint16) == every.view(np.uint16)
    assert np.all(same | np.isnan(every))


def test_flushing_prevents_identity_folds() -> None:
    x, one = unknown(TileType((), F32)), known([0x3F800000], F32, ())
    assert fold(floating.MulFOp, lhs=x, rhs=one, flush_to_zero=True) is None
    assert fold(floating.MaxFOp, lhs=x, rhs=x, flush_to_zero=True) is None
    assert fold(floating.MaxFOp, lhs=x, rhs=x) is x


def test_operations_that_undo_or_repeat_each_other() -> None:
    x = unknown(TileType((), F32))
    negation = create_op(floating.NegFOp, source=x).result
    assert fold(floating.NegFOp, source=negation) is x
    for kind, inner in (
        (floating.AbsFOp, floating.AbsFOp),
        (floating.CeilOp, floating.FloorOp),
        (floating.FloorOp, floating.FloorOp),
    ):
        source = create_op(inner, source=x).result
        assert fold(kind, source=source) is source
    assert fold(floating.SubFOp, lhs=x, rhs=x) is None  # NaN - NaN is not zero
