"""Debug information: parsing, printing, aliases and scopes."""

from __future__ import annotations

import pytest
from each_case import each_case

from tilewright.dialects.cuda_tile import CUDA_TILE
from tilewright.dialects.cuda_tile.debug_info import (
    DICompileUnit,
    DIFile,
    DILexicalBlock,
    DILoc,
    DILocalScope,
    DISubprogram,
    function_debug_problems,
    scoped_location,
    subprogram_of,
)
from tilewright.driver.registry import context
from tilewright.ir.attributes import UNIT, Attribute, LocationAttr, StringAttr
from tilewright.ir.operation import Block, Operation, Region
from tilewright.support.diagnostics import UserError
from tilewright.support.location import (
    UNKNOWN,
    CallSiteLoc,
    FileLoc,
    FusedLoc,
    Location,
    NameLoc,
)
from tilewright.text.attribute_printer import attribute_text
from tilewright.text.parser import Parser

FILE = DIFile("a.py", "/dir")
UNIT_OF_FILE = DICompileUnit(FILE)
KERNEL = DISubprogram(FILE, 3, "k", "kernel", UNIT_OF_FILE, 4)
OTHER = DISubprogram(FILE, 9, "o", "other", UNIT_OF_FILE)
BLOCK = DILexicalBlock(KERNEL, FILE, 5, 2)
INNER = DILexicalBlock(BLOCK, FILE, 6)
LOCATION = FileLoc("a.py", 7, 8)

FILE_TEXT = '#cuda_tile.di_file<"a.py" in "/dir">'
UNIT_TEXT = f"#cuda_tile.di_compile_unit<file = {FILE_TEXT}>"
KERNEL_TEXT = (
    f'#cuda_tile.di_subprogram<file = {FILE_TEXT}, line = 3, name = "k",'
    f' linkageName = "kernel", compileUnit = {UNIT_TEXT}, scopeLine = 4>'
)
BLOCK_TEXT = (
    f"#cuda_tile.di_lexical_block<scope = {KERNEL_TEXT}, file = {FILE_TEXT}, line = 5, column = 2>"
)
POSITION = "expected a line or column of at most 32 bits"
LOC_TEXT = f'#cuda_tile.di_loc<loc("a.py":7:8) in {KERNEL_TEXT}>'


def parse(text: str) -> Attribute:
    parser = Parser(text, context())
    parsed = parser.attribute()
    assert parser.peek() == ""
    return parsed


@each_case(
    ("text", "attribute"),
    [
        (FILE_TEXT, FILE),
        ('#cuda_tile.di_file<"a\\22b\\0A.py" in "">', DIFile('a"b\n.py', "")),
        (UNIT_TEXT, UNIT_OF_FILE),
        (KERNEL_TEXT, KERNEL),
        (BLOCK_TEXT, BLOCK),
        (
            f"#cuda_tile.di_lexical_block<scope = {BLOCK_TEXT}, file = {FILE_TEXT}, line = 6>",
            INNER,
        ),
        (LOC_TEXT, LocationAttr(DILoc(LOCATION, KERNEL))),
    ],
)
def test_text_both_ways(text: str, attribute: Attribute) -> None:
    assert parse(text) is attribute
    assert attribute_text(attribute) == text


def test_parameters_in_any_order() -> None:
    text = f"#cuda_tile.di_lexical_block<line = 6, scope = {BLOCK_TEXT}, file = {FILE_TEXT}>"
    assert parse(text) is INNER


@each_case(
    ("text", "expected"),
    [
        ("#cuda_tile.di_compile_unit<>", "expected parameter 'file'"),
        ("#cuda_tile.di_compile_unit<line = 3>", "expected one of file, each once, got 'line'"),
        (
            f"#cuda_tile.di_compile_unit<file = {UNIT_TEXT}>",
            "expected another kind of value for 'file'",
        ),
        (
            f"#cuda_tile.di_lexical_block<file = {FILE_TEXT}, file = {FILE_TEXT}>",
            "expected one of scope, file, line, column, each once, got 'file'",
        ),
        (f"#cuda_tile.di_loc<{FILE_TEXT} in {KERNEL_TEXT}>", "expected a location"),
        (
            f"#cuda_tile.di_loc<loc(unknown) in {FILE_TEXT}>",
            "expected a subprogram or a lexical block",
        ),
        (BLOCK_TEXT.replace("line = 5", "line = 4294967296"), POSITION),
        (BLOCK_TEXT.replace("column = 2", f"column = {10**30}"), POSITION),
        (KERNEL_TEXT.replace("line = 3", "line = -1"), POSITION),
        (KERNEL_TEXT.replace("scopeLine = 4", "scopeLine = 4294967296"), POSITION),
    ],
)
def test_malformed_text(text: str, expected: str) -> None:
    with pytest.raises(UserError) as raised:
        parse(text)
    assert raised.value.diagnostics[0].message == expected


@each_case(
    ("attribute", "alias"),
    [
        (FILE, "di_file"),
        (UNIT_OF_FILE, "di_compile_unit"),
        (KERNEL, "di_subprogram"),
        (BLOCK, "di_lexical_block"),
        (UNIT, None),
    ],
)
def test_aliases(attribute: Attribute, alias: str | None) -> None:
    assert CUDA_TILE.alias(attribute) == alias


def test_locations_compare_by_contents() -> None:
    location = DILoc(FileLoc("a.py", 7, 8), KERNEL)
    assert location == DILoc(LOCATION, KERNEL)
    assert location != DILoc(LOCATION, OTHER)
    assert str(location) == "a.py:7:9"


INSIDE = DILoc(LOCATION, BLOCK)
OUTSIDE = DILoc(LOCATION, OTHER)


@each_case(
    ("location", "expected"),
    [
        (INSIDE, INSIDE),
        (LOCATION, None),
        (UNKNOWN, None),
        (CallSiteLoc(OUTSIDE, INSIDE), INSIDE),
        (CallSiteLoc(INSIDE, LOCATION), None),
        (NameLoc("x", INSIDE), INSIDE),
        (FusedLoc((LOCATION, INSIDE, OUTSIDE)), INSIDE),
    ],
)
def test_the_scope_of_a_location(location: Location, expected: DILoc | None) -> None:
    assert scoped_location(location) is expected


@each_case("scope", [KERNEL, BLOCK, INNER])
def test_the_function_of_a_scope(scope: DILocalScope) -> None:
    assert subprogram_of(scope) is KERNEL


def problems(function: Location, *inside: Location) -> list[str]:
    block = Block()
    for location in inside:
        block.append(Operation(location=location))
    attributes: dict[str, Attribute] = {"sym_name": StringAttr("kernel")}
    op = Operation(attributes=attributes, regions=[Region([block])], location=function)
    return [str(problem) for problem in function_debug_problems(op, op.walk())]


HERE = DILoc(LOCATION, KERNEL)


def test_scopes_that_fit() -> None:
    assert problems(UNKNOWN, UNKNOWN, LOCATION) == []
    assert problems(HERE, HERE, INSIDE, DILoc(LOCATION, INNER), LOCATION, UNKNOWN) == []
    assert problems(HERE, CallSiteLoc(OUTSIDE, INSIDE)) == []


@each_case(
    ("function", "inside", "expected"),
    [
        (CallSiteLoc(HERE, HERE), HERE, "location of a function must not be a call site"),
        (INSIDE, INSIDE, "debug scope of a function must be a di_subprogram"),
        (OUTSIDE, OUTSIDE, "debug scope is that of another function, 'other'"),
        (UNKNOWN, HERE, "has a debug scope, but its function has none"),
        (HERE, OUTSIDE, "debug scope must be in 'kernel', got 'other'"),
        (HERE, CallSiteLoc(INSIDE, OUTSIDE), "debug scope must be in 'kernel', got 'other'"),
    ],
)
def test_scopes_that_do_not_fit(function: Location, inside: Location, expected: str) -> None:
    (problem,) = problems(function, inside, inside)
    assert problem.endswith(expected)
