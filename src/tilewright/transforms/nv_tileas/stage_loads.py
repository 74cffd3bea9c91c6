"""Software-pipeline loads of large tiles through shared memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.remarks import load_remark
from tilewright.analysis.targets import target_of
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.attributes import PaddingValue
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.integer import AddIOp, AndIOp, CmpIOp
from tilewright.dialects.nv_tileaa.shape import SelectOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import tiled_view
from tilewright.dialects.nv_tileas.async_copy import AllocTensorOp
from tilewright.dialects.nv_tileas.attribute_names import SCRATCH_BYTES
from tilewright.dialects.nv_tileas.attributes import Residency, layout_of
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.nv_tileas.pipeline import AgentSwitchOp
from tilewright.dialects.nv_tileas.staging import StageLoadOp, TakeStagedOp
from tilewright.dialects.nv_tileas.types import BufferType, buffer
from tilewright.dialects.scf import ForOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.passes import Pass
from tilewright.ir.types import I32
from tilewright.plans.tile_registers import tile_words
from tilewright.target.arch import WARP_SIZE
from tilewright.transforms.nv_tileaa.prefetchable_loads import (
    LARGE,
    add_iter_args,
    clone_address_ops,
    find_prefetchable_loads,
    iteration_exists,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink
    from tilewright.transforms.nv_tileaa.prefetchable_loads import PrefetchableLoad

STAGES: Final = 4
"""The largest prefetch distance in iterations."""
COPIED: Final = (4, 8, 16)
"""The sizes in bytes of a cp.async."""
RESERVE: Final = 1024
"""Bytes of shared memory that are kept free for mbarriers."""


class Limits(NamedTuple):
    """Limits on the shared memory of a block, in bytes."""

    block: int
    """For the whole block, so that others can be resident beside it."""
    iteration: int
    """For one iteration: larger loads saturate memory bandwidth without prefetching."""


PLAIN: Final = Limits(block=48 * 1024, iteration=32 * 1024)
DOTS: Final = Limits(block=112 * 1024, iteration=64 * 1024)
"""Two blocks with dots fit on an SM: their registers do not allow more."""


class StageLoads(Pass):
    """Prefetch large tiles of loops into shared memory, as many stages as fit.

    Applies only to loads that no token orders with another access.
    """

    name = "stage-loads"

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            if function.is_kernel:
                _stage(function, sink)


def _stage(function: FuncOp, sink: Sink) -> None:
    spec = function.kernel_spec
    if spec is None or spec.num_warps is None:
        return
    threads = spec.num_warps * WARP_SIZE
    for loop in [op for op in function.walk_post_order() if isinstance(op, ForOp)]:
        chosen = [each for each in find_prefetchable_loads(loop) if _suits(each, threads)]
        if not chosen or any(isinstance(op, AgentSwitchOp) for op in function.walk()):
            continue
        needed = sum([_bytes(each) for each in chosen])
        limits = DOTS if any(isinstance(op, DotOp) for op in loop.body.walk()) else PLAIN
        stages = min(STAGES, _free_bytes(function, limits.block) // needed)
        if stages and needed <= limits.iteration:
            _report(function, chosen, sink)
            Staging(loop, chosen, stages).build()


def _report(function: FuncOp, chosen: Sequence[PrefetchableLoad], sink: Sink) -> None:
    for each in chosen if sink.wants_remarks else ():
        assert isinstance(each.load, TiledLoadOp)
        sink.remark(load_remark(each.load, "cp.async", function.sym_name, StageLoads.name))


def _suits(prefetch: PrefetchableLoad, threads: int) -> bool:
    """Whether cp.async can load a tile, and the tile is large enough to be worth it."""
    load = prefetch.load
    if not isinstance(load, TiledLoadOp) or not prefetch.is_unordered or load.cache is not None:
        return False
    if tile_words(load.tile.type) < LARGE * threads or layout_of(load.tile).replicas():
        return False
    if tiled_view(load.view).padding not in (None, PaddingValue.ZERO):
        return False
    return load.vector * pointee_bytes(element_of(load.tile.type)) in COPIED


def _bytes(prefetch: PrefetchableLoad) -> int:
    return _buffer(prefetch, 1).stage_bytes


def _buffer(prefetch: PrefetchableLoad, stages: int) -> BufferType:
    type = prefetch.load.results[0].type
    return BufferType(Residency.SHARED, stages, shape(type), element_of(type))


def _free_bytes(function: FuncOp, limit: int) -> int:
    """The bytes of shared memory that are free below a limit."""
    arch = target_of(function)
    if arch is None:
        return 0
    scratch = function.attributes.get(SCRATCH_BYTES)
    taken = RESERVE + (scratch.value if isinstance(scratch, IntegerAttr) else 0)
    for op in function.walk():
        if isinstance(op, AllocTensorOp):
            taken += buffer(op.result).stages * buffer(op.result).stage_bytes
    return max(min(arch.static_shared, limit) - taken, 0)


class _Iteration(NamedTuple):
    """An iteration that may lie past the end of the loop."""

    induction: Value
    """The value of the induction variable."""
    exists: Value
    """Whether the loop executes it."""


# Sound because an unordered load returns the same value at any earlier time. The copy is predicated
# on the existence of its iteration, so no other address is accessed. A thread reads a stage before
# it starts to copy into it again.
class Staging:
    """Rewrites a loop to prefetch its tiles several iterations early."""

    __slots__ = ("_buffers", "_chosen", "_loop", "_stages")

    def __init__(self, loop: ForOp, chosen: Sequence[PrefetchableLoad], stages: int) -> None:
        self._loop = loop
        self._chosen = chosen
        self._stages = stages
        self._buffers: list[Value] = []

    def build(self) -> None:
        """Build the prologue that fills all stages; in the loop, take a stage and refill it."""
        loop = self._loop
        build = Builder(InsertPoint.before(loop), loop.location)
        for prefetch in self._chosen:
            type = _buffer(prefetch, self._stages)
            self._buffers.append(build.create(AllocTensorOp, types=[type]).result)
        first = iteration_exists(build, loop, loop.lower_bound)
        iteration = _Iteration(loop.lower_bound, first)
        for number in range(self._stages):
            self._copy(build, iteration, _constant(build, number))
            iteration = self._following(build, iteration)
        body, last = loop.body.block, loop.body.block.last
        assert last is not None
        stage = body.add_argument(I32, loop.location)
        inside = Builder(InsertPoint.at_start(body), loop.location)
        taken = self._take(inside, stage)
        iteration = self._next(inside)
        for _ in range(1, self._stages):
            iteration = self._following(inside, iteration)
        self._copy(inside, iteration, stage)
        last.set_operands([*last.operands, self._next_stage(inside, stage)])
        for prefetch, tile in zip(self._chosen, taken, strict=True):
            prefetch.load.results[0].replace_all_uses_with(tile)
            prefetch.load.erase()
        add_iter_args(loop, [_constant(build, 0)])

    def _next(self, build: Builder) -> _Iteration:
        loop = self._loop
        index = build.create(AddIOp, lhs=loop.induction_variable, rhs=loop.step).result
        return _Iteration(index, iteration_exists(build, loop, index))

    def _following(self, build: Builder, iteration: _Iteration) -> _Iteration:
        """The iteration after one; exists only if that one does, since the index may wrap."""
        index = build.create(AddIOp, lhs=iteration.induction, rhs=self._loop.step).result
        in_range = iteration_exists(build, self._loop, index)
        exists = build.create(AndIOp, lhs=iteration.exists, rhs=in_range).result
        return _Iteration(index, exists)

    def _copy(self, build: Builder, iteration: _Iteration, stage: Value) -> None:
        """Start to copy the tiles of an iteration into a stage."""
        values = clone_address_ops(build, self._loop, self._chosen, iteration.induction)
        for prefetch, memory in zip(self._chosen, self._buffers, strict=True):
            load = prefetch.load
            assert isinstance(load, TiledLoadOp)
            build.create(
                StageLoadOp,
                view=values.get(load.view, load.view),
                indices=[values.get(index, index) for index in load.indices],
                buffer=memory,
                stage=stage,
                condition=iteration.exists,
                tile=load.tile.type,
                vector=load.vector,
                in_bounds=load.in_bounds,
                location=load.location,
            )

    def _take(self, build: Builder, stage: Value) -> list[Value]:
        """Take the tiles of an iteration; copies for later ones may be in flight."""
        taken: list[Value] = []
        for number, (prefetch, memory) in enumerate(zip(self._chosen, self._buffers, strict=True)):
            load = prefetch.load
            assert isinstance(load, TiledLoadOp)
            made = build.create(
                TakeStagedOp,
                buffer=memory,
                stage=stage,
                pending=self._stages * len(self._chosen) - 1 - number,
                vector=load.vector,
                types=[load.tile.type],
                location=load.location,
            )
            taken.append(made.result)
        return taken

    def _next_stage(self, build: Builder, stage: Value) -> Value:
        following = build.create(AddIOp, lhs=stage, rhs=_constant(build, 1)).result
        end = _constant(build, self._stages)
        more = build.create(CmpIOp, lhs=following, rhs=end, predicate=CmpIPredicate.ULT).result
        zero = _constant(build, 0)
        return build.create(
            SelectOp, condition=more, true_value=following, false_value=zero, types=[I32]
        ).result


def _constant(build: Builder, number: int) -> Value:
    return build.create(ConstantOp, value=IntegerAttr(number, I32), types=[I32]).result
