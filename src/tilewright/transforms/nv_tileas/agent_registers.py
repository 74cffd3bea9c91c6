"""The registers of a thread in each agent of a warp-specialized function."""

from __future__ import annotations

from typing import Final

from tilewright.target.arch import REGISTER_STEP, WARP_SIZE, registers_per_thread
from tilewright.target.tensor_cores import WARPGROUP

PRODUCER_REGISTERS: Final = 40
"""Of a thread that only issues copies."""
MOST_REGISTERS: Final = 240
"""Of a consumer's thread."""


def consumer_registers(warps: int, occupancy: int) -> int:
    """Of a thread of `warps` consumers, which take over what a warpgroup of producers releases.

    >>> consumer_registers(warps=8, occupancy=1)
    232
    """
    groups = warps // WARPGROUP
    threads = (warps + WARPGROUP) * WARP_SIZE
    registers = registers_per_thread(threads * occupancy) * (groups + 1) - PRODUCER_REGISTERS
    return min(registers // groups // REGISTER_STEP * REGISTER_STEP, MOST_REGISTERS)
