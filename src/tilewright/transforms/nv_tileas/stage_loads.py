"""Lets large tiles of loops come through shared memory, loaded some rounds before their own."""

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
"""How many rounds before their own tiles are loaded at most."""
COPIED: Final = (4, 8, 16)
"""How many bytes a thread can copy at once."""
RESERVE: Final = 1024
"""Bytes of shared memory for barriers and the like."""


class Limits(NamedTuple):
    """How many bytes a block may have in shared memory."""

    total: int
    """In all, so that there is room for others beside it."""
    round: int
    """For one round: a block that loads more at a time keeps memory busy anyway."""


PLAIN: Final = Limits(total=48 * 1024, round=32 * 1024)
PRODUCTS: Final = Limits(total=112 * 1024, round=64 * 1024)
"""Blocks that multiply have room for one other: each has most of the registers of its half."""


class StageLoads(Pass):
    """Copy large tiles that loops load into shared memory, as many rounds before as there is room.

    Only loads that nothing is ordered with: they may happen at any time.
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
        chosen = [ahead for ahead in find_prefetchable_loads(loop) if _suits(ahead, threads)]
        if not chosen or any(isinstance(op, AgentSwitchOp) for op in function.walk()):
            continue
        needed = sum([_bytes(ahead) for ahead in chosen])
        limits = PRODUCTS if any(isinstance(op, DotOp) for op in loop.body.walk()) else PLAIN
        stages = min(STAGES, _room(function, limits.total) // needed)
        if stages and needed <= limits.round:
            _report(function, chosen, sink)
            Staging(loop, chosen, stages).build()


def _report(function: FuncOp, chosen: Sequence[PrefetchableLoad], sink: Sink) -> None:
    for ahead in chosen if sink.wants_remarks else ():
        assert isinstance(ahead.load, TiledLoadOp)
        sink.remark(load_remark(ahead.load, "cp.async", function.sym_name, StageLoads.name))


def _suits(ahead: PrefetchableLoad, threads: int) -> bool:
    """Whether a tile can come through shared memory, and is large enough for that."""
    load = ahead.load
    if not isinstance(load, TiledLoadOp) or not ahead.is_unordered or load.cache is not None:
        return False
    if tile_words(load.tile.type) < LARGE * threads or layout_of(load.tile).replicas():
        return False
    if tiled_view(load.view).padding not in (None, PaddingValue.ZERO):
        return False
    return load.vector * pointee_bytes(element_of(load.tile.type)) in COPIED


def _bytes(ahead: PrefetchableLoad) -> int:
    return _buffer(ahead, 1).stage_bytes


def _buffer(ahead: PrefetchableLoad, stages: int) -> BufferType:
    type = ahead.load.results[0].type
    return BufferType(Residency.SHARED, stages, shape(type), element_of(type))


def _room(function: FuncOp, most: int) -> int:
    """How many bytes of shared memory are left."""
    arch = target_of(function)
    if arch is None:
        return 0
    total = function.attributes.get(SCRATCH_BYTES)
    taken = RESERVE + (total.value if isinstance(total, IntegerAttr) else 0)
    for op in function.walk():
        if isinstance(op, AllocTensorOp):
            taken += buffer(op.result).stages * buffer(op.result).stage_bytes
    return max(min(arch.static_shared, most) - taken, 0)


class _Place(NamedTuple):
    """A round that may come: its count, and whether it does."""

    at: Value
    comes: Value


# Law: a load that nothing is ordered with gives in a round what it would have given at any time
# before. It is done only for rounds that come, so nothing is touched that was not. A thread reads
# a stage before it starts to copy into it again.
class Staging:
    """Writes a loop anew whose tiles are loaded so many rounds before."""

    __slots__ = ("_chosen", "_loop", "_rooms", "_stages")

    def __init__(self, loop: ForOp, chosen: Sequence[PrefetchableLoad], stages: int) -> None:
        self._loop = loop
        self._chosen = chosen
        self._stages = stages
        self._rooms: list[Value] = []

    def build(self) -> None:
        """Fill all stages in front of the loop; in it, take one and fill it again."""
        loop = self._loop
        build = Builder(InsertPoint.before(loop), loop.location)
        for ahead in self._chosen:
            type = _buffer(ahead, self._stages)
            self._rooms.append(build.create(AllocTensorOp, types=[type]).result)
        place = _Place(loop.lower_bound, iteration_exists(build, loop, loop.lower_bound))
        for number in range(self._stages):
            self._copy(build, place, _constant(build, number))
            place = self._following(build, place)
        body, last = loop.body.block, loop.body.block.last
        assert last is not None
        stage = body.add_argument(I32, loop.location)
        inside = Builder(InsertPoint.at_start(body), loop.location)
        taken = self._take(inside, stage)
        place = self._first_ahead(inside)
        for _ in range(1, self._stages):
            place = self._following(inside, place)
        self._copy(inside, place, stage)
        last.set_operands([*last.operands, self._next_stage(inside, stage)])
        for ahead, tile in zip(self._chosen, taken, strict=True):
            ahead.load.results[0].replace_all_uses_with(tile)
            ahead.load.erase()
        add_iter_args(loop, [_constant(build, 0)])

    def _first_ahead(self, build: Builder) -> _Place:
        loop = self._loop
        count = build.create(AddIOp, lhs=loop.induction_variable, rhs=loop.step).result
        return _Place(count, iteration_exists(build, loop, count))

    def _following(self, build: Builder, place: _Place) -> _Place:
        """The round behind one, which comes only if that one does: counts might begin again."""
        count = build.create(AddIOp, lhs=place.at, rhs=self._loop.step).result
        here = iteration_exists(build, self._loop, count)
        return _Place(count, build.create(AndIOp, lhs=place.comes, rhs=here).result)

    def _copy(self, build: Builder, place: _Place, stage: Value) -> None:
        """Start to copy the tiles of a round into a stage."""
        values = clone_address_ops(build, self._loop, self._chosen, place.at)
        for ahead, room in zip(self._chosen, self._rooms, strict=True):
            load = ahead.load
            assert isinstance(load, TiledLoadOp)
            build.create(
                StageLoadOp,
                view=values.get(load.view, load.view),
                indices=[values.get(index, index) for index in load.indices],
                buffer=room,
                stage=stage,
                condition=place.comes,
                tile=load.tile.type,
                vector=load.vector,
                in_bounds=load.in_bounds,
                location=load.location,
            )

    def _take(self, build: Builder, stage: Value) -> list[Value]:
        """The tiles of a round; later ones may be under way."""
        taken: list[Value] = []
        for number, (ahead, room) in enumerate(zip(self._chosen, self._rooms, strict=True)):
            load = ahead.load
            assert isinstance(load, TiledLoadOp)
            made = build.create(
                TakeStagedOp,
                buffer=room,
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
