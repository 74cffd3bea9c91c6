"""Types in text."""

from __future__ import annotations

import pytest
from each_case import each_case

from tilewright.ir.attributes import IntegerAttr, OpaqueAttr, StringAttr
from tilewright.ir.dialect import Context
from tilewright.ir.types import (
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
    ComplexType,
    FunctionType,
    IntegerType,
    MemRefType,
    NoneType,
    OpaqueType,
    StridedLayoutAttr,
    TensorType,
    TupleType,
    VectorType,
)
from tilewright.support.diagnostics import UserError
from tilewright.text.parser import Parser, parse_type

STRIDED = StridedLayoutAttr((DYNAMIC, 1), DYNAMIC)
IDENTITY = OpaqueAttr("affine_map<(d0) -> (d0)>")

TYPES = {
    "i1": I1,
    "i32": I32,
    "si8": IntegerType(8, "s"),
    "ui16": IntegerType(16, "u"),
    "index": INDEX,
    "none": NoneType(),
    "(i32, f32) -> f32": FunctionType((I32, F32), (F32,)),
    "() -> ()": FunctionType((), ()),
    "() -> ((i32) -> i1)": FunctionType((), (FunctionType((I32,), (I1,)),)),
    "tuple<>": TupleType(()),
    "tuple<i32, tuple<>>": TupleType((I32, TupleType(()))),
    "complex<f32>": ComplexType(F32),
    "vector<4x8xf32>": VectorType((4, 8), F32),
    "vector<f32>": VectorType((), F32),
    "vector<4x[8]xi1>": VectorType((4, 8), I1, (False, True)),
    "vector<[4]xf16>": VectorType((4,), F16, (True,)),
    "tensor<f32>": TensorType((), F32),
    "tensor<*xf32>": TensorType(None, F32),
    "tensor<4x?xi8>": TensorType((4, DYNAMIC), I8),
    "tensor<0xf32>": TensorType((0,), F32),
    "tensor<0xbf16>": TensorType((0,), FLOATS["bf16"]),
    "tensor<0xf8E4M3FN>": TensorType((0,), FLOATS["f8E4M3FN"]),
    "tensor<0xi32>": TensorType((0,), I32),
    "tensor<0x4xf32>": TensorType((0, 4), F32),
    "tensor<4x0x10xf64>": TensorType((4, 0, 10), F64),
    'tensor<4xf32, "dense">': TensorType((4,), F32, StringAttr("dense")),
    "tensor<2xtensor<3xf32>>": TensorType((2,), TensorType((3,), F32)),
    "memref<4xf32>": MemRefType((4,), F32),
    "memref<*xf32, 1>": MemRefType(None, F32, None, IntegerAttr(1, I64)),
    "memref<4xf32, strided<[?,1],offset:?>>": MemRefType((4,), F32, STRIDED),
    "memref<4xf32, affine_map<(d0)->(d0)>, 3 : i32>": MemRefType(
        (4,), F32, IDENTITY, IntegerAttr(3, I32)
    ),
    'memref<?xf32, "shared">': MemRefType((DYNAMIC,), F32, None, StringAttr("shared")),
    "!other.thing": OpaqueType("!other.thing"),
    "!other.thing<a+1,   [x]>": OpaqueType("!other.thing<a+1, [x]>"),
    '!other<"x > y">': OpaqueType('!other<"x > y">'),
    "tensor<4x!other.ptr<f32>>": TensorType((4,), OpaqueType("!other.ptr<f32>")),
    **FLOATS,
}


@each_case("text", TYPES)
def test_type(text: str, toy: Context) -> None:
    assert parse_type(text, toy) is TYPES[text]


@each_case("text", TYPES)
def test_type_again_from_what_it_spells(text: str, toy: Context) -> None:
    if "affine" not in text and "dense" not in text and "memref" not in text:
        assert parse_type(str(TYPES[text]), toy) is TYPES[text]


def test_types_of_a_dialect_with_and_without_prefix(toy: Context) -> None:
    box = parse_type("!toy.box<2x!toy.box<4xf32>>", toy)
    assert parse_type("!toy.box<2xbox<4xf32>>", toy) is box
    assert parse_type("box<2xbox<4xf32>>", toy, "toy") is box
    assert str(box) == "!toy.box<2x!toy.box<4xf32>>"


def test_the_same_text_gives_the_same_type_every_time(toy: Context) -> None:
    parser = Parser("tensor<4xf32> tensor<4xf32>, tuple<tuple<>> tuple<tuple<>>", toy)
    assert parser.type() is parser.type()
    parser.expect(",")
    assert parser.type() is parser.type()
    assert not parser.peek()


@each_case(
    ("text", "column", "message"),
    [
        ("box<4xf32>", 1, "expected a type, got 'box'"),
        ("tensor<4xfoo>", 10, "expected a type, got 'foo'"),
        ("tensor<4xf32", 13, "expected '>', got end of input"),
        ("vector<0xf32>", 8, "vector dimensions must be positive"),
        ("vector<?xf32>", 8, "vector dimensions must be positive"),
        ("!toy.box<0x4xf32>", 1, "boxes must not be empty"),
        ("!toy.crate", 1, "unknown type '!toy.crate'"),
        ("!toy.box", 9, "expected '<', got end of input"),
        ("!nothing", 1, "undefined alias '!nothing'"),
        ("!other.x<(>)", 1, "unknown type '!other.x'"),
        ("i16777216", 1, "integer width must be in 1 to 16777215, got 16777216"),
        ("i99999999999999", 1, "expected a type, got 'i99999999999999'"),
        ("tensor<99999999999999999999xf32>", 8, "invalid dimension '99999999999999999999'"),
        ("memref<4xf32, 1, 2, 3>", 21, "expected at most a layout and a memory space"),
        ("", 1, "expected a type, got end of input"),
        ("f32 f32", 5, "expected end of input, got 'f32'"),
    ],
)
def test_wrong_types(text: str, column: int, message: str, strict: Context) -> None:
    with pytest.raises(UserError) as raised:
        parse_type(text, strict)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.headline() == f"<stdin>:1:{column}: error: {message}"
