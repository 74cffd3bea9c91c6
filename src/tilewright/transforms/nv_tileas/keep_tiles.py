"""Tiles that several loops load stay in shared memory: later loops do not read global memory again.

A row that is too long for registers is reduced and normalized in several loops over its tiles. The
first loop copies the first tiles to shared memory, all of them early; the others read them from
there. Trip counts are dynamic, so loops load what is not kept as before.

The stages of a `private` pipeline hold the first tiles, one each: all of them are copied before the
first loop, and stay until the last loop has read them. What `cp.async` cannot copy is stored from
registers by the first loop. Each loop is split in two. The first part reads the stages, one in each
iteration; the second part, which has no iterations if all tiles are kept, loads the other tiles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.loop_bounds import integer_of
from tilewright.analysis.targets import target_of
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.elements import width_of
from tilewright.dialects.nv_tileaa.integer import AddIOp, CmpIOp, SubIOp
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileaa.shape import SelectOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import TileLoadOp
from tilewright.dialects.nv_tileas.attributes import CopyEngine, maybe_layout_of
from tilewright.dialects.nv_tileas.pipeline import (
    ConsumerWaitOp,
    IncIterOp,
    ProducerAcquireOp,
    ProducerCommitOp,
    ProducerWriteOp,
)
from tilewright.dialects.scf import ForOp, YieldOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block, Region
from tilewright.ir.types import IntegerType
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
from tilewright.transforms.nv_tileaa.address_ops import erase_unused
from tilewright.transforms.nv_tileaa.prefetch_loads import issue_early
from tilewright.transforms.nv_tileaa.prefetchable_loads import (
    PrefetchableLoad,
    add_iter_args,
    reduces_tiles,
)
from tilewright.transforms.nv_tileaa.repeated_loads import (
    LoopLoads,
    RepeatedLoads,
    find_repeated_loads,
)
from tilewright.transforms.nv_tileaa.scalars import constant
from tilewright.transforms.nv_tileaa.unroll_loops import constant_range
from tilewright.transforms.nv_tileas.pipelined_loads import TileLoad, plan_stage
from tilewright.transforms.nv_tileas.stage_copies import StageCopies
from tilewright.transforms.nv_tileas.stage_reads import read_tile
from tilewright.transforms.pipeline.iterations import guard_loop, iteration_exists
from tilewright.transforms.pipeline.pipeline_loops import pipeline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink

KEPT_TILES: Final = "kept_tiles"

RARELY: Final = (1, 1000)
"""Weights of the branch with the tiles that are not kept: its code is to lie after all others,
since blocks of short rows take most of their time to fetch instructions."""


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
            engines = {number: _engine(load) for number, load in repeated.first.loads.items()}
            for engine in (CopyEngine.CP_ASYNC, CopyEngine.REGISTERS):
                numbers = [number for number, each in engines.items() if each is engine]
                chosen = RepeatedLoads.of(repeated.loops, numbers)
                if chosen is not None:
                    is_copied = engine is CopyEngine.CP_ASYNC
                    _keep(function, chosen, asked, sink, is_copied=is_copied)
                    any_tiles = True
                    break
        if asked is not None and not any_tiles:
            function.refuse(KEPT_TILES, "no later loop loads tiles that each thread can keep")


def _engine(load: PrefetchableLoad) -> CopyEngine | None:
    """What brings a tile to shared memory such that each thread reads its own, if anything does."""
    if not isinstance(load.load, TileLoad):
        return None
    layout = maybe_layout_of(load.load.results[0])
    if layout is None or layout.replicas():
        return None
    plan = plan_stage(load.load)
    return plan.engine if plan.is_private else None


def _keep(
    function: FuncOp, repeated: RepeatedLoads, asked: int | None, sink: Sink, *, is_copied: bool
) -> None:
    """Keep the tiles of a loop for later ones, as many as are asked for or fit."""
    loop, loads = repeated.first.loop, [load.load for load in repeated.first.loads.values()]
    name, step = function.sym_name, integer_of(loop.step) or 0
    bytes = stage_bytes(loads)
    counters = constant_range(loop)
    # Copies are all in flight at once; how many there are is known of a constant trip count.
    in_flight = bytes * len(counters) if counters and is_copied else bytes
    blocks = 1 if asked is not None else _resident_blocks(function, in_flight)
    limit = _free_bytes(function, blocks) // bytes
    wanted = MOST_KEPT if asked is None else asked
    capacity = min(limit, wanted, wanted if counters is None else len(counters))
    problem = _problem(loop, step, capacity)
    if problem is not None:
        text = "Tiles not kept for later loops"
        sink.remark(Remark(TILES_NOT_KEPT, text, KeepTiles.name, name, loop.location, problem))
        if asked is not None:
            function.refuse(KEPT_TILES, problem)
        return
    text = (
        f"Tiles kept for {len(repeated.later)} later loops: the first {capacity}, "
        f"{capacity * bytes} bytes of shared memory, for at least {blocks} blocks on an SM"
    )
    sink.remark(Remark(TILES_KEPT, text, KeepTiles.name, name, loop.location))
    keeps_all = counters is not None and len(counters) <= capacity
    # Software pipelines copy large tiles early.
    threads = threads_of(function)
    prefetch = all(tile_words(load.results[0].type) < LARGE_TILE * threads for load in loads)
    distance = None if keeps_all else capacity * step
    _build(repeated, capacity, distance, is_copied=is_copied, prefetch=prefetch)


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


def _problem(loop: ForOp, step: int, capacity: int) -> str | None:
    """Why tiles of a loop are not kept."""
    if step <= 0:
        return "the step is not constant"
    if capacity < FEWEST_KEPT:
        return f"fewer than {FEWEST_KEPT} of a loop fit into the block's share of shared memory"
    if capacity * step >= 1 << (width_of(loop.step.type) - 1):
        return "the step is too large"
    return None


def _build(
    repeated: RepeatedLoads,
    capacity: int,
    distance: int | None,
    *,
    is_copied: bool,
    prefetch: bool,
) -> None:
    """Copy the tiles of some iterations, and let all loops read them.

    If not all are kept, it is a `distance` from the first counter to the first one without a kept
    tile, and iterations `prefetch` the tiles of the next one where `prefetch-loads` would have.
    """
    loop, loads = repeated.first
    build = Builder(InsertPoint.before(loop), loop.location)
    copies = StageCopies(loop, list(loads.values()))
    start = copies.create(build, capacity)
    # Before the loops a barrier is executed once, if the memory was in use before.
    build.create(ProducerAcquireOp, pipeline=copies.pipeline, iterator=start)
    middle = None if distance is None else _middle(build, loop, distance)
    if is_copied:
        _copy(build, copies, start, loop, loop.upper_bound if middle is None else middle)
        wait_for_copies(build, copies.pipeline, start)
    for each in repeated.loops:
        head = each if middle is None else _split(each, middle)
        if each is repeated.first and not is_copied:
            _write(head, copies.pipeline, start, prefetch=prefetch)
        else:
            # Nothing is in flight, but copies of other pipelines may be, which are not waited for.
            _read(head, copies.pipeline, start, pending=capacity - 1)
        if middle is not None:
            guard_loop(each.loop).branch_weights = RARELY
            if prefetch:
                _prefetch(each.loop, _prefetched(each))


def _middle(build: Builder, loop: ForOp, distance: int) -> Value:
    """The first iteration whose tiles are not kept; the upper bound if there is none."""
    lower, upper = loop.lower_bound, loop.upper_bound
    type = lower.type
    assert isinstance(type, IntegerType)

    def select(condition: Value, true_value: Value, false_value: Value) -> Value:
        values = {"true_value": true_value, "false_value": false_value}
        return build.create(SelectOp, condition=condition, **values, types=[type]).result

    # The difference of the bounds, as an unsigned number.
    exists = iteration_exists(build, loop, lower)
    difference = build.create(SubIOp, lhs=upper, rhs=lower).result
    span = select(exists, difference, constant(build, 0, type))
    kept = constant(build, distance, type)
    is_less = build.create(CmpIOp, lhs=kept, rhs=span, predicate=CmpIPredicate.ULT).result
    return select(is_less, build.create(AddIOp, lhs=lower, rhs=kept).result, upper)


def _copy(build: Builder, copies: StageCopies, start: Value, loop: ForOp, end: Value) -> None:
    """Start the copies of all tiles of a loop up to an iteration."""
    body = Block([loop.lower_bound.type, start.type], [loop.location] * 2)
    induction, iterator = body.args
    inside = Builder(InsertPoint.at_end(body), loop.location)
    copies.copy(inside, iterator, counter=induction)
    following = inside.create(IncIterOp, iterator=iterator, no_wrap=True).result
    inside.create(YieldOp, values=[following])
    copied = loop.like([loop.lower_bound, end, loop.step, start], [start.type])
    copied.set_regions([Region([body])])
    build.insert(copied)


def wait_for_copies(build: Builder, pipeline: Value, start: Value) -> None:
    """Wait for all copies at once.

    A wait names a constant number of later groups that may be in flight: to wait for each tile
    alone, iterations that do not exist would need empty groups.
    """
    build.create(ConsumerWaitOp, pipeline=pipeline, iterator=start, pending=0)


def _split(each: LoopLoads, middle: Value) -> LoopLoads:
    """Split a loop at an iteration; returns the copy that runs up to it."""
    loop = each.loop
    values: dict[Value, Value] = {}
    head = loop.clone(values)
    head.insert_before(loop)
    head.set_operand(1, middle)
    loop.set_operands([middle, *loop.operands[1:3], *head.results])
    return LoopLoads(head, {n: _copy_of(load, values) for n, load in each.loads.items()})


def _copy_of(load: PrefetchableLoad, values: dict[Value, Value]) -> PrefetchableLoad:
    """The copy of a load, and of what computes its operands."""
    copies = [values[op.results[0]].defining_op() for op in (load.load, *load.address_ops)]
    copy, *address_ops = [op for op in copies if op is not None]
    assert isinstance(copy, LoadOp | TileLoadOp)
    return PrefetchableLoad(copy, address_ops)


def _read(head: LoopLoads, pipeline: Value, start: Value, pending: int) -> None:
    """Let a loop read a stage in each iteration, in place of its loads."""
    loop = head.loop
    iterator = loop.body.block.add_argument(start.type, loop.location)
    inside = Builder(InsertPoint.at_start(loop.body.block), loop.location)
    wait = inside.create(ConsumerWaitOp, pipeline=pipeline, iterator=iterator, pending=pending)
    for number, load in head.loads.items():
        tile = load.load.results[0]
        read = read_tile(inside, pipeline, wait.token, number, load.load, tile.type)
        tile.replace_all_uses_with(read)
    for load in head.loads.values():
        load.load.erase()
        erase_unused(load.address_ops)
    _carry(loop, iterator, start)


def _write(head: LoopLoads, pipeline: Value, start: Value, *, prefetch: bool) -> None:
    """Let the first loop store the tiles that it loads, each iteration to its stage."""
    loop, last = head.loop, head.loop.body.block.last
    assert last is not None
    prefetched = _prefetched(head) if prefetch else []
    iterator = loop.body.block.add_argument(start.type, loop.location)
    inside = Builder(InsertPoint.at_start(loop.body.block), loop.location)
    token = inside.create(ProducerAcquireOp, pipeline=pipeline, iterator=iterator).token
    for number, load in head.loads.items():
        after, tiles = Builder(InsertPoint.after(load.load), load.load.location), load.load.results
        after.create(
            ProducerWriteOp, pipeline=pipeline, token=token, number=number, values=tiles[:1]
        )
    end = Builder(InsertPoint.before(last), loop.location)
    end.create(ProducerCommitOp, pipeline=pipeline, token=token)
    _prefetch(_carry(loop, iterator, start), prefetched)


def _carry(loop: ForOp, iterator: Value, start: Value) -> ForOp:
    """Let a loop carry an iterator, which each iteration advances."""
    last = loop.body.block.last
    assert last is not None
    end = Builder(InsertPoint.before(last), loop.location)
    following = end.create(IncIterOp, iterator=iterator, no_wrap=True).result
    last.set_operands([*last.operands, following])
    return add_iter_args(loop, [start])


def _prefetched(each: LoopLoads) -> list[PrefetchableLoad]:
    """The loads of a loop that `prefetch-loads` would prefetch.

    Only tiles of views: masks of pointers would need a layout.
    """
    is_waiting = reduces_tiles(each.loop)
    loads = [load for load in each.loads.values() if isinstance(load.load, TileLoadOp)]
    return [
        load for load in loads if load.is_speculatable and (is_waiting or not load.is_converted)
    ]


def _prefetch(loop: ForOp, loads: Sequence[PrefetchableLoad]) -> None:
    """Let each iteration load the tiles of the next one."""
    if loads:
        issue_early(loads)
        pipeline(loop)
