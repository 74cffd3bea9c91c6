"""Locations in text, and their aliases."""

from __future__ import annotations

from typing import Protocol

import pytest
from each_case import each_case

from tilewright.driver.assembly import parse_module
from tilewright.driver.disassembly import disassemble
from tilewright.ir.attributes import LocationAttr, StringAttr
from tilewright.ir.dialect import Context
from tilewright.ir.operation import Operation
from tilewright.support.diagnostics import UserError
from tilewright.support.location import (
    UNKNOWN,
    CallSiteLoc,
    FileLoc,
    FusedLoc,
    Location,
    NameLoc,
)
from tilewright.text.parser import parse_attribute

A = FileLoc("a.py", 1, 2)
B = FileLoc("b.py", 3, 4)

LOCATIONS = {
    "unknown": UNKNOWN,
    '"a.py":1:2': A,
    '"a.py":1:2 to 3:4': FileLoc("a.py", 1, 2, (3, 4)),
    '"a.py":1:2 to :9': FileLoc("a.py", 1, 2, (1, 9)),
    '"a.py":7': FileLoc("a.py", 7, 0),
    '"name"': NameLoc("name"),
    '"name"("a.py":1:2)': NameLoc("name", A),
    'callsite("a.py":1:2 at "b.py":3:4)': CallSiteLoc(A, B),
    'callsite("n"(unknown) at callsite("a.py":1:2 at "b.py":3:4))': CallSiteLoc(
        NameLoc("n", UNKNOWN), CallSiteLoc(A, B)
    ),
    'fused["a.py":1:2, "b.py":3:4]': FusedLoc((A, B)),
    'fused<"x">["a.py":1:2]': FusedLoc((A,), StringAttr("x")),
    "fused[]": FusedLoc(()),
    'loc("a.py":1:2)': A,
}


class Reading(Protocol):
    def __call__(self, text: str) -> Operation: ...
    def ops(self, text: str) -> list[Operation]: ...
    def error(self, text: str) -> tuple[int, int, str]: ...


@each_case("text", LOCATIONS)
def test_location(text: str, toy: Context) -> None:
    made = parse_attribute(f"loc({text})", toy)
    assert isinstance(made, LocationAttr)
    assert made.location == LOCATIONS[text]


def location_of(read: Reading, text: str) -> Location:
    return read.ops(text)[0].location


def test_alias_before_its_use(read: Reading) -> None:
    assert location_of(read, '#l = loc("a.py":1:2) "x.y"() : () -> () loc(#l)') == A


def test_alias_after_its_use(read: Reading) -> None:
    text = '"x.y"() : () -> () loc(#l)\n#l = loc(callsite(#m at #n))\n#n = loc("b.py":3:4)\n'
    assert location_of(read, text + '#m = loc("a.py":1:2)') == CallSiteLoc(A, B)


def test_operation_without_location_is_where_its_name_stands(read: Reading) -> None:
    assert location_of(read, '\n  %0 = "x.y"() : () -> i32') == FileLoc("in.mlir", 2, 8)


def test_block_arguments_have_locations(read: Reading) -> None:
    text = '"x.y"() ({\n^bb0(%a: i32 loc("a.py":1:2), %b: i32):\n}) : () -> ()'
    first, second = read.ops(text)[0].regions[0].block.args
    assert first.location == A
    assert second.location == FileLoc("in.mlir", 2, 31)


@each_case(
    ("text", "column", "message"),
    [
        ("loc(1)", 5, "expected a location, got '1'"),
        ('loc("a":1:x)', 11, "expected an integer, got 'x'"),
        ('loc("a":-1:2)', 9, "expected a line or column of at most 32 bits"),
        ('loc("a":1:2', 12, "expected ')', got end of input"),
        ("loc(callsite(unknown, unknown))", 21, "expected 'at', got ','"),
        ("loc(#nothing)", 5, "undefined alias '#nothing'"),
        ("loc(#other.attr<1>)", 5, "expected a location"),
    ],
)
def test_wrong_locations(text: str, column: int, message: str, toy: Context) -> None:
    with pytest.raises(UserError) as raised:
        parse_attribute(text, toy)
    assert raised.value.diagnostics[0].headline() == f"<stdin>:1:{column}: error: {message}"


def test_aliases_that_define_each_other(read: Reading) -> None:
    text = "#a = loc(#b)\n#b = loc(#a)"
    assert read.error(text) == (2, 10, "alias '#a' is defined by itself")


def test_alias_of_something_else(read: Reading) -> None:
    assert read.error('#a = 1\n"x.y"() : () -> () loc(#a)') == (2, 24, "expected a location")


@pytest.mark.parametrize("count", [60, 110])
def test_printed_chains_of_scopes_are_read_again(count: int) -> None:
    links = "".join(
        f"#s{at} = #cuda_tile.di_lexical_block<scope = #s{at - 1}, file = #f, line = {at}>\n"
        for at in range(1, count + 1)
    )
    text = (
        '#f = #cuda_tile.di_file<"f.py" in "/src">\n'
        "#u = #cuda_tile.di_compile_unit<file = #f>\n"
        '#s0 = #cuda_tile.di_subprogram<file = #f, line = 1, name = "k", linkageName = "k", '
        f"compileUnit = #u>\n{links}"
        f'entry @k() {{ return loc(#cuda_tile.di_loc<loc("f.py":1:1) in #s{count}>) }}\n'
    )
    # The definitions are after the operation there, and one more is that of the location.
    printed = disassemble(parse_module(text, "k.mlir"), debug=True)
    assert printed.index("return") < printed.index("#di_lexical_block")
    assert disassemble(parse_module(printed, "k.mlir"), debug=True) == printed


SCOPE = """\
#f = #cuda_tile.di_file<"f.py" in "/src">
#u = #cuda_tile.di_compile_unit<file = #f>
#s = #cuda_tile.di_subprogram<file = #f, line = 1, name = "k", linkageName = "k", compileUnit = #u>
#l = loc(unknown)
"""


@each_case(
    "location",
    [
        '"x"',
        '"x"(unknown)',
        "callsite(unknown at unknown)",
        "fused[unknown]",
        "#l",
        "callsite(#l at #l)",
        "#cuda_tile.di_loc<loc(unknown) in #s>",
    ],
)
def test_errors_at_unknown_locations_have_one_in_the_text(location: str) -> None:
    with pytest.raises(UserError, match=r"^k.mlir:5:\d+: error: expected a cuda_tile module"):
        parse_module(f"{SCOPE}break loc({location})\n", "k.mlir")
