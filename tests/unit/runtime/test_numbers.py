"""Encoding of scalar arguments, against the independent rounding of the reference executor."""

from __future__ import annotations

import math

import numpy as np
import pytest
from each_case import each_case

import tilewright
from tilewright.ir.types import IntegerType
from tilewright.reference.arguments import scalar
from tilewright.reference.tile import DTYPES
from tilewright.runtime.signature import Parameter

FLOATS = [0.0, -0.0, 1, 1 / 3, -2.7, 448.0, 449, 65504, 65520, 1e-8, 3e38, 1e300, 2**-149, math.inf]
INTEGERS = [0, 1, -1, 5, -8, 7]
NAMES = {type.spell(): type for type in DTYPES}


def parameter(element: str) -> Parameter:
    type = NAMES[element]
    bits = 32 if element == "tf32" else getattr(type, "width")  # noqa: B009
    return Parameter("argument 0", f"tile<{element}>", element, bits, is_pointer=False)


@pytest.mark.parametrize("element", [name for name in NAMES if not name.startswith("i")])
@pytest.mark.parametrize("number", FLOATS)
@pytest.mark.sampled(40)
def test_floats_are_rounded_once(element: str, number: float) -> None:
    with np.errstate(over="ignore"):
        expected = scalar(float(number), NAMES[element]).tobytes()
    assert parameter(element).encode(number) == expected


@each_case("element", ["f16", "bf16", "f32", "f64", "f8E5M2", "f8E4M3FN"])
def test_nan_stays_nan(element: str) -> None:
    [number] = np.frombuffer(parameter(element).encode(math.nan), DTYPES[NAMES[element]])
    assert np.isnan(number.astype(np.float64))


@pytest.mark.parametrize("element", [name for name in NAMES if name.startswith("i")])
@pytest.mark.parametrize("number", INTEGERS)
def test_integers(element: str, number: int) -> None:
    type = NAMES[element]
    assert isinstance(type, IntegerType)
    if type.width == 1 and number not in (0, 1):
        pytest.skip("not a 1-bit integer")
    assert parameter(element).encode(number) == scalar(number, type).tobytes()


@each_case("element", ["f16", "f32", "f64"])
@each_case("sign", [1, -1])
def test_integers_beyond_the_float_range_are_infinite(element: str, sign: int) -> None:
    expected = scalar(sign * math.inf, NAMES[element])
    assert parameter(element).encode(sign * 10**400) == expected.tobytes()
    assert scalar(sign * 10**400, NAMES[element]).tolist() == expected.tolist()


@each_case(
    ("element", "number", "expected"),
    [
        ("i32", np.uint32(0xFFFFFFFF), b"\xff\xff\xff\xff"),
        ("i32", 0xFFFFFFFF, b"\xff\xff\xff\xff"),
        ("i8", np.int64(-128), b"\x80"),
        ("i1", True, b"\x01"),
        ("f32", np.float64(1.5), b"\x00\x00\xc0\x3f"),
        ("f16", np.int8(2), b"\x00\x40"),
    ],
)
def test_numpy_scalars(element: str, number: object, expected: bytes) -> None:
    assert parameter(element).encode(number) == expected


@each_case(("element", "number"), [("i8", 256), ("i8", -129), ("i1", 2), ("i64", 1 << 64)])
def test_integers_out_of_range(element: str, number: int) -> None:
    with pytest.raises(tilewright.UserError, match="argument 0: expected a number of"):
        parameter(element).encode(number)
