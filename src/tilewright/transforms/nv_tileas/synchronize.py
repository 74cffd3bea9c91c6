"""Synchronization: barriers and proxy fences between accesses of threads to the same memory.

One dataflow over each function holds the accesses that other threads may not know of yet: those to
spans of shared memory, which `allocate` has assigned, and those to global memory, where order is
what tokens, acquires and releases ask for. A barrier serves all of them. It stands before the first
operation that needs it; before a loop, if that leaves fewer in the loop.

The only waits inserted here are those for stores by TMA. All others belong to what passes build
before: `materialize-schedule`, `keep-tiles`, `specialize-warps` and `convert-queues-to-pipelines`
wait for the stages of their pipelines, `schedule-loops` and `materialize-schedule` for the dots
that they leave in flight. A dot that is not asynchronous waits for itself. `order-warpgroups` and,
for tokens of async copies, `materialize-async` insert waits later.

Threads store, and copy by `cp.async`, through the generic proxy; bulk copies write and wgmma reads
through the async one. A thread that stores fences before others learn of it. One that copies by
`cp.async` arrives at an mbarrier without waiting for its copies: the threads that wait there fence.
What threads only read needs no fence before a bulk copy overwrites it: the mbarrier orders it.
Between agents, a pipeline leads from writes to reads, not the order of operations. So a fence
follows from all producers and consumers of an allocation, not from the dataflow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.targets import target_or_baseline
from tilewright.dialects.nv_tileaa.memory import AccessOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.async_store import StoreWaitOp
from tilewright.dialects.nv_tileas.attributes import Atom, in_shared_memory
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.pipeline import (
    ConsumerReadOp,
    ConsumerWaitOp,
    CreatePipelineOp,
    ProducerCommitOp,
    ProducerCopyOp,
    ProducerWriteOp,
    counts_copies,
)
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.dialects.nv_tileas.sync import BarrierOp, ProxyFenceOp
from tilewright.ir.builder import create_op
from tilewright.ir.passes import Pass, statistic
from tilewright.plans.accesses import copied_by_threads, copies_of, has_copies_by_threads
from tilewright.plans.scratch import is_broadcast
from tilewright.transforms.nv_tileas import global_accesses, shared_accesses
from tilewright.transforms.nv_tileas.global_accesses import GlobalAccesses
from tilewright.transforms.nv_tileas.shared_accesses import (
    Accesses,
    BlockDataflow,
    Effects,
    Span,
    pipeline_of,
    waits_for_all,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink


class Synchronize(Pass):
    """Insert barriers, proxy fences and TMA store waits where threads access the same memory."""

    name = "synchronize"
    is_required = True
    inserted = statistic("block barriers inserted")

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            self.inserted.add(sink, _Synchronization(function).insert())


class Pending(NamedTuple):
    """Accesses that no barrier has followed yet, so that other threads may not know of them."""

    shared: Accesses
    accesses: global_accesses.Pending

    def after_barrier(self) -> Pending:
        """What is left: stores by TMA, which a barrier does not complete."""
        return Pending(shared_accesses.NONE, global_accesses.in_flight(self.accesses))

    def after_store_wait(self) -> Pending:
        """The accesses after a wait for stores by TMA."""
        return self._replace(accesses=global_accesses.completed(self.accesses))


NOTHING: Final = Pending(shared_accesses.NONE, frozenset())


class Before(NamedTuple):
    """What precedes an operation."""

    wait: bool
    """A wait for stores by TMA."""
    barrier: bool


class _Synchronization(BlockDataflow[Pending]):
    """The barriers and waits of a function."""

    __slots__ = ("_before", "_effects", "_function", "_global", "_loops", "_spans")

    def __init__(self, function: FuncOp) -> None:
        self._function = function
        self._global = GlobalAccesses(function)
        self._spans = shared_accesses.planned_spans(function)
        self._effects: dict[Operation, Effects | None] = {}
        """None: it changes no state, as most of a loop, which is visited several times."""
        self._before: dict[Operation, Before] = {}
        self._loops: dict[tuple[Operation, Pending], tuple[Pending, dict[Operation, Before]]] = {}
        """By loop and what is pending before it: what is after it, and what precedes its parts."""

    def insert(self) -> int:
        """Insert all barriers, waits and fences; returns the number of barriers."""
        self.block(self._function.body.block, NOTHING)
        inserted = 0
        for op, before in self._before.items():
            if before.wait:
                create_op(StoreWaitOp, location=op.location).insert_before(op)
            if before.barrier:
                create_op(BarrierOp, location=op.location).insert_before(op)
                inserted += 1
            if _precedes_barrier(op) and not _is_followed_by_barrier(op):
                create_op(BarrierOp, location=op.location).insert_after(op)
                inserted += 1
        _insert_fences(self._function, self._spans)
        return inserted

    def visit(self, op: Operation, state: Pending) -> Pending:
        if op not in self._effects:
            self._effects[op] = self._find_effects(op)
        effects = self._effects[op]
        if effects is None:
            return state
        if op.regions and not effects.synchronizes:
            return self.inside(op, state)
        if isinstance(op, StoreWaitOp):
            return state.after_store_wait()
        is_access = isinstance(op, AccessOp)
        wait = is_access and self._global.waits(op, state.accesses)
        conflicts = is_access and self._global.conflicts(op, state.accesses)
        barrier = conflicts or effects.conflict(state.shared)
        self._before[op] = Before(wait, barrier)
        state = state.after_store_wait() if wait else state
        state = state.after_barrier() if barrier else state
        if is_access:
            state = state._replace(accesses=state.accesses | global_accesses.left_by(op))
        if effects.synchronizes or _precedes_barrier(op):
            state = state.after_barrier()
        return state._replace(shared=state.shared.joined(effects.accesses))

    def _find_effects(self, op: Operation) -> Effects | None:
        """The effects of an operation; None if it does not access memory, wait, or have regions."""
        effects = shared_accesses.effects(op, self._spans)
        is_active = op.regions or isinstance(op, AccessOp | StoreWaitOp) or _precedes_barrier(op)
        return effects if is_active or effects != Effects() else None

    def joined(self, first: Pending, second: Pending) -> Pending:
        return Pending(first.shared.joined(second.shared), first.accesses | second.accesses)

    def next_iteration(self, loop: Operation, state: Pending) -> Pending:
        return state._replace(accesses=global_accesses.aged(state.accesses, loop))

    def loop(self, op: Operation, state: Pending) -> Pending:
        """Visit a loop; one barrier before it may replace some of each iteration.

        The loop around it visits it several times, also after the same accesses.
        """
        if (op, state) not in self._loops:
            self._loops[op, state] = self._loop(op, state), self._inside(op)
        after, before = self._loops[op, state]
        self._before |= before
        return after

    def _loop(self, op: Operation, state: Pending) -> Pending:
        self._before[op] = Before(wait=False, barrier=False)
        after = super().loop(op, state)
        inside = self._barriers_inside(op)
        if not inside or state == state.after_barrier():
            return after
        without = self._inside(op)
        synchronized = super().loop(op, state.after_barrier())
        if self._barriers_inside(op) < inside:
            self._before[op] = Before(wait=False, barrier=True)
            return synchronized
        self._before |= without
        return after

    def _inside(self, op: Operation) -> dict[Operation, Before]:
        """What precedes a loop and the operations in it."""
        return {each: before for each in op.walk() if (before := self._before.get(each))}

    def _barriers_inside(self, op: Operation) -> int:
        """How many barriers are inserted in a loop."""
        return sum(before.barrier for each, before in self._inside(op).items() if each is not op)


def _precedes_barrier(op: Operation) -> bool:
    """Whether a barrier follows: an acquire whose result is not broadcast, or a wait for all."""
    if isinstance(op, AccessOp):
        return op.semantic.acquires and not is_broadcast(op)
    return isinstance(op, ConsumerWaitOp) and waits_for_all(op)


def _is_followed_by_barrier(op: Operation) -> bool:
    after = op.next
    return isinstance(after.next if isinstance(after, ProxyFenceOp) else after, BarrierOp)


def _insert_fences(function: Operation, spans: Mapping[Operation, Span]) -> None:
    """Insert the proxy fences of a function; those that are there remain."""
    for op in list(function.walk()):
        fence = create_op(ProxyFenceOp, location=op.location)
        if _is_fenced_before(op, spans) and not isinstance(op.prev, ProxyFenceOp):
            fence.insert_before(op)
        elif _is_fenced_after(op) and not isinstance(op.next, ProxyFenceOp):
            fence.insert_after(op)


def _is_fenced_before(op: Operation, spans: Mapping[Operation, Span]) -> bool:
    """Whether earlier writes of threads are ordered before accesses that an operation allows."""
    match op:
        case CreatePipelineOp():
            return not counts_copies(op) and _copies_over_earlier_writes(op, spans)
        case ProducerCommitOp():
            pipeline = pipeline_of(op)
            is_shared = not counts_copies(pipeline) and _is_written_by_threads(pipeline)
            return is_shared and _is_read_by_wgmma(pipeline)
        case ProducerCopyOp():
            return not copied_by_threads(op) and _is_written_by_threads(pipeline_of(op))
        case _:
            return False


def _is_fenced_after(op: Operation) -> bool:
    """Whether a write of threads, or a wait for their copies, precedes reads by wgmma."""
    match op:
        case ConvertLayoutOp():
            return in_shared_memory(op.result) and _feeds_async_dots(op)
        case ConsumerWaitOp():
            pipeline = pipeline_of(op)
            counts = counts_copies(pipeline)
            waits = waits_for_all(op) if counts else has_copies_by_threads(pipeline)
            return waits and _is_read_by_wgmma(pipeline)
        case _:
            return False


def _feeds_async_dots(op: ConvertLayoutOp) -> bool:
    """Whether other dots than those by FMA read a tile in shared memory."""
    users = op.result.users
    only_fma = all(isinstance(user, DotOp) and user.atom is Atom.FMA for user in users)
    return not only_fma and bool(target_or_baseline(op).async_dots)


def _copies_over_earlier_writes(op: CreatePipelineOp, spans: Mapping[Operation, Span]) -> bool:
    """Whether bulk copies write to memory that had another use before the pipeline was created."""
    if op not in spans or all(copied_by_threads(copy) for copy in copies_of(op)):
        return False
    return any(other is not op and span.overlaps(spans[op]) for other, span in spans.items())


def _is_written_by_threads(op: CreatePipelineOp) -> bool:
    """Whether producers of a pipeline store to its stages."""
    return any(isinstance(user, ProducerWriteOp) for user in op.result.users)


def _is_read_by_wgmma(op: CreatePipelineOp) -> bool:
    """Whether wgmma reads the stages of a pipeline."""
    reads = [user for user in op.result.users if isinstance(user, ConsumerReadOp)]
    tiles = [value for read in reads for value in read.values if in_shared_memory(value)]
    return bool(tiles) and bool(target_or_baseline(op).async_dots)
