"""Folds of arithmetic against NumPy, and identities that hold exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from each_case import each_case

from tilewright.dialects.arith.attributes import (
    CmpFPredicate,
    CmpIPredicate,
    FastMathAttr,
    OverflowAttr,
)
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.nv_tileaa import conversion, floating, integer
from tilewright.dialects.nv_tileaa.attributes import RoundingMode, Signedness
from tilewright.dialects.nv_tileaa.canonicalize.simplifier import FOLDS
from tilewright.dialects.nv_tileaa.shape import SplatOp
from tilewright.ir.attributes import DenseElementsAttr, FloatAttr, IntegerAttr, Type
from tilewright.ir.builder import create_op
from tilewright.ir.operation import Block, Operation
from tilewright.ir.rules import constant_of
from tilewright.ir.types import F16, F32, I1, I8, I32, TensorType
from tilewright.ir.values import Value

COUNT = 600
ELEMENTS = {
    np.int8: I8,
    np.uint8: I8,
    np.int32: I32,
    np.float32: F32,
    np.float16: F16,
    np.bool_: I1,
}
SIGNED, UNSIGNED = Signedness.SIGNED, Signedness.UNSIGNED

Function = Callable[..., np.ndarray]


def known(numbers: np.ndarray) -> Value:
    type = TensorType(numbers.shape, ELEMENTS[numbers.dtype.type])
    value = DenseElementsAttr(numbers.tobytes(), type)
    return create_op(ConstantOp, value=value, types=[type]).result


def splat(value: IntegerAttr | FloatAttr, shape: tuple[int, ...] = (4,)) -> Value:
    scalar = create_op(ConstantOp, value=value, types=[value.type]).result
    return create_op(SplatOp, source=scalar, types=[TensorType(shape, value.type)]).result


def unknown(type: Type) -> Value:
    return Block([type]).args[0]


def fold(kind: type[Operation], types: Any = None, **fields: Any) -> Any:
    op = create_op(kind, types=types, **fields)
    return FOLDS[kind](op, tuple(constant_of(value) for value in op.operands))


def numbers_of(folded: object, dtype: Any) -> np.ndarray:
    assert isinstance(folded, DenseElementsAttr)
    return np.frombuffer(folded.data, dtype)


def integers(seed: int) -> np.ndarray:
    numbers = np.random.default_rng(seed).integers(-128, 128, COUNT).astype(np.int8)
    numbers[:5] = [0, 1, -1, 127, -128]
    return numbers


def floats(seed: int, dtype: Any = np.float32) -> np.ndarray:
    rng = np.random.default_rng(seed)
    width = np.dtype(dtype).itemsize
    bits = rng.integers(0, 1 << 8 * width, COUNT, dtype=np.uint64).astype(f"u{width}")
    numbers = bits.view(dtype).copy()
    numbers[np.isnan(numbers)] = np.nan
    numbers[:6] = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan]
    return numbers


def trunc_divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.trunc(a.astype(np.float64) / b).astype(a.dtype)


def ceil_divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.ceil(a.astype(np.float64) / b).astype(a.dtype)


WRAPPING: dict[type[Operation], Function] = {
    integer.AddIOp: np.add,
    integer.SubIOp: np.subtract,
    integer.MulIOp: np.multiply,
    integer.AndIOp: np.bitwise_and,
    integer.OrIOp: np.bitwise_or,
    integer.XOrIOp: np.bitwise_xor,
    integer.MulHiUIOp: lambda a, b: (
        (a.view(np.uint8).astype(np.uint16) * b.view(np.uint8)) >> 8
    ).astype(np.uint8).view(np.int8),
}  # fmt: skip


@each_case("kind", WRAPPING)
def test_wrapping_arithmetic(kind: type[Operation]) -> None:
    a, b = integers(1), integers(2)
    folded = numbers_of(fold(kind, lhs=known(a), rhs=known(b)), np.int8)
    np.testing.assert_array_equal(folded, WRAPPING[kind](a, b))


DIVISIONS: list[tuple[Signedness, RoundingMode, Function]] = [
    (SIGNED, RoundingMode.ZERO, trunc_divide),
    (SIGNED, RoundingMode.NEGATIVE_INF, np.floor_divide),
    (SIGNED, RoundingMode.POSITIVE_INF, ceil_divide),
    (UNSIGNED, RoundingMode.ZERO, trunc_divide),
    (UNSIGNED, RoundingMode.POSITIVE_INF, ceil_divide),
]


def readings(signedness: Signedness, *numbers: np.ndarray) -> list[np.ndarray]:
    return [n if signedness is SIGNED else n.view(np.uint8) for n in numbers]


@each_case(("signedness", "mode", "expected"), DIVISIONS)
def test_division(signedness: Signedness, mode: RoundingMode, expected: Function) -> None:
    a, b = integers(3), integers(4)
    fine = (b != 0) & ~((a == -128) & (b == -1))
    a, b = a[fine], b[fine]
    folded = fold(
        integer.DivIOp, lhs=known(a), rhs=known(b), signedness=signedness, rounding_mode=mode
    )
    x, y = readings(signedness, a, b)
    np.testing.assert_array_equal(numbers_of(folded, x.dtype), expected(x, y))


@pytest.mark.parametrize("signedness", [SIGNED, UNSIGNED])
def test_remainder_and_shift(signedness: Signedness) -> None:
    a, b = integers(5), integers(6)
    b[b == 0] = 3
    x, y = readings(signedness, a, b)
    folded = fold(integer.RemIOp, lhs=known(a), rhs=known(b), signedness=signedness)
    np.testing.assert_array_equal(numbers_of(folded, x.dtype), np.fmod(x, y))
    amounts = np.abs(b) % 8
    folded = fold(integer.ShRIOp, lhs=known(a), rhs=known(amounts), signedness=signedness)
    np.testing.assert_array_equal(numbers_of(folded, x.dtype), x >> amounts.view(x.dtype))
    folded = fold(integer.ShLIOp, lhs=known(a), rhs=known(amounts))
    np.testing.assert_array_equal(numbers_of(folded, np.int8), a << amounts)


@each_case(
    ("kind", "numbers", "more"),
    [
        (integer.DivIOp, (1, 0), {"signedness": SIGNED}),
        (integer.DivIOp, (-128, -1), {"signedness": SIGNED}),
        (integer.RemIOp, (1, 0), {"signedness": UNSIGNED}),
        (integer.ShLIOp, (1, 8), {}),
        (integer.ShRIOp, (1, 9), {"signedness": SIGNED}),
        (integer.AddIOp, (127, 1), {"overflow": OverflowAttr("nsw")}),
        (integer.MulIOp, (-1, -1), {"overflow": OverflowAttr("nuw")}),
    ],
)
def test_undefined_results_are_not_folded(
    kind: type[Operation], numbers: tuple[int, int], more: Any
) -> None:
    a, b = (splat(IntegerAttr(number, I8)) for number in numbers)
    assert fold(kind, lhs=a, rhs=b, **more) is None


def test_negation_and_abs() -> None:
    a = integers(7)
    np.testing.assert_array_equal(numbers_of(fold(integer.NegIOp, source=known(a)), np.int8), -a)
    folded = fold(integer.AbsIOp, source=known(a))
    np.testing.assert_array_equal(numbers_of(folded, np.int8), np.abs(a))
    least = splat(IntegerAttr(-128, I8))
    assert fold(integer.NegIOp, source=least, overflow=OverflowAttr("nsw")) is None


@each_case(
    ("kind", "number", "more"),
    [
        (integer.AddIOp, 0, {}), (integer.SubIOp, 0, {}), (integer.MulIOp, 1, {}),
        (integer.AndIOp, -1, {}), (integer.OrIOp, 0, {}), (integer.XOrIOp, 0, {}),
        (integer.ShLIOp, 0, {}), (integer.DivIOp, 1, {"signedness": SIGNED}),
    ],
)  # fmt: skip
def test_identity_operands_are_dropped(kind: type[Operation], number: int, more: Any) -> None:
    x = unknown(TensorType((4,), I8))
    assert fold(kind, lhs=x, rhs=splat(IntegerAttr(number, I8)), **more) is x
    assert fold(kind, lhs=x, rhs=splat(IntegerAttr(2, I8)), **more) is None


@pytest.mark.parametrize("kind", [integer.SubIOp, integer.XOrIOp])
def test_a_value_cancels_itself(kind: type[Operation]) -> None:
    x = unknown(TensorType((4,), I8))
    assert numbers_of(fold(kind, lhs=x, rhs=x), np.int8).tolist() == [0]


ROUNDED: dict[type[Operation], Function] = {
    floating.AddFOp: np.add,
    floating.SubFOp: np.subtract,
    floating.MulFOp: np.multiply,
    floating.DivFOp: np.divide,
}


@each_case("dtype", [np.float32, np.float16])
@each_case("kind", ROUNDED)
def test_rounded_arithmetic(kind: type[Operation], dtype: Any) -> None:
    a, b = floats(8, dtype), floats(9, dtype)
    folded = numbers_of(fold(kind, lhs=known(a), rhs=known(b)), dtype)
    with np.errstate(all="ignore"):
        expected = ROUNDED[kind](a, b)
    np.testing.assert_array_equal(folded, expected)
    np.testing.assert_array_equal(
        np.signbit(folded)[~np.isnan(expected)], np.signbit(expected)[~np.isnan(expected)]
    )


def test_other_float_arithmetic() -> None:
    a, b = floats(10), floats(11)
    with np.errstate(all="ignore"):
        cases: list[tuple[type[Operation], dict[str, np.ndarray], np.ndarray]] = [
            (floating.SqrtOp, {"source": a}, np.sqrt(a)),
            (floating.AbsFOp, {"source": a}, np.abs(a)),
            (floating.NegFOp, {"source": a}, -a),
            (floating.CeilOp, {"source": a}, np.ceil(a)),
            (floating.FloorOp, {"source": a}, np.floor(a)),
            (floating.RemFOp, {"lhs": a, "rhs": b}, np.fmod(a, b)),
            (floating.MaxFOp, {"lhs": a, "rhs": b}, np.fmax(a, b)),
            (floating.MinFOp, {"lhs": a, "rhs": b}, np.fmin(a, b)),
        ]
    for kind, operands, expected in cases:
        folded = fold(kind, **{name: known(value) for name, value in operands.items()})
        np.testing.assert_array_equal(numbers_of(folded, np.float32), expected)


def test_an_fma_is_rounded_once() -> None:
    a, b, c = (
        np.random.default_rng(seed).standard_normal(64).astype(np.float16) for seed in (1, 2, 3)
    )
    folded = fold(floating.FmaOp, lhs=known(a), rhs=known(b), acc=known(c))
    exact = a.astype(np.float64) * b + c
    np.testing.assert_array_equal(numbers_of(folded, np.float16), exact.astype(np.float16))


def test_clamping() -> None:
    a = floats(12)
    low, high = np.full_like(a, -1), np.full_like(a, 1)
    folded = fold(floating.ClampFOp, source=known(a), lower=known(low), upper=known(high))
    np.testing.assert_array_equal(numbers_of(folded, np.float32), np.fmin(np.fmax(a, low), high))


@each_case(
    ("kind", "number", "neutral"),
    [
        (floating.AddFOp, 0x80000000, True), (floating.AddFOp, 0, False),
        (floating.SubFOp, 0, True), (floating.SubFOp, 0x80000000, False),
        (floating.MulFOp, 0x3F800000, True), (floating.MulFOp, 0, False),
        (floating.DivFOp, 0x3F800000, True),
    ],
)  # fmt: skip
def test_identity_operands_keep_zeros_and_nans(
    kind: type[Operation], number: int, neutral: bool
) -> None:
    x, k = unknown(TensorType((4,), F32)), splat(FloatAttr(number, F32))
    assert fold(kind, lhs=x, rhs=k) is (x if neutral else None)
    assert fold(kind, lhs=x, rhs=k, flush_to_zero=True) is None


def test_approximations_are_left_alone() -> None:
    k = splat(FloatAttr(0x40400000, F32))
    assert fold(floating.DivFOp, lhs=k, rhs=k, rounding_mode=RoundingMode.APPROX) is None
    assert fold(floating.SqrtOp, source=k, rounding_mode=RoundingMode.APPROX) is None
    assert fold(floating.SqrtOp, source=k, fastmath=FastMathAttr("afn")) is None


def test_directed_rounding() -> None:
    third = [splat(FloatAttr(bits, F32)) for bits in (0x3F800000, 0x40400000)]
    down, up = (
        numbers_of(fold(floating.DivFOp, lhs=third[0], rhs=third[1], rounding_mode=mode), np.uint32)
        for mode in (RoundingMode.ZERO, RoundingMode.POSITIVE_INF)
    )
    assert (down[0], up[0]) == (0x3EAAAAAA, 0x3EAAAAAB)


@each_case("predicate", list(CmpIPredicate))
def test_integer_comparisons(predicate: CmpIPredicate) -> None:
    a, b = integers(13), integers(14)
    b[:100] = a[:100]
    x, y = (a, b) if predicate.keyword.startswith("s") else (a.view(np.uint8), b.view(np.uint8))
    compare = {
        "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
        "gt": np.greater, "ge": np.greater_equal,
    }[predicate.keyword[-2:]]  # fmt: skip
    folded = fold(integer.CmpIOp, predicate=predicate, lhs=known(a), rhs=known(b))
    np.testing.assert_array_equal(numbers_of(folded, np.bool_), compare(x, y))


@each_case("predicate", [CmpFPredicate.OLT, CmpFPredicate.UNE, CmpFPredicate.ORD])
def test_float_comparisons(predicate: CmpFPredicate) -> None:
    a, b = floats(15), floats(16)
    expected = {
        CmpFPredicate.OLT: a < b,
        CmpFPredicate.UNE: a != b,
        CmpFPredicate.ORD: ~(np.isnan(a) | np.isnan(b)),
    }[predicate]
    folded = fold(floating.CmpFOp, predicate=predicate, lhs=known(a), rhs=known(b))
    np.testing.assert_array_equal(numbers_of(folded, np.bool_), expected)


def tensor(element: Type) -> list[Type]:
    return [TensorType((COUNT,), element)]


def test_conversions() -> None:
    a, f = integers(17), floats(18)
    wide = a.astype(np.int32)
    folded = fold(conversion.ExtIOp, tensor(I32), source=known(a), signedness=SIGNED)
    np.testing.assert_array_equal(numbers_of(folded, np.int32), wide)
    folded = fold(conversion.ExtIOp, tensor(I32), source=known(a), signedness=UNSIGNED)
    np.testing.assert_array_equal(numbers_of(folded, np.int32), a.view(np.uint8))
    folded = fold(conversion.TruncIOp, tensor(I8), source=known(wide * 77))
    np.testing.assert_array_equal(numbers_of(folded, np.int8), (wide * 77).astype(np.int8))
    folded = fold(conversion.FpToFpOp, tensor(F16), source=known(f))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(numbers_of(folded, np.float16), f.astype(np.float16))
    folded = fold(conversion.BitcastOp, tensor(I32), source=known(f))
    np.testing.assert_array_equal(numbers_of(folded, np.uint32), f.view(np.uint32))
    small = np.random.default_rng(19).uniform(-127, 127, COUNT).astype(np.float32)
    folded = fold(conversion.FToIOp, tensor(I8), source=known(small), signedness=SIGNED)
    np.testing.assert_array_equal(numbers_of(folded, np.int8), small.astype(np.int8))


def test_conversions_out_of_range_are_left_alone() -> None:
    large = splat(FloatAttr(0x47000000, F32), (COUNT,))
    assert fold(conversion.FToIOp, tensor(I8), source=large, signedness=SIGNED) is None
    folded = fold(conversion.FToIOp, tensor(I8), source=large, signedness=SIGNED, saturating=True)
    assert numbers_of(folded, np.int8).tolist() == [127]
