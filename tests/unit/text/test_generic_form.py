"""The generic form of operations, and the module around them."""

from __future__ import annotations

from typing import Protocol

import pytest
from each_case import each_case

from tilewright.ir.attributes import UNIT, IntegerAttr, StringAttr
from tilewright.ir.dialect import Context
from tilewright.ir.operation import Operation, UnregisteredOp
from tilewright.ir.types import F32, I32, I64
from tilewright.support.diagnostics import Unsupported, UserError
from tilewright.text.parser import parse_text


class Reading(Protocol):
    def __call__(self, text: str) -> Operation: ...
    def ops(self, text: str) -> list[Operation]: ...
    def error(self, text: str) -> tuple[int, int, str]: ...


def test_every_part(read: Reading) -> None:
    op = read.ops(
        '%a, %b = "x.make"() : () -> (i32, f32)\n'
        '%r:2 = "x.op"(%a, %b) <{p = 1}> ({ "x.in"() : () -> () }, {}) {q, r = "s"}'
        ' : (i32, f32) -> (f32, i32) loc("f":1:2)'
    )[1]
    assert isinstance(op, UnregisteredOp)
    assert op.name == "x.op"
    assert [value.type for value in op.operands] == [I32, F32]
    assert [value.type for value in op.results] == [F32, I32]
    assert op.attributes == {"p": IntegerAttr(1, I64), "q": UNIT, "r": StringAttr("s")}
    assert [len(region.blocks) for region in op.regions] == [1, 0]
    assert str(op.location) == "f:1:2"


def test_registered_operation_gets_its_attributes_as_declared(read: Reading) -> None:
    text = (
        '%a = "x.make"() : () -> i32\n'
        '"toy.mix"(%a, %a, %a) <{mood = 1 : i32, operandSegmentSizes = array<i32: 1, 2>}>'
        " {size = 4 : i32} : (i32, i32, i32) -> ()"
    )
    mix = read.ops(text)[1]
    assert type(mix).__name__ == "MixOp"
    assert (mix.segments, len(mix.left), len(mix.right)) == ((1, 2), 1, 2)  # pyrefly: ignore[missing-attribute]
    assert (mix.mood.keyword, mix.size) == ("so_so", 4)  # pyrefly: ignore[missing-attribute]
    assert set(mix.attributes) == {"mood", "size"}


@each_case(
    ("text", "column", "message"),
    [
        ('"x.y"', 6, "expected '(', got end of input"),
        ('"x.y"() : (i32) -> ()', 1, "expected 0 operand types, got 1"),
        ('"x.y"() : () ()', 14, "expected '->', got '('"),
        ('"x.y"() <{a}> {a} : () -> ()', 15, "attribute 'a' is also a property"),
        ('"toy.mix"() : () -> ()', 1, "'toy.mix' needs 'operandSegmentSizes', an array of i32"),
        (
            '"toy.mix"() <{operandSegmentSizes = array<i32: 0, 1>}> : () -> ()',
            1,
            "'operandSegmentSizes' must split 0 operands into 2 groups",
        ),
        (
            '"toy.mix"() <{operandSegmentSizes = array<i32>}> : () -> ()',
            1,
            "'operandSegmentSizes' must split 0 operands into 2 groups",
        ),
        ("toy.mix", 1, "'toy.mix' has only the generic form"),
        ("x.y", 1, "unknown operation 'x.y'"),
        ("toy.no", 1, "unknown operation 'toy.no'"),
        ("toy.mixx", 1, "unknown operation 'toy.mixx'; did you mean 'toy.mix'?"),
        ("17", 1, "expected an operation, got '17'"),
        ("~", 1, "expected an operation, got '~'"),
        ("é", 1, "expected an operation, got 'é'"),
        ('"x.y"() {é}', 10, "expected a keyword, got 'é'"),
        ('%a:² = "x.y"() : () -> ()', 4, "expected an integer, got '²'"),
        ('"abc', 1, "expected an operation, got a string without end"),
        ("module {", 8, "expected '}' to close this '{', got end of input"),
        ("module }", 8, "expected '{', got '}'"),
        ("module {} }", 11, "expected an operation, got '}'"),
        ("#a = 1 #a = 2", 8, "redefinition of alias '#a'"),
        ("#a.b = 1", 1, "alias names have no '.'"),
        ("!a = 1", 6, "expected a type, got '1'"),
        ("#a 1", 1, "expected an operation, got '#a'"),
    ],
)
def test_wrong_programs(text: str, column: int, message: str, read: Reading) -> None:
    assert read.error(text) == (1, column, message)


@pytest.mark.requirement("R1-067")
def test_unknown_operations_only_where_allowed(strict: Context) -> None:
    with pytest.raises(UserError, match=r"unknown operation 'x\.y'"):
        parse_text('"x.y"() : () -> ()', strict)


def test_resources_are_not_dropped_silently(toy: Context) -> None:
    with pytest.raises(Unsupported, match="resources"):
        parse_text("module {}\n{-# dialect_resources: {} #-}", toy)


def test_a_single_module_is_the_program(read: Reading) -> None:
    assert read('module @m attributes {a} { "x.y"() : () -> () }').attributes == {
        "sym_name": StringAttr("m"),
        "a": UNIT,
    }
    assert [op.name for op in read.ops("module { module {} }")] == ["builtin.module"]


@each_case("text", ['"x.y"() : () -> ()', "module {} module {}", ""])
def test_all_else_gets_a_module_around_it(text: str, read: Reading) -> None:
    root = read(text)
    assert root.name == "builtin.module"
    assert len(list(root.regions[0].block)) == text.count("}") + text.count('"x.y"')


def test_default_dialect_at_the_top(toy: Context) -> None:
    root = parse_text("func() { end } module {}", toy, default_dialect="toy")
    assert [op.name for op in root.walk()] == [
        "builtin.module", "toy.func", "toy.end", "builtin.module"
    ]  # fmt: skip


def test_type_aliases_before_and_after_their_use(read: Reading) -> None:
    text = '!a = tensor<4xf32>\n%0 = "x.y"() : () -> !a\n%1 = "x.z"() : () -> tuple<!b>\n!b = !a'
    first, second = read.ops(text)
    assert str(first.results[0].type) == "tensor<4xf32>"
    assert str(second.results[0].type) == "tuple<tensor<4xf32>>"
