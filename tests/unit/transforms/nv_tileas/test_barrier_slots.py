"""Allocation of mbarriers to tokens: live ranges and slots."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tileaa_programs import kernel

from tilewright.dialects.nv_tileaa.memory import CreateMemTokenOp
from tilewright.support.diagnostics import UserError
from tilewright.transforms.nv_tileas.materialize_async import (
    Lifetime,
    assign,
    token_lifetime,
    token_slots,
)

ARGUMENTS = "%p: !aa.ptr<i32>, %x: i32, %cond: i1"


def create(name: str) -> str:
    return f"%{name} = aa.create_mem_token : !aa.mem_token\n"


def store(name: str, token: str) -> str:
    return f"%{name} = aa.store weak %p, %x token = %{token} : !aa.ptr<i32>, i32\n"


def join(name: str, *tokens: str) -> str:
    listed = ", ".join(f"%{token}" for token in tokens)
    return f"%{name} = aa.join_mem_token [{listed}] : !aa.mem_token\n"


def slots(body: str, pool: int = 32) -> list[int]:
    """The slot of each token, in the order of their creation."""
    function = kernel(body, ARGUMENTS)
    creations = [op for op in function.walk() if isinstance(op, CreateMemTokenOp)]
    assigned = token_slots(function, creations, pool)
    return [assigned[op] for op in creations]


@pytest.mark.requirement("R2-058")
def test_each_token_takes_a_slot_of_its_own() -> None:
    body = "".join(create(f"t{i}") for i in range(32))
    body += join("j", *[f"t{i}" for i in range(32)]) + store("s", "j")
    assert slots(body) == list(range(32))


@pytest.mark.requirement("R2-059")
def test_running_out_of_slots_is_an_error_with_a_location() -> None:
    body = "".join(create(f"t{i}") for i in range(33)) + join("j", *[f"t{i}" for i in range(33)])
    with pytest.raises(UserError) as caught:
        slots(body)
    (problem,) = caught.value.diagnostics
    assert (
        problem.message == "expected at most 32 tokens at once, one for each barrier, got one more"
    )
    assert "34" in str(problem.location)
    assert "2" in str(problem.notes[0].location)


@pytest.mark.requirement("R2-058")
def test_a_slot_is_used_again_when_its_token_is_done() -> None:
    body = "".join(create(f"t{i}") + store(f"s{i}", f"t{i}") for i in range(100))
    assert slots(body, 1) == [0] * 100


def test_later_phases_keep_the_slot() -> None:
    body = create("a") + store("b", "a") + create("n") + store("c", "b") + store("d", "n")
    assert slots(body) == [0, 1]


def test_a_join_reuses_the_slot_of_its_first_token() -> None:
    body = create("a") + create("b") + join("j", "a", "b") + create("n") + store("m", "n")
    body += store("s", "j")
    assert slots(body) == [0, 1, 1]


LOOP = (
    "%z = arith.constant 0 : i32\nscf.for %i = %z to %x step %x {} : i32 {{\n{}scf.yield {}\n}}\n"
)


def test_a_token_that_a_loop_uses_lives_until_its_end() -> None:
    inside = store("s", "a") + create("n") + store("m", "n")
    assert slots(create("a") + LOOP.format("", inside, "")) == [0, 1]


def test_a_token_that_a_loop_carries_lives_all_through_it() -> None:
    inside = create("early") + store("e", "early") + store("f", "k") + create("late")
    carried = "iter_args(%k = %a) -> (!aa.mem_token)"
    text = LOOP.format(carried, inside, "%late : !aa.mem_token").replace("scf.for", "%r = scf.for")
    first, early, late = slots(create("a") + text + store("end", "r"))
    # The loop-carried token is live together with the early one.
    assert early != late
    assert first != early


def test_tokens_of_both_branches_are_live_after_them() -> None:
    branch = (
        "%r = scf.if %cond -> (!aa.mem_token) {{\n{}scf.yield %a : !aa.mem_token\n}} else {{\n{}"
    )
    branch += "scf.yield %b : !aa.mem_token\n}}\n"
    body = branch.format(create("a"), create("b")) + create("n") + store("m", "n") + store("s", "r")
    first, second, new = slots(body)
    assert new not in (first, second)


LIFETIMES = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 20)), min_size=1, max_size=40
).map(lambda pairs: [Lifetime(i, a, a + length) for i, (a, length) in enumerate(pairs)])


@pytest.mark.requirement("R2-058", "R2-059")
@given(LIFETIMES, st.integers(1, 8))
def test_overlapping_live_ranges_never_share_a_slot_and_allocation_is_optimal(
    lifetimes: list[Lifetime[int]], pool: int
) -> None:
    assigned, left = assign(lifetimes, pool)
    for a in lifetimes:
        for b in lifetimes:
            if a.token < b.token and a.token in assigned and b.token in assigned:
                overlap = a.start <= b.end and b.start <= a.end
                assert not (overlap and assigned[a.token] == assigned[b.token])
    most = max(sum(a.start <= at <= a.end for a in lifetimes) for at in range(81))
    assert (left is None) == (most <= pool)


def test_lifetimes_are_counted_in_operations() -> None:
    function = kernel(create("a") + store("b", "a") + store("c", "b"), ARGUMENTS)
    numbers = {op: number for number, op in enumerate(function.walk())}
    (creation,) = (op for op in numbers if isinstance(op, CreateMemTokenOp))
    lifetime = token_lifetime(creation, numbers)
    assert (lifetime.start, lifetime.end) == (1, 3)
