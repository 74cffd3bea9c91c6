"""Attributes in text."""

from __future__ import annotations

import struct

import pytest
from each_case import each_case

from tilewright.ir.attributes import (
    UNIT,
    ArrayAttr,
    Attribute,
    DenseArrayAttr,
    DenseElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    LocationAttr,
    OpaqueAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
)
from tilewright.ir.dialect import Context
from tilewright.ir.types import (
    BF16,
    DYNAMIC,
    F16,
    F32,
    F64,
    FLOATS,
    I1,
    I8,
    I32,
    I64,
    INDEX,
    FunctionType,
    IntegerType,
    StridedLayoutAttr,
    TensorType,
    VectorType,
)
from tilewright.support.diagnostics import Unsupported, UserError
from tilewright.support.location import FileLoc
from tilewright.text.parser import Parser, parse_attribute


def bits32(number: float) -> int:
    return struct.unpack("<I", struct.pack("<f", number))[0]


def bits64(number: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", number))[0]


def shorts(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}h", *numbers)


I16 = IntegerType(16)
U8 = IntegerType(8, "u")
S8 = IntegerType(8, "s")
MAP = "affine_map<(d0, d1)[s0] -> (d0 + s0 * 4, -d1 mod 2)>"

ATTRIBUTES: dict[str, Attribute] = {
    "42": IntegerAttr(42, I64),
    "-42 : i32": IntegerAttr(-42, I32),
    "0x10 : i8": IntegerAttr(16, I8),
    "255 : i8": IntegerAttr(-1, I8),
    "-128 : i8": IntegerAttr(-128, I8),
    "255 : ui8": IntegerAttr(255, U8),
    "-128 : si8": IntegerAttr(-128, S8),
    "7 : index": IntegerAttr(7, INDEX),
    "1 : i1": IntegerAttr(1, I1),
    "-1 : i1": IntegerAttr(1, I1),
    "0xFFFFFFFFFFFFFFFF": IntegerAttr(-1, I64),
    "true": IntegerAttr(1, I1),
    "false": IntegerAttr(0, I1),
    "1.5": FloatAttr(bits64(1.5), F64),
    "-0.0 : f32": FloatAttr(0x80000000, F32),
    "0.1 : f32": FloatAttr(bits32(0.1), F32),
    "1.0e-3 : f32": FloatAttr(bits32(0.001), F32),
    "1. : f16": FloatAttr(0x3C00, F16),
    "3.0e38 : bf16": FloatAttr(0x7F62, BF16),
    "1.0e300 : f32": FloatAttr(0x7F800000, F32),
    "0x7FC00001 : f32": FloatAttr(0x7FC00001, F32),
    "0xFF : f8E3M4": FloatAttr(0xFF, FLOATS["f8E3M4"]),
    # As f64 first this is a tie between two f32 numbers, which it is not by itself.
    "1.00000005960464477539072 : f32": FloatAttr(0x3F800000, F32),
    "unit": UNIT,
    '"a\\0Ab"': StringAttr("a\nb"),
    '"a" : !other.text': StringAttr("a"),
    "[]": ArrayAttr(()),
    "[1 : i8, [unit]]": ArrayAttr((IntegerAttr(1, I8), ArrayAttr((UNIT,)))),
    "{}": DictionaryAttr({}),
    '{b = 1, a, "c d" = f32}': DictionaryAttr(
        {"a": UNIT, "b": IntegerAttr(1, I64), "c d": TypeAttr(F32)}
    ),
    '@a::@"b c"::@d': SymbolRefAttr("a", "b c", "d"),
    "tensor<4xf32>": TypeAttr(TensorType((4,), F32)),
    "(i32) -> ()": TypeAttr(FunctionType((I32,))),
    "array<i32>": DenseArrayAttr(I32, ()),
    "array<i8: 1, -2, 255>": DenseArrayAttr(I8, (1, -2, -1)),
    "array<i1: true, false>": DenseArrayAttr(I1, (1, 0)),
    "array<f32: 1.0, 0x7F800000>": DenseArrayAttr(F32, (bits32(1.0), 0x7F800000)),
    'loc("a":1:2)': LocationAttr(FileLoc("a", 1, 2)),
    "affine_map<(d0,d1)[s0]->(d0+s0*4, - d1 mod 2)>": OpaqueAttr(MAP),
    "affine_map<() -> ()>": OpaqueAttr("affine_map<() -> ()>"),
    "affine_set<(d0)[s0]:(d0-s0>=0,d0==1)>": OpaqueAttr(
        "affine_set<(d0)[s0] : (d0 - s0 >= 0, d0 == 1)>"
    ),
    "strided<[1,?], offset : 4>": StridedLayoutAttr((1, DYNAMIC), 4),
    "dense_resource<blob> : tensor<2xf32>": OpaqueAttr("dense_resource<blob> : tensor<2xf32>"),
    "sparse<[[0]], 1> : tensor<4xi8>": OpaqueAttr("sparse<[[0]], 1> : tensor<4xi8>"),
    "distinct[3]<42 : i32>": OpaqueAttr("distinct[3]<42 : i32>"),
    "#other.thing": OpaqueAttr("#other.thing"),
    '#other.thing<"a>" , b>': OpaqueAttr('#other.thing<"a>" , b>'),
    "#other<x>": OpaqueAttr("#other<x>"),
}

DENSE = {
    "dense<1> : tensor<4xi16>": DenseElementsAttr(shorts(1), TensorType((4,), I16)),
    "dense<[1, -2, 3]> : tensor<3xi16>": DenseElementsAttr(shorts(1, -2, 3), TensorType((3,), I16)),
    "dense<[[1, 2], [3, 4]]> : vector<2x2xi16>": DenseElementsAttr(
        shorts(1, 2, 3, 4), VectorType((2, 2), I16)
    ),
    "dense<[true, false]> : tensor<2xi1>": DenseElementsAttr(b"\1\0", TensorType((2,), I1)),
    "dense<[1.0, 0xFF800000]> : tensor<2xf32>": DenseElementsAttr(
        struct.pack("<2f", 1.0, float("-inf")), TensorType((2,), F32)
    ),
    "dense<[1, 2]> : tensor<2xindex>": DenseElementsAttr(
        struct.pack("<2q", 1, 2), TensorType((2,), INDEX)
    ),
    'dense<"0x0100FEFF"> : tensor<2xi16>': DenseElementsAttr(shorts(1, -2), TensorType((2,), I16)),
    'dense<"0x0100"> : tensor<2xi16>': DenseElementsAttr(shorts(1), TensorType((2,), I16)),
    "dense<> : tensor<0xf32>": DenseElementsAttr(b"", TensorType((0,), F32)),
    "dense<> : tensor<4x0xf32>": DenseElementsAttr(b"", TensorType((4, 0), F32)),
    "dense<1.0> : tensor<f32>": DenseElementsAttr(struct.pack("<f", 1.0), TensorType((), F32)),
    "dense<2> : tensor<1000000000x1000000000xi8>": DenseElementsAttr(
        b"\2", TensorType((1000000000, 1000000000), I8)
    ),
}


@each_case("text", [*ATTRIBUTES, *DENSE])
def test_attribute(text: str, toy: Context) -> None:
    assert parse_attribute(text, toy) is (ATTRIBUTES | DENSE)[text]


def test_equal_elements_are_a_splat(toy: Context) -> None:
    listed = parse_attribute("dense<[[7, 7], [7, 7]]> : tensor<2x2xi32>", toy)
    assert listed is parse_attribute("dense<7> : tensor<2x2xi32>", toy)


def test_dense_of_a_type_with_shape_and_element(toy: Context) -> None:
    made = parse_attribute("dense<[1, 2]> : !toy.box<2xi8>", toy)
    assert isinstance(made, DenseElementsAttr)
    assert (made.data, str(made.type)) == (b"\1\2", "!toy.box<2xi8>")


def test_attributes_of_a_dialect(toy: Context) -> None:
    glad = parse_attribute("#toy.mood<so_so>", toy)
    assert (type(glad).__name__, glad.name) == ("Mood", "SO_SO")  # pyrefly: ignore[missing-attribute]
    pair = parse_attribute("#toy.pair<3, -4>", toy)
    assert pair.parameters == (3, -4)  # pyrefly: ignore[missing-attribute]


def test_a_given_type_replaces_the_suffix(toy: Context) -> None:
    parser = Parser("1 : 2.5 true", toy)
    assert parser.attribute(I8) is IntegerAttr(1, I8)
    parser.expect(":")
    assert parser.attribute(F32) is FloatAttr(bits32(2.5), F32)
    assert parser.attribute(I1) is IntegerAttr(1, I1)


@each_case(
    ("text", "column", "message"),
    [
        ("256 : i8", 1, "integer out of range for type i8"),
        ("-129 : i8", 1, "integer out of range for type i8"),
        ("128 : si8", 1, "integer out of range for type si8"),
        ("-1 : ui8", 1, "integer out of range for type ui8"),
        ("2 : i1", 1, "integer out of range for type i1"),
        ("0x100 : i8", 1, "integer out of range for type i8"),
        ("18446744073709551616", 1, "integer out of range for type i64"),
        ("1.5 : i32", 1, "expected an integer of type i32, got '1.5'"),
        ("1 : f32", 1, "expected a decimal point in a number of type f32, got '1'"),
        ("-0x1 : f32", 1, "a bit pattern has no sign"),
        ("0x10000 : f16", 1, "bit pattern out of range for type f16"),
        ("-1.0 : f8E8M0FNU", 1, "negative number for the unsigned type f8E8M0FNU"),
        ("1 : tensor<1xi8>", 1, "expected an integer or float type for a number, got tensor<1xi8>"),
        ("- x", 1, "expected a number of type i64, got '-'"),
        ("{a = 1, a = 2}", 9, "duplicate key 'a' in dictionary attribute"),
        ("[1, 2", 6, "expected ']', got end of input"),
        ("@", 1, "expected a symbol name, got '@'"),
        ('"a\\q"', 1, "unknown escape in string literal"),
        ('"abc', 1, "expected a string, got a string without end"),
        ("#toy.mood<sad>", 11, "expected one of glad, so_so, got 'sad'"),
        ("#toy.thing<1>", 1, "unknown attribute '#toy.thing'"),
        ("#other.thing", 1, "unknown attribute '#other.thing'"),
        ("#nothing", 1, "undefined alias '#nothing'"),
        ("dense<[1, 2]> : tensor<3xi8>", 7, "expected elements of shape (3), got (2)"),
        ("dense<[[1], [2, 3]]> : tensor<2x1xi8>", 20, "expected lists of the same shape"),
        ("dense<1> : tensor<?xi8>", 7, "expected a type with a static shape, got tensor<?xi8>"),
        ("dense<1> : i8", 7, "expected a type with a static shape, got i8"),
        ("dense<> : tensor<2xi8>", 7, "expected elements of shape (2), got (0)"),
        ('dense<"0x01"> : tensor<4xi16>', 7, "expected 0x and 8 bytes of data, got 1"),
        ('dense<"zz"> : tensor<4xi16>', 7, "expected hexadecimal digits"),
        ("dense<300> : tensor<4xi8>", 7, "integer out of range for type i8"),
        ("array<index: 1>", 7, "expected an integer or float type, got index"),
        ("affine_map<(d0", 11, "expected '>' to close this '<'"),
        ("-٣", 1, "expected a number of type i64, got '-'"),
        ("~", 1, "expected a type, got '~'"),
        ("", 1, "expected an attribute, got end of input"),
    ],
)
def test_wrong_attributes(text: str, column: int, message: str, strict: Context) -> None:
    with pytest.raises(UserError) as raised:
        parse_attribute(text, strict)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.headline() == f"<stdin>:1:{column}: error: {message}"


@pytest.mark.parametrize(
    ("text", "feature"),
    [
        ("1.0 : f80", "decimal literals of type f80"),
        ("dense<(1.0, 2.0)> : tensor<1xcomplex<f32>>", "dense elements of type complex<f32>"),
    ],
)
def test_what_is_missing_says_so(text: str, feature: str, toy: Context) -> None:
    with pytest.raises(Unsupported) as raised:
        parse_attribute(text, toy)
    assert raised.value.feature == feature
