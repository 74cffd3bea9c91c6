"""Tiles that several loops load stay in shared memory: later loops do not read global memory again.

A row that is too long for registers is reduced and normalized in several loops over its tiles. The
first loop copies the first tiles to shared memory, all of them early; the others read them from
there. Trip counts are dynamic, so loops load what is not kept as before.
"""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, Final

from tilewright.analysis.loop_bounds import integer_of
from tilewright.analysis.targets import target_of
from tilewright.dialects.elements import width_of
from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.attributes import CopyEngine, maybe_layout_of
from tilewright.schedule.limits import (
    FEWEST_KEPT,
    KEPT_IN_FLIGHT,
    KEPT_LEAST_THREADS,
    KEPT_MOST_THREADS,
    LARGE_TILE,
    MOST_KEPT,
)
from tilewright.schedule.shared_memory import SharedMemory, sm_share, stage_bytes
from tilewright.schedule.tile_words import tile_words
from tilewright.schedule.warp_counts import threads_of
from tilewright.support.remark_catalogue import TILES_KEPT, TILES_NOT_KEPT
from tilewright.support.remarks import Remark
from tilewright.target.arch import WARP_SIZE
from tilewright.transforms.kernel_pass import KernelPass
from tilewright.transforms.nv_tileaa.repeated_loads import (
    LoopLoads,
    RepeatedLoads,
    find_repeated_loads,
)
from tilewright.transforms.nv_tileaa.unroll_loops import constant_range
from tilewright.transforms.nv_tileas.build_kept_tiles import KeptTiles
from tilewright.transforms.nv_tileas.pipelined_loads import TileLoad, plan_stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.scf import ForOp
    from tilewright.support.diagnostics import Sink
    from tilewright.support.remark_catalogue import RemarkEntry
    from tilewright.transforms.nv_tileaa.prefetchable_loads import PrefetchableLoad

KEPT_TILES: Final = "kept_tiles"


class KeepTiles(KernelPass):
    """Keep the first tiles that a loop loads in shared memory, for later loops that load them."""

    name = "keep-tiles"
    change = Change.REORDER

    def run_on(self, function: FuncOp, sink: Sink) -> None:
        spec, asked = function.kernel_spec, function.asks(KEPT_TILES)
        if spec is None or spec.num_warps is None or asked == 0:
            return
        any_tiles = False
        for repeated in find_repeated_loads(function, spec.num_warps * WARP_SIZE):
            tiles = _own_tiles(repeated)
            if tiles is not None:
                _keep(function, *tiles, asked, sink)
                any_tiles = True
        if asked is not None and not any_tiles:
            function.refuse(KEPT_TILES, "no later loop loads tiles that each thread can keep")


def _keep(
    function: FuncOp,
    repeated: RepeatedLoads,
    engine: CopyEngine,
    asked: int | None,
    sink: Sink,
) -> None:
    """Keep the tiles of a loop for later ones, as many as are asked for or fit."""
    loop, loads = repeated.first.loop, _tile_loads(repeated.first)
    step = integer_of(loop.step)
    bytes = stage_bytes(loads)
    counters = constant_range(loop)
    is_copied = engine is CopyEngine.CP_ASYNC
    # Copies are all in flight at once; how many there are is known of a constant trip count.
    in_flight = bytes * len(counters) if counters and is_copied else bytes
    blocks = 1 if asked is not None else _resident_blocks(function, in_flight)
    limit = _free_bytes(function, blocks) // bytes
    wanted = MOST_KEPT if asked is None else asked
    capacity = min(limit, wanted, wanted if counters is None else len(counters))
    problem = _problem(loop, step, capacity)
    if problem is not None or step is None:
        text = "Tiles not kept for later loops"
        _report(function, loop, sink, TILES_NOT_KEPT, text, problem or "")
        if asked is not None:
            function.refuse(KEPT_TILES, problem or "")
        return
    text = (
        f"Tiles kept for {len(repeated.later)} later loops: the first {capacity}, "
        f"{capacity * bytes} bytes of shared memory, for at least {blocks} blocks on an SM"
    )
    _report(function, loop, sink, TILES_KEPT, text)
    keeps_all = counters is not None and len(counters) <= capacity
    # Software pipelines copy large tiles early.
    threads = threads_of(function)
    prefetch = all(tile_words(load.results[0].type) < LARGE_TILE * threads for load in loads)
    kept = KeptTiles(repeated, capacity, step, is_copied=is_copied)
    kept.build(keeps_all=keeps_all, prefetch=prefetch)


def _own_tiles(repeated: RepeatedLoads) -> tuple[RepeatedLoads, CopyEngine] | None:
    """The tiles of which each thread can keep its part, with what copies them."""
    engines = [_engine(load) for load in repeated.first.loads]
    for engine in (CopyEngine.CP_ASYNC, CopyEngine.REGISTERS):
        chosen = _selected(repeated, [each is engine for each in engines])
        if chosen is not None:
            return chosen, engine
    return None


def _selected(repeated: RepeatedLoads, chosen: Sequence[bool]) -> RepeatedLoads | None:
    """Some of the tiles; none if no later loop loads any of them."""
    loops = [LoopLoads(each.loop, list(compress(each.loads, chosen))) for each in repeated.loops]
    later = [each for each in loops[1:] if any(load is not None for load in each.loads)]
    return RepeatedLoads(loops[0], later) if later else None


def _engine(load: PrefetchableLoad | None) -> CopyEngine | None:
    """What brings a tile to shared memory such that each thread reads its own, if anything does."""
    if load is None or not isinstance(load.load, TileLoad):
        return None
    layout = maybe_layout_of(load.load.results[0])
    if layout is None or layout.replicas():
        return None
    plan = plan_stage(load.load)
    return plan.engine if plan.is_private else None


def _tile_loads(each: LoopLoads) -> list[TileLoad]:
    return [load.load for load in each.loads if load and isinstance(load.load, TileLoad)]


def _resident_blocks(function: FuncOp, bytes: int) -> int:
    """The blocks of an SM that load enough if each loads some bytes, or as many as are chosen.

    Trip counts are dynamic, and shared memory is not: short rows need as many blocks as before.
    """
    threads, spec = threads_of(function), function.kernel_spec
    least, most = -(-KEPT_LEAST_THREADS // threads), -(-KEPT_MOST_THREADS // threads)
    chosen = spec.occupancy if spec else None
    return max(least, min(-(-KEPT_IN_FLIGHT // bytes), most), chosen or 1)


def _free_bytes(function: FuncOp, blocks: int) -> int:
    """The shared memory for tiles of a block, if some blocks are resident on an SM."""
    arch = target_of(function)
    if arch is None:
        return 0
    return max(sm_share(arch, blocks) - SharedMemory(function).unplanned, 0)


def _problem(loop: ForOp, step: int | None, capacity: int) -> str | None:
    """Why tiles of a loop are not kept."""
    if step is None or step <= 0:
        return "the step is not constant"
    if capacity < FEWEST_KEPT:
        return f"fewer than {FEWEST_KEPT} of a loop fit into the block's share of shared memory"
    if capacity * step >= 1 << (width_of(loop.step.type) - 1):
        return "the step is too large"
    return None


def _report(
    function: FuncOp, loop: ForOp, sink: Sink, entry: RemarkEntry, text: str, reason: str = ""
) -> None:
    if sink.wants_remarks:
        name, location = function.sym_name, loop.location
        sink.remark(Remark(entry, text, KeepTiles.name, name, location, reason))
