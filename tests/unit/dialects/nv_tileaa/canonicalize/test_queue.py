"""Removal of unused results."""

from __future__ import annotations

import pytest
from tileaa_programs import kernel, lines, run, same, simplified, stays, use

from tilewright.dialects.nv_tileaa.canonicalize.queue import prune_queue_get_results
from tilewright.dialects.nv_tileaa.queue import PragmaOp, QueueGetOp
from tilewright.ir.rewriter import Rewriter

QUEUE = "!aa.queue<[i32, f32]>"
ARGUMENTS = f"%q: {QUEUE}, %n: i32, %p: !aa.ptr<i32>"


def get(results: str, types: str, yielded: str, kinds: str, body: str = "") -> str:
    return (
        f"{results}aa.queue.get %q : {QUEUE} {types} {{\n^bb0(%a: i32, %b: f32):\n"
        f"{body}aa.queue.yield {yielded} {kinds}\n}}\n"
    )


@pytest.mark.requirement("R2-028", "R2-030")
def test_the_unused_middle_result_goes_and_the_order_stays() -> None:
    more = "%c = aa.addi %a, %a : i32\n"
    body = get("%r:3 = ", "-> i32, f32, i32", "%c, %b, %a", ": i32, f32, i32", more)
    expected = get("%r:2 = ", "-> i32, i32", "%c, %a", ": i32, i32", more)
    assert same(
        body + use("%r#2 : i32", "%r#0 : i32"),
        expected + use("%r#1 : i32", "%r#0 : i32"),
        ARGUMENTS,
    )


@pytest.mark.requirement("R2-028")
def test_what_only_the_unused_result_needed_goes_too() -> None:
    more = "%c = aa.addf %b, %b : f32\n"
    body = get("%r:2 = ", "-> i32, f32", "%a, %c", ": i32, f32", more)
    expected = get("%r = ", "-> i32", "%a", ": i32")
    assert same(body + use("%r#0 : i32"), expected + use("%r : i32"), ARGUMENTS)


@pytest.mark.requirement("R2-028")
def test_a_get_without_used_results_still_takes_an_entry() -> None:
    body = get("%r = ", "-> i32", "%a", ": i32")
    assert same(body, get("", "", "", ""), ARGUMENTS)


@pytest.mark.requirement("R2-031")
def test_a_result_that_only_something_with_effects_uses_is_kept() -> None:
    body = get("%r = ", "-> i32", "%a", ": i32")
    store = "%t = aa.store weak %p, %r : !aa.ptr<i32>, i32\n"
    assert stays(body + store, ARGUMENTS)


@pytest.mark.requirement("R2-031")
def test_a_result_that_only_dead_code_uses_goes() -> None:
    body = get("%r = ", "-> i32", "%a", ": i32") + "%d = aa.addi %r, %r : i32\n"
    assert same(body, get("", "", "", ""), ARGUMENTS)


@pytest.mark.requirement("R2-032")
def test_nothing_changes_if_all_results_are_used() -> None:
    body = get("%r:2 = ", "-> i32, f32", "%a, %b", ": i32, f32") + use("%r#0 : i32", "%r#1 : f32")
    assert stays(body, ARGUMENTS)
    function = kernel(body, ARGUMENTS)
    (op,) = [op for op in function.walk() if isinstance(op, QueueGetOp)]
    build = Rewriter.at(op)
    assert prune_queue_get_results.apply(op, build) is None
    assert build.edits == 0


def pragma(results: str, types: str, yielded: str, kinds: str) -> str:
    return (
        f'{results}aa.pragma {{unroll = 4 : i64, why = "speed"}} {types} {{\n'
        "%a = aa.addi %n, %n : i32\n%b = aa.muli %n, %n : i32\n"
        "%s = aa.store weak %p, %a : !aa.ptr<i32>, i32\n"
        f"aa.yield {yielded} {kinds}\n}}\n"
    )


@pytest.mark.requirement("R2-029", "R2-030")
def test_unused_results_of_a_pragma_go_and_its_directives_stay() -> None:
    body = pragma(
        "%r:3 = ", "-> i32, !aa.mem_token, i32", "%b, %s, %a", ": i32, !aa.mem_token, i32"
    )
    expected = pragma("%r:2 = ", "-> i32, i32", "%b, %a", ": i32, i32")
    assert same(
        body + use("%r#2 : i32", "%r#0 : i32"),
        expected + use("%r#1 : i32", "%r#0 : i32"),
        ARGUMENTS,
    )


@pytest.mark.requirement("R2-029")
def test_the_directives_are_the_same_object() -> None:
    function = kernel(pragma("%r = ", "-> i32", "%b", ": i32"), ARGUMENTS)
    before = next(op for op in function.walk() if isinstance(op, PragmaOp)).attributes["directives"]
    (after,) = [op for op in run(function).walk() if isinstance(op, PragmaOp)]
    assert after.attributes["directives"] is before
    assert not after.results


@pytest.mark.requirement("R2-032")
def test_a_pragma_whose_results_are_all_used_stays() -> None:
    body = pragma("%r:2 = ", "-> i32, i32", "%b, %a", ": i32, i32")
    assert stays(body + use("%r#0 : i32", "%r#1 : i32"), ARGUMENTS)


def test_pruning_keeps_locations_and_other_operations() -> None:
    body = get("%r:2 = ", "-> i32, f32", "%a, %b", ": i32, f32") + use("%r#1 : f32")
    assert simplified(body, ARGUMENTS) == lines(
        kernel(get("%r = ", "-> f32", "%b", ": f32") + use("%r : f32"), ARGUMENTS)
    )
