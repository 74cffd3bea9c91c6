"""The registers of a thread: those that it may have, and those that its code takes.

What a thread may have is exact: ptxas keeps to it, and spills what is above. What its code takes is
an estimate: the words of the tiles that are live together, which are counted, and a number for all
other values, by the kind of code. `benchmarks/results/spills.md` compares it with ptxas.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

from tilewright.target.arch import MAX_REGISTERS, REGISTER_STEP, WARP_SIZE, registers_per_thread
from tilewright.target.tensor_cores import WARPGROUP

OTHER_REGISTERS: Final = 40
"""Of a thread, beside the tiles that are live at once: addresses, descriptors, predicates, the
state of pipelines. Not measured by itself. On sm_90 the choices for the 521 programs of the
benchmarks are the same with 39, and those of consumers and rotated loops from 33 on."""
LEAST_OTHERS: Final = 32
"""Beside the tiles of a row in a kernel without loops: fewer warps and more blocks were measured
with it (decision 0022). Also the least beside accumulators: a hint is met where ptxas can just
manage, which was not measured; on sm_90 the hints of the benchmarks are met from 0 to 64."""
K_LOOP_OTHERS: Final = 24
"""Beside tiles and the addresses of copies, which are counted, in a loop over K. Not measured by
itself: without it, a persistent GEMM in tf32 spilled 52 bytes."""
LOADING_OTHERS: Final = 16
"""Beside tiles that a block loads once, and what is computed of as many elements. Not measured by
itself; it was set with the RMS norms that `BYTES_IN_FLIGHT` of row kernels was measured with."""

UNLIMITED_OTHERS: Final = 80
"""Beside the tiles of a loop whose threads no hint limits: ptxas takes what it can use. Of 132
kernels of the benchmarks on sm_90 that threads copy for, three of four take at most as many."""

PRODUCER_REGISTERS: Final = 40
"""Of a thread that only issues copies."""
MOST_REGISTERS: Final = 240
"""Of a consumer's thread. Not measured: a thread of one warpgroup and its producer could have 255,
and `setmaxnreg` takes multiples of eight."""

SHARING_BLOCKS: Final = 2
"""The blocks on an SM of which one multiplies while the other waits for copies or its dots."""
SHARING_THREADS: Final = 2 * WARPGROUP * WARP_SIZE
"""Of a block beside which another one may be: two warpgroups."""
SMALL: Final = 4
"""How many times smaller a tile is than the accumulators to be of no account."""


def launch_registers(threads: int, blocks: int | None = None) -> int:
    """The most registers of a thread at the launch of a block, if an SM has some blocks.

    >>> launch_registers(256), launch_registers(256, blocks=2)
    (255, 128)
    """
    return registers_per_thread(threads * (blocks or 1))


def fitting_blocks(threads: int, registers: int, most: int) -> int:
    """How many blocks, up to `most`, an SM has registers for; at least one.

    >>> fitting_blocks(threads=128, registers=100, most=8)
    4
    """
    while most > 1 and launch_registers(threads, most) < registers:
        most -= 1
    return most


def resident_blocks(accumulators: int, asked: int | None) -> int:
    """How many blocks share an SM: as asked, or two if a thread has few accumulators."""
    fits = accumulators + OTHER_REGISTERS <= launch_registers(SHARING_THREADS, SHARING_BLOCKS)
    return asked or (SHARING_BLOCKS if fits else 1)


def registers_for_tiles(limit: int) -> int:
    """How many of a thread's registers are left for tiles."""
    return limit - OTHER_REGISTERS


def tile_capacity(threads: int, others: int = OTHER_REGISTERS) -> int:
    """The 32-bit words of tiles that the threads of a block hold, the only one on an SM."""
    return threads * (launch_registers(threads) - others)


def fits_registers(words: int, threads: int) -> bool:
    """Whether the registers of a block's threads hold accumulators and fragments of these words."""
    return words <= tile_capacity(threads)


class Passed(Enum):
    """What operations are moved over, and the most registers of a thread that live longer by it.

    No bound was measured against others.
    """

    CONVERSIONS = 96
    """Exchanges of loaded tiles, beside which no accumulators are live."""
    DOTS = 32
    """The dots of an iteration, whose accumulators and fragments have most registers."""
    LOOP = 4
    """A loop, in which all of its tiles are live."""

    def allows(self, registers: int) -> bool:
        """Whether a thread may have that many registers for longer."""
        return registers <= self.value


def is_small_beside(words: int, accumulators: int) -> bool:
    """Whether a tile is of no account beside accumulators, by the words of both."""
    return words <= accumulators // SMALL


def thread_registers(words: int, threads: int) -> int:
    """The registers of a thread for tiles that are live at once, such as all of a rotated loop.

    >>> thread_registers(160 * 128, threads=128)
    200
    """
    return _of_thread(words, threads) + OTHER_REGISTERS


def unlimited_registers(tiles: int) -> int:
    """The registers of a thread with some for tiles, if nothing limits them.

    >>> unlimited_registers(64), unlimited_registers(200)
    (144, 255)
    """
    return min(tiles + UNLIMITED_OTHERS, MAX_REGISTERS)


def row_registers(words: int, threads: int) -> int:
    """The registers of a thread for tiles that are live together in a kernel without loops."""
    return _of_thread(words, threads) + LEAST_OTHERS


def loading_registers(words: int, threads: int) -> int:
    """The registers of a thread for tiles that a block loads once, and for what it computes."""
    return 2 * _of_thread(words, threads) + LOADING_OTHERS


def accumulator_registers(words: int, threads: int) -> int:
    """The fewest registers of a thread for accumulators that are live together; 0 without any."""
    return _of_thread(words, threads) + LEAST_OTHERS if words else 0


class ConsumerRegisters(NamedTuple):
    """The registers of a consumer's thread."""

    launch: int
    """When the block starts, as of every thread."""
    changed: int
    """With what the producers release."""


def consumer_registers(warps: int, blocks: int | None = None) -> ConsumerRegisters:
    """Of a thread of `warps` consumers, if an SM has that many blocks.

    A block has a warpgroup of producers, since setmaxnreg applies to whole warpgroups.

    >>> consumer_registers(warps=8)
    ConsumerRegisters(launch=168, changed=232)
    """
    groups = warps // WARPGROUP
    launch = launch_registers((warps + WARPGROUP) * WARP_SIZE, blocks)
    changed = (launch * (groups + 1) - PRODUCER_REGISTERS) // groups
    return ConsumerRegisters(launch, min(changed // REGISTER_STEP * REGISTER_STEP, MOST_REGISTERS))


class ConsumerTiles(NamedTuple):
    """The tiles of consumers, in 32-bit words over all of their threads."""

    accumulators: int
    """Of the dot with the most, those of its promotion included."""
    instruction: int
    """The accumulators of the largest instruction."""
    chained: int
    """What is live at once for a dot whose A is computed from the results of others; or 0."""

    def problem(self, warps: int, blocks: int | None = None) -> str | None:
        """Why the threads of some consumer warps cannot hold them; None if they can.

        ptxas demands that those of one instruction fit into the registers at the launch.
        """
        threads, registers = warps * WARP_SIZE, consumer_registers(warps, blocks)
        accumulators, instruction, chained = [_of_thread(words, threads) for words in self]
        if accumulators > registers_for_tiles(registers.changed):
            return f"its accumulators take {accumulators} of {registers.changed} registers"
        if instruction > registers_for_tiles(registers.launch):
            return f"a wgmma takes {instruction} of {registers.launch} registers at the launch"
        if chained > registers_for_tiles(registers.changed):
            return f"its chained dots take {chained} of {registers.changed} registers"
        return None


def _of_thread(words: int, threads: int) -> int:
    return -(-words // threads)
