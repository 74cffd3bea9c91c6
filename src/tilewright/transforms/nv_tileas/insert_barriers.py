"""Puts barriers where tokens order what different threads do to the same memory.

A token orders two accesses of the block; each thread's own accesses are in order anyway, so a
barrier is needed where one thread may touch what another did, and one of the two writes. What
releases waits for all threads first; what acquires lets all threads wait behind it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.alias import Aliases
from tilewright.dialects.nv_tileaa.atomics import AtomicOp
from tilewright.dialects.nv_tileaa.attributes import MemSemantic
from tilewright.dialects.nv_tileaa.constraints import TOKEN
from tilewright.dialects.nv_tileaa.memory import AccessOp, LoadOp, StoreOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import (
    TileAccessOp,
    TiledAtomicRmwOp,
    TileLoadOp,
    TileStoreOp,
    tiled_view,
)
from tilewright.dialects.nv_tileas.attributes import maybe_layout_of
from tilewright.dialects.nv_tileas.sync import BarrierOp
from tilewright.dialects.scf import ForOp, WhileOp
from tilewright.ir.builder import create_op
from tilewright.ir.passes import Pass
from tilewright.ir.values import Value
from tilewright.layout.linear import LANE, WARP
from tilewright.plans.scratch import is_told, scratch_bytes
from tilewright.transforms.nv_tileas.token_dependences import TokenDependences

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation
    from tilewright.support.diagnostics import Sink

_RELEASING: Final = (MemSemantic.RELEASE, MemSemantic.ACQ_REL, MemSemantic.SEQ_CST)
_ACQUIRING: Final = (MemSemantic.ACQUIRE, MemSemantic.ACQ_REL, MemSemantic.SEQ_CST)


class InsertBarriers(Pass):
    """Make threads wait for each other where tokens, acquires and releases ask for it."""

    name = "insert-barriers"

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            _Walk(function).run()


class Earlier(NamedTuple):
    """An access that no barrier has followed yet."""

    op: AccessOp
    stale: bool
    """Whether it was in an earlier round of a loop, where the same names meant other values."""


Pending = frozenset[Earlier]


class _Walk:
    """Follows a function and keeps the accesses that no barrier has followed yet."""

    __slots__ = ("_aliases", "_before", "_function", "_order")

    def __init__(self, function: FuncOp) -> None:
        self._function = function
        self._order = TokenDependences()
        self._aliases: Aliases | None = None
        self._before: dict[Operation, bool] = {}
        """By access, whether threads wait before it."""

    def run(self) -> None:
        """Put in all barriers of a function."""
        self._block(self._function.body.block, frozenset())
        for op, waits in self._before.items():
            if waits:
                create_op(BarrierOp, location=op.location).insert_before(op)
            if isinstance(op, AccessOp) and op.semantic in _ACQUIRING and not is_told(op):
                create_op(BarrierOp, location=op.location).insert_after(op)

    def _block(self, block: Block, pending: Pending) -> Pending:
        for op in block:
            if isinstance(op, AccessOp):
                pending = self._access(op, pending)
            elif isinstance(op, BarrierOp) or scratch_bytes(op):
                pending = frozenset()
            elif op.regions:
                pending = self._inside(op, pending)
        return pending

    def _inside(self, op: Operation, pending: Pending) -> Pending:
        """Regions may run any number of times, each behind the others, or not at all."""
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
        waits = bool(pending) and (op.semantic in _RELEASING or self._conflicts(op, pending))
        self._before[op] = waits
        if op.semantic in _ACQUIRING or is_told(op):
            return frozenset()
        own = frozenset((Earlier(op, stale=False),))
        return own if waits else pending | own

    def _conflicts(self, op: AccessOp, pending: Pending) -> bool:
        """Whether a token orders one of the accesses before this one, and threads may meet."""
        suspects = [earlier.op for earlier in pending if _may_meet(earlier, op)]
        if not suspects:
            return False
        if self._aliases is None:
            self._aliases = Aliases(self._function)
        suspects = [other for other in suspects if self._aliases.may_overlap(other, op)]
        return bool(suspects) and self._order.is_behind(op, suspects)


def _aged(earlier: Earlier, loop: Operation) -> Earlier:
    """An access as the next round of a loop sees it."""
    names = [part for part in _place(earlier.op) if isinstance(part, Value)]
    inside = any(_is_inside(name, loop) for name in names)
    return Earlier(earlier.op, earlier.stale or inside)


def _is_inside(value: Value, loop: Operation) -> bool:
    block = value.parent_block
    owner = None if block is None else block.parent_op
    return owner is not None and (owner is loop or loop.is_ancestor_of(owner))


def _writes(op: AccessOp) -> bool:
    return not isinstance(op, LoadOp | TileLoadOp)


def _may_meet(earlier: Earlier, second: AccessOp) -> bool:
    """Whether one thread may touch in the second access what another one did in the first."""
    first = earlier.op
    if not (_writes(first) or _writes(second)):
        return False
    if earlier.stale or _place(first) != _place(second):
        return True
    # Each thread touches its own elements, unless several hold one element and only one acts.
    if _writes(first) and _writes(second):
        return False
    layout = maybe_layout_of(_tile(first))
    return layout is None or bool(layout.replicas().keys() & {LANE, WARP})


def _place(op: AccessOp) -> tuple[object, ...]:
    """What two accesses have in common if no thread touches what is another's in either.

    Tiles that lie side by side are different, or the same: the view alone matters, and which
    thread has what of a tile.
    """
    layout = maybe_layout_of(_tile(op))
    if not isinstance(op, TileAccessOp):
        return (op.operands[0], layout)
    view = op.operands[0 if isinstance(op, TileLoadOp) else 1]
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
            return op.operands[0]
