"""Folds and rules of integer operations, against NumPy over all int8 values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from each_case import each_case
from folding import fold, known, unknown, vector

from tilewright.dialects.cuda_tile import bitwise, integer
from tilewright.dialects.cuda_tile.enums import Overflow, Rounding, Signedness
from tilewright.dialects.cuda_tile.mma import MmaIOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.ir.operation import Operation
from tilewright.ir.types import I1, I8, I32, I64

BYTES = np.arange(256, dtype=np.uint8)
SIGNED, UNSIGNED = Signedness.SIGNED, Signedness.UNSIGNED
TILE = TileType((8,), I32)


def as_list(array: np.ndarray) -> list[int]:
    return array.astype(np.uint8).tolist()


def exact(signedness: Signedness) -> np.ndarray:
    """All values of i8 as wide integers."""
    kind = np.int8 if signedness is SIGNED else np.uint8
    return BYTES.view(kind).astype(np.int64)


WRAPPING: list[tuple[type[Operation], Callable[[np.ndarray, np.ndarray], np.ndarray]]] = [
    (integer.AddIOp, np.add),
    (integer.SubIOp, np.subtract),
    (integer.MulIOp, np.multiply),
    (bitwise.AndIOp, np.bitwise_and),
    (bitwise.OrIOp, np.bitwise_or),
    (bitwise.XOrIOp, np.bitwise_xor),
]


@pytest.mark.parametrize(("kind", "judge"), WRAPPING)
def test_wrapping_operations_on_every_pair_of_bytes(
    kind: type[Operation], judge: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> None:
    for b in range(256):
        lhs, rhs = vector(BYTES, I8), known([b], I8, (256,))
        folded = fold(kind, lhs=lhs, rhs=rhs)
        expected = as_list(judge(BYTES, np.full(256, b, np.uint8)))
        assert (folded is lhs and expected == BYTES.tolist()) or folded == expected


@pytest.mark.parametrize("signedness", [SIGNED, UNSIGNED])
@pytest.mark.parametrize(
    ("kind", "judge"), [(integer.MaxIOp, np.maximum), (integer.MinIOp, np.minimum)]
)
def test_extremes_on_every_pair_of_bytes(
    kind: type[Operation],
    judge: Callable[[np.ndarray, np.ndarray], np.ndarray],
    signedness: Signedness,
) -> None:
    values = exact(signedness)
    for b in range(256):
        lhs, rhs = vector(BYTES, I8), known([b], I8, (256,))
        folded = fold(kind, lhs=lhs, rhs=rhs, signedness=signedness)
        expected = as_list(judge(values, np.full(256, values[b])))
        assert (folded is lhs and expected == BYTES.tolist()) or folded == expected


@pytest.mark.parametrize(
    ("signedness", "rounding", "judge"),
    [
        (SIGNED, Rounding.ZERO, lambda a, b: np.trunc(a / b)),
        (SIGNED, Rounding.NEGATIVE_INF, lambda a, b: a // b),
        (SIGNED, Rounding.POSITIVE_INF, lambda a, b: -(-a // b)),
        (UNSIGNED, Rounding.ZERO, lambda a, b: a // b),
        (UNSIGNED, Rounding.POSITIVE_INF, lambda a, b: -(-a // b)),
    ],
)
@pytest.mark.sampled(2)
def test_division_of_every_byte_by_every_other(
    signedness: Signedness,
    rounding: Rounding,
    judge: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> None:
    values = exact(signedness)
    for b in range(1, 256):
        dividends, numbers = BYTES.copy(), values.copy()
        if values[b] == -1:
            dividends[128], numbers[128] = 0, 0
        lhs, rhs = vector(dividends, I8), known([b], I8, (256,))
        folded = fold(integer.DivIOp, lhs=lhs, rhs=rhs, signedness=signedness, rounding=rounding)
        expected = as_list(judge(numbers, values[b]).astype(np.int64))
        assert (folded is lhs and expected == dividends.tolist()) or folded == expected


@pytest.mark.parametrize("signedness", [SIGNED, UNSIGNED])
def test_remainder_of_every_byte_by_every_other(signedness: Signedness) -> None:
    values = exact(signedness)
    for b in range(1, 256):
        lhs, rhs = vector(BYTES, I8), known([b], I8, (256,))
        folded = fold(integer.RemIOp, lhs=lhs, rhs=rhs, signedness=signedness)
        assert folded == as_list(np.fmod(values, values[b]))


def test_undefined_division_stays() -> None:
    least, zero, minus_one = vector([0x80, 1], I8), vector([1, 0], I8), known([0xFF], I8, (2,))
    for kind in (integer.DivIOp, integer.RemIOp):
        assert fold(kind, lhs=least, rhs=zero, signedness=SIGNED) is None
    assert fold(integer.DivIOp, lhs=least, rhs=minus_one, signedness=SIGNED) is None
    assert fold(integer.DivIOp, lhs=least, rhs=minus_one, signedness=UNSIGNED) == [0, 0]


@each_case("amount", range(8))
def test_shifts_of_every_byte(amount: int) -> None:
    lhs, rhs = vector(BYTES, I8), known([amount], I8, (256,))
    left = fold(integer.ShLIOp, lhs=lhs, rhs=rhs)
    arithmetic = fold(integer.ShRIOp, lhs=lhs, rhs=rhs, signedness=SIGNED)
    logical = fold(integer.ShRIOp, lhs=lhs, rhs=rhs, signedness=UNSIGNED)
    if amount == 0:
        assert left is arithmetic is logical is lhs
        return
    assert left == as_list(BYTES << amount)
    assert arithmetic == as_list(BYTES.view(np.int8) >> amount)
    assert logical == as_list(BYTES >> amount)


@each_case("amount", [8, 9, 255])
def test_shifts_by_the_width_or_more_stay(amount: int) -> None:
    lhs, rhs = vector(BYTES, I8), known([amount], I8, (256,))
    assert fold(integer.ShLIOp, lhs=lhs, rhs=rhs) is None
    assert fold(integer.ShRIOp, lhs=lhs, rhs=rhs, signedness=SIGNED) is None


@each_case(
    ("kind", "a", "b", "broken"),
    [
        (integer.AddIOp, 100, 100, {Overflow.NO_SIGNED_WRAP, Overflow.NO_WRAP}),
        (integer.AddIOp, 200, 100, {Overflow.NO_UNSIGNED_WRAP, Overflow.NO_WRAP}),
        (integer.AddIOp, 1, 2, set[Overflow]()),
        (integer.SubIOp, 1, 2, {Overflow.NO_UNSIGNED_WRAP, Overflow.NO_WRAP}),
        (integer.SubIOp, 0x80, 1, {Overflow.NO_SIGNED_WRAP, Overflow.NO_WRAP}),
        (integer.MulIOp, 16, 8, {Overflow.NO_SIGNED_WRAP, Overflow.NO_WRAP}),
        (integer.ShLIOp, 0x40, 1, {Overflow.NO_SIGNED_WRAP, Overflow.NO_WRAP}),
        (integer.ShLIOp, 0x81, 1, set(Overflow) - {Overflow.NONE}),
    ],
)
def test_a_violated_overflow_flag_is_not_folded(
    kind: type[Operation], a: int, b: int, broken: set[Overflow]
) -> None:
    for overflow in Overflow:
        lhs, rhs = vector([a], I8), vector([b], I8)
        folded = fold(kind, lhs=lhs, rhs=rhs, overflow=overflow)
        assert (folded is None) == (overflow in broken)


def test_negation_and_abs_of_every_int8() -> None:
    source = vector(BYTES, I8)
    assert fold(integer.NegIOp, source=source) == as_list(0 - exact(SIGNED))
    assert fold(integer.AbsIOp, source=source) == as_list(np.abs(exact(SIGNED)))
    assert fold(integer.NegIOp, source=source, overflow=Overflow.NO_SIGNED_WRAP) is None


def test_mulhi_of_every_pair_of_int8() -> None:
    wide = BYTES.astype(np.uint16)
    for b in range(256):
        folded = fold(integer.MulhiIOp, x=vector(BYTES, I8), y=known([b], I8, (256,)))
        assert folded == (wide * b >> 8).tolist()


def test_wide_integers_wrap_at_their_width() -> None:
    top = known([1 << 63], I64, ())
    assert fold(integer.AddIOp, lhs=top, rhs=top) == [0]
    assert fold(integer.MulIOp, lhs=known([2**64 - 1], I64, ()), rhs=top) == [1 << 63]


@each_case(
    ("kind", "neutral"),
    [
        (integer.AddIOp, 0),
        (integer.MulIOp, 1),
        (bitwise.AndIOp, 2**32 - 1),
        (bitwise.OrIOp, 0),
        (bitwise.XOrIOp, 0),
    ],
)
def test_an_identity_operand_is_dropped_on_either_side(kind: type[Operation], neutral: int) -> None:
    x, constant = unknown(TILE), known([neutral], I32, (8,))
    assert fold(kind, lhs=x, rhs=constant) is x
    assert fold(kind, lhs=constant, rhs=x) is x


def test_an_identity_operand_is_dropped_on_the_right_only() -> None:
    x, zero, one = unknown(TILE), known([0], I32, (8,)), known([1], I32, (8,))
    assert fold(integer.SubIOp, lhs=x, rhs=zero) is x
    assert fold(integer.SubIOp, lhs=zero, rhs=x) is None
    assert fold(integer.ShLIOp, lhs=x, rhs=zero) is x
    assert fold(integer.ShRIOp, lhs=x, rhs=zero, signedness=SIGNED) is x
    for signedness in Signedness:
        assert fold(integer.DivIOp, lhs=x, rhs=one, signedness=signedness) is x
        assert fold(integer.DivIOp, lhs=one, rhs=x, signedness=signedness) is None
        assert fold(integer.RemIOp, lhs=x, rhs=one, signedness=signedness) == [0] * 8


def test_one_is_minus_one_in_a_signed_bit() -> None:
    x, one = unknown(TileType((), I1)), known([1], I1, ())
    assert fold(integer.DivIOp, lhs=x, rhs=one, signedness=SIGNED) is None


@each_case(
    ("kind", "signedness", "neutral", "absorbing"),
    [
        (integer.MaxIOp, SIGNED, 1 << 31, 2**31 - 1),
        (integer.MaxIOp, UNSIGNED, 0, 2**32 - 1),
        (integer.MinIOp, SIGNED, 2**31 - 1, 1 << 31),
        (integer.MinIOp, UNSIGNED, 2**32 - 1, 0),
    ],
)
def test_the_ends_of_the_range_in_extremes(
    kind: type[Operation], signedness: Signedness, neutral: int, absorbing: int
) -> None:
    x = unknown(TILE)
    assert fold(kind, lhs=x, rhs=known([neutral], I32, (8,)), signedness=signedness) is x
    folded = fold(kind, lhs=known([absorbing], I32, (8,)), rhs=x, signedness=signedness)
    assert folded == [absorbing] * 8


def test_absorbing_elements_of_mul_and_or() -> None:
    x = unknown(TILE)
    for kind in (integer.MulIOp, bitwise.AndIOp):
        assert fold(kind, lhs=x, rhs=known([0], I32, (8,))) == [0] * 8
    assert fold(bitwise.OrIOp, lhs=known([2**32 - 1], I32, (8,)), rhs=x) == [2**32 - 1] * 8


def test_an_operand_twice() -> None:
    x = unknown(TILE)
    assert fold(integer.SubIOp, lhs=x, rhs=x) == [0] * 8
    assert fold(bitwise.XOrIOp, lhs=x, rhs=x) == [0] * 8
    assert fold(bitwise.AndIOp, lhs=x, rhs=x) is x
    assert fold(bitwise.OrIOp, lhs=x, rhs=x) is x
    assert fold(integer.MaxIOp, lhs=x, rhs=x, signedness=SIGNED) is x
    assert fold(integer.AddIOp, lhs=x, rhs=x) is None
    assert fold(integer.DivIOp, lhs=x, rhs=x, signedness=SIGNED) is None


def test_constants_that_are_large_and_not_uniform_stay() -> None:
    lhs, rhs = vector(range(8192), I32), known([3], I32, (8192,))
    assert fold(integer.AddIOp, lhs=lhs, rhs=rhs) is None
    assert fold(integer.AddIOp, lhs=rhs, rhs=rhs) == [6] * 8192


def test_an_mma_with_zeros_is_the_accumulator() -> None:
    operand, acc = unknown(TileType((4, 4), I8)), unknown(TileType((4, 4), I32))
    zero = known([0], I8, (4, 4))
    for lhs, rhs, expected in (
        (zero, operand, acc),
        (operand, zero, acc),
        (operand, operand, None),
    ):
        folded = fold(
            MmaIOp, lhs=lhs, rhs=rhs, acc=acc, signedness_lhs=SIGNED, signedness_rhs=UNSIGNED
        )
        assert folded is expected
