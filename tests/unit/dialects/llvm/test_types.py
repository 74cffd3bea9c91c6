"""The types and attributes of the LLVM dialect: text, equality, invalid types."""

from __future__ import annotations

import pytest
from each_case import each_case

from tilewright.dialects.arith.attributes import CmpFPredicate, CmpIPredicate
from tilewright.dialects.llvm.attributes import (
    AtomicBinOp,
    Linkage,
)
from tilewright.dialects.llvm.flags import FastMathFlags, OverflowFlags
from tilewright.dialects.llvm.types import (
    PTR,
    VOID,
    ArrayType,
    LLVMFunctionType,
    PointerType,
    StructType,
    condition_type,
    is_storable,
    member_type,
)
from tilewright.driver.registry import context
from tilewright.ir.types import F32, I1, I8, I32, INDEX, VectorType
from tilewright.support.diagnostics import InvalidValue, UserError
from tilewright.text.attribute_printer import attribute_text
from tilewright.text.parser import parse_attribute, parse_type

TYPES = {
    "!llvm.ptr": PTR,
    "!llvm.ptr<3>": PointerType(3),
    "!llvm.void": VOID,
    "!llvm.struct<()>": StructType(()),
    "!llvm.struct<(i32, ptr<3>, array<2 x struct<packed (i8, f32)>>)>": StructType(
        (I32, PointerType(3), ArrayType(2, StructType((I8, F32), packed=True)))
    ),
    "!llvm.array<4 x vector<2xf32>>": ArrayType(4, VectorType((2,), F32)),
    "!llvm.func<void ()>": LLVMFunctionType((), VOID),
    "!llvm.func<i32 (ptr, ...)>": LLVMFunctionType((PTR,), I32, variadic=True),
    "vector<4x!llvm.ptr>": VectorType((4,), PTR),
}


@each_case("text", TYPES)
def test_types_read_and_print(text: str) -> None:
    assert parse_type(text, context()) is TYPES[text]
    assert str(TYPES[text]) == text


def test_arrays_without_spaces() -> None:
    assert parse_type("!llvm.array<4xi8>", context()) is ArrayType(4, I8)
    assert parse_type("!llvm.array<2x3xi8>", context()) is ArrayType(2, ArrayType(3, I8))


@each_case(
    ("text", "message"),
    [
        ("!llvm.struct<(index)>", "a struct cannot contain 'index'"),
        ("!llvm.array<2 x void>", "an array cannot contain '!llvm.void'"),
        ("!llvm.ptr<x>", "expected an integer"),
    ],
)
def test_invalid_types(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_type(text, context())
    assert message in str(caught.value)


def test_storable_types() -> None:
    assert is_storable(VectorType((4,), F32))
    assert not is_storable(VectorType((4, 4), F32))
    assert not is_storable(INDEX)
    with pytest.raises(InvalidValue):
        StructType((VOID,))


def test_member_types() -> None:
    nested = StructType((I32, ArrayType(3, StructType((F32,)))))
    assert member_type(nested, (1, 2, 0)) is F32
    assert member_type(nested, (1, 3)) is None
    assert member_type(nested, (2,)) is None
    assert condition_type(F32) is I1
    assert condition_type(VectorType((4,), F32)) is VectorType((4,), I1)


ATTRIBUTES = [
    "#llvm.linkage<internal>",
    "#llvm.cconv<ptx_kernelcc>",
    "#llvm.fastmath<nnan, contract>",
    "#llvm.fastmath<fast>",
    "#llvm.fastmath<none>",
    "#llvm.overflow<nsw, nuw>",
    "#llvm.constant_range<i32, 0, 128>",
    "#llvm.loop_unroll<disable = true>",
    "#llvm.loop_annotation<unroll = <count = 4 : i32, full = true>>",
]


@each_case("text", ATTRIBUTES)
def test_attributes_read_and_print(text: str) -> None:
    assert attribute_text(parse_attribute(text, context())) == text


def test_enum_values_are_those_of_mlir() -> None:
    assert [p.keyword for p in CmpIPredicate] == [
        "eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge",
    ]  # fmt: skip
    assert CmpFPredicate.UNO.value == 14
    assert AtomicBinOp.from_keyword("_and") is AtomicBinOp.AND
    assert AtomicBinOp.from_keyword("and") is None
    assert AtomicBinOp.FADD.value == 11
    assert Linkage.EXTERNAL.value == 10


def test_sets_of_flags() -> None:
    assert "contract" in FastMathFlags("fast")
    assert FastMathFlags("nnan") | FastMathFlags("ninf") is FastMathFlags("ninf", "nnan")
    assert OverflowFlags("nsw", "nuw").bits == 3
    assert not OverflowFlags()
