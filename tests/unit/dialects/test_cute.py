"""The attributes of cute: parsing, printing, and diagnostics."""

from __future__ import annotations

import pytest
from each_case import each_case

from tilewright.dialects.cute import LayoutAttr, Leaf, StrideAttr
from tilewright.driver.registry import context
from tilewright.ir.attributes import Attribute
from tilewright.support.diagnostics import UserError
from tilewright.text.attribute_printer import attribute_text
from tilewright.text.parser import Parser


def parse(text: str) -> Attribute:
    parser = Parser(text, context(allow_unregistered=True))
    parsed = parser.attribute()
    assert parser.peek() == ""
    return parsed


@pytest.mark.requirement("R4-024", "R4-025")
@each_case(
    "text",
    [
        "#cute.layout<(1@0, 16@1)>",
        "#cute.shape<(128@0, 64@1)>",
        "#cute.stride<(1@0, 128@1)>",
        "#cute.layout<((1@0, 2@1), (4, (8@2)))>",
        "#cute.stride<7>",
    ],
)
def test_text_both_ways(text: str) -> None:
    assert attribute_text(parse(text)) == text


@pytest.mark.requirement("R4-024")
def test_leaves_and_tuples() -> None:
    tree = (Leaf(1, 0), (Leaf(16, 1), Leaf(3)))
    assert parse("#cute.layout<(1@0,(16@1,3))>") is LayoutAttr(tree)
    assert parse("#cute.stride<(1@0, (16@1, 3))>") is StrideAttr(tree)


@pytest.mark.requirement("R4-027")
@each_case(
    ("text", "column", "expected"),
    [
        (
            "#cute.layout<(1@, 2)>",
            17,
            "malformed parameter [0] of #cute.layout: expected a dimension after '@', got ','",
        ),
        (
            "#cute.shape<(1@0, (2, x))>",
            23,
            "malformed parameter [1][1] of #cute.shape: expected a number or a tuple, got 'x'",
        ),
        (
            "#cute.stride<()>",
            15,
            "malformed parameter [0] of #cute.stride: expected a number or a tuple, got ')'",
        ),
        (
            "#cute.stride<(1 2)>",
            17,
            "malformed parameter of #cute.stride: expected ',' or ')', got '2'",
        ),
        (
            "#cute.layout<(-1@0)>",
            15,
            "malformed parameter [0] of #cute.layout: expected a number or a tuple, got '-'",
        ),
    ],
)
def test_malformed_parameters_are_named(text: str, column: int, expected: str) -> None:
    with pytest.raises(UserError) as raised:
        parse(text)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.headline() == f"<stdin>:1:{column}: error: {expected}"


@pytest.mark.requirement("R4-026")
def test_they_are_no_types() -> None:
    with pytest.raises(UserError, match=r"unknown type '!cute\.layout'"):
        Parser("!cute.layout<(1@0)>", context()).type()


def test_deep_nesting_is_an_error() -> None:
    with pytest.raises(UserError, match="nested more than"):
        parse(f"#cute.layout<{'(' * 5000}")
