"""The launch shape of a kernel: the warps of a block, and how many blocks an SM is to have.

`plan-kernel` records the choice. No other pass chooses warps; where no blocks are chosen here,
`version-single-trip`, `rotate-dots` and `schedule-loops` may choose them. The number of warps
starts from the largest tile, and is changed where the tiles that are live together say that its
threads would have too few registers, or an SM too few blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.analysis.elementwise import is_tile
from tilewright.dialects.nv_tileaa.aggregate import ReduceOp, ScanOp
from tilewright.dialects.nv_tileaa.atomics import AtomicOp
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.requests import OCCUPANCY
from tilewright.dialects.nv_tileaa.view import TileLoadOp, TileUpdateOp
from tilewright.schedule.dot_warps import live_accumulator_words, warps_of_dots
from tilewright.schedule.limits import (
    FEW_LIVE_SHARE,
    LIVE_SHARE,
    SCAN_SHARE,
    TILE_SHARE,
    WARPS_OF_PARTS,
)
from tilewright.schedule.liveness_before_layouts import live_words
from tilewright.schedule.registers import (
    K_LOOP_OTHERS,
    accumulator_registers,
    fitting_blocks,
    launch_registers,
)
from tilewright.schedule.row_kernels import RowKernel
from tilewright.schedule.tile_words import tile_words
from tilewright.schedule.warp_counts import (
    DEFAULT_WARPS,
    MAX_WARPS,
    WARP_COUNTS,
    fixed_warps,
    largest_words,
)
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation


class LaunchShape(NamedTuple):
    """The launch shape of a kernel."""

    warps: int
    """Of a block."""
    blocks: int | None = None
    """On an SM, for which registers are limited; None to leave it to ptxas."""
    reason: str = ""
    """Why the number of warps is not that for the largest tile."""


class WarpCandidate(NamedTuple):
    """A number of warps, with what demands it if it is not the one for the largest tile."""

    warps: int
    reason: str = ""


class Relaxed(NamedTuple):
    """The blocks on an SM that are chosen where a number is asked for."""

    blocks: int
    registers: int
    """That a thread needs."""


def choose_launch(kernel: FuncOp) -> LaunchShape:
    """Choose the warps of a block and the blocks on an SM; what is fixed stays."""
    fixed, spec = fixed_warps(kernel), kernel.kernel_spec
    warps, reason = candidate_warps(kernel, fixed)[-1]
    blocks = None if spec is None else spec.occupancy
    if blocks is None and kernel.asks(OCCUPANCY) is not None:
        blocks = relaxed_blocks(kernel, warps).blocks
    elif blocks is None and (row := RowKernel.of(kernel)) is not None:
        blocks = row.blocks(warps)
    return LaunchShape(warps, blocks, reason)


def relaxed_blocks(kernel: FuncOp, warps: int) -> Relaxed:
    """The blocks on an SM that are asked for, or fewer: accumulators fit into registers.

    The number of blocks limits the registers of a thread. Where the accumulators of dots do not
    fit, ptxas would spill them, or reject `wgmma` altogether; a hint must not break a program.
    """
    threads = warps * WARP_SIZE
    registers = accumulator_registers(live_accumulator_words(_dots(kernel)), threads)
    return Relaxed(fitting_blocks(threads, registers, kernel.asks(OCCUPANCY) or 1), registers)


def candidate_warps(kernel: FuncOp, fixed: int | None = None) -> list[WarpCandidate]:
    """The numbers of warps that are considered; the last one is chosen.

    A `fixed` number is the only one. With dots, the first is that of `warps_of_dots`: for the
    largest tile, or more for what dots hold beside it. Each one after it is twice the one before,
    as long as threads would spill and twice the warps halve what is missing at least. Without dots
    there is one: that for the largest tile, or fewer of a simple row kernel (`RowKernel`), or
    within `warp_bounds`.
    """
    dots = _dots(kernel)
    if fixed is not None:
        return [WarpCandidate(fixed)]
    if dots:
        live, first = live_words(kernel), warps_of_dots(kernel, dots, largest_words(kernel))
        return [WarpCandidate(*first), *_less_spilling(live, first[0])]
    row, warps = RowKernel.of(kernel), _holding(largest_words(kernel), TILE_SHARE)
    if row is not None and row.is_simple:
        return [WarpCandidate(min(warps, row.warps))]
    fewest, most = warp_bounds(kernel, warps)
    if warps < fewest.warps:
        return [fewest]
    return [most if warps > most.warps else WarpCandidate(warps)]


def _less_spilling(live: int, warps: int) -> Iterator[WarpCandidate]:
    """More warps, as long as threads have too few registers, and by half as many at most."""
    while warps < MAX_WARPS and 0 < _missing(live, warps) >= 2 * _missing(live, 2 * warps):
        registers, limit = _thread_registers(live, warps), launch_registers(warps * WARP_SIZE)
        reason = f"a thread of {warps} would take {registers} of {limit} registers"
        warps *= 2
        yield WarpCandidate(warps, reason)


def warp_bounds(kernel: FuncOp, warps: int) -> tuple[WarpCandidate, WarpCandidate]:
    """The fewest and the most warps for tiles without dots; `warps` are those for the largest.

    Blocks on an SM hide each other's latency, so it is to have registers for several. Fewer warps
    wait less for each other in reductions; but not where loops load tiles, as loads of later
    iterations hide latency, too.
    """
    if not _keeps_tiles(kernel):
        most = WarpCandidate(WARPS_OF_PARTS, "large tiles are computed part by part")
        return WarpCandidate(DEFAULT_WARPS), most
    live = live_words(kernel)
    share = -(-live // (warps * WARP_SIZE))
    reason = f"tiles that are live together would take {share} registers of a thread of {warps}"
    fewest = WarpCandidate(_holding(live, LIVE_SHARE), reason)
    scanned = _scanned_words(kernel)
    if fewest.warps < 2 * DEFAULT_WARPS and scanned > SCAN_SHARE * DEFAULT_WARPS * WARP_SIZE:
        fewest = WarpCandidate(
            2 * DEFAULT_WARPS,
            f"a thread of {warps} would scan {scanned // (warps * WARP_SIZE)} words",
        )
    most = MAX_WARPS
    if _reduces(kernel) and not _loads_in_loops(kernel):
        most = max(_holding(live, FEW_LIVE_SHARE), fewest.warps)
    return fewest, WarpCandidate(most, "an SM has registers for more blocks of fewer warps")


def _holding(words: int, share: int) -> int:
    """The fewest warps whose threads hold tiles in some registers each, or the most."""
    allowed = (each for each in WARP_COUNTS if each >= DEFAULT_WARPS)
    return next((each for each in allowed if words <= each * WARP_SIZE * share), MAX_WARPS)


def _thread_registers(live: int, warps: int) -> int:
    """The registers of a thread for tiles that are live together, and for what is beside them."""
    return -(-live // (warps * WARP_SIZE)) + K_LOOP_OTHERS


def _missing(live: int, warps: int) -> int:
    """The registers that a thread has too few for tiles that are live together."""
    return max(0, _thread_registers(live, warps) - launch_registers(warps * WARP_SIZE))


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
    return any(is_tile(op.results[0]) and _is_repeated(op) for op in loads)


def _is_repeated(op: Operation) -> bool:
    return any(outer.loop_body is not None for outer in op.ancestors())
