"""Folds of arith and math, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from each_case import each_case

from tilewright.dialects.arith import casts, floating, integer
from tilewright.dialects.arith.attributes import (
    CmpFPredicate,
    CmpIPredicate,
    FastMathAttr,
    OverflowAttr,
    RoundingMode,
)
from tilewright.dialects.arith.comparison import CmpFOp, CmpIOp, SelectOp
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.folds import FOLDS
from tilewright.dialects.math import ops as math
from tilewright.dialects.math.folds import FOLDS as MATH_FOLDS
from tilewright.ir.attributes import DenseElementsAttr, FloatAttr, IntegerAttr, Type
from tilewright.ir.builder import create_op
from tilewright.ir.operation import Block, Operation
from tilewright.ir.rules import constant_of
from tilewright.ir.types import BF16, F16, F32, F64, I1, I8, I32, I64, INDEX, VectorType
from tilewright.ir.values import Value

COUNT = 512
ELEMENTS = {np.int8: I8, np.float32: F32, np.float16: F16, np.bool_: I1}


def known(numbers: np.ndarray) -> Value:
    type = VectorType((len(numbers),), ELEMENTS[numbers.dtype.type])
    value = DenseElementsAttr(numbers.tobytes(), type)
    return create_op(ConstantOp, value=value, types=[type]).result


def scalar(number: int, type: Type = I32) -> Value:
    value = IntegerAttr(number, type)
    return create_op(ConstantOp, value=value, types=[type]).result


def real(bits: int, type: Type = F32) -> Value:
    return create_op(ConstantOp, value=FloatAttr(bits, type), types=[type]).result


def unknown(type: Type = I32) -> Value:
    return Block([type]).args[0]


def fold(kind: type[Operation], types: Any = None, **fields: Any) -> Any:
    op = create_op(kind, types=types, **fields)
    table = MATH_FOLDS if kind in MATH_FOLDS else FOLDS
    return table[kind](op, tuple(constant_of(value) for value in op.operands))


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
    numbers[:5] = [0.0, -0.0, 1.0, np.inf, np.nan]
    return numbers


def unsigned(a: np.ndarray) -> np.ndarray:
    return a.view(np.uint8)


INTEGERS: dict[type[Operation], Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    integer.AddIOp: np.add,
    integer.SubIOp: np.subtract,
    integer.MulIOp: np.multiply,
    integer.AndIOp: np.bitwise_and,
    integer.OrIOp: np.bitwise_or,
    integer.XOrIOp: np.bitwise_xor,
    integer.MaxSIOp: np.maximum,
    integer.MinSIOp: np.minimum,
    integer.MaxUIOp: lambda a, b: np.maximum(unsigned(a), unsigned(b)),
    integer.MinUIOp: lambda a, b: np.minimum(unsigned(a), unsigned(b)),
}

DIVISIONS: dict[type[Operation], Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    integer.DivUIOp: lambda a, b: unsigned(a) // unsigned(b),
    integer.RemUIOp: lambda a, b: unsigned(a) % unsigned(b),
    integer.FloorDivSIOp: lambda a, b: a // b,
    integer.CeilDivSIOp: lambda a, b: -((-a.astype(int)) // b),
    integer.CeilDivUIOp: lambda a, b: -((-unsigned(a).astype(int)) // unsigned(b)),
    integer.DivSIOp: lambda a, b: np.trunc(a.astype(float) / b),
    integer.RemSIOp: lambda a, b: np.fmod(a, b),
}


def same_bytes(folded: Any, expected: np.ndarray) -> bool:
    assert isinstance(folded, DenseElementsAttr)
    return folded.data == expected.astype(np.int64).astype(np.int8).tobytes()


@each_case("kind", INTEGERS, ids=lambda kind: kind.name)
def test_integers(kind: type[Operation]) -> None:
    a, b = integers(1), integers(2)
    assert same_bytes(fold(kind, lhs=known(a), rhs=known(b)), INTEGERS[kind](a, b))


@each_case("kind", DIVISIONS, ids=lambda kind: kind.name)
def test_divisions(kind: type[Operation]) -> None:
    a, b = integers(1), integers(2)
    keep = (b != 0) & ~((a == -128) & (b == -1))
    a, b = a[keep], b[keep]
    assert same_bytes(fold(kind, lhs=known(a), rhs=known(b)), DIVISIONS[kind](a, b))


@each_case("kind", DIVISIONS, ids=lambda kind: kind.name)
def test_division_by_zero_stays(kind: type[Operation]) -> None:
    assert fold(kind, lhs=scalar(7), rhs=scalar(0)) is None


def test_shifts() -> None:
    a, b = integers(1), np.abs(integers(2) % 8).astype(np.int8)
    left = fold(integer.ShLIOp, lhs=known(a), rhs=known(b))
    assert same_bytes(left, a.astype(int) << b)
    assert same_bytes(fold(integer.ShRSIOp, lhs=known(a), rhs=known(b)), a >> b)
    assert same_bytes(fold(integer.ShRUIOp, lhs=known(a), rhs=known(b)), unsigned(a) >> b)
    assert fold(integer.ShLIOp, lhs=scalar(1), rhs=scalar(32)) is None


def test_wide_results() -> None:
    a, b = integers(1), integers(2)
    low, carry = fold(integer.AddUIExtendedOp, lhs=known(a), rhs=known(b))
    exact = unsigned(a).astype(int) + unsigned(b)
    assert same_bytes(low, exact)
    assert carry.elements() == list((exact > 255).astype(int))
    for kind, expected in (
        (integer.MulSIExtendedOp, a.astype(int) * b),
        (integer.MulUIExtendedOp, unsigned(a).astype(int) * unsigned(b)),
    ):
        low, high = fold(kind, lhs=known(a), rhs=known(b))
        assert same_bytes(low, expected)
        assert same_bytes(high, expected >> 8)


def test_violated_overflow_flags_are_not_folded() -> None:
    most = scalar(2**31 - 1)
    wraps = OverflowAttr("nsw")
    assert fold(integer.AddIOp, lhs=most, rhs=scalar(1), overflow=wraps) is None
    assert fold(integer.AddIOp, lhs=most, rhs=scalar(1)) is IntegerAttr(-(2**31), I32)
    assert fold(integer.AddIOp, lhs=scalar(1), rhs=scalar(1), overflow=wraps) is IntegerAttr(2, I32)


def test_laws_of_integers() -> None:
    x, zero, one = unknown(), scalar(0), scalar(1)
    assert fold(integer.AddIOp, lhs=x, rhs=zero) is x
    assert fold(integer.AddIOp, lhs=zero, rhs=x) is x
    assert fold(integer.SubIOp, lhs=x, rhs=x) is IntegerAttr(0, I32)
    assert fold(integer.SubIOp, lhs=zero, rhs=x) is None
    assert fold(integer.MulIOp, lhs=x, rhs=one) is x
    assert fold(integer.MulIOp, lhs=zero, rhs=x) is IntegerAttr(0, I32)
    assert fold(integer.AndIOp, lhs=x, rhs=scalar(-1)) is x
    assert fold(integer.OrIOp, lhs=x, rhs=scalar(-1)) is IntegerAttr(-1, I32)
    assert fold(integer.XOrIOp, lhs=x, rhs=x) is IntegerAttr(0, I32)
    assert fold(integer.MaxSIOp, lhs=x, rhs=scalar(-(2**31))) is x
    assert fold(integer.MinUIOp, lhs=x, rhs=zero) is IntegerAttr(0, I32)
    assert fold(integer.DivSIOp, lhs=x, rhs=one) is x
    bit = unknown(I1)
    assert fold(integer.DivSIOp, lhs=bit, rhs=scalar(1, I1)) is None
    assert fold(integer.AddIOp, lhs=scalar(3, INDEX), rhs=scalar(4, INDEX)) is IntegerAttr(7, INDEX)


@each_case("dtype", [np.float32, np.float16])
@each_case(
    ("kind", "compute"),
    [
        (floating.AddFOp, np.add),
        (floating.SubFOp, np.subtract),
        (floating.MulFOp, np.multiply),
        (floating.DivFOp, np.divide),
        (floating.MaxNumFOp, np.fmax),
        (floating.MinNumFOp, np.fmin),
        (floating.MaximumFOp, np.maximum),
        (floating.MinimumFOp, np.minimum),
        (floating.RemFOp, np.fmod),
    ],
    ids=lambda item: getattr(item, "name", ""),
)
def test_floats(kind: type[Operation], compute: Any, dtype: Any) -> None:
    a, b = floats(1, dtype), floats(2, dtype)
    folded = fold(kind, lhs=known(a), rhs=known(b))
    with np.errstate(all="ignore"):
        expected = compute(a, b)
    actual = np.frombuffer(folded.data, dtype)
    np.testing.assert_array_equal(actual, expected)


def test_rounding_modes() -> None:
    one, tiny = real(0x3F800000), real(0x30800000)
    for mode, bits in (
        (None, 0x3F800000),
        (RoundingMode.UPWARD, 0x3F800001),
        (RoundingMode.DOWNWARD, 0x3F800000),
        (RoundingMode.TOWARD_ZERO, 0x3F800000),
    ):
        folded = fold(floating.AddFOp, lhs=one, rhs=tiny, rounding=mode)
        assert folded is FloatAttr(bits, F32), mode


def test_laws_of_floats() -> None:
    x, one = unknown(F32), real(0x3F800000)
    zero, negative_zero = real(0), real(0x80000000)
    assert fold(floating.MulFOp, lhs=x, rhs=one) is x
    assert fold(floating.DivFOp, lhs=x, rhs=one) is x
    assert fold(floating.AddFOp, lhs=x, rhs=negative_zero) is x
    assert fold(floating.AddFOp, lhs=x, rhs=zero) is None
    assert fold(floating.SubFOp, lhs=x, rhs=zero) is x
    down = RoundingMode.DOWNWARD
    assert fold(floating.AddFOp, lhs=x, rhs=negative_zero, rounding=down) is None
    assert fold(floating.MulFOp, lhs=x, rhs=zero) is None
    negated = create_op(floating.NegFOp, operand=x).result
    assert fold(floating.NegFOp, operand=negated) is x


@each_case("predicate", CmpIPredicate)
def test_integer_comparisons(predicate: CmpIPredicate) -> None:
    a, b = integers(1), integers(2)
    b[:20] = a[:20]
    name = predicate.keyword[-2:]
    compare = getattr(np, {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal",
                           "gt": "greater", "ge": "greater_equal"}[name])  # fmt: skip
    expected = compare(unsigned(a), unsigned(b)) if predicate.keyword[0] == "u" else compare(a, b)
    folded = fold(CmpIOp, predicate=predicate, lhs=known(a), rhs=known(b))
    assert folded.elements() == list(expected.astype(int))
    x = unknown()
    itself = fold(CmpIOp, predicate=predicate, lhs=x, rhs=x)
    assert itself is IntegerAttr(int(name in ("eq", "le", "ge")), I1)


@each_case("predicate", CmpFPredicate)
def test_float_comparisons(predicate: CmpFPredicate) -> None:
    a, b = floats(1), floats(2)
    b[:20] = a[:20]
    nan = np.isnan(a) | np.isnan(b)
    holds = {
        "eq": a == b, "gt": a > b, "ge": a >= b, "lt": a < b, "le": a <= b, "ne": (a != b) & ~nan,
    }  # fmt: skip
    match predicate.keyword:
        case "true" | "false":
            expected = np.full(COUNT, predicate is CmpFPredicate.TRUE)
        case "ord":
            expected = ~nan
        case "uno":
            expected = nan
        case word:
            expected = holds[word[1:]] | (nan & (word[0] == "u"))
    folded = fold(CmpFOp, predicate=predicate, lhs=known(a), rhs=known(b))
    elements = folded.elements() * (COUNT if folded.is_splat else 1)
    assert elements == list(expected.astype(int))


def test_choices() -> None:
    x, y, c = unknown(), unknown(), unknown(I1)
    assert fold(SelectOp, condition=scalar(1, I1), true_value=x, false_value=y) is x
    assert fold(SelectOp, condition=scalar(0, I1), true_value=x, false_value=y) is y
    assert fold(SelectOp, condition=c, true_value=x, false_value=x) is x
    yes, no = scalar(1, I1), scalar(0, I1)
    assert fold(SelectOp, condition=c, true_value=yes, false_value=no) is c


def test_conversions_of_integers() -> None:
    a = integers(1)
    wide = VectorType((COUNT,), I32)
    signed = fold(casts.ExtSIOp, [wide], source=known(a))
    assert np.frombuffer(signed.data, np.int32).tolist() == a.tolist()
    plain = fold(casts.ExtUIOp, [wide], source=known(a))
    assert np.frombuffer(plain.data, np.int32).tolist() == unsigned(a).tolist()
    assert fold(casts.TruncIOp, [I8], source=scalar(300)) is IntegerAttr(44, I8)
    nsw = OverflowAttr("nsw")
    assert fold(casts.TruncIOp, [I8], source=scalar(300), overflow=nsw) is None
    assert fold(casts.IndexCastOp, [INDEX], source=scalar(-1)) is IntegerAttr(-1, INDEX)
    assert fold(casts.IndexCastUIOp, [INDEX], source=scalar(-1)) is IntegerAttr(2**32 - 1, INDEX)
    assert fold(casts.IndexCastOp, [I8], source=scalar(300, INDEX)) is IntegerAttr(44, I8)


def test_conversions_back_and_forth() -> None:
    x, n = unknown(), unknown(INDEX)
    wide = create_op(casts.ExtSIOp, source=x, types=[I64]).result
    assert fold(casts.TruncIOp, [I32], source=wide) is x
    index = create_op(casts.IndexCastOp, source=x, types=[INDEX]).result
    assert fold(casts.IndexCastOp, [I32], source=index) is x
    narrow = create_op(casts.IndexCastOp, source=n, types=[I32]).result
    assert fold(casts.IndexCastOp, [INDEX], source=narrow) is None
    f = unknown(F16)
    double = create_op(casts.ExtFOp, source=f, types=[F32]).result
    assert fold(casts.TruncFOp, [F16], source=double) is f
    bits = create_op(casts.BitcastOp, source=x, types=[F32]).result
    assert fold(casts.BitcastOp, [I32], source=bits) is x


def test_conversions_of_floats() -> None:
    half = floats(3, np.float16)
    wide = fold(casts.ExtFOp, [VectorType((COUNT,), F32)], source=known(half))
    np.testing.assert_array_equal(np.frombuffer(wide.data, np.float32), half.astype(np.float32))
    single = floats(4)
    narrow = fold(casts.TruncFOp, [VectorType((COUNT,), F16)], source=known(single))
    with np.errstate(all="ignore"):
        expected = single.astype(np.float16)
    np.testing.assert_array_equal(np.frombuffer(narrow.data, np.float16), expected)
    third = real(0x3EAAAAAB)
    up = RoundingMode.UPWARD
    assert fold(casts.TruncFOp, [BF16], source=third) is FloatAttr(0x3EAB, BF16)
    assert fold(casts.TruncFOp, [BF16], source=third, rounding=RoundingMode.TOWARD_ZERO) is (
        FloatAttr(0x3EAA, BF16)
    )
    assert fold(casts.TruncFOp, [BF16], source=real(0x3F800001), rounding=up) is (
        FloatAttr(0x3F81, BF16)
    )


def test_integers_and_floats() -> None:
    assert fold(casts.SIToFPOp, [F32], source=scalar(-3)) is FloatAttr(0xC0400000, F32)
    most = fold(casts.UIToFPOp, [F64], source=scalar(-1))
    assert most is FloatAttr(int(np.float64(2**32 - 1).view(np.uint64)), F64)
    assert fold(casts.FPToSIOp, [I8], source=real(0xC0700000)) is IntegerAttr(-3, I8)
    assert fold(casts.FPToUIOp, [I8], source=real(0xC0700000)) is None
    assert fold(casts.FPToSIOp, [I8], source=real(0x7FC00000)) is None


def test_math() -> None:
    a = floats(5)
    with np.errstate(all="ignore"):
        for kind, expected in (
            (math.SqrtOp, np.sqrt(a)),
            (math.FloorOp, np.floor(a)),
            (math.CeilOp, np.ceil(a)),
            (math.AbsFOp, np.abs(a)),
        ):
            folded = fold(kind, operand=known(a))
            np.testing.assert_array_equal(np.frombuffer(folded.data, np.float32), expected)
    numbers = integers(6)
    for kind, count in (
        (math.CtPopOp, lambda n: bin(n & 255).count("1")),
        (math.CtlzOp, lambda n: 8 - (n & 255).bit_length()),
        (math.CttzOp, lambda n: ((n & -n) & 255).bit_length() - 1 if n else 8),
        (math.AbsIOp, abs),
    ):
        folded = fold(kind, operand=known(numbers))
        assert same_bytes(folded, np.array([count(int(n)) for n in numbers]))


def test_no_fold_of_approximations() -> None:
    assert fold(math.SqrtOp, operand=real(0x40800000), fastmath=FastMathAttr("afn")) is None
    assert math.ExpOp not in MATH_FOLDS
