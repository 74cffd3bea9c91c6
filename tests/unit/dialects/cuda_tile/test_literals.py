"""Dense literals of tiles, in each spelling."""

from __future__ import annotations

import struct

import pytest
from each_case import each_case

from tilewright.dialects.cuda_tile.core import ConstantOp
from tilewright.driver.registry import context
from tilewright.ir.attributes import DenseElementsAttr
from tilewright.support.diagnostics import UserError
from tilewright.text.parser import parse_text


def constant(literal: str) -> DenseElementsAttr:
    module = parse_text(f"%0 = constant {literal}", context(), default_dialect="cuda_tile")
    (op,) = [op for op in module.walk() if isinstance(op, ConstantOp)]
    assert op.result.type is op.value.type
    assert str(op).partition(" = ")[2].strip() == f"cuda_tile.constant {literal}"
    return op.value


def problem(literal: str) -> str:
    with pytest.raises(UserError) as raised:
        parse_text(f"%0 = constant {literal}", context(), default_dialect="cuda_tile")
    return raised.value.diagnostics[0].message


RAMP = "".join(f"{number:02x}00" for number in range(128))

# What tileirdisasm 13.4 prints for constants of these bytes.
PRINTED = [
    ("<fnv8E5M3FNU: 0.000000e+00> : tile<fnv8E5M3FNU>", "00"),
    ("<fnv8E5M3FNU: 7.629390e-06> : tile<fnv8E5M3FNU>", "01"),
    ("<fnv8E5M3FNU: 5.859380e-03> : tile<fnv8E5M3FNU>", "3c"),
    ("<fnv8E5M3FNU: 0xFF> : tile<fnv8E5M3FNU>", "ff"),
    ("<f8E8M0FNU: 5.877470e-39> : tile<f8E8M0FNU>", "00"),
    ("<f8E8M0FNU: 1.701410e+38> : tile<f8E8M0FNU>", "fe"),
    ("<f8E8M0FNU: 0xFF> : tile<f8E8M0FNU>", "ff"),
    ("<f4E2M1FN: [5.000000e-01, -4.000000e+00]> : tile<2xf4E2M1FN>", "010e"),
    ("<f4E2M1FN: [-0.000000e+00, 6.000000e+00]> : tile<2xf4E2M1FN>", "0807"),
    ("<tf32: [5.537630e+19, 1.999020e+00]> : tile<2xtf32>", "010203 ffff01"),
    ("<tf32: 2.423100e-02> : tile<tf32>", "34e601"),
    (
        "<f8E4M3FN: [0.000000e+00, 1.953130e-03, 0x7F, 0xFF, 4.480000e+02, -0.000000e+00,"
        " 1.000000e+00, 1.125000e+00]> : tile<8xf8E4M3FN>",
        "00017fff7e803839",
    ),
    (
        "<f8E5M2: [[0.000000e+00, 1.525880e-05, 0x7C, 0xFF], [5.734400e+04, -0.000000e+00,"
        " 1.000000e+00, 1.250000e+00]]> : tile<2x4xf8E5M2>",
        "00017cff7b803c3d",
    ),
    (
        "<i1: [[false, true, false, false], [true, true, false, true]]> : tile<2x4xi1>",
        "0001000001010001",
    ),
    ("<i8: [[0, 127], [-128, -1]]> : tile<2x2xi8>", "007f80ff"),
    (
        "<i64: [-9223372036854775808, 9223372036854775807]> : tile<2xi64>",
        "0000000000000080 ffffffffffffff7f",
    ),
    ("<f32: 1.000000e-01> : tile<1xf32>", "cdcccc3d"),
    ("<f32: 1.44269502> : tile<f32>", "3baab83f"),
    ("<f32: 0xFF800000> : tile<64xf32>", "000080ff"),
    ("<bf16: [0x7F80, 1.000980e-01]> : tile<2xbf16>", "807fcd3d"),
    (f'<i16: "0x{RAMP.upper()}"> : tile<128xi16>', RAMP),
    (f'<i1: "0x{"0001" * 64}"> : tile<2x64xi1>', "0001" * 64),
]


@each_case(("literal", "data"), PRINTED, ids=lambda text: text[:20])
def test_text_both_ways(literal: str, data: str) -> None:
    assert constant(literal).data == bytes.fromhex(data)


def read(literal: str) -> bytes:
    module = parse_text(f"%0 = constant {literal}", context(), default_dialect="cuda_tile")
    return next(op.value.data for op in module.walk() if isinstance(op, ConstantOp))


@each_case(
    ("literal", "data"),
    [
        ("<i32: [1, 1]> : tile<2xi32>", struct.pack("<i", 1)),
        ("<i8: 255> : tile<i8>", b"\xff"),
        ("<i8: 0xfF> : !cuda_tile.tile<i8>", b"\xff"),
        ("<i8: -128> : tile<i8>", b"\x80"),
        ("<i1: -1> : tile<i1>", b"\x01"),
        ("<i1: 1> : tile<i1>", b"\x01"),
        ("<i16: 65535> : tile<i16>", b"\xff\xff"),
        ("<i32: 4294967295> : tile<i32>", b"\xff\xff\xff\xff"),
        ("<f32: -1.5e1> : tile<f32>", struct.pack("<f", -15.0)),
        ("<f32: 1.> : tile<4xf32>", struct.pack("<f", 1.0)),
        ("<f16: 1.0e6> : tile<f16>", b"\x00\x7c"),
        ("<f64: 0x3FF0000000000000> : tile<f64>", struct.pack("<d", 1.0)),
        ('<i16: "0x0100"> : tile<4xi16>', b"\x01\x00"),
        ('<i16: "0x01000200"> : tile<2xi16>', b"\x01\x00\x02\x00"),
    ],
)
def test_other_spellings(literal: str, data: bytes) -> None:
    assert read(literal) == data


@each_case(
    ("literal", "expected"),
    [
        ("<i8: 256> : tile<i8>", "out of range for type i8"),
        ("<i8: -129> : tile<i8>", "out of range for type i8"),
        ("<i1: 2> : tile<i1>", "out of range for type i1"),
        ("<i32: 4294967296> : tile<i32>", "out of range for type i32"),
        ("<i64: 9223372036854775808> : tile<i64>", "out of range for type i64"),
        ("<i64: [1, 0xFFFFFFFFFFFFFFFF]> : tile<2xi64>", "out of range for type i64"),
        ("<i64: -9223372036854775809> : tile<i64>", "out of range for type i64"),
        ("<i32: true> : tile<i32>", "expected a number of type i32, got 'true'"),
        ("<i32: 1.0> : tile<i32>", "expected an integer"),
        ("<f32: 1> : tile<f32>", "expected a decimal point"),
        ("<f32: true> : tile<f32>", "expected a number of type f32, got 'true'"),
        ("<f32: -0x10> : tile<f32>", "a bit pattern has no sign"),
        ("<f16: 0x10000> : tile<f16>", "bit pattern out of range for type f16"),
        ("<tf32: 0x80000> : tile<tf32>", "bit pattern out of range for type tf32"),
        ("<f8E8M0FNU: -1.0> : tile<f8E8M0FNU>", "negative number for the unsigned type"),
        ("<i32: [1, 2]> : tile<4xi32>", "expected elements of shape (4), got (2)"),
        ("<i32: [1]> : tile<i32>", "expected elements of shape (), got (1)"),
        ("<i32: [[1, 2], [3]]> : tile<2x2xi32>", "same shape"),
        ("<i32: [[1, 2], 3]> : tile<2x2xi32>", ""),
        ("<i32: []> : tile<1xi32>", "expected elements of shape (1), got (0)"),
        ("<i32: 1> : tile<i16>", "expected a tile of 'i32', got '!cuda_tile.tile<i16>'"),
        ("<i32: 1> : i32", "expected a tile of 'i32', got 'i32'"),
        ("<i4: 1> : tile<i4>", "expected an element type that constants may have, got 'i4'"),
        ("<index: 1> : tile<i32>", "expected an element type that constants may have"),
        ('<i16: "0x01"> : tile<2xi16>', "expected 0x and 4 bytes of data, got 1"),
        ('<i16: "zz"> : tile<2xi16>', "expected hexadecimal digits"),
        ('<i1: "0x02"> : tile<i1>', "expected no bits beyond the 1 of 'i1'"),
        ('<f4E2M1FN: "0x1001"> : tile<2xf4E2M1FN>', "expected no bits beyond the 4 of 'f4E2M1FN'"),
        ("<i32: 1 : tile<i32>", "expected '>'"),
        ("<i32: 1, 2> : tile<2xi32>", "expected '>', got ','"),
    ],
)
def test_literals_that_cannot_be(literal: str, expected: str) -> None:
    assert expected in problem(literal)


def test_deep_lists_are_an_error() -> None:
    assert "nested more than" in problem(f"<i32: {'[' * 500}1{']' * 500}> : tile<1xi32>")
