"""Shared-memory planning: where each operation has its shared memory, and barriers between reuses.

Pipelines, buffers and tiles in shared memory take memory as long as they are live; two that are
never live at the same time may share it. Scratch memory is where nothing is live around its
operation, which writes it, waits at a barrier, and reads. After that barrier all earlier reads are
complete, so only the memory that was used last may still be read. Operations alternate between two
scratch areas; where both may still be read, in a loop for instance, a barrier precedes the write.
An operation that exchanges data within warps has no barrier, and needs none before it is repeated.
If the GPU has space for one area only, a barrier precedes every write.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.targets import target_of
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.agents import AgentSwitchOp, agent_of
from tilewright.dialects.nv_tileas.attribute_names import (
    SCRATCH_ALIGNMENT,
    SCRATCH_BYTES,
    SCRATCH_OFFSET,
)
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
from tilewright.ir.builder import create_op
from tilewright.ir.passes import Pass
from tilewright.ir.types import I64
from tilewright.layout.wgmma import ALIGNMENT
from tilewright.plans.allocations import aligned, allocated_bytes
from tilewright.plans.scratch import scratch_bytes, stays_in_warps
from tilewright.schedule.shared_lifetimes import (
    allocate,
    allocation_of,
    find_lifetimes,
)
from tilewright.support.diagnostics import Diagnostic, UserError, note
from tilewright.target.memories import LINE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilewright.ir.operation import Block, Operation
    from tilewright.schedule.shared_lifetimes import Lifetimes
    from tilewright.support.diagnostics import Sink
    from tilewright.target.arch import Arch


class PlanSharedMemory(Pass):
    """Assign shared memory to every operation that needs some, in functions without a plan."""

    name = "plan-shared-memory"
    is_required = True

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            plan(function)


class Span(NamedTuple):
    """A range of bytes of shared memory."""

    start: int
    end: int

    def overlaps(self, other: Span) -> bool:
        """Whether a byte is in both."""
        return self.start < other.end and other.start < self.end


class Areas(NamedTuple):
    """The scratch areas of an operation: from `first` on, `size` bytes each."""

    first: int
    size: int
    number: int
    """How many there are: two, or one."""

    def spans(self) -> list[Span]:
        """The areas that there are."""
        starts = [self.first + number * self.size for number in range(self.number)]
        return [Span(start, start + self.size) for start in starts]


def plan(function: FuncOp) -> None:
    """Assign the shared memory of all operations of a function, and insert barriers."""
    if SCRATCH_BYTES in function.attributes:
        return
    needs = {op: bytes for op in function.walk() if (bytes := scratch_bytes(op))}
    lifetimes = find_lifetimes(function)
    if not needs and not lifetimes:
        return
    allocated = {
        op: Span(offset, offset + allocated_bytes(op)) for op, offset in allocate(lifetimes).items()
    }
    areas = _areas(function, needs, lifetimes, allocated)
    planner = _Planner(allocated, areas)
    planner.block(function.body.block, NOTHING)
    spans = {**allocated, **planner.assigned}
    for op, span in spans.items():
        op.attributes[SCRATCH_OFFSET] = IntegerAttr(span.start, I64)
    for op in planner.waits:
        create_op(BarrierOp, location=op.location).insert_before(op)
    size = max(span.end for span in spans.values())
    function.attributes[SCRATCH_BYTES] = IntegerAttr(size, I64)
    if allocated:
        function.attributes[SCRATCH_ALIGNMENT] = IntegerAttr(ALIGNMENT, I64)


def _areas(
    function: FuncOp,
    needs: Mapping[Operation, int],
    lifetimes: Lifetimes,
    allocated: Mapping[Operation, Span],
) -> dict[Operation, Areas]:
    """The scratch areas of each operation, between or above the allocations that are live there.

    Agents run at the same time: each has areas of its own.
    """
    arch = target_of(function)
    if arch is not None:
        _check_allocations(allocated, arch)
    by_agent: dict[AgentSwitchOp | None, list[Operation]] = {}
    for op in needs:
        by_agent.setdefault(agent_of(op), []).append(op)
    areas: dict[Operation, Areas] = {}
    taken = 0
    for ops in by_agent.values():
        floors: dict[Operation, int] = {}
        sizes: dict[int, int] = {}
        live = {op: [allocated[other] for other in lifetimes.live_at(op)] for op in ops}
        for op in ops:
            floor = floors[op] = _gap(live[op], aligned(taken, LINE), aligned(needs[op], LINE))
            sizes[floor] = max(sizes.get(floor, 0), aligned(needs[op], LINE))
        for op, floor in floors.items():
            areas[op] = _areas_from(op, floor, needs[op], sizes[floor], live[op], arch)
        taken = max([areas[op].spans()[-1].end for op in ops])
    return areas


def _gap(live: Sequence[Span], start: int, size: int) -> int:
    """The lowest offset from `start` on at which `size` bytes are not allocated."""
    for span in sorted(live):
        if span.overlaps(Span(start, start + size)):
            start = aligned(span.end, LINE)
    return start


def _areas_from(
    op: Operation, floor: int, bytes: int, size: int, live: Sequence[Span], arch: Arch | None
) -> Areas:
    """Two areas from an offset on, of a size that all operations there share; else one."""
    span = Span(floor, floor + 2 * size)
    is_free = not any(map(span.overlaps, live))
    if is_free and (arch is None or span.end <= arch.static_shared):
        return Areas(floor, size, 2)
    if arch is None:
        return Areas(floor, bytes, 1)
    if floor + bytes > arch.static_shared:
        gist = f"'{op.name}' stages {bytes} bytes, and other operations use {floor} meanwhile"
        raise _too_much_shared(op, floor + bytes, arch, gist)
    return Areas(floor, bytes, 1)


def _check_allocations(allocated: Mapping[Operation, Span], arch: Arch) -> None:
    """Check that the buffers that are live at the same time fit into shared memory."""
    for op, span in allocated.items():
        if span.end > arch.static_shared:
            gist = f"'{op.name}' allocates {span.end - span.start} bytes beside other buffers"
            raise _too_much_shared(op, span.end, arch, gist)


def _too_much_shared(op: Operation, bytes: int, arch: Arch, gist: str) -> UserError:
    """The error of a function without a plan: in the words of ptxas, which tuners look for."""
    function = next(outer for outer in op.ancestors() if isinstance(outer, FuncOp))
    sizes = f"(0x{bytes:x} bytes, 0x{arch.static_shared:x} max)"
    message = f"'@{function.sym_name}' uses too much shared data {sizes}"
    return UserError([Diagnostic(message, op.location, notes=(note(gist, op.location),))])


class Access(NamedTuple):
    """The shared memory of an operation, which threads access."""

    owner: Operation
    span: Span


class Pending(NamedTuple):
    """Accesses since the last barrier, which other threads may not know of."""

    reads: frozenset[Access]
    writes: frozenset[Access]

    def conflicts(self, span: Span, private: Operation | None = None) -> bool:
        """Whether a write to a span has to wait for these.

        In the memory of a `private` operation each thread, or warp, has a part of its own.
        """
        return self.is_written(span, private) or _overlap(self.reads, span, private)

    def is_written(self, span: Span, private: Operation | None = None) -> bool:
        """Whether a read of a span has to wait for these."""
        return _overlap(self.writes, span, private)

    def joined(self, other: Pending) -> Pending:
        """What may be pending where two paths meet."""
        return Pending(self.reads | other.reads, self.writes | other.writes)


def _overlap(accesses: frozenset[Access], span: Span, private: Operation | None) -> bool:
    return any(span.overlaps(each.span) for each in accesses if each.owner is not private)


NOTHING: Final = Pending(frozenset(), frozenset())


class _Planner:
    """Dataflow over a function: the shared memory that threads may still be accessing."""

    __slots__ = ("_allocated", "_areas", "_waits", "assigned")

    def __init__(
        self, allocated: Mapping[Operation, Span], areas: Mapping[Operation, Areas]
    ) -> None:
        self._allocated = allocated
        self._areas = areas
        self._waits: dict[Operation, bool] = {}
        self.assigned: dict[Operation, Span] = {}
        """The scratch memory of each operation that needs some."""

    @property
    def waits(self) -> list[Operation]:
        """The operations that a barrier precedes."""
        return [op for op, waits in self._waits.items() if waits]

    def block(self, block: Block, pending: Pending) -> Pending:
        """Visit a block and its regions; returns what may be pending after it."""
        for op in block:
            if isinstance(op, BarrierOp):
                pending = NOTHING
            elif op in self._areas:
                pending = self._use_scratch(op, pending)
            elif op.regions:
                pending = self._inside(op, pending)
            else:
                pending = self._access(op, pending)
        return pending

    def _use_scratch(self, op: Operation, pending: Pending) -> Pending:
        # A warp alone accesses its memory of an operation that stays in warps, time after time.
        own = op if stays_in_warps(op) else None
        areas = self._areas[op].spans()
        free = [span for span in areas if not pending.conflicts(span, own)]
        span = free[0] if free else areas[0]
        self.assigned[op] = span
        self._waits[op] = not free
        accesses = frozenset((Access(op, span), *self._shared_operands(op)))
        if own is None or not free:
            return Pending(accesses, frozenset())
        return Pending(pending.reads | accesses, pending.writes)

    def _access(self, op: Operation, pending: Pending) -> Pending:
        """An access to an allocation by all threads."""
        match op:
            case ConsumerWaitOp():
                pipeline = _pipeline(op)
                is_barrier = not pipeline.private and not op.own_copies
                return NOTHING if counts_copies(pipeline) and is_barrier else pending
            case ConsumerReadOp():
                return self._read(op, [self._allocation(_pipeline(op))], pending)
            case ProducerAcquireOp() if op.iterator.defined_by(CreateIteratorOp) is not None:
                # The first stage of a pipeline: its memory may have been in use before.
                waits = counts_copies(_pipeline(op))
                return self._wait(op, _pipeline(op), pending) if waits else pending
            case ProducerCopyOp() | ProducerWriteOp() if _pipeline(op).private:
                return self._written(_pipeline(op), pending)
            case DotOp():
                return self._read(op, self._shared_operands(op), pending)
            case DotWaitOp():
                # The dot reads its operands until here, whatever barriers follow it.
                dot = op.accumulator.defined_by(DotOp)
                reads = frozenset([] if dot is None else self._shared_operands(dot))
                return Pending(pending.reads | reads, pending.writes)
            case ConvertLayoutOp() if op in self._allocated:
                return self._written(op, self._wait(op, op, pending))
            case _:
                return pending

    def _wait(self, op: Operation, owner: Operation, pending: Pending) -> Pending:
        """A write: a barrier precedes it if another thread may still access the memory."""
        waits = pending.conflicts(self._allocated[owner], _private(owner))
        self._waits[op] = waits
        return NOTHING if waits else pending

    def _written(self, owner: Operation, pending: Pending) -> Pending:
        return Pending(pending.reads, pending.writes | {self._allocation(owner)})

    def _allocation(self, owner: Operation) -> Access:
        return Access(owner, self._allocated[owner])

    def _shared_operands(self, op: Operation) -> list[Access]:
        """The operands of a dot that it reads from shared memory; of others, none."""
        owners = _operand_memory(op) if isinstance(op, DotOp) else []
        return [self._allocation(each) for each in owners]

    def _read(self, op: Operation, sources: Sequence[Access], pending: Pending) -> Pending:
        """Reads: a barrier precedes them if another thread may have written any of the memory."""
        accesses = frozenset(sources)
        waits = any(pending.is_written(each.span, _private(each.owner)) for each in accesses)
        self._waits[op] = waits
        before = NOTHING if waits else pending
        return Pending(before.reads | accesses, before.writes)

    def _inside(self, op: Operation, pending: Pending) -> Pending:
        """Iterate to a fixed point: loops run any number of times, other regions at most once."""
        if op.loop_body is None:
            ends = [self.block(block, pending) for region in op.regions for block in region.blocks]
            if not isinstance(op, IfOp) or len(ends) < 2:
                # Some threads, or all of them, may execute no region.
                ends.append(pending)
            return reduce(Pending.joined, ends)
        self._waits[op] = False
        after = self._loop(op, pending)
        waiting = self._waiting_inside(op)
        if waiting and pending != NOTHING:
            # One barrier before the loop may replace some of each iteration.
            after = self._loop(op, NOTHING)
            self._waits[op] = self._waiting_inside(op) < waiting
            if not self._waits[op]:
                after = self._loop(op, pending)
        return after

    def _waiting_inside(self, op: Operation) -> int:
        """How many operations of a loop a barrier precedes."""
        return sum(self._waits.get(inner, False) for inner in op.walk() if inner is not op)

    def _loop(self, op: Operation, pending: Pending) -> Pending:
        """Visit a loop until what is pending at its start no longer grows."""
        before: Pending | None = None
        while pending != before:
            before = pending
            for region in op.regions:
                for block in region.blocks:
                    pending = pending.joined(self.block(block, before))
        return pending


def _operand_memory(op: DotOp) -> list[Operation]:
    """The allocations that hold the operands of a dot."""
    allocations = [allocation_of(operand) for operand in (op.a, op.b)]
    return [each for each in allocations if each is not None]


def _private(op: Operation) -> Operation | None:
    """The operation itself, if it creates a pipeline whose threads share no memory."""
    return op if isinstance(op, CreatePipelineOp) and op.private else None


def _pipeline(op: PipelineOp) -> CreatePipelineOp:
    create = op.pipeline.defined_by(CreatePipelineOp)
    assert create is not None
    return create
