"""How many blocks of a kernel without loops share an SM.

A block of such a kernel waits for its loads once, computes, and stores: only other blocks of the SM
compute meanwhile, or load. ptxas does not know that, and takes the registers of all of them to
reorder instructions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.scf import ForOp, WhileOp
from tilewright.plans.tile_registers import OTHER_REGISTERS, result_words
from tilewright.target.arch import WARP_SIZE, registers_per_thread

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation


def straight_line_blocks(kernel: Operation, warps: int) -> int | None:
    """As many blocks as registers suffice for; None if the kernel has loops.

    A thread has registers for its part of the largest tile, and for what is computed from that.
    """
    largest = 0
    for op in kernel.walk():
        if isinstance(op, ForOp | WhileOp):
            return None
        largest = max(largest, result_words(op))
    threads = warps * WARP_SIZE
    needed = 2 * -(-largest // threads) + OTHER_REGISTERS
    blocks = 1
    while registers_per_thread(threads * (blocks + 1)) >= needed:
        blocks += 1
    return blocks
