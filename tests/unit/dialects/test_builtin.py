"""The builtin module: its two forms."""

from __future__ import annotations

import pytest
from each_case import each_case

from tilewright.driver.registry import context
from tilewright.support.diagnostics import UserError
from tilewright.text.parser import parse_text
from tilewright.text.printer import print_op

MODULES = [
    "module {\n}\n",
    "module @m {\n}\n",
    'module @"a b" attributes {k = 1 : i32, sym_visibility = "private"} {\n}\n',
    "module {\n  module @inner {\n  }\n}\n",
    "module {\n"
    "  %0:2 = unrealized_conversion_cast to i32, f32\n"
    "  %1 = unrealized_conversion_cast %0#0, %0#1 : i32, f32 to index {k}\n"
    "}\n",
]


@each_case("text", MODULES)
def test_round_trip(text: str) -> None:
    assert print_op(parse_text(text, context())) == text


def test_generic_form() -> None:
    text = '"builtin.module"() <{sym_name = "m"}> ({\n}) : () -> ()'
    assert print_op(parse_text(text, context())) == "module @m {\n}\n"


def test_a_module_has_one_name() -> None:
    with pytest.raises(UserError, match="given twice"):
        parse_text('module @a attributes {sym_name = "b"} {}', context())
