"""The registers of producers and consumers."""

from __future__ import annotations

import pytest

from tilewright.target.arch import REGISTER_STEP, REGISTERS_PER_SM, WARP_SIZE
from tilewright.target.tensor_cores import WARPGROUP
from tilewright.transforms.nv_tileas.agent_registers import (
    MOST_REGISTERS,
    PRODUCER_REGISTERS,
    consumer_registers,
)


@pytest.mark.parametrize(("warps", "occupancy", "registers"), [
    (8, 1, 232),  # 384 threads start with 168: (3 * 168 - 40) / 2
    (4, 1, 240),  # 256 threads start with 255: the most that a consumer takes
    (12, 1, 152),  # 512 threads start with 128: (4 * 128 - 40) / 3 = 157
    (16, 1, 104),  # 640 threads start with 96: (5 * 96 - 40) / 4 = 110
    (4, 2, 216),  # 256 threads start with 128, twice: 2 * 128 - 40
    (8, 2, 96),  # 384 threads start with 80, twice: (3 * 80 - 40) / 2 = 100
])  # fmt: skip
def test_consumers_take_what_producers_release(warps: int, occupancy: int, registers: int) -> None:
    assert consumer_registers(warps, occupancy) == registers


@pytest.mark.parametrize("occupancy", [1, 2, 3, 4])
@pytest.mark.parametrize("warps", [4, 8, 12, 16])
def test_all_agents_fit_into_the_registers_of_an_sm(warps: int, occupancy: int) -> None:
    """Otherwise the consumers would wait forever."""
    consumers = consumer_registers(warps, occupancy)
    threads = WARP_SIZE * occupancy
    used = threads * (warps * consumers + WARPGROUP * PRODUCER_REGISTERS)
    assert used <= REGISTERS_PER_SM
    assert consumers % REGISTER_STEP == 0
    assert consumers <= MOST_REGISTERS
