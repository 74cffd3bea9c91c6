"""Operations, blocks and regions in text; expected texts follow MLIR's AsmPrinter."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tilewright.ir import declare as d
from tilewright.ir import operation
from tilewright.ir.attribute_kinds import I32_ATTR, STRING_ATTR
from tilewright.ir.attributes import IntegerAttr, StringAttr
from tilewright.ir.constraints import ANY_TYPE
from tilewright.ir.dialect import Context, Dialect
from tilewright.ir.operation import Block, Operation, Region
from tilewright.ir.traits import TERMINATOR
from tilewright.ir.types import F32, I8, I32
from tilewright.support.location import FileLoc, Location
from tilewright.text.parser import Parser, parse_text
from tilewright.text.printer import Printer, Style, print_op


class ContainerOp(Operation):
    name = "shop.container"
    default_dialect = "shop"
    body = d.region(min_blocks=0, max_blocks=None)

    def print(self, printer: Printer) -> None:
        label = "inside" if printer.style is Style.TILEIRAS else None
        printer.emit(" ")
        printer.region(self.body, label=label)

    @classmethod
    def parse(cls, parser: Parser, location: Location) -> ContainerOp:
        return cls((), (), {}, [parser.region(owner=cls)], location)


class OpenOp(ContainerOp):
    """Leaves nothing out inside."""

    name = "shop.open"
    default_dialect = None


class ArgumentsOp(Operation):
    name = "shop.arguments"
    body = d.region(max_blocks=None)

    def print(self, printer: Printer) -> None:
        arguments = ", ".join(map(printer.argument, self.body.blocks[0].args))
        printer.emit(f" ({arguments}) ")
        printer.region(self.body, print_entry_args=False, print_terminators=False)


class ItemOp(Operation):
    name = "shop.item"
    syntax = "attr-dict `:` type($result)"
    count = d.attribute(I32_ATTR, default=1)
    label = d.optional_attribute(STRING_ATTR)
    result = d.result(ANY_TYPE)

    def result_names(self, style: str) -> Iterator[tuple[int, str]]:
        if self.label:
            yield 0, self.label


class DottedOp(Operation):
    name = "shop.item.sub"
    syntax = "attr-dict"


class GroupsOp(Operation):
    name = "shop.groups"
    first = d.operands(ANY_TYPE)
    second = d.optional_operand(ANY_TYPE)
    result = d.result(ANY_TYPE)


class StopOp(Operation):
    name = "shop.stop"
    traits = (TERMINATOR,)
    syntax = "attr-dict"


class JumpOp(Operation):
    name = "shop.jump"
    traits = (TERMINATOR,)


SHOP = Dialect("shop", sys.modules[__name__])


def item(label: str = "", **attributes: IntegerAttr) -> ItemOp:
    named = {"label": StringAttr(label)} if label else {}
    return ItemOp((), [I32], {**named, **attributes})


def container(*ops: Operation, kind: type[Operation] = ContainerOp) -> Operation:
    block = Block()
    for op in ops:
        block.append(op)
    return kind((), (), {}, [Region([block])])


def test_prefixes_are_left_out_inside_an_operation_that_sets_the_dialect():
    assert print_op(container(item(), container(item()))) == (
        "shop.container {\n  %0 = item : i32\n  container {\n    %1 = item : i32\n  }\n}\n"
    )


def test_prefixes_stay_inside_an_operation_that_sets_none():
    assert print_op(container(container(item(), kind=OpenOp))) == (
        "shop.container {\n  open {\n    %0 = shop.item : i32\n  }\n}\n"
    )


def test_the_prefix_may_be_left_out_at_the_top():
    assert print_op(item(), default_dialect="shop") == "%0 = item : i32\n"


def test_a_name_with_two_dots_keeps_its_prefix():
    assert print_op(container(DottedOp())) == "shop.container {\n  shop.item.sub\n}\n"


def test_a_region_without_blocks():
    assert print_op(ContainerOp((), (), {}, [Region()])) == "shop.container {\n}\n"


def test_an_inner_operation_uses_the_names_of_the_whole_program():
    inner = item()
    container(item(), inner)
    assert print_op(inner) == "%1 = shop.item : i32\n"


def test_attributes_with_their_default_are_not_printed():
    op = item(count=IntegerAttr(1, I32), other=IntegerAttr(2, I8))
    assert print_op(op) == "%0 = shop.item {other = 2 : i8} : i32\n"
    assert print_op(item(count=IntegerAttr(5, I32))) == "%0 = shop.item {count = 5 : i32} : i32\n"


def test_the_generic_form_has_declared_attributes_as_properties():
    op = item("x", count=IntegerAttr(1, I32), other=IntegerAttr(2, I8))
    assert print_op(op, generic=True) == (
        '%0 = "shop.item"() <{count = 1 : i32, label = "x"}> {other = 2 : i8} : () -> i32\n'
    )


def test_the_generic_form_of_regions():
    assert print_op(container(item("x"), container()), generic=True) == (
        '"shop.container"() ({\n'
        '  %0 = "shop.item"() <{label = "x"}> : () -> i32\n'
        '  "shop.container"() ({\n'
        "  ^bb0:\n"
        "  }) : () -> ()\n"
        "}) : () -> ()\n"
    )


def test_the_generic_form_has_group_sizes_as_a_property():
    a = item()
    op = GroupsOp([a.results[0]] * 3, [F32], {}, segments=(2, 1))
    assert print_op(container(a, op), generic=True).splitlines()[2].strip() == (
        '%1 = "shop.groups"(%0, %0, %0) <{operandSegmentSizes = array<i32: 2, 1>}>'
        " : (i32, i32, i32) -> f32"
    )


def test_operations_without_custom_form_print_in_the_generic_one():
    a = item()
    op = GroupsOp([a.results[0]], [F32], {}, segments=(1, 0))
    text = print_op(container(a, op))
    assert '%1 = "shop.groups"(%0) <{operandSegmentSizes = array<i32: 1, 0>}>' in text


def test_unregistered_operations():
    op = operation.UnregisteredOp(
        "else.where", (), [I32, F32], {"a": IntegerAttr(1, I8)}, [Region()]
    )
    assert print_op(op) == '%0:2 = "else.where"() ({\n}) {a = 1 : i8} : () -> (i32, f32)\n'


def test_blocks_have_labels_and_list_their_predecessors():
    blocks = [Block([I32]), Block([F32]), Block(), Block()]
    blocks[0].append(JumpOp((), (), {}, successors=[blocks[1], blocks[2]]))
    blocks[1].append(JumpOp((), (), {}, successors=[blocks[2]]))
    blocks[2].append(StopOp())
    blocks[3].append(StopOp())
    assert print_op(ContainerOp((), (), {}, [Region(blocks)])) == (
        "shop.container {\n"
        "^bb0(%arg0: i32):\n"
        '  "shop.jump"()[^bb1, ^bb2] : () -> ()\n'
        "^bb1(%0: f32):  // pred: ^bb0\n"
        '  "shop.jump"()[^bb2] : () -> ()\n'
        "^bb2:  // 2 preds: ^bb0, ^bb1\n"
        "  stop\n"
        "^bb3:  // no predecessors\n"
        "  stop\n"
        "}\n"
    )


def test_arguments_and_terminators_may_be_the_business_of_the_operation():
    block = Block([I32, F32])
    block.append(StopOp())
    assert print_op(ArgumentsOp((), (), {}, [Region([block])])) == (
        "shop.arguments (%arg0: i32, %arg1: f32) {\n}\n"
    )


def test_an_operation_may_name_its_block_in_one_style():
    assert print_op(container(StopOp()), style=Style.TILEIRAS) == (
        "shop.container {\n^inside:\n  stop\n}\n"
    )


def test_arguments_have_their_location_in_full():
    block = Block([I32], [FileLoc("a.py", 1, 2)])
    op = ArgumentsOp((), (), {}, [Region([block])])
    assert print_op(op, debug=True) == (
        '#loc1 = loc("a.py":1:2)\n'
        'shop.arguments (%arg0: i32 loc("a.py":1:2)) {\n'
        "} loc(#loc)\n"
        "#loc = loc(unknown)\n"
    )


@pytest.mark.parametrize("generic", [False, True])
def test_deep_nesting_is_no_problem(generic: bool):
    op = container()
    for _ in range(400):
        op = container(op)
    usual = sys.getrecursionlimit()
    lines = print_op(op, generic=generic).splitlines()
    assert sys.getrecursionlimit() == usual
    assert len(lines) >= 802
    assert lines[400].startswith(" " * 800)


def test_what_is_printed_reads_back():
    context = Context(
        {"shop": f"{__name__}:SHOP", "builtin": "tilewright.dialects.builtin:BUILTIN"}
    )
    op = container(item("x"), container(item("x"), item("y")), StopOp())
    module = parse_text(print_op(op), context)
    again = module.regions[0].block.first
    assert again is not None
    assert print_op(again) == print_op(op)
    generic = parse_text(print_op(op, generic=True), context).regions[0].block.first
    assert generic is not None
    assert print_op(generic) == print_op(op)
