"""Rules that split the rows and columns of dots: those that nothing observes, and too many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.targets import target_of
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.requests import NUM_CTAS
from tilewright.dialects.nv_tileaa.splits import Split, SplitForm
from tilewright.dialects.nv_tileaa.view import TiledStoreOp, TileStoreOp
from tilewright.dialects.scf import ForOp
from tilewright.layout.linear import log2
from tilewright.schedule.limits import LEAST_COLUMNS
from tilewright.schedule.registers import fits_registers
from tilewright.schedule.tile_words import tile_words
from tilewright.schedule.warp_counts import WARP_COUNTS, fixed_warps
from tilewright.support.remark_catalogue import TILES_SHRUNK
from tilewright.support.remarks import Remark
from tilewright.target.arch import WARP_SIZE
from tilewright.target.tensor_cores import MMA_ROWS
from tilewright.transforms.tile.apply import loop_region
from tilewright.transforms.tile.closure import CannotCut
from tilewright.transforms.tile.one_part import first_part_cut
from tilewright.transforms.tile.parts import is_rest_out_of_bounds

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink
    from tilewright.transforms.nv_tileaa.choose_splits import Trial
    from tilewright.transforms.tile.closure import Cut


def choose_first_parts(trial: Trial, sink: Sink) -> None:
    """Keep the first part of tiles of dots where the rest is out of bounds wherever it is stored.

    A kernel that decodes one token stores one row of each tile, and the view has an extent of one:
    all other rows would be computed in vain.
    """
    kernel = trial.program
    ctas = max(kernel.asks(NUM_CTAS) or 1, kernel.cluster_size)
    if not kernel.is_kernel or ctas > 1:
        return
    for store in [op for op in kernel.walk() if isinstance(op, TileStoreOp)]:
        for dim, extent in enumerate(shape(store.tile.type)):
            if not is_rest_out_of_bounds(store, dim, 2):
                continue
            current = trial.current(store)
            assert isinstance(current, TileStoreOp)
            parts = _first_parts(trial.kernel, current, dim)
            for _ in range(log2(parts)):
                trial.split(store, Split(dim, 2, SplitForm.FIRST))
            if parts > 1:
                _remark(kernel, store, extent, extent // parts, sink)


def _first_parts(kernel: FuncOp, store: TileStoreOp, dim: int) -> int:
    """Into how many parts tiles can be split, such that the first one is enough."""
    parts = 1
    while is_rest_out_of_bounds(store, dim, 2 * parts):
        try:
            cut = first_part_cut(kernel, {store: Split(dim, 2 * parts, SplitForm.FIRST)})
        except CannotCut:
            break
        if not _is_worthwhile(cut):
            break
        parts *= 2
    return parts


def _is_worthwhile(cut: Cut) -> bool:
    """Whether dots are split, and none below the rows of an instruction."""
    dots = [(op, way) for op, way in cut.ways.items() if isinstance(op, DotOp)]
    least = MMA_ROWS * cut.parts // 2
    return bool(dots) and all(shape(op.c.type)[way.axes[op.c]] > least for op, way in dots)


def _remark(kernel: FuncOp, store: TileStoreOp, old: int, new: int, sink: Sink) -> None:
    if sink.wants_remarks:
        text = f"{old} rows or columns of tiles become {new}"
        name, reason = kernel.sym_name, "others are out of bounds"
        sink.remark(Remark(TILES_SHRUNK, text, "plan-splits", name, store.location, reason))


def choose_columns(trial: Trial, _: Sink) -> None:
    """Split the columns of accumulators that exceed the registers.

    A tile of 256×256 accumulators in f32 takes all registers of an SM. Where a loop does nothing
    but accumulate a dot, and only element-wise operations and stores follow, all of them run once
    for each part of the columns. A is loaded again for each part, which it finds in the L2 cache.
    """
    if target_of(trial.program) is None or not trial.program.is_kernel:
        return
    fixed = fixed_warps(trial.kernel)
    for (source,) in [dots for dots in dots_of_loops(trial) if len(dots) == 1]:
        dot = trial.current(source)
        assert isinstance(dot, DotOp)
        parts = _column_parts(dot, fixed)
        if parts > 1 and _only_accumulates(dot):
            split = Split(len(shape(dot.c.type)) - 1, parts, SplitForm.LOOP)
            if _is_stored_in_parts(dot, split):
                trial.split(source, split)


def dots_of_loops(trial: Trial) -> list[list[Operation]]:
    """Of the kernel, the dots directly in each loop with dots, the innermost loops first."""
    loops = [op for op in trial.kernel.walk_post_order() if isinstance(op, ForOp)]
    bodies = [[op for op in loop.body.block if isinstance(op, DotOp)] for loop in loops]
    return [[trial.source(dot) for dot in dots] for dots in bodies if dots]


def _column_parts(dot: DotOp, fixed: int | None) -> int:
    """Into how many parts the columns of a dot are split, so that its accumulators fit."""
    words, columns = tile_words(dot.c.type), shape(dot.c.type)[-1]
    numbers = WARP_COUNTS if fixed is None else (fixed,)
    parts = 1
    while columns // parts >= LEAST_COLUMNS:
        if any(fits_registers(words // parts, warps * WARP_SIZE) for warps in numbers):
            return parts
        parts *= 2
    return 1


def _only_accumulates(dot: DotOp) -> bool:
    """Whether the loop around a dot carries nothing but its accumulators."""
    loop = dot.parent_op
    assert isinstance(loop, ForOp)
    end = loop.body.block.last
    assert end is not None
    return [*loop.carried] == [dot.c] and [*end.operands] == [dot.result]


def _is_stored_in_parts(dot: DotOp, split: Split) -> bool:
    """Whether a loop, and what follows it up to a store, can run once for each part."""
    try:
        region = loop_region({dot: split})
    except CannotCut:
        return False
    return any(isinstance(op, TiledStoreOp) for op in region.members)
