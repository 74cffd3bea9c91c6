"""The warps of a kernel with dots: by its accumulators, and the operands that registers hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.targets import target_or_baseline
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.scf import ForOp
from tilewright.schedule.limits import DOT_SHARES, LIVE_DOT_SHARE
from tilewright.schedule.tile_words import accumulator_words, tile_words
from tilewright.schedule.warp_counts import DEFAULT_WARPS, MAX_WARPS
from tilewright.target.arch import MAX_REGISTERS, WARP_SIZE
from tilewright.target.tensor_cores import MMA_ROWS, WGMMA_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Block
    from tilewright.ir.values import Value


def warps_of_dots(kernel: FuncOp, dots: Sequence[DotOp], largest: int) -> tuple[int, str]:
    """The number of warps for a largest tile of some words; more if operands are in registers.

    With the reason, if fragments decide.
    """
    warps = DEFAULT_WARPS
    while warps < MAX_WARPS and largest > warps * WARP_SIZE * DOT_SHARES[warps]:
        warps *= 2
    if warps > DEFAULT_WARPS:
        return warps, ""
    if _needs_two_warpgroups(dots):
        return 2 * DEFAULT_WARPS if target_or_baseline(kernel).async_dots else warps, ""
    registers = fragment_registers(dots, DEFAULT_WARPS)
    if registers > MAX_REGISTERS:
        return 2 * DEFAULT_WARPS, _fragments(registers)
    return warps, ""


def _fragments(registers: int) -> str:
    of = f"of a thread of {DEFAULT_WARPS}"
    return f"fragments and accumulators would take {registers} registers {of}"


def _needs_two_warpgroups(dots: Sequence[DotOp]) -> bool:
    """Whether dots by wgmma are better divided between two warpgroups.

    They copy while the dots of both are in flight, also where the registers of one would hold the
    accumulator; and two hold accumulators that are live together, where each has rows for both.
    """
    threads = DEFAULT_WARPS * WARP_SIZE
    words = max([accumulator_words(dot.result.type) for dot in dots], default=0)
    if words > threads * DOT_SHARES[DEFAULT_WARPS]:
        return True
    if live_accumulator_words(dots) + separate_accumulator_words(dots) <= threads * LIVE_DOT_SHARE:
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
