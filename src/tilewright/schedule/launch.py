"""The launch shape of a kernel: the warps of a block, and how many blocks an SM is to have.

`plan-kernel` records the choice, which no other pass computes again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.targets import target_or_baseline
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.requests import OCCUPANCY
from tilewright.dialects.scf import ForOp
from tilewright.schedule.registers import accumulator_registers, fitting_blocks
from tilewright.schedule.row_kernels import RowKernel
from tilewright.schedule.tile_words import accumulator_words, tile_words
from tilewright.schedule.warps import FEWEST, MOST, SHARE, fixed_warps, largest_words
from tilewright.target.arch import MAX_REGISTERS, WARP_SIZE
from tilewright.target.tensor_cores import MMA_ROWS, WGMMA_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Block
    from tilewright.ir.values import Value

DOT_SHARES: Final = {4: 64, 8: 128}
"""By number of warps, the registers of a thread of the largest tile above which warps double, with
dots: accumulators stay in registers, and larger ones need fewer operand loads per element. A thread
of 16 warps has at most 128 registers."""
LIVE_SHARE: Final = 160
"""Registers of a thread of one warpgroup above which accumulators that are live together, as those
of the gradients of attention, are divided between two: operands are in registers beside them."""
OPERAND_SHARE: Final = 64
"""Registers of a thread of four warps for B of dots with few rows, above which there are eight:
their instructions read it from registers."""


class Launch(NamedTuple):
    """The launch shape of a kernel."""

    warps: int
    """Of a block."""
    blocks: int | None = None
    """On an SM, for which registers are limited; None to leave it to ptxas."""
    reason: str = ""
    """Why there are more warps than the fewest, if that is remarkable."""


class Relaxed(NamedTuple):
    """The blocks on an SM that are chosen where a number is asked for."""

    blocks: int
    registers: int
    """That a thread needs."""


def choose_launch(kernel: FuncOp) -> Launch:
    """Choose the warps of a block and the blocks on an SM; what is fixed stays."""
    fixed, spec = fixed_warps(kernel), kernel.kernel_spec
    warps = choose_warps(kernel) if fixed is None else fixed
    blocks = None if spec is None else spec.occupancy
    row = RowKernel.of(kernel) if blocks is None else None
    if blocks is None and kernel.asks(OCCUPANCY) is not None:
        blocks = relaxed_blocks(kernel, warps).blocks
    elif row is not None:
        blocks = row.blocks(warps)
    return Launch(warps, blocks, "" if fixed else _fragments_reason(kernel))


def relaxed_blocks(kernel: FuncOp, warps: int) -> Relaxed:
    """The blocks on an SM that are asked for, or fewer: accumulators fit into registers.

    The number of blocks limits the registers of a thread. Where the accumulators of dots do not
    fit, ptxas would spill them, or reject `wgmma` altogether; a hint must not break a program.
    """
    threads = warps * WARP_SIZE
    registers = accumulator_registers(live_accumulator_words(_dots(kernel)), threads)
    return Relaxed(fitting_blocks(threads, registers, kernel.asks(OCCUPANCY) or 1), registers)


def choose_warps(kernel: FuncOp) -> int:
    """Four warps, or more where tiles are large.

    Fewer where a block reduces one row, and needs no more for the registers of its tiles.
    """
    dots = _dots(kernel)
    largest = largest_words(kernel)
    warps = _warps_for(largest, has_dots=bool(dots))
    row = None if dots else RowKernel.of(kernel)
    if row is not None and row.is_simple:
        return min(warps, row.warps)
    if warps == FEWEST and _needs_two_warpgroups(dots):
        return 2 * FEWEST if target_or_baseline(kernel).async_dots else warps
    is_shared = fragment_registers(dots, warps) > MAX_REGISTERS or _has_large_operands(kernel, dots)
    return max(warps, 2 * FEWEST) if is_shared else warps


def _dots(kernel: FuncOp) -> list[DotOp]:
    return [op for op in kernel.walk() if isinstance(op, DotOp)]


def _fragments_reason(kernel: FuncOp) -> str:
    """Why warps divide what four do not have registers for, if they do."""
    registers = fragment_registers(_dots(kernel), FEWEST)
    if registers <= MAX_REGISTERS:
        return ""
    return f"fragments and accumulators would take {registers} registers"


def _has_large_operands(kernel: FuncOp, dots: Sequence[DotOp]) -> bool:
    """Whether the instructions of dots with few rows read a large B from registers.

    Two blocks share an SM instead if that is asked for.
    """
    if (kernel.asks(OCCUPANCY) or 1) > 1 or any(_rows(dot) >= WGMMA_ROWS for dot in dots):
        return False
    words = max([tile_words(dot.b.type) for dot in dots], default=0)
    return words > OPERAND_SHARE * FEWEST * WARP_SIZE


def _rows(dot: DotOp) -> int:
    return shape(dot.result.type)[-2]


def _needs_two_warpgroups(dots: Sequence[DotOp]) -> bool:
    """Whether dots by wgmma are better divided between two warpgroups.

    They copy while the dots of both are in flight, also where the registers of one would hold the
    accumulator; and two hold accumulators that are live together, where each has rows for both.
    """
    threads = FEWEST * WARP_SIZE
    words = max([accumulator_words(dot.result.type) for dot in dots], default=0)
    if words > threads * DOT_SHARES[FEWEST]:
        return True
    if live_accumulator_words(dots) + separate_accumulator_words(dots) <= threads * LIVE_SHARE:
        return False
    return all(shape(dot.result.type)[-2] >= 2 * WGMMA_ROWS for dot in dots)


def fragment_registers(dots: Sequence[DotOp], warps: int) -> int:
    """The registers of a thread for the fragments and accumulators of dots in loops with few rows.

    All rows are those of one instruction, so every warp has all of A: where A is from before the
    loop, as Q of a decode step, its fragments are held beside the accumulators and those of B,
    which more warps divide.
    """
    held: dict[Value, int] = {}
    read: list[int] = []
    threads = warps * WARP_SIZE
    for dot in dots:
        loop = next((op for op in dot.ancestors() if op.loop_body is not None), None)
        if loop is None or shape(dot.result.type)[-2] != MMA_ROWS:
            continue
        if not dot.a.is_inside(loop):
            held[dot.a] = tile_words(dot.a.type) // WARP_SIZE
            read.append(tile_words(dot.b.type) // threads)
    if not held:
        return 0
    return sum(held.values()) + max(read) + live_accumulator_words(dots) // threads


def live_accumulator_words(dots: Iterable[DotOp]) -> int:
    """The 32-bit registers of the accumulators that are live together, over all threads.

    The accumulators of all dots of a block are, as in attention: one is an operand of the next.
    """
    words: dict[Block | None, int] = {}
    for dot in dots:
        # One that accumulates what another dot of the block did has its registers.
        previous = dot.c.defining_op()
        if not isinstance(previous, DotOp) or previous.parent is not dot.parent:
            words[dot.parent] = words.get(dot.parent, 0) + tile_words(dot.result.type)
    return max(words.values(), default=0)


def separate_accumulator_words(dots: Iterable[DotOp]) -> int:
    """The 32-bit registers of tiles that loops carry beside the accumulators of dots.

    A dot that starts at zero does not update such a tile: it is added to it afterwards.
    """
    words: dict[Block | None, int] = {}
    for dot in dots:
        block = dot.parent
        end = None if block is None else block.last
        if block is None or end is None or not isinstance(block.parent_op, ForOp):
            continue
        is_added = any(value.defining_op() in set(dot.result.users) for value in end.operands)
        if is_added and dot.c.parent_block is not block:
            words[block] = words.get(block, 0) + tile_words(dot.result.type)
    return max(words.values(), default=0)


def _warps_for(largest: int, *, has_dots: bool) -> int:
    """The number of warps for a largest tile of `largest` 32-bit words."""
    warps = FEWEST
    while warps < MOST:
        share = DOT_SHARES[warps] if has_dots else SHARE
        if largest <= warps * WARP_SIZE * share:
            break
        warps *= 2
    return warps
