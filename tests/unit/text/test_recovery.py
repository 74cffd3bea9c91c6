"""The parser that goes on after errors: all are reported, and none that another one causes."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from each_case import each_case

from tilewright.driver.registry import context
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Error, Sink, UserError
from tilewright.text.parser import parse_text
from tilewright.text.printer import print_op
from tilewright.text.recovery import parse_every_error

ROOT = Path(__file__).parents[3]
PROGRAMS = [ROOT / "examples" / "gemm.mlir", *sorted((ROOT / "tests" / "programs").glob("*.mlir"))]

# A comment marks each line that has errors: their columns and the beginnings of their messages.
WRONG = """\
cuda_tile.module @kernels {
  entry @types(%a: tile<f32>, %b: tile<f16>) {
    %c = addf %a, %b : tile<f32> // 19 value '%b' has type
    %d = addf %c, %c : tile<f32>
    %e = frobnicate %d // 10 unknown operation 'frobnicate'
    %f, %g = addf %a, %a : tile<f32> // 5 'cuda_tile.addf' has 1 results
    %h = addf %f, %g : tile<f32>
    %i = addf %x, %a : tile<f32> // 15 use of undefined value '%x'
    return
  }
  entry @regions(%n: tile<i32>) {
    for %i in (%n to %n, step %n) : tile<i32> {
      %k = nope %i // 12 unknown operation 'nope'
      %l = addi %i, %k
           : tile<i32>
      %m = addi %i, %i
           : tile<i3> // 14 tile elements must be numbers
      continue
    }
    for %i in (%n to %n, step %n) tile<i32> { // 35 expected ':'
      %k = nope %i // 12 unknown operation 'nope'
      %l = addi %i, %i : tile<i32>
      continue
    }
    %q = addi %k, %n : tile<i32>
    return
  }
  entry @signature(%x: tile<f99>, %y: tile<f32>) { // 29 expected a type
    %z = addf %y, %x : tile<f32>
    %k = nope %z // 10 unknown operation 'nope'
    return
  }
  entry @scopes(%y: tile<f32>) {
    %k = addf %y, %c : tile<f32> // 19 use of undefined value '%c'
    return
  }
}
"""


def errors(text: str) -> list[str]:
    with pytest.raises(UserError) as caught:
        parse_every_error(text, context(), "k", "cuda_tile")
    return [str(diagnostic) for diagnostic in caught.value.diagnostics]


def expected(text: str) -> list[str]:
    """The beginnings of the errors that comments name."""
    lines = enumerate(text.splitlines(), 1)
    marks = [(number, re.search(r"// (\d+) (.*)$", line)) for number, line in lines]
    return [f"k:{number}:{mark[1]}: error: {mark[2]}" for number, mark in marks if mark]


def test_every_error_is_reported_and_none_that_follows_from_another() -> None:
    reported = errors(WRONG)
    wanted = expected(WRONG)
    assert [text[: len(start)] for text, start in zip(reported, wanted, strict=True)] == wanted


def test_the_end_of_the_text() -> None:
    assert errors("entry @f() {\n  nope\n") == ["k:2:3: error: unknown operation 'nope'"]
    assert errors("entry @f() {\n  nope\n  return\n") == [
        "k:1:12: error: expected '}' to close this '{', got end of input",
        "k:2:3: error: unknown operation 'nope'",
    ]
    assert errors("}") == ["k:1:1: error: expected an operation, got '}'"]


def test_errors_of_aliases_are_added_to_those_of_operations() -> None:
    reported = errors("entry @f() {\n  nope\n  return\n}\n!x = f99\n")
    assert [text.split(": ")[0] for text in reported] == ["k:2:3", "k:5:6"]


def test_the_program_after_an_invalid_alias_is_parsed() -> None:
    text = """\
!wrong = f99
!right = i32
entry @f(%a: tile<f32>, %b: tile<!wrong>) {
  %c = nope %a
  %d = addi %b, %b : tile<!wrong>
  return
}
#wrong = loc(nothing)
entry @g(%a: tile<!right>) {
  %c = addi %a, %a : tile<!right> loc(#wrong)
  %d = nope %a
  return
}
"""
    assert errors(text) == [
        "k:1:10: error: expected a type, got 'f99'",
        "k:4:8: error: unknown operation 'nope'",
        "k:8:14: error: expected a location, got 'nothing'",
        "k:11:8: error: unknown operation 'nope'",
    ]


@each_case("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_valid_program_is_parsed_as_by_the_other_parser(path: Path) -> None:
    text = path.read_text()
    modules = [
        parse(text, context(), "k", "cuda_tile") for parse in (parse_text, parse_every_error)
    ]
    one, other = [print_op(module, debug=True) for module in modules]
    assert one == other


def attempt(parse: Callable[..., Operation], text: str) -> Operation | list[str]:
    try:
        return parse(text, context(), "k", "cuda_tile")
    except Error as error:
        return [str(diagnostic) for diagnostic in error.diagnostics]


@each_case("seed", range(60))
def test_damaged_programs_have_the_error_of_the_other_parser_among_theirs(seed: int) -> None:
    """Tokens are deleted, doubled and exchanged: no exception but errors about the program."""
    draw = random.Random(seed)
    tokens = re.findall(r"\s+|\w+|.", draw.choice(PROGRAMS).read_text())
    for _ in range(draw.randint(1, 4)):
        at, other = draw.randrange(len(tokens)), draw.randrange(len(tokens))
        change = draw.choice(("delete", "double", "exchange"))
        if change == "delete":
            del tokens[at]
        elif change == "double":
            tokens.insert(at, tokens[at])
        else:
            tokens[at], tokens[other] = tokens[other], tokens[at]
    text = "".join(tokens)
    first, every = attempt(parse_text, text), attempt(parse_every_error, text)
    if isinstance(first, Operation):
        assert isinstance(every, Operation)
        verify(every, Sink())
    else:
        assert isinstance(every, list)
        assert first[0] in every
