"""The consumers of a warp-specialized function: its own loops, which read stages.

In each iteration a pipelined loop waits for a stage, reads it in place of its loads, and releases
it. The iterator passes through the loops and branches around it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileas.attribute_names import SCHEDULE
from tilewright.dialects.nv_tileas.pipeline import ConsumerReleaseOp, ConsumerWaitOp, IncIterOp
from tilewright.dialects.scf import ForOp, IfOp, YieldOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block, Region
from tilewright.transforms.nv_tileaa.prefetchable_loads import add_iter_args

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.transforms.nv_tileas.specialized_loops import SpecializedLoop


class ConsumerAgent:
    """Lets the pipelined loops of a function read stages, in place of their loads."""

    __slots__ = ("_enclosing", "_loops", "_pipeline")

    def __init__(
        self, loops: Sequence[SpecializedLoop], enclosing: set[Operation], pipeline: Value
    ) -> None:
        self._loops = {each.loop: each for each in loops}
        self._enclosing, self._pipeline = enclosing, pipeline

    def consume(self, block: Block, iterator: Value) -> Value:
        """Let the pipelined loops of a block read stages; returns the iterator after it."""
        for op in list(block):
            if isinstance(op, ForOp) and op in self._loops:
                iterator = self._consume_stages(self._loops[op], iterator)
            elif isinstance(op, ForOp) and op in self._enclosing:
                inner = op.body.block.add_argument(iterator.type, op.location)
                _yield(op.body.block, self.consume(op.body.block, inner))
                iterator = add_iter_args(op, [iterator]).results[-1]
            elif isinstance(op, IfOp) and op in self._enclosing:
                iterator = self._consume_branches(op, iterator)
        return iterator

    def _consume_stages(self, each: SpecializedLoop, iterator: Value) -> Value:
        loop, body = each.loop, each.loop.body.block
        del loop.attributes[SCHEDULE]
        carried = body.add_argument(iterator.type, loop.location)
        inside = Builder(InsertPoint.at_start(body), loop.location)
        each.copies.use(self._pipeline)
        wait = inside.create(ConsumerWaitOp, pipeline=self._pipeline, iterator=carried)
        for op in each.copies.read(inside, wait.token):
            op.erase()
        assert body.last is not None
        end = Builder(InsertPoint.before(body.last), loop.location)
        end.create(ConsumerReleaseOp, pipeline=self._pipeline, token=wait.token)
        _yield(body, end.create(IncIterOp, iterator=carried).result)
        return add_iter_args(loop, [iterator]).results[-1]

    def _consume_branches(self, op: IfOp, iterator: Value) -> Value:
        regions: list[Region] = []
        for region in op.regions:
            if region.blocks:
                _yield(region.block, self.consume(region.block, iterator))
                regions.append(region)
                continue
            block = Block()
            Builder(InsertPoint.at_end(block), op.location).create(YieldOp, values=[iterator])
            regions.append(Region([block]))
        types = [*[result.type for result in op.results], iterator.type]
        new = op.like(op.operands, types)
        new.insert_before(op)
        op.regions = ()
        new.set_regions(regions)
        for old, result in zip(op.results, new.results, strict=False):
            old.replace_all_uses_with(result)
        op.erase()
        return new.results[-1]


def _yield(block: Block, value: Value) -> None:
    """Let a block yield one more value."""
    last = block.last
    assert last is not None
    last.set_operands([*last.operands, value])
