"""The memory model: synchronization that orders accesses, near misses, and random schedules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each_case import each_case

import tilewright
from tilewright.reference.errors import ExecutionError, Fault

SEEDS = range(6)


def program(body: str, parameters: str = "%p: tile<ptr<i32>>, %q: tile<ptr<i32>>") -> str:
    common = """
      %x, %y, %z = get_tile_block_id : tile<i32>
      %zero = constant <i32: 0> : tile<i32>
      %one = constant <i32: 1> : tile<i32>
      %first = cmpi equal %x, %zero, signed : tile<i32> -> tile<i1>
      %start = make_token : token
    """
    return f"cuda_tile.module @m {{ entry @k({parameters}) {{ {common} {body} return }} }}"


def run(source: str, grid: int, seed: int, size: int = 1) -> tuple[Any, Any]:
    p, q = np.zeros(size, np.int32), np.zeros(size, np.int32)
    tilewright.execute(source, None, grid, [p, q], check=True, seed=seed)
    return p, q


def races(source: str, grid: int = 1) -> bool:
    """Return whether a race is reported, which must not depend on the schedule."""
    faults: set[Fault | None] = set()
    for seed in SEEDS:
        try:
            run(source, grid, seed)
            faults.add(None)
        except ExecutionError as error:
            faults.add(error.fault)
    assert faults in ({None}, {Fault.RACE})
    return Fault.RACE in faults


LOAD = "load_ptr_tko weak %p {} : tile<ptr<i32>> -> tile<i32>, token"
STORE = "store_ptr_tko weak %p, %one {} : tile<ptr<i32>>, tile<i32> -> token"


@each_case(
    ("body", "wrong"),
    [
        (f"%a, %t0 = {LOAD.format('')} %b, %t1 = {LOAD.format('')}", False),
        (f"%a, %t0 = {LOAD.format('')} %t1 = {STORE.format('')}", True),
        (f"%a, %t0 = {LOAD.format('')} %t1 = {STORE.format('token=%t0')}", False),
        (f"%t0 = {STORE.format('')} %t1 = {STORE.format('')}", True),
        (f"%t0 = {STORE.format('')} %t1 = {STORE.format('token=%start')}", True),
        (
            f"%t0 = {STORE.format('')} %t1 = join_tokens %t0, %start : token "
            f"%a, %t2 = {LOAD.format('token=%t1')}",
            False,
        ),
        (
            f"%t0 = {STORE.format('')} %a, %t1 = {LOAD.format('token=%t0')} "
            f"%b, %t2 = {LOAD.format('token=%t0')} %t3 = {STORE.format('token=%t1')}",
            True,
        ),
    ],
)
def test_only_tokens_order_the_accesses_of_a_block(body: str, wrong: bool) -> None:
    assert races(program(body)) == wrong


@each_case(
    ("mode", "wrong"),
    [("weak", True), ("relaxed device", False), ("relaxed sys", False), ("relaxed tl_blk", True)],
)
def test_strong_accesses_of_blocks_need_a_scope_that_covers_both(mode: str, wrong: bool) -> None:
    body = f"%t = store_ptr_tko {mode} %p, %x : tile<ptr<i32>>, tile<i32> -> token"
    assert races(program(body), 2) == wrong


def handover(release: str, acquire: str, between: str = "") -> str:
    """One block writes data and sets a flag, the other waits for the flag and reads the data."""
    return program(f"""
      if %first {{
        %t0 = store_ptr_tko weak %p, %one : tile<ptr<i32>>, tile<i32> -> token
        %t1 = store_ptr_tko {release} %q, %one token=%t0 : tile<ptr<i32>>, tile<i32> -> token
        {between}
      }} else {{
        %there = loop : token {{
          %seen, %t2 = load_ptr_tko {acquire} %q : tile<ptr<i32>> -> tile<i32>, token
          %unset = cmpi equal %seen, %zero, signed : tile<i32> -> tile<i1>
          if %unset {{
            continue
          }}
          break %t2 : token
        }}
        %data, %t3 = load_ptr_tko weak %p token=%there : tile<ptr<i32>> -> tile<i32>, token
        %ok = cmpi equal %data, %one, signed : tile<i32> -> tile<i1>
        assert %ok, "the data is there" : tile<i1>
      }}
    """)


RMW = (
    "%old, %t9 = atomic_rmw_tko relaxed device %q, add, %one token=%t1 "
    ": tile<ptr<i32>>, tile<i32> -> tile<i32>, token"
)


@each_case(
    ("source", "wrong"),
    [
        (handover("release device", "acquire device"), False),
        (handover("release device", "acquire device", RMW), False),
        (handover("relaxed device", "acquire device"), True),
        (handover("release device", "relaxed device"), True),
    ],
)
def test_an_acquire_that_observes_a_release_orders_accesses(source: str, wrong: bool) -> None:
    assert races(source, 2) == wrong


TICKETS = program("""
  %ticket, %t0 = atomic_rmw_tko relaxed device %p, add, %one
    : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  %mine = offset %q, %ticket : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %t1 = store_ptr_tko weak %mine, %x : tile<ptr<i32>>, tile<i32> -> token
""")


def test_the_seed_decides_the_order_of_blocks() -> None:
    orders = [tuple(run(TICKETS, 8, seed, 8)[1].tolist()) for seed in (1, 1, 2, 3)]
    assert all(sorted(order) == list(range(8)) for order in orders)
    assert orders[0] == orders[1]
    assert len(set(orders)) > 1


def test_a_race_names_both_accesses() -> None:
    source = program(f"%t0 = {STORE.format('')}\n%t1 = {STORE.format('')}")
    with pytest.raises(ExecutionError) as caught:
        run(source, 1, 0)
    (diagnostic,) = caught.value.diagnostics
    (other,) = diagnostic.notes
    assert {str(diagnostic.location), str(other.location)} == {"<input>:7:12", "<input>:8:7"}


UNDEFINED = """cuda_tile.module @m { entry @k(%p: tile<ptr<i32>>, %q: tile<ptr<i32>>) {
  %i = iota : tile<8xi32>
  %p1 = reshape %p : tile<ptr<i32>> -> tile<1xptr<i32>>
  %p8 = broadcast %p1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
  %to = offset %p8, %i : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
  %x = constant <f32: [1.0e10, 6.5, 3.0, 2.0, 1.0, -1.0, 0.5, 0.0]> : tile<8xf32>
  %whole = ftoi %x signed : tile<8xf32> -> tile<8xi32>
  %t = store_ptr_tko weak %to, %whole : tile<8xptr<i32>>, tile<8xi32> -> token
  return
} }"""


def test_undefined_elements_of_a_tile_are_anything() -> None:
    results = [run(UNDEFINED, 1, seed, 8)[0].tolist() for seed in SEEDS]
    assert {tuple(result[1:]) for result in results} == {(6, 3, 2, 1, -1, 0, 0)}
    assert len({result[0] for result in results}) == len(SEEDS)
