"""Operations that are hoisted out of a loop, and those that must stay."""

from __future__ import annotations

import pytest
from tile_programs import same

ARGUMENTS = "%x: tile<i32>, %y: tile<i32>, %c: tile<i1>"
CONSTANTS = "%l = constant <i32: 0> : tile<i32>\n%s = constant <i32: 1> : tile<i32>\n"
SHOW = 'print_tko "%d", %z : tile<i32> -> token\n'


def loop(body: str, kind: str) -> str:
    head = "for %i in (%l to %x, step %s) : tile<i32>" if kind == "for" else "loop"
    leave = "" if kind == "for" else "if %c { break }\n"
    return f"{head} {{\n{leave}{body}}}\n"


@pytest.mark.parametrize("kind", ["for", "loop"])
def test_invariants_are_hoisted(kind: str) -> None:
    line = "%z = addi %x, %y : tile<i32>\n"
    body = CONSTANTS + loop(line + SHOW, kind)
    assert same(body, CONSTANTS + line + loop(SHOW, kind), ARGUMENTS, "licm")


def test_chains_and_loops_in_loops() -> None:
    line = "%w = addi %x, %y : tile<i32>\n%z = muli %w, %w : tile<i32>\n"
    body = CONSTANTS + loop(loop(line + SHOW, "loop"), "for")
    expected = CONSTANTS + line + loop(loop(SHOW, "loop"), "for")
    assert same(body, expected, ARGUMENTS, "licm")


def test_invariant_reductions_are_hoisted() -> None:
    line = (
        "%z = reduce %v dim=0 identities=[0 : i32] : tile<4xi32> -> tile<i32>\n"
        "(%a: tile<i32>, %b: tile<i32>) {\n%r = addi %a, %b : tile<i32>\nyield %r : tile<i32>\n}\n"
    )
    iota = "%v = iota : tile<4xi32>\n"
    body = CONSTANTS + iota + loop(line + SHOW, "for")
    assert same(body, CONSTANTS + iota + line + loop(SHOW, "for"), ARGUMENTS, "licm")


@pytest.mark.parametrize("line", [
    "%z = divi %x, %y signed : tile<i32>\n",  # undefined for some operands
    "%z = addi %x, %i : tile<i32>\n",  # changes
    "%z = assume bounded<0, 9>, %x : tile<i32>\n",  # an assumption that holds here only
])  # fmt: skip
def test_operations_that_are_not_speculatable_stay(line: str) -> None:
    body = CONSTANTS + loop(line + SHOW, "for")
    assert same(body, body, ARGUMENTS, "licm")


def test_memory_operations_stay() -> None:
    line = "%z, %t = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token\n"
    body = CONSTANTS + loop(line + SHOW, "for")
    assert same(body, body, f"{ARGUMENTS}, %p: tile<ptr<i32>>", "licm")
