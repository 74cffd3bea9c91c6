"""The consumers of a warp-specialized function: its own code, which reads stages.

Before its first use, they wait for the stage of a copy group, read it in place of the loads, and
release it after the last one. The iterators of all pipelines pass through loops and branches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileas.attribute_names import SCHEDULE
from tilewright.dialects.nv_tileas.matrix import DotWaitOp
from tilewright.dialects.nv_tileas.pipeline import ConsumerReleaseOp, ConsumerWaitOp, IncIterOp
from tilewright.dialects.scf import ForOp, IfOp, YieldOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block, Region
from tilewright.transforms.nv_tileaa.prefetchable_loads import add_iter_args
from tilewright.transforms.nv_tileas.copy_groups import stage_plan
from tilewright.transforms.nv_tileas.stage_reads import read_late, read_stage

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.transforms.nv_tileas.copy_groups import CopyGroup, Stage
    from tilewright.transforms.nv_tileas.specialized_copies import SpecializedCopies


class ConsumerAgent:
    """Lets a function read stages, in place of the loads that are copied to them."""

    __slots__ = ("_enclosing", "_groups", "_numbers", "_pipelines")

    def __init__(
        self,
        copies: SpecializedCopies,
        enclosing: Collection[Operation],
        pipelines: Mapping[Stage, Value],
    ) -> None:
        """`enclosing`: the loops and branches that have groups in them."""
        self._groups, self._enclosing, self._pipelines = copies.by_block, enclosing, pipelines
        self._numbers = {stage: number for number, stage in enumerate(pipelines)}

    def consume(self, block: Block, iterators: Sequence[Value]) -> Sequence[Value]:
        """Let a block read stages; returns the iterators after it."""
        groups, current = self._groups.get(block, ()), list(iterators)
        for op in list(block):
            for group in groups:
                if group.first is op:
                    self._wait(group, current)
            if op in self._enclosing:
                current = list(self._consume_inside(op, current))
        return current

    def _wait(self, group: CopyGroup, iterators: list[Value]) -> None:
        """Wait for the stage of a group, read it and release it; advance the iterator."""
        pipeline, number = self._pipelines[group.stage], self._numbers[group.stage]
        iterator = iterators[number]
        build = Builder(InsertPoint.before(group.first), group.location)
        wait = build.create(ConsumerWaitOp, pipeline=pipeline, iterator=iterator)
        token = wait.token
        plans = [stage_plan(load) for load in group.loads]
        replaced = read_stage(build, pipeline, token, group.loads, plans)
        if not group.is_whole:
            iterators[number] = build.create(IncIterOp, iterator=iterator).result
        for op in replaced:
            op.erase()
        if group.is_whole:
            read_late(wait)
        _pin(group, pipeline, iterator)
        end = release_stage(group, pipeline, token)
        if group.is_whole:
            iterators[number] = end.create(IncIterOp, iterator=iterator).result

    def _consume_inside(self, op: Operation, iterators: Sequence[Value]) -> Sequence[Value]:
        """Let a loop or a branch read stages; returns the iterators after it."""
        if isinstance(op, IfOp):
            return self._consume_branches(op, iterators)
        assert isinstance(op, ForOp)
        op.attributes.pop(SCHEDULE, None)
        body = op.body.block
        inner = [body.add_argument(each.type, op.location) for each in iterators]
        _yield(body, self.consume(body, inner))
        return add_iter_args(op, iterators).results[-len(iterators) :]

    def _consume_branches(self, op: IfOp, iterators: Sequence[Value]) -> Sequence[Value]:
        regions: list[Region] = []
        for region in op.regions:
            if region.blocks:
                _yield(region.block, self.consume(region.block, iterators))
                regions.append(region)
                continue
            block = Block()
            Builder(InsertPoint.at_end(block), op.location).create(YieldOp, values=list(iterators))
            regions.append(Region([block]))
        types = [*[result.type for result in op.results], *[each.type for each in iterators]]
        new = op.like(op.operands, types)
        new.insert_before(op)
        op.regions = ()
        new.set_regions(regions)
        for old, result in zip(op.results, new.results, strict=False):
            old.replace_all_uses_with(result)
        op.erase()
        return new.results[-len(iterators) :]


def _pin(group: CopyGroup, pipeline: Value, iterator: Value) -> None:
    """Keep ptxas from hoisting a late wait for a dot: it does not across a wait for the stage.

    It is `hoisted-wait` of docs/ptxas-defects.md.
    """
    wait = group.last
    if isinstance(wait, DotWaitOp) and wait.late:
        build = Builder(InsertPoint.before(wait), group.location)
        build.create(ConsumerWaitOp, pipeline=pipeline, iterator=iterator)
        wait.late = False


def release_stage(group: CopyGroup, pipeline: Value, token: Value) -> Builder:
    """Release the stage of a group after its last use; returns the builder after that."""
    last = group.last
    point = InsertPoint.before(last) if last.is_terminator else InsertPoint.after(last)
    build = Builder(point, group.location)
    build.create(ConsumerReleaseOp, pipeline=pipeline, token=token)
    return build


def _yield(block: Block, values: Sequence[Value]) -> None:
    """Let a block yield more values."""
    last = block.last
    assert last is not None
    last.set_operands([*last.operands, *values])
