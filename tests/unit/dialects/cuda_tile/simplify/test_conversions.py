"""Folds of conversions, against NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from each_case import each_case
from folding import fold, known, unknown, vector

from tilewright.dialects.cuda_tile import conversion
from tilewright.dialects.cuda_tile.enums import Overflow, Rounding, Signedness
from tilewright.dialects.cuda_tile.types import PtrType, TileType
from tilewright.ir.attributes import Type
from tilewright.ir.builder import create_op
from tilewright.ir.types import (
    BF16,
    F8E4M3FN,
    F8E5M2,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    FloatType,
)
from tilewright.ir.values import Value

BYTES = np.arange(256, dtype=np.uint8)
SIGNED, UNSIGNED = Signedness.SIGNED, Signedness.UNSIGNED
DTYPES: dict[Type, Any] = {
    F16: np.float16,
    BF16: ml_dtypes.bfloat16,
    F32: np.float32,
    F64: np.float64,
    F8E4M3FN: ml_dtypes.float8_e4m3fn,
    F8E5M2: ml_dtypes.float8_e5m2,
}


def tile(count: int, element: Type) -> list[TileType]:
    return [TileType((count,), element)]


def uint(element: FloatType) -> Any:
    return np.dtype(f"u{element.width // 8}")


@pytest.mark.parametrize("signedness", Signedness)
def test_extension_of_every_byte(signedness: Signedness) -> None:
    kind = np.int8 if signedness is SIGNED else np.uint8
    folded = fold(
        conversion.ExtIOp, tile(256, I32), source=vector(BYTES, I8), signedness=signedness
    )
    assert folded == BYTES.view(kind).astype(np.int32).view(np.uint32).tolist()


def test_truncation_keeps_the_low_bits() -> None:
    values = np.arange(0, 1 << 16, 37, dtype=np.uint16)[:1024]
    folded = fold(conversion.TruncIOp, tile(1024, I8), source=vector(values, I16))
    assert folded == values.astype(np.uint8).tolist()


@each_case("value", [0, 1, 127, 128, 255, 256, 0x7FFF, 0xFF7F, 0xFF80, 0xFFFF])
def test_truncation_with_overflow_flags(value: int) -> None:
    signed = value - (1 << 16) if value >> 15 else value
    kept = {
        Overflow.NONE: True,
        Overflow.NO_SIGNED_WRAP: -128 <= signed < 128,
        Overflow.NO_UNSIGNED_WRAP: value < 256,
        Overflow.NO_WRAP: -128 <= signed < 128 and value < 256,
    }
    for overflow, is_kept in kept.items():
        folded = fold(
            conversion.TruncIOp, tile(1, I8), source=vector([value], I16), overflow=overflow
        )
        assert folded == ([value & 0xFF] if is_kept else None)


@each_case("element", [F16, BF16, F32, F64])
@each_case("signedness", Signedness)
def test_integers_to_floats(element: FloatType, signedness: Signedness) -> None:
    numbers = [0, 1, 99, 255, 257, 2049, 2051, 4097, 65519, 65520, 70000]
    numbers += [(1 << 24) + 1, (1 << 24) + 3, (1 << 31) - 1, 1 << 31, (1 << 32) - 1]
    values = np.array(numbers, np.uint32)
    source = values.view(np.int32) if signedness is SIGNED else values
    with np.errstate(over="ignore"):
        expected = source.astype(np.float64).astype(DTYPES[element])
    folded = fold(
        conversion.IToFOp, tile(16, element), source=vector(values, I32), signedness=signedness
    )
    assert folded == expected.view(uint(element)).tolist()


@each_case("element", [F8E4M3FN, F8E5M2])
@each_case("target", [F16, BF16, F32, F64])
def test_every_small_float_widens_exactly(element: FloatType, target: FloatType) -> None:
    expected = BYTES.view(DTYPES[element]).astype(DTYPES[target])
    folded = fold(conversion.FToFOp, tile(256, target), source=vector(BYTES, element))
    result = np.array(folded, uint(target)).view(DTYPES[target])
    is_nan = np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(result), is_nan)
    bits = uint(target)
    np.testing.assert_array_equal(result.view(bits)[~is_nan], expected.view(bits)[~is_nan])


@pytest.mark.parametrize("target", [F8E4M3FN, F8E5M2])
def test_narrowing_to_small_floats_saturates(target: FloatType) -> None:
    values = np.array([0.0, -0.0, 1.0, -1.0, 0.07, 13.2, 300.0, 1e-3, 447.9, 449.0, 1e5, -1e6,
                       np.inf, -np.inf, 2.5, 3e-5], np.float32)  # fmt: skip
    largest = float(ml_dtypes.finfo(DTYPES[target]).max)
    expected = np.clip(values, -largest, largest).astype(DTYPES[target])
    folded = fold(conversion.FToFOp, tile(16, target), source=vector(values.view(np.uint32), F32))
    assert folded == expected.view(np.uint8).tolist()


def test_narrowing_uses_the_rounding_mode() -> None:
    third = np.float32(1 / 3)
    source = vector([int(third.view(np.uint32)), int((-third).view(np.uint32))], F32)
    near = np.float16(third)
    down = near if near < third else np.nextafter(near, np.float16(0))
    cut = fold(conversion.FToFOp, tile(2, F16), source=source, rounding_mode=Rounding.ZERO)
    assert cut == [int(down.view(np.uint16)), int((-down).view(np.uint16))]


@pytest.mark.parametrize("signedness", Signedness)
def test_floats_to_integers(signedness: Signedness) -> None:
    values = np.array([0.0, -0.0, 0.9, 1.5, 126.99, 100.25, 1e-40, 3.0], np.float32)
    folded = fold(
        conversion.FToIOp, tile(8, I8), source=vector(values.view(np.uint32), F32),
        signedness=signedness,
    )  # fmt: skip
    assert folded == np.trunc(values).astype(np.int8).view(np.uint8).tolist()


@each_case(
    ("value", "signedness", "saturated"),
    [
        (128.0, SIGNED, 127),
        (-129.0, SIGNED, 0x80),
        (256.0, UNSIGNED, 255),
        (-1.0, UNSIGNED, 0),
        (np.inf, SIGNED, 127),
        (-np.inf, SIGNED, 0x80),
        (np.nan, SIGNED, 0),
    ],
)
def test_floats_that_fit_no_integer(value: float, signedness: Signedness, saturated: int) -> None:
    source = vector([int(np.float32(value).view(np.uint32))], F32)
    for saturating in (False, True):
        folded = fold(
            conversion.FToIOp, tile(1, I8), source=source, signedness=signedness,
            saturating=saturating,
        )  # fmt: skip
        assert folded == ([saturated] if saturating else None)


def test_bitcast_keeps_the_bits() -> None:
    assert fold(conversion.BitcastOp, tile(1, F32), source=vector([0x3F800000], I32)) == [
        0x3F800000
    ]


def test_a_conversion_and_its_inverse() -> None:
    x = unknown(TileType((4,), F16))
    bits = create_op(conversion.BitcastOp, source=x, types=tile(4, I16)).result
    assert fold(conversion.BitcastOp, tile(4, F16), source=bits) is x
    wide = create_op(conversion.FToFOp, source=x, types=tile(4, F32)).result
    assert fold(conversion.FToFOp, tile(4, F16), source=wide) is x


def test_a_narrowing_conversion_does_not_come_back() -> None:
    x = unknown(TileType((4,), F32))
    narrow = create_op(conversion.FToFOp, source=x, types=tile(4, F16)).result
    assert fold(conversion.FToFOp, tile(4, F32), source=narrow) is None
    small = unknown(TileType((4,), F8E5M2))
    wide = create_op(conversion.FToFOp, source=small, types=tile(4, F32)).result
    assert (
        fold(conversion.FToFOp, tile(4, F8E5M2), source=wide) is None
    )  # infinity would be clipped


@pytest.mark.parametrize("signedness", Signedness)
def test_truncation_of_an_extension(signedness: Signedness) -> None:
    x = unknown(TileType((4,), I8))
    wide = create_op(conversion.ExtIOp, source=x, signedness=signedness, types=tile(4, I32)).result
    assert fold(conversion.TruncIOp, tile(4, I8), source=wide) is x
    assert fold(conversion.TruncIOp, tile(4, I16), source=wide) is None


def test_addresses() -> None:
    pointers = TileType((4,), PtrType(F32))
    p = unknown(pointers)
    integers: Value = create_op(conversion.PtrToIntOp, source=p, types=tile(4, I64)).result
    assert fold(conversion.IntToPtrOp, [pointers], source=integers) is p
    other = TileType((4,), PtrType(F16))
    assert fold(conversion.IntToPtrOp, [other], source=integers) is None
    assert fold(conversion.PtrToPtrOp, [pointers], source=p) is p
    assert fold(conversion.IntToPtrOp, [pointers], source=known([0], I64, (4,))) is None
