"""Accesses to global memory that tokens, acquires and releases order.

A token orders two accesses of the block; the accesses of one thread are in program order anyway, so
threads wait for each other only where one may access an element that another accessed, and one of
the two writes. A release follows the accesses of all threads, an acquire precedes them.

A store by TMA is in flight until a `store_wait`, whatever barriers follow it. Such a wait precedes
accesses that tokens order after the store, and releases.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from tilewright.analysis.alias import Aliases
from tilewright.analysis.slices import closure
from tilewright.dialects.nv_tileaa.constraints import TOKEN
from tilewright.dialects.nv_tileaa.memory import AccessOp, LoadOp
from tilewright.dialects.nv_tileaa.types import MEM_TOKEN
from tilewright.dialects.nv_tileaa.view import TileReadOp, TileWriteOp, tiled_view
from tilewright.dialects.nv_tileas.async_store import AsyncTiledStoreOp
from tilewright.dialects.nv_tileas.attributes import maybe_layout_of
from tilewright.dialects.scf import ForOp, IfOp, WhileOp
from tilewright.ir.operation import Operation
from tilewright.ir.values import BlockArgument, Value
from tilewright.layout.linear import LANE, WARP
from tilewright.plans.accesses import accessed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Region
    from tilewright.layout.linear import Layout


class Earlier(NamedTuple):
    """An access that no barrier has followed yet."""

    op: AccessOp
    stale: bool
    """Whether it was in an earlier iteration of a loop: SSA names stood for other values then."""
    in_flight: bool = False
    """Whether it is a store by TMA that no thread has waited for."""


Pending = frozenset[Earlier]


class GlobalAccesses:
    """The order of the accesses of a function to global memory."""

    def __init__(self, function: FuncOp) -> None:
        self._function = function

    @cached_property
    def _aliases(self) -> Aliases:
        return Aliases(self._function)

    def waits(self, op: AccessOp, pending: Pending) -> bool:
        """Whether stores by TMA have to be complete before an access."""
        stores = [earlier.op for earlier in in_flight(pending)]
        return bool(stores) and (op.semantic.releases or self._follows(op, stores))

    def conflicts(self, op: AccessOp, pending: Pending) -> bool:
        """Whether threads wait for each other before an access.

        A token orders a pending access before it, and threads may conflict; or it releases.
        """
        if op.semantic.releases:
            return bool(pending)
        suspects = [earlier.op for earlier in pending if _may_conflict(earlier, op)]
        return bool(suspects) and self._follows(op, suspects)

    def _follows(self, op: AccessOp, others: Sequence[AccessOp]) -> bool:
        """Whether a token orders an access after others that may access the same memory."""
        suspects = [other for other in others if self._aliases.may_overlap(other, op)]
        return bool(suspects) and depends_on(op, suspects)


def left_by(op: AccessOp) -> Pending:
    """What is pending because of an access."""
    return frozenset([Earlier(op, stale=False, in_flight=isinstance(op, AsyncTiledStoreOp))])


def in_flight(pending: Pending) -> Pending:
    """The stores by TMA that no thread has waited for, which a barrier does not complete."""
    return frozenset([earlier for earlier in pending if earlier.in_flight])


def completed(pending: Pending) -> Pending:
    """The accesses after a wait for stores by TMA."""
    return frozenset([earlier._replace(in_flight=False) for earlier in pending])


def aged(pending: Pending, loop: Operation) -> Pending:
    """The accesses as the next iteration of a loop sees them."""
    return frozenset([_aged(earlier, loop) for earlier in pending])


def _aged(earlier: Earlier, loop: Operation) -> Earlier:
    names = [part for part in _access_key(earlier.op) if isinstance(part, Value)]
    inside = any(name.is_inside(loop) for name in names)
    return earlier._replace(stale=earlier.stale or inside)


def _writes(op: AccessOp) -> bool:
    return not isinstance(op, LoadOp | TileReadOp)


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
    layout = _layout(first)
    return layout is None or bool(layout.replicas().keys() & {LANE, WARP})


def _access_key(op: AccessOp) -> tuple[object, ...]:
    """A key that is equal for two accesses only if each thread accesses its own elements in both.

    Tiles of a view that do not overlap are disjoint or the same: then the view and the layout of
    the tile suffice.
    """
    layout = _layout(op)
    if not isinstance(op, TileReadOp | TileWriteOp):
        return (op.operands[0], layout)
    type = tiled_view(op.view)
    if type.sparse is None and all(s >= t for s, t in zip(type.steps, type.tile, strict=True)):
        return (op.view, layout)
    rest = op.operands[op.operands.index(op.view) :]
    return (*(value for value in rest if not TOKEN.accepts(value.type)), layout)


def _layout(op: AccessOp) -> Layout | None:
    tile = accessed(op)
    assert tile is not None
    return maybe_layout_of(tile)


def depends_on(op: Operation, others: Iterable[AccessOp]) -> bool:
    """Whether a chain of tokens, through joins, loops and branches, leads from another access."""
    sources: set[Operation | None] = set(others)
    tokens = [value for value in op.operands if value.type is MEM_TOKEN]
    return any(token.defining_op() in sources for token in closure(tokens, token_sources))


def token_sources(token: Value) -> Iterator[Value]:
    """The tokens that a token directly depends on: of a loop, at entry and at the back edge."""
    number, owner, is_argument = token.index, token.defining_op(), False
    if isinstance(token, BlockArgument):
        owner, is_argument = token.parent_block.parent_op, True
    match owner:
        case ForOp():
            # The first argument is the counter.
            number -= is_argument
            yield owner.init_args[number]
            yield from _ends(owner.body, number)
        case WhileOp() if token in owner.before.block.args:
            yield owner.init_args[number]
            yield from _ends(owner.after, number)
        case WhileOp():
            # The first operand is the condition.
            yield from _ends(owner.before, number + 1)
        case IfOp():
            for region in owner.regions:
                yield from _ends(region, number)
        case Operation() if not is_argument:
            yield from (value for value in owner.operands if value.type is MEM_TOKEN)


def _ends(region: Region, number: int) -> Iterator[Value]:
    """The operands with a number that blocks of a region end with."""
    ends = (block.terminator for block in region.blocks)
    return (end.operands[number] for end in ends if end is not None)
