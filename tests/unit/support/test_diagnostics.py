"""Diagnostics: what errors show as text, and the calls that led to inlined code."""

from __future__ import annotations

import tilewright
from tilewright.support.diagnostics import Diagnostic, UserError, note
from tilewright.support.location import CallSiteLoc, FileLoc, Positions, Source, TextLoc
from tilewright.tileiras.messages import message

SOURCE = Source("k.mlir", "first line\n  second line\n")


def at(offset: int) -> TextLoc:
    return TextLoc(Positions(SOURCE), offset)


def test_the_text_of_an_error_is_all_that_it_renders() -> None:
    error = UserError([Diagnostic("wrong", at(13), notes=(note("because of this", at(0)),))])
    assert str(error) == error.render()
    assert str(error).splitlines() == [
        "k.mlir:2:3: error: wrong",
        "  second line",
        "  ^",
        "k.mlir:1:1: note: because of this",
        "first line",
        "^",
    ]
    assert error.headline() == "k.mlir:2:3: error: wrong"


def test_messages_about_operations_name_them() -> None:
    diagnostic = Diagnostic("expected two operands", subject="test.op")
    assert diagnostic.headline() == "error: 'test.op' op expected two operands"


def test_calls_are_shown_from_the_innermost_to_the_outermost() -> None:
    inner, middle, outer = (FileLoc("k.mlir", line, 7) for line in (1, 2, 3))
    location = CallSiteLoc(inner, CallSiteLoc(middle, outer))
    assert Diagnostic("wrong", location).render().splitlines() == [
        "k.mlir:1:7: error: wrong",
        "k.mlir:2:7: note: called from here",
        "k.mlir:3:7: note: called from here",
    ]


def test_of_many_calls_the_innermost_are_shown() -> None:
    location = FileLoc("k.mlir", 30, 1)
    for line in range(29, 0, -1):
        location = CallSiteLoc(FileLoc("k.mlir", line, 1), location)
    _, first, *_, last, rest = Diagnostic("wrong", location).render().splitlines()
    assert first == "k.mlir:2:1: note: called from here"
    assert last == "k.mlir:21:1: note: called from here"
    assert rest == "note: 9 more calls"


def test_calls_of_programs_name_the_calling_function() -> None:
    program = """
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>) {
    %x, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token loc(#site)
    return
  } loc(#in_k)
}
#file = #cuda_tile.di_file<"k.c" in "/">
#unit = #cuda_tile.di_compile_unit<file = #file>
#k = #cuda_tile.di_subprogram<
  file = #file, line = 1, name = "k", linkageName = "k", compileUnit = #unit>
#f = #cuda_tile.di_subprogram<
  file = #file, line = 5, name = "f", linkageName = "f", compileUnit = #unit>
#in_f = #cuda_tile.di_loc<loc("/k.c":6:3) in #f>
#in_k = #cuda_tile.di_loc<loc("/k.c":2:9) in #k>
#site = loc(callsite(#in_f at #in_k))
"""
    try:
        tilewright.execute(program, "k", 1, [None])
    except tilewright.UserError as error:
        first, *stack = str(error).splitlines()
        assert first.startswith("/k.c:6:3: error: 'cuda_tile.load_ptr_tko' op accesses 4 bytes")
        assert stack == ["/k.c:2:9: note: called from 'k'"]
    else:
        raise AssertionError("no error")


def test_columns_of_python_are_shown_from_1() -> None:
    location = FileLoc("/k.py", 3, 4)
    assert Diagnostic("wrong", location).headline() == "/k.py:3:5: error: wrong"
    assert (location.line, location.column) == (3, 4)


def test_tileiras_shows_columns_and_operations_as_they_are() -> None:
    diagnostic = Diagnostic("wrong", FileLoc("/k.py", 3, 4), subject="cuda_tile.load_view_tko")
    expected = """loc("/k.py":3:4): error: 'cuda_tile.load_view_tko' op wrong"""
    assert message([diagnostic]) == expected


def test_columns_of_text_with_the_name_of_a_python_file() -> None:
    # Texts count columns from 1, debug information of Python from 0; both are shown from 1.
    location = TextLoc(Positions(Source("k.py", "import x\n")), 0)
    assert Diagnostic("wrong", location).render() == "k.py:1:1: error: wrong\nimport x\n^"
    assert location == FileLoc("k.py", 1, 0)
    assert location.resolve().shown_column == 1
