"""The launch shape of a kernel: the warps of a block, and how many blocks an SM is to have.

`plan-kernel` records the choice. No other pass chooses warps; where no blocks are chosen here,
`version-single-trip`, `rotate-dots` and `schedule-loops` may choose them. The number of warps
starts from the largest tile, and is changed where the tiles that are live together, or the operands
of dots, say that its threads would have too few registers, or an SM too few blocks.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from tilewright.analysis.elementwise import is_tile
from tilewright.analysis.targets import target_or_baseline
from tilewright.dialects.nv_tileaa.aggregate import ReduceOp, ScanOp
from tilewright.dialects.nv_tileaa.atomics import AtomicOp
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.requests import OCCUPANCY
from tilewright.dialects.nv_tileaa.view import TileLoadOp, TileUpdateOp
from tilewright.dialects.scf import ForOp
from tilewright.schedule import limits
from tilewright.schedule.liveness_before_layouts import live_words
from tilewright.schedule.liveness_with_layouts import loop_around
from tilewright.schedule.registers import (
    K_LOOP_OTHERS,
    accumulator_registers,
    fitting_blocks,
    launch_registers,
)
from tilewright.schedule.row_kernels import RowKernel
from tilewright.schedule.tile_words import accumulator_words, tile_words
from tilewright.schedule.warp_counts import (
    DEFAULT_WARPS,
    MAX_WARPS,
    WARP_COUNTS,
    fixed_warps,
    largest_words,
)
from tilewright.target.arch import MAX_REGISTERS, WARP_SIZE
from tilewright.target.tensor_cores import MMA_ROWS, WGMMA_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Block
    from tilewright.ir.values import Value


class LaunchShape(NamedTuple):
    """The launch shape of a kernel."""

    warps: int
    """Of a block."""
    reason: str = ""
    """Why the number of warps is not that for the largest tile."""
    blocks: int | None = None
    """On an SM, for which registers are limited; None to leave it to ptxas."""


class Relaxed(NamedTuple):
    """The blocks on an SM that are chosen where a number is asked for."""

    blocks: int
    registers: int
    """That a thread needs."""


def choose_launch(kernel: FuncOp) -> LaunchShape:
    """Choose the warps of a block and the blocks on an SM; what is fixed stays."""
    launch, spec = _choose_warps(kernel), kernel.kernel_spec
    blocks = None if spec is None else spec.occupancy
    if blocks is None and kernel.asks(OCCUPANCY) is not None:
        blocks = relaxed_blocks(kernel, launch.warps).blocks
    elif blocks is None and (row := RowKernel.of(kernel)) is not None:
        blocks = row.blocks(launch.warps)
    return launch._replace(blocks=blocks)


def relaxed_blocks(kernel: FuncOp, warps: int) -> Relaxed:
    """The blocks on an SM that are asked for, or fewer: accumulators fit into registers.

    The number of blocks limits the registers of a thread. Where the accumulators of dots do not
    fit, ptxas would spill them, or reject `wgmma` altogether; a hint must not break a program.
    """
    threads = warps * WARP_SIZE
    registers = accumulator_registers(live_accumulator_words(_dots(kernel)), threads)
    return Relaxed(fitting_blocks(threads, registers, kernel.asks(OCCUPANCY) or 1), registers)


def _choose_warps(kernel: FuncOp) -> LaunchShape:
    """The number of warps that is fixed, or that for the tiles of a kernel.

    Without dots, that is the one for the largest tile, or fewer of a simple row kernel
    (`RowKernel`), or within `_warp_bounds`.
    """
    fixed, dots = fixed_warps(kernel), _dots(kernel)
    if fixed is not None:
        return LaunchShape(fixed)
    if dots:
        return _less_spilling(live_words(kernel), _warps_of_dots(kernel, dots))
    row, warps = RowKernel.of(kernel), _holding(largest_words(kernel), limits.TILE_SHARE)
    if row is not None and row.is_simple:
        return LaunchShape(min(warps, row.warps))
    fewest, most = _warp_bounds(kernel, warps)
    if warps < fewest.warps:
        return fewest
    return most if warps > most.warps else LaunchShape(warps)


def _warps_of_dots(kernel: FuncOp, dots: Sequence[DotOp]) -> LaunchShape:
    """The number of warps for the largest tile; more if operands are in registers beside it."""
    warps, largest = DEFAULT_WARPS, largest_words(kernel)
    while warps < MAX_WARPS and largest > warps * WARP_SIZE * limits.DOT_SHARES[warps]:
        warps *= 2
    if warps > DEFAULT_WARPS:
        return LaunchShape(warps)
    if _needs_two_warpgroups(dots):
        return LaunchShape(2 * warps if target_or_baseline(kernel).async_dots else warps)
    registers = _fragment_registers(dots)
    if registers <= MAX_REGISTERS:
        return LaunchShape(warps)
    taken = f"fragments and accumulators would take {registers} registers"
    return LaunchShape(2 * warps, f"{taken} of a thread of {warps}")


def _less_spilling(live: int, launch: LaunchShape) -> LaunchShape:
    """Twice the warps, as long as threads have too few registers, and by half as many at most.

    `live` are the words of tiles that are live together.
    """

    def needed(warps: int) -> int:
        return -(-live // (warps * WARP_SIZE)) + K_LOOP_OTHERS

    def missing(warps: int) -> int:
        return max(0, needed(warps) - launch_registers(warps * WARP_SIZE))

    while (warps := launch.warps) < MAX_WARPS and 0 < missing(warps) >= 2 * missing(2 * warps):
        limit = launch_registers(warps * WARP_SIZE)
        reason = f"a thread of {warps} would take {needed(warps)} of {limit} registers"
        launch = LaunchShape(2 * warps, reason)
    return launch


def _warp_bounds(kernel: FuncOp, warps: int) -> tuple[LaunchShape, LaunchShape]:
    """The fewest and the most warps for tiles without dots; `warps` are those for the largest.

    Blocks on an SM hide each other's latency, so it is to have registers for several. Fewer warps
    wait less for each other in reductions; but not where loops load tiles, as loads of later
    iterations hide latency, too.
    """
    if not _keeps_tiles(kernel):
        most = LaunchShape(limits.WARPS_OF_PARTS, "large tiles are computed part by part")
        return LaunchShape(DEFAULT_WARPS), most
    live = live_words(kernel)
    share = -(-live // (warps * WARP_SIZE))
    reason = f"tiles that are live together would take {share} registers of a thread of {warps}"
    fewest = LaunchShape(_holding(live, limits.LIVE_SHARE), reason)
    scanned = _scanned_words(kernel)
    if fewest.warps < 2 * DEFAULT_WARPS and scanned > limits.SCAN_SHARE * DEFAULT_WARPS * WARP_SIZE:
        fewest = LaunchShape(
            2 * DEFAULT_WARPS,
            f"a thread of {warps} would scan {scanned // (warps * WARP_SIZE)} words",
        )
    most = MAX_WARPS
    if _reduces(kernel) and not _loads_in_loops(kernel):
        most = max(_holding(live, limits.FEW_LIVE_SHARE), fewest.warps)
    return fewest, LaunchShape(most, "an SM has registers for more blocks of fewer warps")


def _needs_two_warpgroups(dots: Sequence[DotOp]) -> bool:
    """Whether dots by wgmma are better divided between two warpgroups.

    They copy while the dots of both are in flight, also where the registers of one would hold the
    accumulator; and two hold accumulators that are live together, where each has rows for both.
    """
    threads = DEFAULT_WARPS * WARP_SIZE
    words = max([accumulator_words(dot.result.type) for dot in dots], default=0)
    if words > threads * limits.DOT_SHARES[DEFAULT_WARPS]:
        return True
    live = live_accumulator_words(dots) + separate_accumulator_words(dots)
    if live <= threads * limits.LIVE_DOT_SHARE:
        return False
    return all(shape(dot.result.type)[-2] >= 2 * WGMMA_ROWS for dot in dots)


def _holding(words: int, share: int) -> int:
    """The fewest warps whose threads hold tiles in some registers each, or the most."""
    allowed = (each for each in WARP_COUNTS if each >= DEFAULT_WARPS)
    return next((each for each in allowed if words <= each * WARP_SIZE * share), MAX_WARPS)


def _dots(kernel: FuncOp) -> list[DotOp]:
    return [op for op in kernel.walk() if isinstance(op, DotOp)]


def _scanned_words(kernel: FuncOp) -> int:
    """The words of the largest tile that is scanned; 0 without scans."""
    scans = [op for op in kernel.walk() if isinstance(op, ScanOp)]
    return max([tile_words(value.type) for op in scans for value in op.sources], default=0)


def _reduces(kernel: FuncOp) -> bool:
    return any(isinstance(op, ReduceOp) for op in kernel.walk())


def _keeps_tiles(kernel: FuncOp) -> bool:
    """Whether whole tiles stay in registers: `slice-tiles` has others computed part by part."""
    keeping = AtomicOp | ReduceOp | ScanOp | TileUpdateOp
    return any(op.loop_body is not None or isinstance(op, keeping) for op in kernel.walk())


def _loads_in_loops(kernel: FuncOp) -> bool:
    """Whether an iteration of a loop loads a tile."""
    loads = [op for op in kernel.walk() if isinstance(op, LoadOp | TileLoadOp)]
    return any(is_tile(op.results[0]) and loop_around(op) is not None for op in loads)


def _fragment_registers(dots: Sequence[DotOp]) -> int:
    """The registers of a thread for the fragments and accumulators of dots in loops with few rows.

    All rows are those of one instruction, so every warp has all of A: where A is from before the
    loop, as Q of a decode step, its fragments are held beside the accumulators and those of B,
    which more warps divide.
    """
    held: dict[Value, int] = {}
    read: list[int] = []
    threads = DEFAULT_WARPS * WARP_SIZE
    for dot in dots:
        loop = loop_around(dot)
        is_low = shape(dot.result.type)[-2] == MMA_ROWS
        if loop is not None and is_low and not dot.a.is_inside(loop):
            held[dot.a] = tile_words(dot.a.type) // WARP_SIZE
            read.append(tile_words(dot.b.type) // threads)
    if not held:
        return 0
    return sum(held.values()) + max(read) + live_accumulator_words(dots) // threads


def live_accumulator_words(dots: Iterable[DotOp]) -> int:
    """The 32-bit registers of the accumulators that are live together, over all threads.

    The accumulators of all dots of a block are, as in attention: one is an operand of the next. One
    that accumulates what another dot of the block did has its registers.
    """
    befores = [(dot, dot.c.defining_op()) for dot in dots]
    return _most_words(
        dot
        for dot, before in befores
        if not isinstance(before, DotOp) or before.parent is not dot.parent
    )


def separate_accumulator_words(dots: Iterable[DotOp]) -> int:
    """The 32-bit registers of tiles that loops carry beside the accumulators of dots.

    A dot that starts at zero does not update such a tile: it is added to it afterwards.
    """
    return _most_words(filter(_is_added, dots))


def _is_added(dot: DotOp) -> bool:
    """Whether a dot of a loop does not accumulate, and is added to a tile that the loop carries."""
    block = dot.parent
    end = None if block is None else block.last
    if block is None or end is None or not isinstance(block.parent_op, ForOp):
        return False
    users = set(dot.result.users)
    is_carried = any(value.defining_op() in users for value in end.operands)
    return is_carried and dot.c.parent_block is not block


def _most_words(dots: Iterable[DotOp]) -> int:
    """The most words of the results of dots of one block."""
    words: Counter[Block | None] = Counter()
    for dot in dots:
        words[dot.parent] += tile_words(dot.result.type)
    return max(words.values(), default=0)
