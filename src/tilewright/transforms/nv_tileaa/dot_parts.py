"""Rules that split the tiles of dots: rows and columns that nothing observes, or too many; and K.

The number of stages of a software pipeline should not depend on the tile that a program chose along
K. Where too few stages of the loaded tiles fit into shared memory, or operands that are computed do
not fit into registers, an iteration is split into several, each with a part of K. The accumulation
keeps its order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.elementwise import instructions, is_elementwise
from tilewright.analysis.targets import target_of
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.constraints import count, shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.requests import NUM_CTAS
from tilewright.dialects.nv_tileaa.splits import Split, SplitForm
from tilewright.dialects.nv_tileaa.view import TiledLoadOp, TiledStoreOp, TileStoreOp
from tilewright.dialects.scf import ForOp
from tilewright.layout.linear import log2
from tilewright.plans.mma import PROMOTED
from tilewright.schedule.limits import CHEAP, LEAST_COLUMNS, OVERLAPPED_STAGES
from tilewright.schedule.registers import (
    K_LOOP_OTHERS,
    fits_registers,
    resident_blocks,
    tile_capacity,
)
from tilewright.schedule.shared_memory import block_share
from tilewright.schedule.tile_words import accumulator_words, address_words, tile_words
from tilewright.schedule.warp_counts import WARP_COUNTS, fixed_warps, threads_of
from tilewright.support.remark_catalogue import TILES_SHRUNK
from tilewright.support.remarks import Remark
from tilewright.target.arch import WARP_SIZE
from tilewright.target.tensor_cores import MMA_K_BYTES, MMA_ROWS
from tilewright.transforms.tile.apply import loop_region
from tilewright.transforms.tile.closure import CannotCut
from tilewright.transforms.tile.loop import counts_up_by_one, cut_along_k
from tilewright.transforms.tile.one_part import first_part_cut
from tilewright.transforms.tile.parts import is_rest_out_of_bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink
    from tilewright.target.arch import Arch
    from tilewright.transforms.nv_tileaa.plan_splits import Trial
    from tilewright.transforms.tile.closure import Cut

K_PARTS: Final = "k_parts"


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
    lone = [dots[0] for dots in _dots_of_loops(trial.kernel) if len(dots) == 1]
    for source in [trial.source(dot) for dot in lone]:
        dot = trial.current(source)
        assert isinstance(dot, DotOp)
        parts = _column_parts(dot, fixed)
        if parts > 1 and _only_accumulates(dot):
            split = Split(len(shape(dot.c.type)) - 1, parts, SplitForm.LOOP)
            if _is_stored_in_parts(dot, split):
                trial.split(source, split)


def _dots_of_loops(kernel: FuncOp) -> list[list[DotOp]]:
    """The dots directly in each loop with dots, the innermost loops first."""
    loops = [op for op in kernel.walk_post_order() if isinstance(op, ForOp)]
    bodies = [[op for op in loop.body.block if isinstance(op, DotOp)] for loop in loops]
    return [dots for dots in bodies if dots]


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
    *_, end = loop.body.block
    return [*loop.carried] == [dot.c] and [*end.operands] == [dot.result]


def _is_stored_in_parts(dot: DotOp, split: Split) -> bool:
    """Whether a loop, and what follows it up to a store, can run once for each part."""
    try:
        region = loop_region({dot: split})
    except CannotCut:
        return False
    return any(isinstance(op, TiledStoreOp) for op in region.members)


def choose_k_parts(trial: Trial, _: Sink) -> None:
    """Split iterations so that stages fit into shared memory, and computed operands into registers.

    As many as asked by `k_parts`, or as few as it takes.
    """
    program, arch = trial.program, target_of(trial.program)
    if arch is None or not program.is_kernel:
        return
    wanted, problems = program.asks(K_PARTS) or 0, list[str | None]()
    kernel, spec = trial.kernel, program.kernel_spec
    chosen = None if spec is None else spec.occupancy
    for dots in _dots_of_loops(kernel):
        parts, problem = _choose(kernel, dots, arch, chosen, wanted)
        for dot in dots if parts > 1 else ():
            trial.split(dot, Split(len(shape(dot.c.type)), parts, SplitForm.K_LOOP))
        problems.append(problem)
    if wanted > 1 and None not in problems:
        program.refuse(K_PARTS, problems[0] or "" if problems else "no loop has a dot")


def _choose(
    kernel: FuncOp, dots: Sequence[DotOp], arch: Arch, chosen: int | None, wanted: int
) -> tuple[int, str | None]:
    """Into how many parts the iterations of a loop are split, and why not into as many as wanted.

    `chosen` blocks share an SM, if that is known already.
    """
    loop = dots[0].parent_op
    assert isinstance(loop, ForOp)
    if not counts_up_by_one(loop):
        return 1, "a loop does not count up by one from a constant"
    if any(element_of(dot.a.type) in PROMOTED for dot in dots):
        # The intervals of K after which they are promoted must not become shorter.
        return 1, "accumulators are promoted after intervals of K"
    loads = [op for op in loop.body.block if isinstance(op, TiledLoadOp)]
    bytes = sum(count(op.tile.type) * pointee_bytes(element_of(op.tile.type)) for op in loads)
    threads = threads_of(kernel)
    blocks = _resident_blocks(dots, arch, threads, chosen)
    parts = _parts(dots, bytes, block_share(arch, blocks), threads, wanted)

    def is_cheap(op: Operation) -> bool:
        # What is expensive is computed before the tile is in shared memory: no stage holds it.
        return not is_elementwise(op) or instructions(op, arch) <= CHEAP

    if parts > 1:
        try:
            cut_along_k(loop, dots, parts, is_cheap)
        except CannotCut:
            return 1, "an operation of a loop cannot be split along K"
    missed = f"K of a tile can be split into {parts} parts only"
    return parts, None if parts >= wanted else missed


def _resident_blocks(dots: Sequence[DotOp], arch: Arch, threads: int, chosen: int | None) -> int:
    """How many blocks share the memory of an SM.

    wgmma reads both operands from their stages if they have 16 bits. With others, warps prepare the
    operands, and are specialized: a block then has the SM to itself.
    """
    bytes = {pointee_bytes(element_of(dot.a.type)) for dot in dots}
    if not all(map(arch.reads_either_major, bytes)):
        return chosen or 1
    accumulators = sum(accumulator_words(dot.result.type) for dot in dots) // threads
    return resident_blocks(accumulators, chosen)


def _parts(dots: Sequence[DotOp], bytes: int, memory: int, threads: int, wanted: int) -> int:
    """Into how many iterations one is split: as many as wanted, or as it takes."""
    along_k = min([shape(op.a.type)[-1] * pointee_bytes(element_of(op.a.type)) for op in dots])
    accumulators = sum([accumulator_words(dot.result.type) for dot in dots])
    operands = sum([_operand_words(dot) for dot in dots])
    if operands:
        operands += address_words(bytes)
    registers = tile_capacity(threads, K_LOOP_OTHERS)
    parts = 1
    while along_k > parts * MMA_K_BYTES:
        fits = bytes * OVERLAPPED_STAGES <= parts * memory
        if operands:
            fits = fits and accumulators + operands // parts <= registers
        if parts >= wanted if wanted else fits:
            break
        parts *= 2
    return parts


def _operand_words(dot: DotOp) -> int:
    """The registers of operands if both are computed, as by a conversion; otherwise 0.

    wgmma reads the larger one from registers. The smaller one is permuted and stored to shared
    memory: registers hold it before and after the permutation.
    """
    computed = [each for each in (dot.a, dot.b) if each.defined_by(TiledLoadOp) is None]
    words = [tile_words(each.type) for each in computed]
    return sum(words) + min(words) if len(words) == 2 else 0
