"""Runs of the reference executor that are long or never end: steps, time, Ctrl-C, large grids."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest

import tilewright
from tilewright.reference import scheduler
from tilewright.reference.errors import ExecutionError, Fault
from tilewright.reference.executor import Blocks
from tilewright.reference.launch import launch
from tilewright.support.diagnostics import Interrupted
from tilewright.support.run_limits import RunLimits

ENDLESS = """cuda_tile.module @m {
  entry @k() {
    %one = constant <i32: 1> : tile<i32>
    %r = loop iter_values(%i = %one) : tile<i32> -> tile<i32> {
      %next = addi %i, %one : tile<i32>
      continue %next : tile<i32>
    }
    return
  }
}"""
FOR = """cuda_tile.module @m {
  entry @k(%n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    for %i in (%zero to %n, step %one) : tile<i32> {
      continue
    }
    return
  }
}"""
EMPTY = "cuda_tile.module @m { entry @k() { return } }"
PRINT = 'cuda_tile.module @m { entry @k() {\n print_tko "here" -> token\n return } }'
WHOLE = (0x7FFFFFFF, 1, 1)


def stopped(source: str, limits: RunLimits, *args: object) -> ExecutionError:
    with pytest.raises(ExecutionError) as caught:
        launch(tilewright.read(source), None, 1, args, limits=limits)
    assert caught.value.fault is Fault.LIMIT
    return caught.value


def test_every_operation_is_a_step() -> None:
    """Two constants, the loop, one `continue` an iteration, and `return`."""
    module, count = tilewright.read(FOR), 7
    limits = RunLimits(4 + count)
    launch(module, None, 1, [count], limits=limits)
    assert limits.steps == 4 + count
    stopped(FOR, RunLimits(3 + count), count)


def test_a_counted_loop_of_any_length_stops_at_the_limit() -> None:
    limits = RunLimits(1000)
    error = stopped(FOR, limits, 0x7FFFFFFF)
    assert limits.steps == 1001
    assert "limit of 1,000 steps, in block (0, 0, 0)" in str(error)
    assert str(error.location) == "<input>:6:7"


def test_more_than_a_million_iterations_are_legitimate() -> None:
    """No limit is in effect by default: only the steps are counted."""
    limits = RunLimits()
    limits.steps = 10**9
    launch(tilewright.read(FOR), None, 1, [3], limits=limits)
    assert limits.steps == 10**9 + 7


def test_a_time_limit_is_measured_by_the_clock() -> None:
    limits = RunLimits(timeout=50, clock=itertools.count().__next__)
    error = stopped(ENDLESS, limits)
    assert limits.steps == 50
    assert "limit of 50 seconds, in step 50" in str(error)


def test_a_time_limit_ends_what_never_ends() -> None:
    with pytest.raises(ExecutionError, match=r"stopped at the limit of 0\.01 seconds"):
        tilewright.execute(ENDLESS, None, 1, [], timeout=0.01)


def test_a_checked_run_has_limits_too() -> None:
    with pytest.raises(ExecutionError, match=r"limit of 100 steps, in block \(\d, 0, 0\)"):
        tilewright.execute(ENDLESS, None, 3, [], check=True, max_steps=100)


def test_an_interrupted_run_says_where_the_program_was() -> None:
    def interrupt(text: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        tilewright.execute(PRINT, None, (1, 3, 1), [], write=interrupt)
    diagnostic = caught.value.diagnostic
    assert diagnostic.message == "interrupted in step 1, in block (0, 0, 0) and 2 more"
    assert str(diagnostic.location) == "<input>:2:2"


def test_limits_are_not_for_the_gpu() -> None:
    message = "limits of steps and time on 'gpu'"
    with pytest.raises(tilewright.Unsupported, match=message):
        tilewright.execute(EMPTY, None, 1, [], on="gpu", max_steps=5)
    with pytest.raises(tilewright.Unsupported, match=message):
        tilewright.execute(EMPTY, None, 1, [], on="gpu", timeout=5)


def test_blocks_are_those_of_the_grid_in_order() -> None:
    grid, ctas = (3, 2, 2), 2
    rows = np.concatenate(list(Blocks(grid, ctas).split(5)))
    x, y, z = (range(extent) for extent in grid)
    wanted = [[i, j, k, rank] for k in z for j in y for i in x for rank in range(ctas)]
    assert rows.tolist() == wanted
    assert max(len(part) for part in Blocks(grid, ctas).split(5)) <= 5


@pytest.mark.parametrize("check", [False, True])
def test_the_memory_of_a_run_does_not_grow_with_the_grid(check: bool) -> None:
    """All coordinates of this grid need 24 GB."""
    tracemalloc.start()
    try:
        with pytest.raises(ExecutionError, match="stopped at the limit of 20 steps"):
            tilewright.execute(EMPTY, None, WHOLE, [], check=check, max_steps=20)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64 << 20


def test_progress_is_called_while_a_block_runs() -> None:
    shown: list[tuple[int, int]] = []
    with pytest.raises(ExecutionError):
        tilewright.execute(
            ENDLESS, None, WHOLE, [],
            max_steps=2000, progress=lambda done, count: shown.append((done, count)),
        )  # fmt: skip
    assert len(shown) > 1
    assert {*shown} == {(0, WHOLE[0])}


HANDOVER = """cuda_tile.module @m {
  entry @k(%p: tile<ptr<i32>>) {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %gx, %gy, %gz = get_num_tile_blocks : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %next = addi %x, %one : tile<i32>
    %last = cmpi equal %next, %gx, signed : tile<i32> -> tile<i1>
    if %last {
      %s = store_ptr_tko release device %p, %one : tile<ptr<i32>>, tile<i32> -> token
    } else {
      loop {
        %v, %t = load_ptr_tko acquire device %p : tile<ptr<i32>> -> tile<i32>, token
        %set = cmpi equal %v, %one, signed : tile<i32> -> tile<i1>
        if %set { break }
        continue
      }
    }
    return
  }
}"""


@pytest.mark.parametrize("check", [False, True])
def test_blocks_that_wait_for_later_ones_have_them_started(
    check: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last block of 9 sets a flag that the others poll; 2 are started at a time."""
    monkeypatch.setattr(scheduler, "BLOCKS_AT_ONCE", 2)
    flag = np.zeros(1, np.int32)
    tilewright.execute(HANDOVER, None, 9, [flag], check=check)
    assert flag[0] == 1
