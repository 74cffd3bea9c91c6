"""Whose turn it is at a pipeline: iterators through loops and branches, and whether there is one.

All warps fill and empty the pipeline in the order of the program, so how many stages are full is
known everywhere: a producer without an empty stage, or a consumer without a full one, would wait
for ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.dialects.nv_tileas import pipeline as tileas
from tilewright.dialects.nv_tileas.types import pipeline
from tilewright.dialects.scf import ForOp, IfOp, YieldOp
from tilewright.ir.builder import create_op
from tilewright.ir.operation import Block, Region
from tilewright.support.diagnostics import fail

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


class Turn(NamedTuple):
    """Where producers and consumers are, and how many stages are empty and full."""

    producer: Value
    consumer: Value
    empty: int
    full: int

    @property
    def iterators(self) -> tuple[Value, Value]:
        """What loops and branches pass on."""
        return self.producer, self.consumer

    @property
    def counts(self) -> tuple[int, int]:
        """What must be the same in every round of a loop and in all branches."""
        return self.empty, self.full


class Turns:
    """Follows a function, and gives each end of a pipeline its turn."""

    __slots__ = ("_ends", "_first", "_pipeline")

    def __init__(self, created: tileas.CreatePipelineOp, first: tileas.CreateIteratorOp) -> None:
        self._pipeline = created.result
        self._first = first.result
        self._ends: set[Operation] = set()
        for user in created.result.users:
            if isinstance(user, tileas.PipelineOp):
                self._ends |= {user, *user.ancestors()}

    def follow(self, block: Block) -> None:
        """Give turns to all in a function."""
        stages = pipeline(self._pipeline).stages
        self._block(block, Turn(self._first, self._first, stages, 0))

    def _block(self, block: Block, turn: Turn) -> Turn:
        for op in list(block):
            if op in self._ends:
                turn = self._operation(op, turn)
        return turn

    def _operation(self, op: Operation, turn: Turn) -> Turn:
        match op:
            case tileas.ProducerAcquireOp():
                if not turn.empty:
                    fail("expected an empty slot of the pipeline, but all are full", op.location)
                op.replace_operand(op.iterator, turn.producer)
                return turn._replace(producer=_next(op, turn.producer), empty=turn.empty - 1)
            case tileas.ConsumerWaitOp():
                if not turn.full:
                    fail("expected a full slot of the pipeline, but all are empty", op.location)
                op.replace_operand(op.iterator, turn.consumer)
                return turn._replace(consumer=_next(op, turn.consumer), full=turn.full - 1)
            case tileas.ProducerCommitOp():
                return turn._replace(full=turn.full + 1)
            case tileas.ConsumerReleaseOp():
                return turn._replace(empty=turn.empty + 1)
            case tileas.ProducerWriteOp() | tileas.ConsumerReadOp():
                return turn
            case ForOp():
                return self._loop(op, turn)
            case IfOp():
                return self._branches(op, turn)
            case _:
                fail(f"expected a known slot of the pipeline, got one in '{op.name}'", op.location)

    def _loop(self, op: ForOp, turn: Turn) -> Turn:
        """A loop carries the iterators, and leaves as many stages full as it found."""
        block = op.body.block
        args = [block.add_argument(value.type, op.location) for value in turn.iterators]
        after = self._block(block, turn._replace(producer=args[0], consumer=args[1]))
        if after.counts != turn.counts:
            counts = f"{turn.full} full slots of the pipeline behind each round"
            fail(f"expected {counts}, got {after.full}", op.location)
        return turn._replace(**_passed_on(op, (block,), [after], (*op.operands, *turn.iterators)))

    def _branches(self, op: IfOp, turn: Turn) -> Turn:
        """All branches leave as many stages full."""
        if not op.else_region.blocks:
            op.else_region.append(Block())
            op.else_region.block.append(create_op(YieldOp, location=op.location))
        blocks = (op.then_region.block, op.else_region.block)
        ends = [self._block(block, turn) for block in blocks]
        if ends[0].counts != ends[1].counts:
            counts = f"{ends[0].full} and {ends[1].full}"
            fail(f"expected as many full slots behind both branches, got {counts}", op.location)
        return ends[0]._replace(**_passed_on(op, blocks, ends, op.operands))


def _next(op: Operation, iterator: Value) -> Value:
    made = create_op(tileas.IncIterOp, iterator=iterator, location=op.location)
    made.insert_after(op)
    return made.result


def _passed_on(
    op: Operation, blocks: tuple[Block, ...], ends: list[Turn], operands: tuple[Value, ...]
) -> dict[str, Value]:
    """Let an operation give the iterators that its blocks end with, besides its results."""
    for block, end in zip(blocks, ends, strict=True):
        last = block.terminator
        assert last is not None
        last.set_operands((*last.operands, *end.iterators))
    regions = [Region() for _ in op.regions]
    types = [value.type for value in (*op.results, *ends[0].iterators)]
    made = type(op)(operands, types, op.attributes.copy(), regions, op.location)
    for old, new in zip(op.regions, made.regions, strict=True):
        moved, old.blocks = old.blocks, []
        for block in moved:
            new.append(block)
    made.insert_before(op)
    for before, after in zip(op.results, made.results, strict=False):
        before.replace_all_uses_with(after)
    op.erase()
    producer, consumer = made.results[-2:]
    return {"producer": producer, "consumer": consumer}
