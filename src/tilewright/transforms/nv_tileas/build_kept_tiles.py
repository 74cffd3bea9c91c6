"""Loops that share the tiles which the first of them copies to shared memory.

The stages of a `private` pipeline hold the first tiles, one each: all of them are copied before the
first loop, and stay until the last loop has read them. What `cp.async` cannot copy is stored from
registers by the first loop. Each loop is split in two. The first part reads the stages, one in each
iteration; the second part, which has no iterations if all tiles are kept, loads the other tiles as
before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.nv_tileaa.integer import AddIOp, CmpIOp, SubIOp
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.shape import SelectOp
from tilewright.dialects.nv_tileaa.view import TileLoadOp
from tilewright.dialects.nv_tileas.pipeline import (
    ConsumerReadOp,
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
from tilewright.transforms.nv_tileaa.address_ops import erase_unused
from tilewright.transforms.nv_tileaa.prefetch_loads import issue_early
from tilewright.transforms.nv_tileaa.prefetchable_loads import (
    PrefetchableLoad,
    add_iter_args,
    reduces_tiles,
)
from tilewright.transforms.nv_tileaa.repeated_loads import LoopLoads
from tilewright.transforms.nv_tileaa.scalars import constant
from tilewright.transforms.nv_tileas.stage_copies import StageCopies
from tilewright.transforms.pipeline.iterations import guard_loop, iteration_exists
from tilewright.transforms.pipeline.pipeline_loops import pipeline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.values import Value
    from tilewright.transforms.nv_tileaa.repeated_loads import RepeatedLoads


RARELY: Final = (1, 1000)
"""Weights of the branch with the tiles that are not kept: its code is to lie after all others,
since blocks of short rows take most of their time to fetch instructions."""


class KeptTiles:
    """The tiles of the first iterations of some loops, which share the stages of a pipeline."""

    __slots__ = ("_capacity", "_distance", "_first", "_is_copied", "_later")

    def __init__(
        self, repeated: RepeatedLoads, capacity: int, step: int, *, is_copied: bool
    ) -> None:
        self._first, self._later = repeated.first, repeated.later
        self._capacity, self._is_copied = capacity, is_copied
        self._distance = capacity * step
        """From the induction variable of the first iteration to that of the first one whose tiles
        are not kept."""

    def build(self, *, keeps_all: bool, prefetch: bool) -> None:
        """Copy the tiles, and let all loops read them.

        If not all are kept, iterations `prefetch` those of the next one where `prefetch-loads`
        would have done so.
        """
        loop = self._first.loop
        build = Builder(InsertPoint.before(loop), loop.location)
        copies = StageCopies(loop, [each for each in self._first.loads if each is not None])
        start = copies.create(build, self._capacity)
        # Before the loops a barrier is executed once, if the memory was in use before.
        build.create(ProducerAcquireOp, pipeline=copies.pipeline, iterator=start)
        middle = None if keeps_all else self._middle(build)
        if self._is_copied:
            self._copy(build, copies, start, loop.upper_bound if middle is None else middle)
            wait_for_copies(build, copies.pipeline, start)
        for each in (self._first, *self._later):
            head = each if middle is None else _split(each, middle)
            if each is self._first and not self._is_copied:
                _write(head, copies.pipeline, start, prefetch=prefetch)
            else:
                self._read(head, copies.pipeline, start)
            if middle is not None:
                guard_loop(each.loop).branch_weights = RARELY
                if prefetch:
                    _prefetch(each.loop, _prefetched(each))

    def _copy(self, build: Builder, copies: StageCopies, start: Value, end: Value) -> None:
        """Start the copies of all tiles up to an iteration."""
        loop = self._first.loop
        body = Block([loop.lower_bound.type, start.type], [loop.location] * 2)
        induction, iterator = body.args
        inside = Builder(InsertPoint.at_end(body), loop.location)
        copies.copy(inside, iterator, counter=induction)
        following = inside.create(IncIterOp, iterator=iterator, no_wrap=True).result
        inside.create(YieldOp, values=[following])
        copied = loop.like([loop.lower_bound, end, loop.step, start], [start.type])
        copied.set_regions([Region([body])])
        build.insert(copied)

    def _middle(self, build: Builder) -> Value:
        """The first iteration whose tiles are not kept; the upper bound if there is none."""
        loop = self._first.loop
        span, type = _span(build, loop), loop.lower_bound.type
        assert isinstance(type, IntegerType)
        distance = constant(build, self._distance, type)
        return build.create(
            SelectOp,
            condition=build.create(
                CmpIOp, lhs=distance, rhs=span, predicate=CmpIPredicate.ULT
            ).result,
            true_value=build.create(AddIOp, lhs=loop.lower_bound, rhs=distance).result,
            false_value=loop.upper_bound,
            types=[type],
        ).result

    def _read(self, head: LoopLoads, pipeline: Value, start: Value) -> None:
        """Let a loop read a stage in each iteration, in place of its loads."""
        loop = head.loop
        body, last = loop.body.block, loop.body.block.last
        assert last is not None
        iterator = body.add_argument(start.type, loop.location)
        inside = Builder(InsertPoint.at_start(body), loop.location)
        # Nothing is in flight, but copies of other pipelines may be, which are not waited for.
        pending = self._capacity - 1
        wait = inside.create(ConsumerWaitOp, pipeline=pipeline, iterator=iterator, pending=pending)
        loads = [(number, load) for number, load in enumerate(head.loads) if load is not None]
        for number, load in loads:
            tile = load.load.results[0]
            read = inside.create(
                ConsumerReadOp,
                pipeline=pipeline,
                token=wait.token,
                number=number,
                types=[tile.type],
                location=load.load.location,
            )
            tile.replace_all_uses_with(read.values[0])
        for _, load in loads:
            load.load.erase()
            erase_unused(load.address_ops)
        end = Builder(InsertPoint.before(last), loop.location)
        following = end.create(IncIterOp, iterator=iterator, no_wrap=True).result
        last.set_operands([*last.operands, following])
        add_iter_args(loop, [start])


def wait_for_copies(build: Builder, pipeline: Value, start: Value) -> None:
    """Wait for all copies at once.

    A wait names a constant number of later groups that may be in flight: to wait for each tile
    alone, iterations that do not exist would need empty groups.
    """
    build.create(ConsumerWaitOp, pipeline=pipeline, iterator=start, pending=0)


def _write(head: LoopLoads, pipeline: Value, start: Value, *, prefetch: bool) -> None:
    """Let the first loop store the tiles that it loads, each iteration to its stage."""
    loop = head.loop
    body, last = loop.body.block, loop.body.block.last
    assert last is not None
    prefetched = _prefetched(head) if prefetch else []
    iterator = body.add_argument(start.type, loop.location)
    inside = Builder(InsertPoint.at_start(body), loop.location)
    token = inside.create(ProducerAcquireOp, pipeline=pipeline, iterator=iterator).token
    for number, load in enumerate(head.loads):
        if load is not None:
            after = Builder(InsertPoint.after(load.load), load.load.location)
            tile = load.load.results[0]
            after.create(
                ProducerWriteOp, pipeline=pipeline, token=token, number=number, values=[tile]
            )
    end = Builder(InsertPoint.before(last), loop.location)
    end.create(ProducerCommitOp, pipeline=pipeline, token=token)
    following = end.create(IncIterOp, iterator=iterator, no_wrap=True).result
    last.set_operands([*last.operands, following])
    _prefetch(add_iter_args(loop, [start]), prefetched)


def _prefetched(each: LoopLoads) -> list[PrefetchableLoad]:
    """The loads of a loop that `prefetch-loads` would prefetch.

    Only tiles of views: masks of pointers would need a layout.
    """
    loads = [load for load in each.loads if load and isinstance(load.load, TileLoadOp)]
    is_waiting = reduces_tiles(each.loop)
    return [
        load for load in loads if load.is_speculatable and (is_waiting or not load.is_converted)
    ]


def _prefetch(loop: ForOp, loads: Sequence[PrefetchableLoad]) -> None:
    """Let each iteration load the tiles of the next one."""
    if loads:
        issue_early(loads)
        pipeline(loop)


def _span(build: Builder, loop: ForOp) -> Value:
    """The difference of the bounds, as an unsigned number; 0 if there is no iteration."""
    type = loop.lower_bound.type
    assert isinstance(type, IntegerType)
    return build.create(
        SelectOp,
        condition=iteration_exists(build, loop, loop.lower_bound),
        true_value=build.create(SubIOp, lhs=loop.upper_bound, rhs=loop.lower_bound).result,
        false_value=constant(build, 0, type),
        types=[type],
    ).result


def _split(each: LoopLoads, middle: Value) -> LoopLoads:
    """Split a loop at an iteration; returns the copy that runs up to it."""
    loop = each.loop
    values: dict[Value, Value] = {}
    head = loop.clone(values)
    head.insert_before(loop)
    head.set_operand(1, middle)
    loop.set_operands([middle, *loop.operands[1:3], *head.results])
    return LoopLoads(head, [_copy_of(load, values) for load in each.loads])


def _copy_of(load: PrefetchableLoad | None, values: dict[Value, Value]) -> PrefetchableLoad | None:
    """The copy of a load, and of what computes its operands."""
    if load is None:
        return None
    copies = [values[op.results[0]].defining_op() for op in (load.load, *load.address_ops)]
    copy, *address_ops = [op for op in copies if op is not None]
    assert isinstance(copy, LoadOp | TileLoadOp)
    return PrefetchableLoad(copy, address_ops)
