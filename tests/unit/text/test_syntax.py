"""Syntax strings: what they print, what they read, and what they refuse."""

from __future__ import annotations

import sys
from typing import Self

import pytest
from each_case import each_case

from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import (
    ARRAY_ATTR,
    BOOL_ARRAY_ATTR,
    BOOL_ATTR,
    DICTIONARY_ATTR,
    I32_ARRAY_ATTR,
    I32_ATTR,
    STRING_ATTR,
    SYMBOL_ATTR,
    TYPE_ATTR,
    EnumKind,
    InstanceKind,
)
from tilewright.ir.attributes import EnumAttr, Parametric, Type
from tilewright.ir.constraints import ANY_TYPE, exactly
from tilewright.ir.dialect import Context, Dialect
from tilewright.ir.operation import Operation
from tilewright.ir.traits import TERMINATOR, SameType
from tilewright.ir.types import I1, I32
from tilewright.support.diagnostics import InternalError, UserError
from tilewright.text.attribute_printer import AttributePrinter
from tilewright.text.parser import Parser, parse_text
from tilewright.text.printer import Printer, print_op
from tilewright.text.syntax import Directive, ParseState, read_syntax


class Speed(EnumAttr, mnemonic="toy.speed"):
    SLOW = 0
    FAST = 1


class PairAttr(Parametric):
    __slots__ = ("left", "right")
    mnemonic = "toy.pair"
    left: int
    right: int

    def __new__(cls, left: int, right: int) -> Self:
        return cls.unique(left, right)

    def print(self, printer: AttributePrinter) -> str:
        return f"<{self.left}, {self.right}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.expect("<")
        left = parser.integer()
        parser.expect(",")
        right = parser.integer()
        parser.expect(">")
        return cls(left, right)


class BagType(Type):
    __slots__ = ("inner",)
    mnemonic = "toy.bag"
    inner: Type

    def __new__(cls, inner: Type) -> Self:
        return cls.unique(inner)

    def spell(self) -> str:
        return f"bag<{self.inner}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.expect("<")
        inner = parser.type("toy")
        parser.expect(">")
        return cls(inner)


SPEED = EnumKind(Speed)
PAIR = InstanceKind(PairAttr, "pair attribute")


def _parse_maybe(parser: Parser, state: ParseState, name: str) -> None:
    if parser.accept("with"):
        state.operands[name] = [parser.operand()]
        state.operand_types[name] = [I1]


def _print_maybe(printer: Printer, op: Operation, name: str) -> None:
    values = op.schema.values(op, name)
    if values:
        printer.emit(f"with {printer.value(values[0])}")


class ToyOp(Operation):
    elides_type_prefix = True
    directives = {"Maybe": Directive(_parse_maybe, _print_maybe)}  # noqa: RUF012


class MakeOp(ToyOp):
    name = "toy.make"
    syntax = "attr-dict `:` type($outputs)"
    outputs = d.results(ANY_TYPE)


class AddOp(ToyOp):
    name = "toy.add"
    traits = (SameType("lhs", "rhs", "result"),)
    syntax = (
        "$lhs `,` $rhs (`overflow` `<` $speed^ `>`)? (`exact` $exact^)? attr-dict `:` type($result)"
    )
    lhs = d.operand(ANY_TYPE)
    rhs = d.operand(ANY_TYPE)
    speed = d.attribute(SPEED, default=Speed.SLOW)
    exact = d.flag()
    result = d.result(ANY_TYPE)


class LoadOp(ToyOp):
    name = "toy.load"
    syntax = (
        "$speed ($scope^)? $source `[` $indices `]` (`,` $mask^)? (`token` `` `=` `` $token^)? "
        "(`hints` `=` $hints^)? attr-dict-with-keyword `:` type($source) "
        "(`,` type($mask)^)? `->` type($result)"
    )
    speed = d.attribute(SPEED)
    scope = d.optional_attribute(SPEED)
    hints = d.optional_attribute(PAIR)
    source = d.operand(ANY_TYPE)
    indices = d.operands(exactly(I32, "i32"))
    mask = d.optional_operand(exactly(I1, "i1"))
    token = d.optional_operand(exactly(I1, "i1"))
    result = d.result(ANY_TYPE)


class AttributesOp(ToyOp):
    name = "toy.attributes"
    syntax = (
        "$sym_name $text `,` $target `num` `=` $count $yes $order $flags $list $type $pair $dict"
    )
    sym_name = d.attribute(STRING_ATTR)
    text = d.attribute(STRING_ATTR)
    target = d.attribute(SYMBOL_ATTR)
    count = d.attribute(I32_ATTR)
    yes = d.attribute(BOOL_ATTR)
    order = d.attribute(I32_ARRAY_ATTR)
    flags = d.attribute(BOOL_ARRAY_ATTR)
    list = d.attribute(ARRAY_ATTR)
    type = d.attribute(TYPE_ATTR)
    pair = d.attribute(PAIR)
    dict = d.attribute(DICTIONARY_ATTR)


class MaxOp(ToyOp):
    name = "toy.max"
    traits = (SameType("source", "result"),)
    syntax = (
        "$source oilist(`ftz` $ftz | `nan` $nan | `speed` `(` $speed `)`) attr-dict "
        "`:` type($source)"
    )
    source = d.operand(ANY_TYPE)
    ftz = d.flag()
    nan = d.flag()
    speed = d.optional_attribute(SPEED)
    result = d.result(ANY_TYPE)


class MaybeOp(ToyOp):
    name = "toy.maybe"
    syntax = "custom<Maybe>($extra) `end`"
    extra = d.optional_operand(ANY_TYPE)


class IfOp(ToyOp):
    name = "toy.if"
    syntax = "$condition (`->` `(` type($outputs)^ `)`)? $then (`else` $otherwise^)? attr-dict"
    default_dialect = "toy"
    condition = d.operand(exactly(I1, "i1"))
    outputs = d.results(ANY_TYPE)
    then = d.region(terminator="toy.yield")
    otherwise = d.region(min_blocks=0, terminator="toy.yield")


class YieldOp(ToyOp):
    name = "toy.yield"
    traits = (TERMINATOR,)
    syntax = "attr-dict ($values^ `:` type($values))?"
    values = d.operands(ANY_TYPE)


class ChoiceOp(ToyOp):
    name = "toy.choice"
    syntax = "(`some` $value^ `:` type($value)) : (`none`)? `:` type($result)"
    value = d.optional_operand(ANY_TYPE)
    result = d.result(ANY_TYPE)


class TwiceOp(ToyOp):
    """The type of the result follows from that of the operand."""

    name = "toy.twice"
    syntax = "$source `:` type($source)"
    source = d.operand(ANY_TYPE)
    result = d.result(ANY_TYPE)

    @classmethod
    def infer_types(cls, state: ParseState) -> None:
        state.result_types["result"] = [BagType(state.operand_types["source"][0])]


TOY = Dialect("toy", sys.modules[__name__])
CONTEXT = Context(
    {"toy": f"{__name__}:TOY", "builtin": "tilewright.dialects.builtin:BUILTIN"},
)
HEAD = "%a, %b, %i, %j, %c = toy.make : bag<i32>, bag<i32>, i32, i32, i1"
PRINTED_HEAD = "%0:5 = toy.make : bag<i32>, bag<i32>, i32, i32, i1"


def read(*lines: str) -> Operation:
    return parse_text("\n".join([HEAD, *lines]), CONTEXT)


def printed(line: str) -> str:
    """What a line looks like after reading and printing; `%0#k` are the values of the head."""
    first, *rest = print_op(read(line)).splitlines()[1:-1]
    assert first.strip() == PRINTED_HEAD
    return "\n".join(text[2:] for text in rest)


def test_single_operands_and_a_type():
    assert printed("toy.add %a, %b : bag<i32>") == "%1 = toy.add %0#0, %0#1 : bag<i32>"


def test_the_prefix_of_types_may_stay():
    line = "toy.add %a, %b : !toy.bag<i32>"
    assert printed(line) == "%1 = toy.add %0#0, %0#1 : bag<i32>"


def test_marks_stand_close_in_a_group_whose_attribute_is_not_the_default():
    line = "toy.add %i, %j overflow<fast> exact : i32"
    assert printed(line) == "%1 = toy.add %0#2, %0#3 overflow<fast> exact : i32"


def test_a_default_is_stored_and_not_printed():
    module = read("toy.add %i, %j overflow<slow> : i32")
    op = module.regions[0].block.last
    assert op is not None
    assert op.attributes["speed"] is Speed.SLOW
    assert printed("toy.add %i, %j overflow<slow> : i32") == "%1 = toy.add %0#2, %0#3 : i32"
    assert printed("toy.add %i, %j : i32") == "%1 = toy.add %0#2, %0#3 : i32"


def test_attributes_that_nothing_spells_go_into_the_dictionary_sorted():
    line = 'toy.add %i, %j {z = 1 : i32, a, "b c" = 2 : i8} : i32'
    assert printed(line) == '%1 = toy.add %0#2, %0#3 {a, "b c" = 2 : i8, z = 1 : i32} : i32'


def test_optional_groups_and_their_spaces():
    line = "toy.load fast %a[] : bag<i32> -> i32"
    assert printed(line) == "%1 = toy.load fast %0#0[] : bag<i32> -> i32"
    line = "toy.load fast slow %a[%i, %j], %c token=%c hints = <1, 2> : bag<i32>, i1 -> i32"
    assert printed(line) == line.replace("toy", "%1 = toy").replace("%a", "%0#0").replace(
        "%i", "%0#2"
    ).replace("%j", "%0#3").replace("%c", "%0#4")


def test_segments_follow_the_groups():
    op = read("toy.load fast %a[%i, %j] token=%c : bag<i32> -> i32").regions[0].block.last
    assert op is not None
    assert op.segments == (1, 2, 0, 1)


def test_a_dictionary_with_keyword():
    line = "toy.load fast %a[] attributes {x} : bag<i32> -> i32"
    assert printed(line) == "%1 = toy.load fast %0#0[] attributes {x} : bag<i32> -> i32"


ATTRIBUTES = (
    'toy.attributes @"a b" "text\\0A", @target num = -3 true [1, -2] [true, false] '
    '[1, "x"] bag<i8> <3, 4> {k = 1 : i64}'
)


def test_attributes_as_their_kinds_spell_them():
    assert printed(ATTRIBUTES) == ATTRIBUTES


def test_a_dialect_attribute_may_be_spelled_in_full():
    assert printed(ATTRIBUTES.replace("<3, 4>", "#toy.pair<3, 4>")) == ATTRIBUTES


def test_an_unsigned_spelling_of_an_integer_means_the_same_bits():
    line = ATTRIBUTES.replace("-3", "4294967293")
    assert printed(line) == ATTRIBUTES


def test_clauses_in_any_order_print_in_the_declared_one():
    line = "toy.max %i nan speed(fast) ftz : i32"
    assert printed(line) == "%1 = toy.max %0#2 ftz nan speed(fast) : i32"
    assert printed("toy.max %i : i32") == "%1 = toy.max %0#2 : i32"


def test_a_directive_has_a_space_in_front_only_if_it_prints():
    assert printed("toy.maybe with %c end") == "toy.maybe with %0#4 end"
    assert printed("toy.maybe end") == "toy.maybe end"


def test_the_other_half_of_a_group():
    assert printed("toy.choice none : i8") == "%1 = toy.choice none : i8"
    assert printed("toy.choice some %c : i1 : i8") == "%1 = toy.choice some %0#4 : i1 : i8"


def test_regions_drop_terminators_that_say_nothing():
    assert printed("toy.if %c { toy.add %i, %j : i32 }") == (
        "toy.if %0#4 {\n  %1 = add %0#2, %0#3 : i32\n}"
    )


def test_regions_keep_terminators_that_say_something():
    line = "toy.if %c -> (i32) { yield %i : i32 } else { yield %j : i32 }"
    assert printed(line) == (
        "%1 = toy.if %0#4 -> (i32) {\n  yield %0#2 : i32\n} else {\n  yield %0#3 : i32\n}"
    )


def test_an_operation_may_infer_types():
    assert printed("toy.twice %i : i32") == "%1 = toy.twice %0#2 : i32"
    op = read("toy.twice %i : i32").regions[0].block.last
    assert op is not None
    assert op.results[0].type is BagType(I32)


@each_case(
    ("line", "message"),
    [
        ("toy.add %a %b : i32", "expected ',', got '%b'"),
        ("toy.add %a, %b overflow<quick> : i32", "expected one of 'slow', 'fast', got 'quick'"),
        ("toy.add %a, %b {speed = unit, exact} exact : i32", "expected ':', got 'exact'"),
        ("toy.add %a, %b exact {exact} : i32", "attribute 'exact' occurs more than once"),
        ("toy.max %i nan nan : i32", "'nan' clause can appear at most once"),
        ("toy.if %c", "expected '{', got end of input"),
        (ATTRIBUTES.replace("true [", "1 ["), "expected 'true' or 'false', got '1'"),
        (ATTRIBUTES.replace("-3", "4294967296"), "fits 'i32', got 4294967296"),
        (ATTRIBUTES.replace("<3, 4>", "#toy.speed<fast>"), "expected pair attribute"),
        (ATTRIBUTES.replace("@target", '"target"'), "expected"),
        ("toy.yield %i, %j : i32", "expected 2 types for 'values', got 1"),
    ],
)
def test_errors_say_what_was_expected(line: str, message: str):
    with pytest.raises(UserError) as caught:
        read(line)
    assert message in str(caught.value)
    assert str(caught.value).startswith("<stdin>:2:")


def test_operands_of_another_type_are_refused():
    with pytest.raises(UserError) as caught:
        read("toy.add %i, %c : i32")
    assert "%c" in str(caught.value)


@each_case(
    ("syntax", "message"),
    [
        ("$nothing", "expected a field, got '$nothing'"),
        ("(`x`)?", "an optional group needs an anchor"),
        ("(`x` $lhs^", "expected ')', got ''"),
        ("custom<Unknown>($lhs)", "no directive 'Unknown'"),
        ("sometimes", "expected an element, got 'sometimes'"),
        ("oilist($lhs)", "a clause of an oilist starts with a literal"),
        ("$lhs ;", "expected an element, got ';'"),
    ],
)
def test_mistakes_in_a_syntax_string(syntax: str, message: str):
    kind = type("BadOp", (AddOp,), {"name": "toy.bad", "syntax": syntax})
    with pytest.raises(InternalError) as caught:
        read_syntax(kind)
    assert message in str(caught.value)
