"""How pipelined loads are copied and used: by which engine, to which placement, in which layouts.

`engine_of` chooses between `cp.async` and registers. Whether TMA copies instead is decided for all
loops of a kernel, by `warp_specialization` and `choose_pipelining`; `plan_tma_stage` has the
placement then, `plan_stage` all others.

A load is read from its stage in the layout of each use: a dot reads it in shared memory, where the
placement that the dot needs is that of the stage; fragments of `mma.sync` are loaded from there.
Shape operations between the load and such a use are repeated on what was read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tilewright.analysis.elementwise import is_elementwise
from tilewright.analysis.slices import forward_slice
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.early_execution import is_first
from tilewright.dialects.nv_tileaa.view import tiled_view
from tilewright.dialects.nv_tileas.attribute_names import ENGINE
from tilewright.dialects.nv_tileas.attributes import (
    Atom,
    CopyEngine,
    in_shared_memory,
    layout_of,
    maybe_layout_of,
)
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.memory import GatherLoadOp, LoadOp, TiledLoadOp
from tilewright.dialects.nv_tileas.shape import (
    BroadcastOp,
    CatOp,
    ConvertLayoutOp,
    ExpandDimsOp,
    PermuteOp,
    Rearrangement,
    ViewOp,
)
from tilewright.dialects.nv_tileas.tensor_map import tile_order
from tilewright.layout.linear import LANE, OFFSET, REGISTER, WARP, Layout, log2
from tilewright.layout.matrices import matrix_access, matrix_memory
from tilewright.layout.staging import copy_staging, staging
from tilewright.layout.tma_boxes import NoBoxes, tma_placement
from tilewright.layout.vector_access import contiguous_offsets, copied_registers
from tilewright.plans.scratch import scratch_bytes
from tilewright.schedule.limits import INDEX_SHARE
from tilewright.target.arch import REGISTER_BYTES
from tilewright.target.engines import CP_ASYNC
from tilewright.transforms.nv_tileaa.prefetchable_loads import (
    find_prefetchable_loads,
    is_copyable,
    prefetch_problem,
)
from tilewright.transforms.nv_tileas.rounded_loads import is_only_rounded, is_rounding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tilewright.dialects.scf import ForOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.transforms.nv_tileaa.prefetchable_loads import PrefetchableLoad

TileLoad: TypeAlias = TiledLoadOp | GatherLoadOp | LoadOp
"""A load of a tile: of a view, or through pointers."""


class ConvertedUse(NamedTuple):
    """A conversion of a loaded tile, after shape operations that reorder nothing but names."""

    shape_ops: Sequence[Rearrangement]
    convert: ConvertLayoutOp
    layout: Layout
    """That of the conversion, for a tile in the shape of the load."""


class StagePlan(NamedTuple):
    """How a stage holds the tile of a load, and what copies it there."""

    placement: Layout
    uses: Sequence[ConvertedUse]
    """The uses that read the stage in their own layout; all others read it as the load had it."""
    engine: CopyEngine
    is_replicated: bool = False
    """Whether several threads have the elements that one of them copies."""

    @property
    def is_private(self) -> bool:
        """Whether each thread reads only what it copied."""
        return not self.uses and not self.is_replicated


StagePlans: TypeAlias = "Mapping[TileLoad, StagePlan]"
"""The stage of each of some loads."""


def is_private(plans: Iterable[StagePlan]) -> bool:
    """Whether each thread reads only what it copied itself."""
    return all(plan.is_private for plan in plans)


def replaced_conversions(plans: Iterable[StagePlan]) -> set[Operation]:
    """The layout conversions that reads of a pipeline's stages replace."""
    return {use.convert for plan in plans for use in plan.uses}


def pipelined_loads(loop: ForOp) -> list[TileLoad]:
    """The loads of a loop that a pipeline can copy, and that no token orders after an access."""
    loads = find_prefetchable_loads(loop)
    tiles = [each.load for each in loads if each.is_first and _has_small_indices(each)]
    return [
        load
        for load in tiles
        if isinstance(load, TileLoad) and maybe_layout_of(load.results[0]) is not None
    ]


def pipeline_problem(load: TileLoad, loop: ForOp) -> str | None:
    """Why a pipeline cannot copy a load of a loop; None if it can."""
    problem = prefetch_problem(load, loop)
    if problem is not None:
        return problem
    if not is_first(load):
        return "a token orders it after another access"
    if load not in pipelined_loads(loop):
        return f"its indices take more than {INDEX_SHARE} registers of a thread"
    return None


def _has_small_indices(load: PrefetchableLoad) -> bool:
    """Whether a loop can carry the indices that it loads a tile with."""
    layouts = [maybe_layout_of(index.load.results[0]) for index in load.index_loads]
    return all(each is None or each.extent(REGISTER) <= INDEX_SHARE for each in layouts)


def engine_of(load: TileLoad) -> CopyEngine:
    """What copies the tile of a load: `cp.async`, if it can read as many bytes as a thread loads.

    It reads 4, 8 or 16 bytes at a time, and fills what it does not read with zeros.
    """
    bytes = load.vector * pointee_bytes(element_of(load.results[0].type))
    suits = is_copyable(load) and bytes in CP_ASYNC.granules
    return CopyEngine.CP_ASYNC if suits else CopyEngine.REGISTERS


def can_read_as(load: TileLoad, layout: Layout) -> bool:
    """Whether a stage can hold the tile of a load such that it is read in a layout."""
    return _read_memory(load, layout) is not None


def plan_stage(load: TileLoad) -> StagePlan:
    """The placement of a loaded tile: as a dot needs it, else such that threads keep their own."""
    if load.attributes.get(ENGINE) is CopyEngine.TMA:
        plan = plan_tma_stage(load)
        assert plan is not None
        return plan
    tile, engine = load.results[0], engine_of(load)
    source = layout_of(tile)
    uses = list(_converted_uses(tile, ()))
    shared_uses = [use for use in uses if in_shared_memory(use.convert.result)]
    if shared_uses and _can_copy_to(load, shared_uses[0].layout):
        return _read_stage(uses, shared_uses[0], shared_uses[0].layout, engine)
    for use in uses:
        if use in shared_uses or not scratch_bytes(use.convert):
            continue
        memory = _read_memory(load, use.layout)
        dots = dots_of(use.convert.result, Rearrangement, ConvertLayoutOp)
        if memory is not None and any(dots):
            return _read_stage(uses, use, memory, engine)
    placement = private_placement(source, load.vector)
    return StagePlan(placement, [], engine, is_replicated=bool(source.replicas()))


def plan_stages(loads: Iterable[TileLoad]) -> list[StagePlan]:
    """The placements of the tiles of one pipeline.

    If threads read what others copied, conversions of a tile that no dot takes, such as scales,
    read its stage, too.
    """
    plans = {load: plan_stage(load) for load in loads}
    if is_private(plans.values()):
        return list(plans.values())
    return [
        plan._replace(uses=_conversions(load)) if joins_operands(load, plan) else plan
        for load, plan in plans.items()
    ]


def joins_operands(load: TileLoad, plan: StagePlan) -> bool:
    """Whether threads copy a tile to the stages of operands, though no dot takes it.

    What an SM loads seems to arrive in the order of the requests: in registers, the tile would wait
    for the operands of later iterations that are copied before it.
    """
    tile = load.results[0]
    is_copied = plan.engine is not CopyEngine.TMA and isinstance(load, TiledLoadOp)
    return is_copied and not plan.uses and not feeds_tensor_cores(tile) and not is_yielded(tile)


def is_yielded(tile: Value) -> bool:
    """Whether an iteration loads a tile for the next one."""
    return any(user.is_terminator for user in tile.users)


def _conversions(load: TileLoad) -> list[ConvertedUse]:
    """The conversions of a loaded tile to registers."""
    uses = _converted_uses(load.results[0], ())
    return [use for use in uses if not in_shared_memory(use.convert.result)]


def plan_tma_stage(load: TileLoad) -> StagePlan | None:
    """The placement that TMA writes, and that dots or registers are read from, if there is.

    Registers are fragments of dots, or tiles for other operations, such as a bias of the scores.
    """
    is_rounded = is_only_rounded(load.results[0])
    uses = list(_converted_uses(load.results[0], (), is_rounded=is_rounded))
    shared_uses = [use for use in uses if in_shared_memory(use.convert.result)]
    if shared_uses:
        return _read_stage(uses, shared_uses[0], shared_uses[0].layout, CopyEngine.TMA)
    if not isinstance(load, TiledLoadOp):
        return None
    bytes = pointee_bytes(element_of(load.tile.type))
    try:
        order = tile_order(tiled_view(load.view))
    except NoBoxes:
        return None
    placement = tma_placement(shape(load.tile.type), bytes, order)
    for use in uses:
        if _has_wide_reads(use, placement):
            return _read_stage(uses, use, placement, CopyEngine.TMA)
    return None


def _read_stage(
    uses: Sequence[ConvertedUse], first: ConvertedUse, placement: Layout, engine: CopyEngine
) -> StagePlan:
    """A stage with a placement that suits one use: others read it in its layout, or as fragments.

    Two dots may take a tile in different ways, as keys and as values for instance.
    """
    return StagePlan(
        placement,
        [use for use in uses if use.layout == first.layout or _has_wide_reads(use, placement)],
        engine,
    )


def _has_wide_reads(use: ConvertedUse, placement: Layout) -> bool:
    """Whether registers are read by ldmatrix or at least a word at a time."""
    if in_shared_memory(use.convert.result) or not scratch_bytes(use.convert):
        return False
    bytes = pointee_bytes(element_of(use.convert.result.type))
    offsets = use.layout.then(placement.inverse())
    by_ldmatrix = matrix_access(offsets, bytes) is not None
    return by_ldmatrix or contiguous_offsets(offsets, bytes) * bytes >= REGISTER_BYTES


def _can_copy_to(load: TileLoad, placement: Layout) -> bool:
    """Whether the engine of a load can write a placement: cp.async, as it reads."""
    if engine_of(load) is CopyEngine.REGISTERS:
        return True
    offsets = layout_of(load.results[0]).then(placement.inverse())
    return copied_registers(offsets, load.vector) == load.vector


def _read_memory(load: TileLoad, wanted: Layout) -> Layout | None:
    """The memory of a stage that a load is copied to, and that is read in a layout.

    By ldmatrix where it fits. What passes through registers is stored as a layout conversion would;
    what cp.async copies must be read a word or two elements at a time at least, or there is none.
    """
    tile = load.results[0]
    source, bytes = layout_of(tile), pointee_bytes(element_of(tile.type))
    memory = matrix_memory(source, wanted, bytes)
    if memory is not None and _can_copy_to(load, memory):
        return memory
    if engine_of(load) is CopyEngine.REGISTERS:
        return staging(source, wanted, bytes)
    memory = copy_staging(source, load.vector, wanted, bytes)
    width = contiguous_offsets(wanted.then(memory.inverse()), bytes) * bytes
    return memory if width >= min(2 * bytes, REGISTER_BYTES) else None


def feeds_tensor_cores(tile: Value) -> bool:
    """Whether tensor cores multiply a tile, or what is computed from it, in any layout."""
    dots = dots_of(tile, Rearrangement, ConvertLayoutOp, CatOp)
    return any(dot.atom is not Atom.FMA for dot in dots)


def dots_of(tile: Value, *followed: type[Operation]) -> Iterator[DotOp]:
    """The dots that take a tile, or what element-wise and other operations make of it.

    Not what is computed from it after a broadcast: a tile of scales is no operand.
    """

    def is_followed(op: Operation) -> bool:
        follows = is_elementwise(op) or isinstance(op, followed)
        return follows and not isinstance(op, BroadcastOp)

    return (user for _, user in forward_slice([tile], is_followed) if isinstance(user, DotOp))


def _converted_uses(
    tile: Value, shape_ops: Sequence[Rearrangement], *, is_rounded: bool = False
) -> Iterator[ConvertedUse]:
    """The conversions of a tile; if it `is_rounded`, also of its elements as tf32."""
    for user in tile.users:
        if isinstance(user, ConvertLayoutOp):
            layout = layout_of(user.result)
            for op in reversed(shape_ops):
                layout = op.led_back(layout)
            yield ConvertedUse(shape_ops, user, layout)
        elif isinstance(user, ViewOp | ExpandDimsOp | PermuteOp):
            yield from _converted_uses(user.result, (*shape_ops, user), is_rounded=is_rounded)
        elif is_rounded and is_rounding(user):
            yield from _converted_uses(user.results[0], shape_ops)


def private_placement(layout: Layout, vector: int) -> Layout:
    """A placement in which the accesses of all threads with one number are contiguous."""
    bits = log2(vector)
    registers = layout.vectors(REGISTER)
    threads = (*layout.vectors(LANE), *layout.vectors(WARP))
    offsets = [each for each in (*registers[:bits], *threads, *registers[bits:]) if each]
    return Layout([(OFFSET, offsets)], layout.shape)
