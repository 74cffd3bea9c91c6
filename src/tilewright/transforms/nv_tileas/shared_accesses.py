"""Accesses to allocated shared memory: which operations read and write which bytes.

`BlockDataflow` visits operations with the accesses that are pending before each of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import reduce
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

from tilewright.dialects.nv_tileas.attribute_names import SCRATCH_OFFSET
from tilewright.dialects.nv_tileas.matrix import DotOp, DotWaitOp
from tilewright.dialects.nv_tileas.pipeline import (
    ConsumerReadOp,
    ConsumerWaitOp,
    CreateIteratorOp,
    CreatePipelineOp,
    PipelineOp,
    ProducerAcquireOp,
    ProducerCopyOp,
    ProducerWriteOp,
    counts_copies,
)
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.dialects.nv_tileas.sync import BarrierOp
from tilewright.dialects.scf import IfOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.plans.allocations import allocated_bytes
from tilewright.plans.scratch import scratch_bytes, stays_in_warps
from tilewright.schedule.shared_lifetimes import allocation_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tilewright.ir.operation import Block, Operation

State = TypeVar("State")


class Span(NamedTuple):
    """A range of bytes of shared memory."""

    start: int
    end: int

    def overlaps(self, other: Span) -> bool:
        """Whether a byte is in both."""
        return self.start < other.end and other.start < self.end


class Access(NamedTuple):
    """The shared memory of an operation, which threads access."""

    owner: Operation
    span: Span

    def may_conflict(self, other: Access) -> bool:
        """Whether a thread may access what another one does.

        In the memory of a private operation each thread, or warp, has a part of its own.
        """
        is_own = self.owner is other.owner and _is_private(self.owner)
        return not is_own and self.span.overlaps(other.span)


class Accesses(NamedTuple):
    """Accesses to shared memory."""

    reads: frozenset[Access] = frozenset()
    writes: frozenset[Access] = frozenset()

    def joined(self, other: Accesses) -> Accesses:
        """Both."""
        return Accesses(self.reads | other.reads, self.writes | other.writes)


NONE: Final = Accesses()


class Effects(NamedTuple):
    """What an operation does with shared memory, in this order."""

    overwritten: frozenset[Access] = frozenset()
    """Memory that other threads may no longer access when the operation begins."""
    synchronizes: bool = False
    """Whether all threads then wait for each other, as a part of the operation."""
    accesses: Accesses = NONE
    """What it accesses after that, and what threads may not be done with when it ends."""

    def conflict(self, pending: Accesses) -> bool:
        """Whether threads have to wait for pending accesses of each other."""
        read = frozenset[Access]() if self.synchronizes else self.accesses.reads
        is_overwritten = _conflict(self.overwritten, pending.reads | pending.writes)
        return is_overwritten or _conflict(read, pending.writes)

    def after(self, pending: Accesses) -> Accesses:
        """What is pending afterwards, if threads wait for each other where they have to."""
        waits = self.synchronizes or self.conflict(pending)
        return (NONE if waits else pending).joined(self.accesses)


def _conflict(some: Iterable[Access], others: Iterable[Access]) -> bool:
    return any(one.may_conflict(other) for one in some for other in others)


def planned_spans(function: Operation) -> dict[Operation, Span]:
    """The shared memory of each operation that `allocate` has given some."""
    spans: dict[Operation, Span] = {}
    for op in function.walk():
        offset = op.attributes.get(SCRATCH_OFFSET)
        if isinstance(offset, IntegerAttr):
            bytes = allocated_bytes(op) or scratch_bytes(op)
            spans[op] = Span(offset.value, offset.value + bytes)
    return spans


def effects(op: Operation, spans: Mapping[Operation, Span]) -> Effects:
    """What an operation does with the shared memory that operations have been given."""
    own = _accesses([op], spans)
    match op:
        case BarrierOp():
            return Effects(synchronizes=True)
        case PipelineOp():
            return _stage_effects(op, pipeline_of(op), spans)
        case DotWaitOp():
            # The dot reads its operands until here, whatever barriers follow it.
            dot = op.accumulator.defined_by(DotOp)
            return Effects() if dot is None else Effects(accesses=_operand_reads(dot, spans))
        case ConvertLayoutOp() if allocated_bytes(op):
            return Effects(own, accesses=Accesses(writes=own))
        case _ if scratch_bytes(op):
            reads = Accesses(reads=own).joined(_operand_reads(op, spans))
            return Effects(own, not stays_in_warps(op), reads)
        case _:
            return Effects(accesses=_operand_reads(op, spans))


def synchronizes(op: Operation) -> bool:
    """Whether all threads wait for each other in an operation."""
    return effects(op, {}).synchronizes


def _stage_effects(
    op: PipelineOp, pipeline: CreatePipelineOp, spans: Mapping[Operation, Span]
) -> Effects:
    """What an operation on a stage does with the memory of its pipeline."""
    memory = _accesses([pipeline], spans)
    match op:
        case ConsumerWaitOp():
            return Effects(synchronizes=waits_for_all(op))
        case ConsumerReadOp():
            return Effects(accesses=Accesses(reads=memory))
        case ProducerAcquireOp() if op.iterator.defined_by(CreateIteratorOp) is not None:
            # The first stage of a pipeline: its memory may have been in use before.
            return Effects(memory) if counts_copies(pipeline) else Effects()
        case ProducerCopyOp() | ProducerWriteOp() if pipeline.private:
            return Effects(accesses=Accesses(writes=memory))
        case _:
            return Effects()


def waits_for_all(op: ConsumerWaitOp) -> bool:
    """Whether a wait is for the copies of all threads: a barrier follows, which is a part of it.

    Other threads read what a thread has copied, unless the pipeline is private.
    """
    pipeline = pipeline_of(op)
    return counts_copies(pipeline) and not pipeline.private and not op.own_copies


def _operand_reads(op: Operation, spans: Mapping[Operation, Span]) -> Accesses:
    """The operands of a dot that it reads from shared memory; of others, none."""
    return Accesses(reads=_accesses(_operand_memory(op) if isinstance(op, DotOp) else [], spans))


def _operand_memory(op: DotOp) -> list[Operation]:
    """The allocations that hold the operands of a dot."""
    allocations = [allocation_of(operand) for operand in (op.a, op.b)]
    return [each for each in allocations if each is not None]


def _accesses(owners: Sequence[Operation], spans: Mapping[Operation, Span]) -> frozenset[Access]:
    return frozenset([Access(owner, spans[owner]) for owner in owners if owner in spans])


def _is_private(op: Operation) -> bool:
    """Whether each thread, or warp, accesses a part of its own of the memory of an operation."""
    return op.private if isinstance(op, CreatePipelineOp) else stays_in_warps(op)


def pipeline_of(op: PipelineOp) -> CreatePipelineOp:
    """The operation that creates the pipeline of another one."""
    create = op.pipeline.defined_by(CreatePipelineOp)
    assert create is not None
    return create


class BlockDataflow(ABC, Generic[State]):
    """Forward dataflow over structured control flow: blocks, loops and branches, in order."""

    @abstractmethod
    def visit(self, op: Operation, state: State) -> State:
        """The state after an operation; that of one with regions is `inside`."""

    @abstractmethod
    def joined(self, first: State, second: State) -> State:
        """What is true where two paths meet: it only grows."""

    def next_iteration(self, loop: Operation, state: State) -> State:
        """The state at the end of an iteration of a loop, as the next one sees it."""
        return state

    def block(self, block: Block, state: State) -> State:
        """Visit a block and its regions."""
        for op in block:
            state = self.visit(op, state)
        return state

    def inside(self, op: Operation, state: State) -> State:
        """Visit the regions of an operation: loops run any number of times, others at most once."""
        if op.loop_body is not None:
            return self.loop(op, state)
        ends = [self.block(block, state) for region in op.regions for block in region.blocks]
        if not isinstance(op, IfOp) or len(ends) < 2:
            # Some threads, or all of them, may execute no region.
            ends.append(state)
        return reduce(self.joined, ends)

    def loop(self, op: Operation, state: State) -> State:
        """Visit a loop until the state at its start no longer grows."""
        before: State | None = None
        while state != before:
            before = state
            for region in op.regions:
                for block in region.blocks:
                    end = self.next_iteration(op, self.block(block, before))
                    state = self.joined(state, end)
        return state
