"""The cost model, against clocks calculated by hand, and what must never help a plan."""

from __future__ import annotations

import pytest

from tilewright.schedule.constants import CONSTANTS
from tilewright.schedule.cost import Machine, clocks_of, demand_of, kernel_clocks, loop_plan
from tilewright.schedule.cost_inputs import LoopPlan, Plan
from tilewright.schedule.work import Dot, Loop, Reduction, Work
from tilewright.target.sm_90 import RATES

MACHINE = Machine(RATES)
PIPELINE = LoopPlan(stages=3, in_flight=1, multiplications=128 * 128 * 64)
PLAN = Plan(warps=8, threads=256, is_warpgroup_dot=True, loop=PIPELINE)
TILES = 2 * 128 * 64 * 2
"""Bytes of a 128x64 and a 64x128 tile of f16."""
GEMM = Work(dots=((Dot(128, 128, 64, "f16", 16), 1.0),), loads=TILES)
ROWS = Work(
    loads=32768.0,
    stores=16384.0,
    lanes=((16384, 6.0),),
    special=((16384, 1.0),),
    reductions=((Reduction(16384, 4, 1, is_scan=False), 1.0),),
)


def test_dot_of_warpgroups() -> None:
    """4,096 operations a clock; each 64 rows read A, which is there, and all of B."""
    demand = demand_of(GEMM, PLAN, MACHINE)
    assert demand.tensor == 2 * 128 * 128 * 64 / 4096 == 512
    reads = (128 // 64) * 64 * 2 * (64 + 128)
    assert demand.shared == (reads + TILES) / 128 == 640


def test_a_in_registers_is_not_read() -> None:
    demand = demand_of(GEMM, PLAN._replace(a_in_registers=True), MACHINE)
    assert demand.shared == ((128 // 64) * 64 * 2 * 128 + TILES) / 128 == 512


def test_fill() -> None:
    """32 KiB at 64 bytes a clock."""
    assert demand_of(GEMM, PLAN, MACHINE).fill == 512


def test_few_rows_of_a_dot_are_padded() -> None:
    """16x32 takes the instruction of 64 rows; 16x128 is computed as 128x16."""
    few = Work(dots=((Dot(16, 32, 64, "f16", 16), 1.0),))
    swapped = Work(dots=((Dot(16, 128, 64, "f16", 16), 1.0),))
    assert demand_of(few, PLAN, MACHINE).tensor == 2 * 64 * 32 * 64 / 4096
    assert demand_of(swapped, PLAN, MACHINE).tensor == 2 * 128 * 16 * 64 / 4096


def test_dot_of_a_warp() -> None:
    """64x64x64: 4 x 8 x 4 instructions of m16n8k16, and 4 warps that read a half of A and of B."""
    work = Work(dots=((Dot(64, 64, 64, "bf16", 16), 1.0),))
    demand = demand_of(work, Plan(warps=4, threads=128), MACHINE)
    assert demand.tensor == pytest.approx(2 * 64**3 / 4096 / CONSTANTS.mma_sync_rate)
    read = 2 * 64 * 64 * 2 * 2
    assert demand.shared == read / 128
    assert demand.issue == 32 * (4 * 8 * 4 + read / 512) / 128


def test_dot_without_tensor_cores() -> None:
    work = Work(dots=((Dot(16, 16, 16, "f64", 64), 1.0),))
    assert demand_of(work, Plan(warps=4, threads=128), MACHINE).issue == 16**3 / 128


def test_issue_slots_and_special_functions() -> None:
    """Three instructions on 16,384 elements, one of them an exponential."""
    work = Work(lanes=((16384, 3.0),), special=((16384, 1.0),))
    demand = demand_of(work, PLAN, MACHINE)
    assert (demand.issue, demand.special) == (3 * 16384 / 128, 16384 / 16)


def test_threads_repeat_small_tiles() -> None:
    """256 threads compute 64 elements four times."""
    work = Work(lanes=((64, 1.0),))
    assert demand_of(work, PLAN, MACHINE).issue == 256 / 128
    assert demand_of(work, PLAN._replace(warps=2), MACHINE).issue == 64 / 128


def test_rows_within_a_quad() -> None:
    """128 rows in the layout of a dot: four lanes hold each, and exchange in two steps."""
    work = Work(reductions=((Reduction(16384, 128, 1, is_scan=False), 1.0),))
    own = 16384 * CONSTANTS.reduction_instructions
    plan = Plan(warps=4, threads=128)
    assert demand_of(work, plan, MACHINE).issue == (own + 2 * 2 * 128 * 4) / 128


def test_spills_take_time() -> None:
    plan = PLAN._replace(spilled=64)
    spilled = clocks_of(GEMM, plan, 1, MACHINE, PIPELINE, spilled=64.0)
    assert spilled.demand.spill == 64 * 256 / CONSTANTS.spill_bytes
    assert spilled.limit == "latency"


def test_loads_are_waited_for_unless_prefetched() -> None:
    """A loop that waits takes the latency more; prefetched, two iterations share it."""
    work = Work(loads=4096.0)
    issue = demand_of(work, PLAN, MACHINE, LoopPlan()).issue / 2 / CONSTANTS.lone_warp
    waiting = clocks_of(work, PLAN, 1, MACHINE, LoopPlan(exposed=1))
    prefetched = clocks_of(work, PLAN, 1, MACHINE, LoopPlan(prefetched=1))
    assert waiting.chain == pytest.approx(issue + CONSTANTS.memory_latency)
    assert prefetched.chain == pytest.approx((issue + CONSTANTS.memory_latency) / 2)


def test_barriers_and_rows_across_warps() -> None:
    """Four rows of eight warps: the reduction needs two barriers besides that of the loop."""
    reduced = Work(reductions=((Reduction(256, 4, 1, is_scan=False), 1.0),))
    chain = clocks_of(reduced, PLAN, 1, MACHINE, LoopPlan(barriers=1)).chain
    issue = demand_of(reduced, PLAN, MACHINE, LoopPlan()).issue / 2 / CONSTANTS.lone_warp
    assert chain == pytest.approx(issue + 3 * CONSTANTS.barrier)


def test_an_iteration_that_became_two() -> None:
    """Half of K in an iteration: twice the barriers, half the stages."""
    plan = PLAN._replace(loop=LoopPlan(stages=4, barriers=1, multiplications=128 * 128 * 32))
    how = loop_plan(Loop(8.0, 1.0, GEMM, number=1), plan)
    assert how is not None
    assert (how.parts, how.stages, how.barriers) == (2, 2, 2)


def test_kernel_is_its_start_and_its_iterations() -> None:
    inner = Loop(10.0, 1.0, GEMM, number=1)
    clocks, tensor = kernel_clocks(Loop(1.0, 1.0, Work(), (inner,)), PLAN, 1, MACHINE)
    one = clocks_of(GEMM, PLAN, 1, MACHINE, PIPELINE).together
    assert clocks == pytest.approx(CONSTANTS.cta_start + 10 * one)
    assert tensor == 10 * 512


@pytest.mark.parametrize("work", [GEMM, ROWS])
@pytest.mark.parametrize("how", [PIPELINE, LoopPlan(exposed=1), LoopPlan(stages=2, barriers=1)])
@pytest.mark.parametrize("resident", [1, 3])
def test_more_work_never_costs_less(work: Work, how: LoopPlan, resident: int) -> None:
    plan = PLAN._replace(loop=how)

    def spent(work: Work, how: LoopPlan = how, spilled: float = 0.0) -> float:
        return clocks_of(work, plan, resident, MACHINE, how, spilled).together

    base = spent(work)
    for name in ("loads", "stores", "gathers", "atomics", "permuted"):
        assert spent(work._replace(**{name: getattr(work, name) + 4096})) >= base, name
    assert spent(work._replace(dots=work.dots * 2)) >= base
    assert spent(work._replace(lanes=(*work.lanes, (4096, 1.0)))) >= base
    assert spent(work, spilled=8.0) >= base
    assert spent(work, how._replace(barriers=how.barriers + 1)) >= base
    assert spent(work, how._replace(exchanged=8192)) >= base


@pytest.mark.parametrize("work", [GEMM, ROWS])
def test_a_spill_never_helps(work: Work) -> None:
    root = Loop(1.0, 1.0, ROWS, (Loop(10.0, 1.0, work, number=1),))
    times = [
        kernel_clocks(root, PLAN._replace(spilled=spilled), 2, MACHINE)[0]
        for spilled in (0, 4, 64, 1024)
    ]
    assert times == sorted(times)
    assert times[0] < times[-1]
