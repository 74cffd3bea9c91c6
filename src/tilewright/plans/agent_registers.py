"""The registers of a thread in each agent of a warp-specialized function."""

from __future__ import annotations

from typing import Final, NamedTuple

from tilewright.target.arch import REGISTER_STEP, WARP_SIZE, registers_per_thread
from tilewright.target.tensor_cores import WARPGROUP

PRODUCER_REGISTERS: Final = 40
"""Of a thread that only issues copies."""
MOST_REGISTERS: Final = 240
"""Of a consumer's thread."""


class ConsumerRegisters(NamedTuple):
    """The registers of a consumer's thread."""

    launch: int
    """When the block starts, as of every thread."""
    changed: int
    """With what the producers release."""

    def problem(self, accumulators: int, instruction: int, others: int) -> str | None:
        """Why a thread cannot have these accumulators and other registers; None if it can.

        ptxas demands that those of one `instruction` fit into the registers at the launch.
        """
        if accumulators + others > self.changed:
            return f"its accumulators take {accumulators} of {self.changed} registers"
        if instruction + others > self.launch:
            return f"a wgmma takes {instruction} of {self.launch} registers at the launch"
        return None


def consumer_registers(warps: int, blocks: int) -> ConsumerRegisters:
    """Of a thread of `warps` consumers, if an SM has that many blocks.

    A block has a warpgroup of producers, since setmaxnreg applies to whole warpgroups.

    >>> consumer_registers(warps=8, blocks=1)
    ConsumerRegisters(launch=168, changed=232)
    """
    groups = warps // WARPGROUP
    launch = registers_per_thread((warps + WARPGROUP) * WARP_SIZE * blocks)
    changed = (launch * (groups + 1) - PRODUCER_REGISTERS) // groups
    return ConsumerRegisters(launch, min(changed // REGISTER_STEP * REGISTER_STEP, MOST_REGISTERS))
