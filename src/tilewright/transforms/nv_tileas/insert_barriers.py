"""Barrier insertion: tokens order accesses of different threads to the same memory.

A token orders two accesses of the block; the accesses of one thread are in program order anyway, so
a barrier is needed where one thread may access an element that another accessed, and one of the two
writes. There is a barrier before a release, and one after an acquire.

A store by TMA is in flight until a `store_wait`, whatever barriers follow it. Such a wait precedes
accesses that tokens order after the store, and releases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.alias import Aliases
from tilewright.dialects.nv_tileaa.atomics import AtomicOp
from tilewright.dialects.nv_tileaa.attributes import MemSemantic
from tilewright.dialects.nv_tileaa.constraints import TOKEN
from tilewright.dialects.nv_tileaa.memory import AccessOp, LoadOp, StoreOp
from tilewright.dialects.nv_tileaa.multimem import AnyMultimemOp, MultimemLoadReduceOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import (
    TileAccessOp,
    TiledAtomicRmwOp,
    TileLoadOp,
    TileStoreOp,
    tiled_view,
)
from tilewright.dialects.nv_tileas.async_store import AsyncTiledStoreOp, StoreWaitOp
from tilewright.dialects.nv_tileas.attributes import maybe_layout_of
from tilewright.dialects.nv_tileas.sync import BarrierOp
from tilewright.dialects.scf import ForOp, WhileOp
from tilewright.ir.builder import create_op
from tilewright.ir.passes import Pass, statistic
from tilewright.ir.values import Value
from tilewright.layout.linear import LANE, WARP
from tilewright.plans.scratch import is_broadcast, scratch_bytes, stays_in_warps
from tilewright.transforms.nv_tileas.token_dependences import TokenDependences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.operation import Block, Operation
    from tilewright.support.diagnostics import Sink

_RELEASING: Final = (MemSemantic.RELEASE, MemSemantic.ACQ_REL, MemSemantic.SEQ_CST)
_ACQUIRING: Final = (MemSemantic.ACQUIRE, MemSemantic.ACQ_REL, MemSemantic.SEQ_CST)


class InsertBarriers(Pass):
    """Insert block barriers where tokens, acquires and releases require them."""

    name = "insert-barriers"
    is_required = True
    inserted = statistic("block barriers inserted")

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            self.inserted.add(sink, _Walk(function).run())


class Earlier(NamedTuple):
    """An access that no barrier has followed yet."""

    op: AccessOp
    stale: bool
    """Whether it was in an earlier iteration of a loop: SSA names stood for other values then."""
    in_flight: bool = False
    """Whether it is a store by TMA that no thread has waited for."""


Pending = frozenset[Earlier]


class Before(NamedTuple):
    """What precedes an access."""

    wait: bool
    """A wait for stores by TMA."""
    barrier: bool


class _Walk:
    """Dataflow over a function: the accesses that no barrier has followed yet."""

    __slots__ = ("_aliases", "_before", "_function", "_order")

    def __init__(self, function: FuncOp) -> None:
        self._function = function
        self._order = TokenDependences()
        self._aliases: Aliases | None = None
        self._before: dict[Operation, Before] = {}

    def run(self) -> int:
        """Insert all barriers of a function; returns their number."""
        inserted = 0
        self._block(self._function.body.block, frozenset())
        for op, before in self._before.items():
            if before.wait:
                create_op(StoreWaitOp, location=op.location).insert_before(op)
            if before.barrier:
                create_op(BarrierOp, location=op.location).insert_before(op)
                inserted += 1
            if isinstance(op, AccessOp) and op.semantic in _ACQUIRING and not is_broadcast(op):
                create_op(BarrierOp, location=op.location).insert_after(op)
                inserted += 1
        return inserted

    def _block(self, block: Block, pending: Pending) -> Pending:
        for op in block:
            if isinstance(op, AccessOp):
                pending = self._access(op, pending)
            elif isinstance(op, StoreWaitOp):
                pending = _completed(pending)
            elif isinstance(op, BarrierOp) or (scratch_bytes(op) and not stays_in_warps(op)):
                pending = _in_flight(pending)
            elif op.regions:
                pending = self._inside(op, pending)
        return pending

    def _inside(self, op: Operation, pending: Pending) -> Pending:
        """Iterate to a fixed point: regions may run any number of times, or not at all."""
        before: Pending | None = None
        while pending != before:
            before = pending
            for region in op.regions:
                for block in region.blocks:
                    pending |= self._block(block, before)
            if isinstance(op, ForOp | WhileOp):
                pending |= {_aged(earlier, op) for earlier in pending}
        return pending

    def _access(self, op: AccessOp, pending: Pending) -> Pending:
        releases = op.semantic in _RELEASING
        stores = [earlier.op for earlier in _in_flight(pending)]
        wait = bool(stores) and (releases or self._follows(op, stores))
        barrier = bool(pending) and (releases or self._conflicts(op, pending))
        self._before[op] = Before(wait, barrier)
        pending = _completed(pending) if wait else pending
        if barrier or op.semantic in _ACQUIRING or is_broadcast(op):
            pending = _in_flight(pending)
        if op.semantic in _ACQUIRING or is_broadcast(op):
            return pending
        is_async = isinstance(op, AsyncTiledStoreOp)
        return pending | {Earlier(op, stale=False, in_flight=is_async)}

    def _conflicts(self, op: AccessOp, pending: Pending) -> bool:
        """Whether a token orders a pending access before this one, and threads may conflict."""
        suspects = [earlier.op for earlier in pending if _may_conflict(earlier, op)]
        return bool(suspects) and self._follows(op, suspects)

    def _follows(self, op: AccessOp, others: Sequence[AccessOp]) -> bool:
        """Whether a token orders an access after others that may access the same memory."""
        if self._aliases is None:
            self._aliases = Aliases(self._function)
        suspects = [other for other in others if self._aliases.may_overlap(other, op)]
        return bool(suspects) and self._order.depends_on(op, suspects)


def _in_flight(pending: Pending) -> Pending:
    """The stores by TMA that no thread has waited for, which a barrier does not complete."""
    return frozenset([earlier for earlier in pending if earlier.in_flight])


def _completed(pending: Pending) -> Pending:
    """The accesses after a wait for stores by TMA."""
    return frozenset([earlier._replace(in_flight=False) for earlier in pending])


def _aged(earlier: Earlier, loop: Operation) -> Earlier:
    """An access as the next iteration of a loop sees it."""
    names = [part for part in _access_key(earlier.op) if isinstance(part, Value)]
    inside = any(_is_inside(name, loop) for name in names)
    return earlier._replace(stale=earlier.stale or inside)


def _is_inside(value: Value, loop: Operation) -> bool:
    block = value.parent_block
    owner = None if block is None else block.parent_op
    return owner is not None and (owner is loop or loop.is_ancestor_of(owner))


def _writes(op: AccessOp) -> bool:
    return not isinstance(op, LoadOp | TileLoadOp | MultimemLoadReduceOp)


def _may_conflict(earlier: Earlier, second: AccessOp) -> bool:
    """Whether a thread may access an element that another thread accessed before, with a write."""
    first = earlier.op
    if not (_writes(first) or _writes(second)):
        return False
    if earlier.stale or _access_key(first) != _access_key(second):
        return True
    # Each thread accesses its own elements, unless several hold an element and one of them stores.
    if _writes(first) and _writes(second):
        return False
    layout = maybe_layout_of(_tile(first))
    return layout is None or bool(layout.replicas().keys() & {LANE, WARP})


def _access_key(op: AccessOp) -> tuple[object, ...]:
    """A key that is equal for two accesses only if each thread accesses its own elements in both.

    Tiles of a view that do not overlap are disjoint or the same: then the view and the layout of
    the tile suffice.
    """
    layout = maybe_layout_of(_tile(op))
    if not isinstance(op, TileAccessOp):
        return (op.operands[0], layout)
    view = op.operands[0 if isinstance(op, TileLoadOp | MultimemLoadReduceOp) else 1]
    type = tiled_view(view)
    if type.sparse is None and all(s >= t for s, t in zip(type.steps, type.tile, strict=True)):
        return (view, layout)
    rest = op.operands[op.operands.index(view) :]
    return (*(value for value in rest if not TOKEN.accepts(value.type)), layout)


def _tile(op: AccessOp) -> Value:
    match op:
        case TileStoreOp() | TileLoadOp() | TiledAtomicRmwOp():
            return op.tile
        case LoadOp() | AtomicOp():
            return op.result
        case StoreOp():
            return op.value
        case _:
            return op.tile if isinstance(op, AnyMultimemOp) else op.operands[0]
