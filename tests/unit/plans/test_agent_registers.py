"""The registers of producers and consumers."""

from __future__ import annotations

from each_case import each_case

from tilewright.plans.agent_registers import (
    MOST_REGISTERS,
    PRODUCER_REGISTERS,
    ConsumerRegisters,
    consumer_registers,
)
from tilewright.target.arch import REGISTER_STEP, REGISTERS_PER_SM, WARP_SIZE
from tilewright.target.tensor_cores import WARPGROUP


@each_case(("warps", "blocks", "registers"), [
    (8, 1, 232),  # 384 threads start with 168: (3 * 168 - 40) / 2
    (4, 1, 240),  # 256 threads start with 255: the most that a consumer takes
    (12, 1, 152),  # 512 threads start with 128: (4 * 128 - 40) / 3 = 157
    (16, 1, 104),  # 640 threads start with 96: (5 * 96 - 40) / 4 = 110
    (4, 2, 216),  # 256 threads start with 128, twice: 2 * 128 - 40
    (8, 2, 96),  # 384 threads start with 80, twice: (3 * 80 - 40) / 2 = 100
])  # fmt: skip
def test_consumers_take_what_producers_release(warps: int, blocks: int, registers: int) -> None:
    assert consumer_registers(warps, blocks).changed == registers


@each_case("blocks", [1, 2, 3, 4])
@each_case("warps", [4, 8, 12, 16])
def test_all_agents_fit_into_the_registers_of_an_sm(warps: int, blocks: int) -> None:
    """Otherwise the consumers would wait forever."""
    consumers = consumer_registers(warps, blocks).changed
    threads = WARP_SIZE * blocks
    used = threads * (warps * consumers + WARPGROUP * PRODUCER_REGISTERS)
    assert used <= REGISTERS_PER_SM
    assert consumers % REGISTER_STEP == 0
    assert consumers <= MOST_REGISTERS


def test_a_problem_names_the_registers_that_are_missing() -> None:
    registers = ConsumerRegisters(launch=80, changed=96)
    assert registers.problem(accumulators=32, instruction=32, others=40) is None
    assert registers.problem(accumulators=64, instruction=32, others=40) == (
        "its accumulators take 64 of 96 registers"
    )
    assert registers.problem(accumulators=48, instruction=48, others=40) == (
        "a wgmma takes 48 of 80 registers at the launch"
    )
