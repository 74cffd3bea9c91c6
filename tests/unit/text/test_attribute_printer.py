"""Attributes, types and locations as MLIR's own printer writes them."""

from __future__ import annotations

import struct
from typing import Self

from each_case import each_case

from tilewright.ir.attributes import (
    UNIT,
    ArrayAttr,
    DenseArrayAttr,
    DenseElementsAttr,
    DictionaryAttr,
    EnumAttr,
    FloatAttr,
    IntegerAttr,
    LocationAttr,
    OpaqueAttr,
    Parametric,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
)
from tilewright.ir.types import (
    DYNAMIC,
    F16,
    F32,
    F64,
    I1,
    I8,
    I32,
    I64,
    INDEX,
    FunctionType,
    IntegerType,
    MemRefType,
    TensorType,
    TupleType,
)
from tilewright.support.location import (
    UNKNOWN,
    ByteLoc,
    CallSiteLoc,
    FileLoc,
    FusedLoc,
    NameLoc,
    Positions,
    Source,
    TextLoc,
)
from tilewright.text.attribute_printer import AttributePrinter, attribute_text


class Mode(EnumAttr, mnemonic="toy.mode"):
    FAST = 0
    EXACT = 1


class Plain(EnumAttr):
    ZERO = 0
    SEVEN = 7


class Box(Parametric):
    __slots__ = ("inner",)
    mnemonic = "toy.box"
    inner: object

    def __new__(cls, inner: object) -> Self:
        return cls.unique(inner)

    def print(self, printer: AttributePrinter) -> str:
        assert isinstance(self.inner, StringAttr | Box)
        return f"<{printer.attribute(self.inner)}>"


def f32(value: float) -> int:
    return int.from_bytes(struct.pack("<f", value), "little")


@each_case(
    ("attribute", "text"),
    [
        (UNIT, "unit"),
        (StringAttr("plain"), '"plain"'),
        (StringAttr('a"b\\c\n\té'), r'"a\22b\\c\0A\09\C3\A9"'),
        (IntegerAttr(-3, I32), "-3 : i32"),
        (IntegerAttr(3, I64), "3 : i64"),
        (IntegerAttr(1, I1), "true"),
        (IntegerAttr(0, I1), "false"),
        (IntegerAttr(200, IntegerType(8, "u")), "200 : ui8"),
        (IntegerAttr(5, INDEX), "5 : index"),
        (FloatAttr(f32(0.5), F32), "5.000000e-01 : f32"),
        (FloatAttr(0x7F800000, F32), "0x7F800000 : f32"),
        (FloatAttr(0, F64), "0.000000e+00 : f64"),
        (ArrayAttr((IntegerAttr(1, I64), IntegerAttr(2, I32))), "[1, 2 : i32]"),
        (ArrayAttr((FloatAttr(0, F64), FloatAttr(0, F32))), "[0.000000e+00, 0.000000e+00 : f32]"),
        (ArrayAttr((FloatAttr(0x7FF8 << 48, F64),)), "[0x7FF8000000000000 : f64]"),
        (DictionaryAttr({"b": IntegerAttr(1, I64), "a": UNIT}), "{a, b = 1 : i64}"),
        (DictionaryAttr({"odd key": UNIT, "d.x": UNIT}), '{d.x, "odd key"}'),
        (TypeAttr(FunctionType((I32,), (F32,))), "(i32) -> f32"),
        (SymbolRefAttr("a"), "@a"),
        (SymbolRefAttr("a", "b c"), '@a::@"b c"'),
        (DenseArrayAttr(I32, (1, -2)), "array<i32: 1, -2>"),
        (DenseArrayAttr(I1, (1, 0)), "array<i1: true, false>"),
        (DenseArrayAttr(F32, (f32(1.0),)), "array<f32: 1.000000e+00>"),
        (DenseArrayAttr(I64, ()), "array<i64>"),
        (Mode.EXACT, "#toy.mode<exact>"),
        (Plain.SEVEN, "7 : i32"),
        (Box(Box(StringAttr("x"))), '#toy.box<#toy.box<"x">>'),
        (OpaqueAttr("#other.thing<1>"), "#other.thing<1>"),
        (LocationAttr(FileLoc("a.py", 3, 4)), 'loc("a.py":3:4)'),
    ],
)
def test_attribute(attribute: Parametric, text: str):
    assert attribute_text(attribute) == text


def dense(element: IntegerType, shape: tuple[int, ...], values: list[int]) -> str:
    size = (element.width + 7) // 8
    data = b"".join((value % (1 << 8 * size)).to_bytes(size, "little") for value in values)
    return attribute_text(DenseElementsAttr(data, TensorType(shape, element)))


def test_dense_elements_as_nested_lists():
    assert dense(I32, (2, 3), [1, 2, 3, 4, 5, -6]) == (
        "dense<[[1, 2, 3], [4, 5, -6]]> : tensor<2x3xi32>"
    )


def test_dense_elements_of_rank_three():
    assert dense(I8, (2, 1, 2), [1, 2, 3, 4]) == "dense<[[[1, 2]], [[3, 4]]]> : tensor<2x1x2xi8>"


def test_dense_booleans_are_words():
    assert dense(I1, (2,), [1, 0]) == "dense<[true, false]> : tensor<2xi1>"


def test_a_splat_is_one_number():
    assert dense(I32, (4, 4), [7] * 16) == "dense<7> : tensor<4x4xi32>"


def test_unsigned_elements_print_as_unsigned():
    assert dense(IntegerType(8, "u"), (2,), [255, 1]) == "dense<[255, 1]> : tensor<2xui8>"
    assert dense(I8, (2,), [255, 1]) == "dense<[-1, 1]> : tensor<2xi8>"


def test_a_hundred_elements_are_listed_and_one_more_is_hexadecimal():
    assert dense(I8, (100,), list(range(100))).startswith("dense<[0, 1, 2,")
    expected = "".join(f"{number:02X}" for number in range(101))
    assert dense(I8, (101,), list(range(101))) == f'dense<"0x{expected}"> : tensor<101xi8>'


def test_many_equal_elements_are_still_one_number():
    assert dense(I32, (1024,), [3] * 1024) == "dense<3> : tensor<1024xi32>"


def test_dense_floats():
    data = struct.pack("<2e", 1.0, -0.5)
    attribute = DenseElementsAttr(data, TensorType((2,), F16))
    assert attribute_text(attribute) == "dense<[1.000000e+00, -5.000000e-01]> : tensor<2xf16>"


@each_case(
    ("type", "text"),
    [
        (TensorType((4, DYNAMIC), F32), "tensor<4x?xf32>"),
        (TensorType((4,), F32, Mode.FAST), "tensor<4xf32, #toy.mode<fast>>"),
        (
            MemRefType((4,), F32, StringAttr("l"), IntegerAttr(3, I64)),
            'memref<4xf32, "l", 3>',
        ),
        (TupleType((TensorType(None, I8, UNIT), I32)), "tuple<tensor<*xi8, unit>, i32>"),
        (FunctionType((), ()), "() -> ()"),
        (FunctionType((I8,), (FunctionType((), (I8,)),)), "(i8) -> (() -> i8)"),
    ],
)
def test_type(type: TensorType, text: str):
    assert AttributePrinter().type(type) == text


FILE = FileLoc("a.py", 1, 2)


@each_case(
    ("location", "text"),
    [
        (UNKNOWN, "loc(unknown)"),
        (ByteLoc("x", 3), "loc(unknown)"),
        (FileLoc('q"', 1, 2), r'loc("q\22":1:2)'),
        (FileLoc("f", 1, 2, (1, 9)), 'loc("f":1:2 to :9)'),
        (FileLoc("f", 1, 2, (3, 4)), 'loc("f":1:2 to 3:4)'),
        (FileLoc("f", 1, 2, (1, 2)), 'loc("f":1:2)'),
        (NameLoc("n"), 'loc("n")'),
        (NameLoc("n", FILE), 'loc("n"("a.py":1:2))'),
        (CallSiteLoc(FILE, NameLoc("n")), 'loc(callsite("a.py":1:2 at "n"))'),
        (FusedLoc((FILE, UNKNOWN)), 'loc(fused["a.py":1:2, unknown])'),
        (FusedLoc((FILE,), StringAttr("m")), 'loc(fused<"m">["a.py":1:2])'),
        (TextLoc(Positions(Source("t.mlir", "ab\ncd")), 4), 'loc("t.mlir":2:2)'),
    ],
)
def test_location(location: FileLoc, text: str):
    assert AttributePrinter().location(location) == text
