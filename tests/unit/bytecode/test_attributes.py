"""Attributes that say themselves what they are, and those that operations foretell."""

from __future__ import annotations

import pytest
from each_case import each_case

from tilewright.bytecode.attribute_reader import Reader
from tilewright.bytecode.attribute_writer import Pools, Writer
from tilewright.bytecode.tables import ConstantTable, StringTable
from tilewright.bytecode.types import TypeTable
from tilewright.bytecode.varint import Cursor
from tilewright.dialects.cuda_tile.attributes import (
    BoundedAttr,
    DivByAttr,
    OptimizationHintsAttr,
    SameElementsAttr,
)
from tilewright.ir.attributes import (
    ArrayAttr,
    DenseElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TypeAttr,
    UnitAttr,
)
from tilewright.ir.types import F4E2M1FN, F8E5M2, F16, F32, F64, I1, I8, I32, I64, TF32
from tilewright.support.diagnostics import InvalidValue, UserError

#        0        1        2        3        4        5        6        7        8
TYPES = [b"\x00", b"\x01", b"\x03", b"\x04", b"\x05", b"\x07", b"\x09", b"\x08", b"\x13"]


def part(data: bytes) -> Cursor:
    return Cursor(data, 0, "k", "test")


def reader(build, data: bytes) -> Reader:
    strings = StringTable(part(build.table([b"a", b"b", b""], 4)))
    tile = b"\x0d\x02" + build.words(8, 2)
    types = TypeTable(part(build.table([*TYPES, tile], 4)), (13, 4))
    return Reader(part(data), strings, types, ConstantTable(part(build.table([b"\4\1\0\0\0"], 8))))


@each_case(
    ("data", "attribute"),
    [
        ("010005", IntegerAttr(1, I1)),
        ("0101ff01", IntegerAttr(-1, I8)),
        ("010207", IntegerAttr(7, I32)),
        ("0103" + "ff" * 9 + "01", IntegerAttr(-1, I64)),
        ("0300", IntegerAttr(0, I1)),
        ("0301", IntegerAttr(1, I1)),
        ("0402", TypeAttr(I32)),
        ("0501", StringAttr("b")),
        ("060203010300", ArrayAttr((IntegerAttr(1, I1), IntegerAttr(0, I1)))),
        ("081000", DivByAttr(16)),
        ("0810030802", DivByAttr(16, 4, 1)),
        ("0c00", BoundedAttr(None, None)),
        ("0c030914", BoundedAttr(-5, 10)),
        ("09010200000000000000", SameElementsAttr((2,))),
        ("0a010003" + "01", DictionaryAttr({"a": IntegerAttr(1, I1)})),
        ("0b01000a00", OptimizationHintsAttr({"a": DictionaryAttr({})})),
        # The patterns of 1.0, twice the number in zigzag.
        ("0208" + "02", FloatAttr(2, F4E2M1FN)),
        ("0204" + "80f001", FloatAttr(0x3C00, F16)),
    ],
)
def test_attributes_are_read(build, data: str, attribute) -> None:
    assert reader(build, bytes.fromhex(data)).attribute() is attribute


def zigzag(pattern: int) -> int:
    """The public writer: the pattern as a signed number of 64 bits."""
    signed = pattern - (1 << 64) if pattern >> 63 else pattern
    return signed << 1 if signed >= 0 else -(signed << 1) - 1


@each_case(
    ("index", "type", "bits"),
    [
        (5, F32, 0xFF800000),
        (6, F64, 0x7FF0000000000000),
        (6, F64, 0xFFF0000000000000),
        (6, F64, 0x8000000000000000),
        (6, F64, 0xFFFFFFFFFFFFFFFF),
        (7, TF32, 0x7FFFF),
    ],
)
def test_float_patterns(build, index: int, type, bits: int) -> None:
    data = bytes([2, index]) + build.varint(zigzag(bits))
    assert reader(build, data).attribute() is FloatAttr(bits, type)


@each_case("bits", [0xFFF0000000000000, 0x8000000000000000, 0x3FF0000000000000])
def test_patterns_that_cutile_doubled_are_recovered(build, bits: int) -> None:
    data = b"\x02\x06" + build.varint(bits << 1)
    assert reader(build, data).attribute() is FloatAttr(bits, F64)


@each_case(
    ("data", "message"),
    [
        ("00", "expected the tag of an attribute, 1 to 12, found 0"),
        ("0d", "expected the tag of an attribute, 1 to 12, found 13"),
        ("010501", "expected the type of an integer, found 'f32'"),
        ("020201", "expected the type of a float, found 'i32'"),
        ("01018002", "expected an integer of 8 bits, found 256"),
        ("020810", "expected a pattern of 4 bits, found 0x10"),
        ("0204" + "80808001", "expected a pattern of 16 bits"),
        ("0206" + "ff" * 9 + "03", "expected a pattern of 64 bits"),
        ("0503", "expected a string below 3, found number 3"),
        ("0609", "expected at most 0 elements in what is left, found a count of 9"),
        ("0a010203" + "00", "expected the name of an entry, found an empty string"),
        ("0a02000300000300", "duplicate key 'a'"),
        ("0b01000301", "expected a dictionary for optimization hint 'a'"),
        ("0709" + "07", "expected a constant below 1, found number 7"),
        ("06" + "0106" * 100 + "0300", "expected at most 64 nested attributes, found more"),
    ],
)
def test_broken_attributes(build, data: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        reader(build, bytes.fromhex(data)).attribute()
    assert message in str(caught.value)


def test_a_constant_as_attribute(build) -> None:
    attribute = reader(build, b"\x07\x09\x00").attribute()
    assert isinstance(attribute, DenseElementsAttr)
    assert attribute.elements() == [1]


@each_case(
    "attribute",
    [
        IntegerAttr(1, I1),
        IntegerAttr(-3, I32),
        IntegerAttr(-(1 << 63), I64),
        FloatAttr(0xFFF0000000000000, F64),
        FloatAttr(0x80000000, F32),
        FloatAttr(0xFC, F8E5M2),
        FloatAttr(0x40000, TF32),
        TypeAttr(I32),
        StringAttr("\udcff é"),
        ArrayAttr((FloatAttr(0, F32), ArrayAttr(()))),
        DivByAttr(1 << 62, 4, 1),
        BoundedAttr(-(1 << 63), (1 << 63) - 1),
        BoundedAttr(None, 3),
        SameElementsAttr((1, 4)),
        OptimizationHintsAttr({"b": DictionaryAttr({"x": IntegerAttr(1, I1)})}),
    ],
    ids=str,
)
def test_attributes_survive(attribute) -> None:
    pools = Pools((13, 4))
    writer = Writer(pools)
    writer.attribute(attribute)
    strings = StringTable(part(bytes(pools.strings.table(4).out)))
    types = TypeTable(part(bytes(pools.types.table(4).out)), (13, 4))
    constants = ConstantTable(part(bytes(pools.constants.table(8).out)))
    again = Reader(part(bytes(writer.out)), strings, types, constants)
    assert again.attribute() is attribute
    assert again.at == again.end


@each_case("attribute", [UnitAttr(), DivByAttr(-1), BoundedAttr(1 << 70, None)])
def test_what_has_no_form_is_refused(attribute) -> None:
    with pytest.raises(InvalidValue):
        Writer(Pools((13, 4))).attribute(attribute)
