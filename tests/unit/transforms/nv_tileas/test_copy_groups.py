"""Copy groups: which loads share a stage, and from where to where consumers have it."""

from __future__ import annotations

import pytest
from attention_programs import Attention
from scheduled_loops import lowered_as_far_as
from specialized_programs import Gemm

from tilewright.dialects.nv_tileaa.floating import AddFOp
from tilewright.dialects.nv_tileaa.memory import JoinMemTokenOp
from tilewright.dialects.nv_tileas.matrix import DotOp, DotWaitOp
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.transforms.nv_tileas.copy_groups import CopyGroup, copy_groups, held_stages
from tilewright.transforms.nv_tileas.overlap_dots import overlap_dots


def last_loop(program: str) -> ForOp:
    """The last loop of a kernel whose layouts are chosen."""
    module = lowered_as_far_as("move-conversions", program)
    *_, loop = [op for op in module.walk() if isinstance(op, ForOp)]
    return loop


def groups_of(loop: ForOp) -> list[CopyGroup]:
    """The groups of all loads of a loop."""
    block = loop.body.block
    loads = [op for op in block if isinstance(op, TiledLoadOp)]
    return copy_groups(block, loads, is_loop=True)


def dots_of(loop: ForOp) -> list[DotOp]:
    """The dots of a loop."""
    return [op for op in loop.body.block if isinstance(op, DotOp)]


GEMM = Gemm()
A, B = "tile<64x32xf16>", "tile<32x64xf16>"
LOADS = {
    "a": f"load_view_tko weak %av[%zero, %j] : {GEMM.view('a')}, tile<i32> -> {A}, token",
    "a2": f"load_view_tko weak %av[%one, %j] : {GEMM.view('a')}, tile<i32> -> {A}, token",
    "b": f"load_view_tko weak %bv[%j, %zero] : {GEMM.view('b')}, tile<i32> -> {B}, token",
    "b2": f"load_view_tko weak %bv[%j, %one] : {GEMM.view('b')}, tile<i32> -> {B}, token",
}


def two_dots(first: str, second: str, results: str, loads: str) -> ForOp:
    """A loop with two accumulators, `%s` and `%t`."""
    c = GEMM.c
    loaded = "\n".join(f"%{name}, %t{name} = {LOADS[name]}" for name in loads.split())
    return last_loop(
        GEMM.program(f"""
    %sum, %other = for %j in (%zero to %steps, step %one) : tile<i32>
        iter_values(%s = %none, %t = %none) -> ({c}, {c}) {{
      {loaded}
      %d = mmaf {first} : {A}, {B}, {c}
      %e = mmaf {second} : {A}, {B}, {c}
      continue {results} : {c}, {c}
    }}
    {GEMM.store("%sum", row="%zero")}
    {GEMM.store("%other", row="%one", name="stored2")}""")
    )


@pytest.mark.parametrize(("first", "second", "results", "groups"), [
    ("%a, %b, %s", "%a2, %b2, %t", "%d, %e", [2, 2]),  # dots that have nothing in common
    ("%a, %b, %s", "%a, %b2, %t", "%d, %e", [3]),  # one A for both
    ("%a, %b, %s", "%a2, %b2, %d", "%e, %t", [4]),  # one accumulates onto the other
    ("%a, %b, %s", "%a2, %b, %d", "%e, %t", [3]),
])  # fmt: skip
def test_loads_of_related_dots_share_a_stage(
    first: str, second: str, results: str, groups: list[int]
) -> None:
    names = {word.strip("%,") for word in f"{first} {second}".split()}
    loads = " ".join(name for name in LOADS if name in names)
    made = groups_of(two_dots(first, second, results, loads))
    assert [len(group.loads) for group in made] == groups
    assert [group.problem for group in made] == [None] * len(made)


def test_the_only_group_of_a_loop_has_the_whole_body() -> None:
    loop = last_loop(Gemm().persistent())
    block = loop.body.block
    (group,) = groups_of(loop)
    assert [load.parent for load in group.loads] == [block, block]
    assert (group.first, group.last) == (block.first, block.last)
    assert held_stages([group]) == 1


@pytest.mark.parametrize("rotated", [False, True])
def test_k_and_v_are_groups_that_their_dots_use(rotated: bool) -> None:
    loop = last_loop(Attention(rotated=rotated).program)
    scores, output = dots_of(loop)
    k, v = groups_of(loop)
    assert [(k.first, k.last), (v.first, v.last)] == [(scores, scores), (output, output)]
    assert [len(k.loads), len(v.loads)] == [1, 1]
    assert held_stages([k, v]) == 1


def overlap(scores: DotOp, output: DotOp, pending: int) -> DotWaitOp:
    """Let the first dot be in flight until after the second one; returns the wait for it."""
    scores.asynchronous = True
    build = Builder(InsertPoint.after(output), output.location)
    wait = build.create(DotWaitOp, accumulator=scores.result, pending=pending)
    for user in [user for user in scores.result.users if user is not wait]:
        user.replace_operand(scores.result, wait.result)
    return wait


def test_a_stage_is_released_when_a_wait_retires_the_dot() -> None:
    """K and V have one type: both stages are in use while the second dot is issued."""
    loop = last_loop(Attention(k_major=False, rotated=True).program)
    scores, output = dots_of(loop)
    wait = overlap(scores, output, pending=1)
    output.asynchronous = True
    Builder(InsertPoint.after(wait), wait.location).create(DotWaitOp, accumulator=output.result)
    k, v = groups_of(loop)
    assert k.stage == v.stage
    assert (k.first, k.last) == (scores, wait)
    assert (v.first, v.last) == (output, wait.next)
    assert held_stages([k, v]) == 2


def test_a_wait_for_fewer_dots_does_not_retire_one() -> None:
    """The second dot is synchronous: one dot may be in flight after the wait, the first one."""
    loop = last_loop(Attention(rotated=True).program)
    overlap(*dots_of(loop), pending=1)
    k, v = groups_of(loop)
    assert k.problem == "a dot is in flight at the end of the block that copies its operands"
    assert v.problem is None


def test_a_bias_is_read_until_it_is_added() -> None:
    """Its stage is released before the softmax: a rotated loop carries what is computed from it."""
    module = lowered_as_far_as("keep-tiles", Attention(rows=128, biased=True).program)
    *_, loop = [op for op in module.walk() if isinstance(op, ForOp)]
    overlap_dots(loop.body.block)
    bias = groups_of(loop)[-1]
    assert (bias.problem, bias.first, bias.last) == (None, bias.last, bias.first)
    assert isinstance(bias.last, AddFOp)
    assert [load.vector for load in bias.loads] == [4]


def test_a_token_that_orders_an_access_after_a_load() -> None:
    """The access could precede a wait in the middle of the body."""
    loop = last_loop(Attention().program)
    k, *_ = (op for op in loop.body.block if isinstance(op, TiledLoadOp))
    build = Builder(InsertPoint.after(k), k.location)
    build.create(JoinMemTokenOp, tokens=[k.result_token, k.result_token])
    problems = [group.problem for group in groups_of(loop)]
    assert problems == ["a token orders an access after a load", None]
