"""Float arithmetic against NumPy, and against exact fractions where NumPy cannot round."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from each_case import each_case
from hypothesis import given
from hypothesis import strategies as st

from tilewright.support.floats import (
    BF16,
    F8E5M2,
    F16,
    F32,
    F64,
    Exact,
    FloatFormat,
    Kind,
    Rounding,
    decode,
    encode,
    is_nan,
)
from tilewright.support.numerics import floating

DTYPES = {
    F8E5M2: (ml_dtypes.float8_e5m2, np.uint8),
    F16: (np.float16, np.uint16),
    BF16: (ml_dtypes.bfloat16, np.uint16),
    F32: (np.float32, np.uint32),
    F64: (np.float64, np.uint64),
}
ONE, MINUS_ONE, TWO = 0x3F800000, 0xBF800000, 0x40000000
INF, MINUS_INF, NAN = 0x7F800000, 0xFF800000, 0x7FC00000
ZERO, MINUS_ZERO = 0x00000000, 0x80000000
TINIEST, MIN_NORMAL = 0x00000001, 0x00800000

BINARY: dict[np.ufunc, Callable[[int, int, FloatFormat], int]] = {
    np.add: floating.add,
    np.subtract: floating.subtract,
    np.multiply: floating.multiply,
    np.divide: floating.divide,
    np.fmod: floating.remainder,
}


def f32(number: float) -> int:
    return struct.unpack("<I", struct.pack("<f", number))[0]


def samples(format: FloatFormat, count: int, seed: int) -> np.ndarray:
    """Patterns: some anywhere, some near one, where add cancels and mul stays in range."""
    _, storage = DTYPES[format]
    rng = np.random.default_rng(seed)
    anywhere = rng.integers(0, np.iinfo(storage).max, count, dtype=storage, endpoint=True)
    one = format.bias << format.mantissa_bits
    near = one + rng.integers(-3 << format.mantissa_bits, 3 << format.mantissa_bits, count)
    signs = rng.integers(0, 2, count).astype(storage) * storage(format.sign)
    return np.where(rng.random(count) < 0.5, anywhere, near.astype(storage) | signs)


def check(format: FloatFormat, got: list[int], expected: np.ndarray) -> None:
    _, storage = DTYPES[format]
    for ours, theirs in zip(got, expected.view(storage).tolist(), strict=True):
        assert ours == theirs or (is_nan(ours, format) and is_nan(theirs, format))


@pytest.mark.parametrize("operation", BINARY, ids=lambda operation: operation.__name__)
@pytest.mark.sampled(2)
def test_all_pairs_of_eight_bits(operation: np.ufunc) -> None:
    # f32 has more than twice the bits of f8E5M2 and two: rounding twice is rounding once.
    numbers = np.arange(256).astype(np.uint8).view(ml_dtypes.float8_e5m2).astype(np.float32)
    with np.errstate(all="ignore"):
        expected = operation(numbers[:, None], numbers[None, :]).astype(ml_dtypes.float8_e5m2)
    ours = BINARY[operation]
    got = [ours(a, b, F8E5M2) for a in range(256) for b in range(256)]
    check(F8E5M2, got, expected.reshape(-1))


@each_case("operation", BINARY, ids=lambda operation: operation.__name__)
@each_case("format", [F16, BF16, F32, F64], ids=repr)
def test_nearest_even_is_numpy_s(format: FloatFormat, operation: np.ufunc) -> None:
    dtype, _ = DTYPES[format]
    a, b = samples(format, 2_000, seed=1), samples(format, 2_000, seed=2)
    with np.errstate(all="ignore"):
        expected = operation(a.view(dtype), b.view(dtype))
    ours = BINARY[operation]
    got = [ours(x, y, format) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    check(format, got, expected)


@each_case("format", [F16, BF16, F32, F64], ids=repr)
@each_case(
    ("operation", "ours"),
    [
        (np.sqrt, floating.sqrt),
        (np.ceil, floating.ceil),
        (np.floor, floating.floor),
        (np.abs, floating.absolute),
        (np.negative, floating.negate),
    ],
)
def test_unary_operations_are_numpy_s(
    format: FloatFormat, operation: np.ufunc, ours: Callable[[int, FloatFormat], int]
) -> None:
    dtype, _ = DTYPES[format]
    patterns = samples(format, 4_000, seed=3)
    with np.errstate(all="ignore"):
        expected = operation(patterns.view(dtype))
    check(format, [ours(pattern, format) for pattern in patterns.tolist()], expected)


def fraction(pattern: int, format: FloatFormat) -> Fraction | None:
    value = decode(pattern, format)
    if value.kind is not Kind.FINITE:
        return None
    magnitude = value.significand * Fraction(2) ** value.exponent
    return -magnitude if value.negative else magnitude


def sticky(number: Fraction) -> Exact:
    """A number other than zero in 300 bits, the last of them sticky."""
    shift = 300 + number.denominator.bit_length() - number.numerator.bit_length()
    shift = max(shift, 0)
    quotient, rest = divmod(abs(number.numerator) << shift, number.denominator)
    return Exact(number < 0, quotient << 1 | (rest != 0), -shift - 1)


FORMATS = st.sampled_from([F16, BF16, F32, F64])
PATTERNS = st.integers(0, 2**64 - 1)
ROUNDINGS = st.sampled_from(list(Rounding))


@given(PATTERNS, PATTERNS, FORMATS, ROUNDINGS)
def test_every_rounding_of_add_mul_and_div(
    a: int, b: int, format: FloatFormat, rounding: Rounding
) -> None:
    a, b = a >> (64 - format.width), b >> (64 - format.width)
    x, y = fraction(a, format), fraction(b, format)
    if not x or not y:
        return
    operations = [
        (floating.add, operator.add),
        (floating.subtract, operator.sub),
        (floating.multiply, operator.mul),
        (floating.divide, operator.truediv),
    ]
    for ours, exactly in operations:
        result = exactly(x, y)
        if result != 0:
            assert ours(a, b, format, rounding) == encode(sticky(result), format, rounding)


@given(PATTERNS, PATTERNS, PATTERNS, FORMATS, ROUNDINGS)
def test_fma_is_exact(a: int, b: int, c: int, format: FloatFormat, rounding: Rounding) -> None:
    a, b, c = (pattern >> (64 - format.width) for pattern in (a, b, c))
    x, y, z = (fraction(pattern, format) for pattern in (a, b, c))
    if x is None or y is None or z is None or x * y + z == 0:
        return
    expected = encode(sticky(x * y + z), format, rounding)
    assert floating.fma(a, b, c, format, rounding) == expected


@given(PATTERNS, FORMATS)
def test_directed_square_roots_enclose_the_root(a: int, format: FloatFormat) -> None:
    a = a >> (64 - format.width) & ~format.sign
    x = fraction(a, format)
    if not x:
        return
    down = floating.sqrt(a, format, Rounding.NEGATIVE_INF)
    up = floating.sqrt(a, format, Rounding.POSITIVE_INF)
    low, high = fraction(down, format), fraction(up, format)
    assert low is not None
    assert high is not None
    assert low**2 <= x <= high**2
    assert up - down == (low**2 != x)
    assert floating.sqrt(a, format, Rounding.ZERO) == down
    nearest = up if x > ((low + high) / 2) ** 2 else down
    assert floating.sqrt(a, format) == floating.sqrt(a, format, Rounding.NEAREST_AWAY) == nearest


@each_case(
    ("rounding", "third", "minus_third"),
    [
        (Rounding.NEAREST_EVEN, 0x3EAAAAAB, 0xBEAAAAAB),
        (Rounding.ZERO, 0x3EAAAAAA, 0xBEAAAAAA),
        (Rounding.NEGATIVE_INF, 0x3EAAAAAA, 0xBEAAAAAB),
        (Rounding.POSITIVE_INF, 0x3EAAAAAB, 0xBEAAAAAA),
    ],
)
def test_a_third(rounding: Rounding, third: int, minus_third: int) -> None:
    assert floating.divide(ONE, f32(3), F32, rounding) == third
    assert floating.divide(MINUS_ONE, f32(3), F32, rounding) == minus_third


@each_case(
    ("rounding", "expected"),
    [
        (Rounding.NEAREST_EVEN, 0x3F800000),
        (Rounding.NEAREST_AWAY, 0x3F800001),
        (Rounding.ZERO, 0x3F800000),
        (Rounding.NEGATIVE_INF, 0x3F800000),
        (Rounding.POSITIVE_INF, 0x3F800001),
    ],
)
def test_one_and_half_a_unit(rounding: Rounding, expected: int) -> None:
    assert floating.add(ONE, f32(2.0**-24), F32, rounding) == expected


def test_fma_differs_from_mul_and_add() -> None:
    just_above, just_below = 0x3F800001, 0x3F7FFFFE
    multiplied = floating.multiply(just_above, just_below, F32)
    assert floating.add(multiplied, MINUS_ONE, F32) == ZERO
    assert floating.fma(just_above, just_below, MINUS_ONE, F32) == f32(-(2.0**-46))


@each_case("rounding", Rounding)
def test_the_sign_of_a_zero_sum(rounding: Rounding) -> None:
    unlike = MINUS_ZERO if rounding is Rounding.NEGATIVE_INF else ZERO
    assert floating.add(ZERO, ZERO, F32, rounding) == ZERO
    assert floating.add(MINUS_ZERO, MINUS_ZERO, F32, rounding) == MINUS_ZERO
    assert floating.add(ZERO, MINUS_ZERO, F32, rounding) == unlike
    assert floating.subtract(ONE, ONE, F32, rounding) == unlike
    assert floating.fma(ONE, ONE, MINUS_ONE, F32, rounding) == unlike
    assert floating.fma(ZERO, ONE, MINUS_ZERO, F32, rounding) == unlike
    assert floating.fma(MINUS_ZERO, ONE, MINUS_ZERO, F32, rounding) == MINUS_ZERO


@each_case(
    ("operation", "operands", "expected"),
    [
        (floating.add, (INF, MINUS_INF), NAN),
        (floating.add, (INF, ONE), INF),
        (floating.subtract, (INF, INF), NAN),
        (floating.subtract, (ONE, INF), MINUS_INF),
        (floating.multiply, (INF, ZERO), NAN),
        (floating.multiply, (MINUS_INF, TWO), MINUS_INF),
        (floating.multiply, (MINUS_ONE, ZERO), MINUS_ZERO),
        (floating.divide, (ZERO, ZERO), NAN),
        (floating.divide, (INF, INF), NAN),
        (floating.divide, (ONE, ZERO), INF),
        (floating.divide, (ONE, MINUS_ZERO), MINUS_INF),
        (floating.divide, (MINUS_ONE, INF), MINUS_ZERO),
        (floating.fma, (INF, ZERO, ONE), NAN),
        (floating.fma, (INF, ONE, MINUS_INF), NAN),
        (floating.fma, (TWO, ONE, INF), INF),
        (floating.sqrt, (MINUS_ONE,), NAN),
        (floating.sqrt, (MINUS_ZERO,), MINUS_ZERO),
        (floating.sqrt, (INF,), INF),
        (floating.sqrt, (MINUS_INF,), NAN),
        (floating.remainder, (ONE, ZERO), NAN),
        (floating.remainder, (INF, ONE), NAN),
        (floating.remainder, (MINUS_ONE, INF), MINUS_ONE),
        (floating.remainder, (MINUS_ONE, ONE), MINUS_ZERO),
        (floating.ceil, (0xBF000000,), MINUS_ZERO),
        (floating.floor, (0x3F000000,), ZERO),
        (floating.floor, (0xBF000000,), MINUS_ONE),
        (floating.ceil, (MINUS_INF,), MINUS_INF),
        (floating.absolute, (0xFFC00001,), 0x7FC00001),
        (floating.negate, (0x7FC00001,), 0xFFC00001),
    ],
)
def test_special_cases(
    operation: Callable[..., int], operands: tuple[int, ...], expected: int
) -> None:
    assert operation(*operands, F32) == expected


@each_case(
    "operation",
    [floating.add, floating.subtract, floating.multiply, floating.divide, floating.remainder],
)
def test_nan_in_canonical_nan_out(operation: Callable[..., int]) -> None:
    assert operation(0xFFC12345, ONE, F32) == NAN
    assert operation(ONE, 0x7F800001, F32) == NAN


@each_case(
    ("a", "b", "larger", "smaller"),
    [
        (ONE, TWO, TWO, ONE),
        (MINUS_ONE, ONE, ONE, MINUS_ONE),
        (ZERO, MINUS_ZERO, ZERO, MINUS_ZERO),
        (MINUS_ZERO, ZERO, ZERO, MINUS_ZERO),
        (MINUS_INF, MINUS_ONE, MINUS_ONE, MINUS_INF),
        (INF, ONE, INF, ONE),
    ],
)
@each_case("propagate_nan", [False, True])
def test_extremes_of_numbers(
    a: int, b: int, larger: int, smaller: int, propagate_nan: bool
) -> None:
    assert floating.maximum(a, b, F32, propagate_nan=propagate_nan) == larger
    assert floating.minimum(a, b, F32, propagate_nan=propagate_nan) == smaller


@pytest.mark.parametrize("operation", [floating.maximum, floating.minimum])
def test_extremes_of_nans(operation: Callable[..., int]) -> None:
    odd_nan = 0xFF812345
    assert operation(odd_nan, ONE, F32) == operation(ONE, odd_nan, F32) == ONE
    assert operation(odd_nan, odd_nan, F32) == NAN
    assert operation(odd_nan, ONE, F32, propagate_nan=True) == NAN
    assert operation(ONE, odd_nan, F32, propagate_nan=True) == NAN


def test_flushing_operands() -> None:
    assert floating.add(TINIEST, MINUS_ZERO, F32, flush=True) == ZERO
    assert floating.add(TINIEST | MINUS_ZERO, MINUS_ZERO, F32, flush=True) == MINUS_ZERO
    assert floating.divide(ONE, 0x807FFFFF, F32, flush=True) == MINUS_INF
    assert floating.multiply(INF, TINIEST, F32, flush=True) == NAN
    assert floating.sqrt(0x807FFFFF, F32, flush=True) == MINUS_ZERO
    assert floating.maximum(TINIEST, ZERO, F32, flush=True) == ZERO
    assert floating.minimum(TINIEST | MINUS_ZERO, ZERO, F32, flush=True) == MINUS_ZERO
    assert floating.add(TINIEST, ONE, F32, Rounding.POSITIVE_INF, flush=True) == ONE


def test_flushing_results() -> None:
    half, minus_half = f32(0.5), f32(-0.5)
    assert floating.multiply(MIN_NORMAL, half, F32, flush=True) == ZERO
    assert floating.multiply(MIN_NORMAL, minus_half, F32, flush=True) == MINUS_ZERO
    assert floating.multiply(MIN_NORMAL, half, F32) == 0x00400000
    assert floating.subtract(MIN_NORMAL + 1, MIN_NORMAL, F32, flush=True) == ZERO
    assert floating.multiply(MIN_NORMAL, ONE, F32, flush=True) == MIN_NORMAL


@each_case(
    ("rounding", "last"),
    [
        (Rounding.NEAREST_EVEN, 1448),
        (Rounding.ZERO, 0),
        (Rounding.NEGATIVE_INF, 0),
        (Rounding.POSITIVE_INF, 2047),
    ],
)
def test_what_counts_as_subnormal_is_decided_as_on_an_h200(rounding: Rounding, last: int) -> None:
    """`mul.ftz` and `fma.ftz` on results `2**-126 * (1 - k**2 * 2**-46)`, measured for all k."""
    for k in (1, 2, 1447, 1448, 1449, 2046, 2047, 2048, 4096):
        a = encode(Exact(False, 2**23 + k, -86), F32)
        b = encode(Exact(False, 2**23 - k, -86), F32)
        expected = MIN_NORMAL if k <= last else ZERO
        assert floating.multiply(a, b, F32, rounding, flush=True) == expected
        assert floating.fma(a, b, ZERO, F32, rounding, flush=True) == expected


@given(st.floats(width=32), st.floats(width=32))
def test_remainder_is_c_s(a: float, b: float) -> None:
    got = floating.remainder(f32(a), f32(b), F32)
    if math.isnan(a) or math.isnan(b) or math.isinf(a) or b == 0:
        assert got == NAN
    else:
        assert got == f32(math.fmod(a, b))
