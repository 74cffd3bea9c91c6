"""Memory accesses of a kernel that the CTAs of a cluster share.

Tokens order the accesses of one CTA, not those of two. So of two accesses that tokens order, one of
them a write, every element must be accessed by the same CTA, or by the first one both times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa import atomics, memory, misc, multimem, view
from tilewright.dialects.nv_tileaa.attributes import MemSemantic
from tilewright.dialects.nv_tileaa.types import MEM_TOKEN
from tilewright.dialects.scf import ForOp, IfOp, WhileOp
from tilewright.ir.effects import is_effect_free
from tilewright.ir.traits import Effects
from tilewright.transforms.tile.closure import CannotCut
from tilewright.transforms.tile.control_flow import CONTROL_FLOW, control_flow_transfers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.transforms.tile.closure import Cut

LOADS: Final = (memory.LoadOp, view.TileLoadOp)
WRITES: Final = (
    memory.StoreOp,
    view.TileStoreOp,
    atomics.AtomicOp,
    view.TiledAtomicRmwOp,
)
OBSERVABLE: Final = (*WRITES, misc.PrintOp, misc.AssertOp)
"""Operations with an effect that must not happen twice."""
REPEATABLE: Final = (memory.TokenOp, misc.AssumeOp, misc.MessageOp, misc.OptimizationBarrierOp)
"""Operations that every CTA may do, although they are not free of effects."""


def check_accesses(function: FuncOp) -> None:
    """Raise `CannotCut` if an operation of the kernel cannot be done by several CTAs.

    They read what one another writes in no known order, and must take the same branches.
    """
    for op in function.walk():
        if op is not function and not op.is_terminator:
            reason = _problem(op)
            if reason is not None:
                raise CannotCut(op, reason)


def _problem(op: Operation) -> str | None:
    match op:
        case atomics.AtomicOp() if op.result.is_used:
            return "the result of an atomic would differ between CTAs"
        case atomics.AtomicOp() | view.TiledAtomicRmwOp():
            return None if op.semantic is MemSemantic.RELAXED else "an atomic orders accesses"
        case multimem.MultimemOp():
            return "an access is of the memory of several GPUs"
        case memory.AccessOp():
            return None if op.is_plain else "an access is not weak"
        case misc.PrintOp() | misc.AssertOp() | ForOp() | IfOp() | WhileOp():
            return None
        case _:
            is_free = is_effect_free(op) or op.effects is Effects.RECURSIVE
            known = is_free or isinstance(op, REPEATABLE)
            return None if known else f"'{op.name}' would run in every CTA"


def check_order(function: FuncOp, cut: Cut) -> None:
    """Raise `CannotCut` if tokens order two accesses of one element by different CTAs."""
    earlier = _EarlierAccesses(function)
    for op in function.walk():
        if not isinstance(op, memory.AccessOp):
            continue
        for other in earlier.of(op):
            if (isinstance(op, WRITES) or isinstance(other, WRITES)) and not _same_cta(
                op, other, cut
            ):
                raise CannotCut(op, "it is ordered after an access of another CTA")


class _EarlierAccesses:
    """The accesses that tokens order before each one."""

    __slots__ = ("_sources",)

    def __init__(self, function: FuncOp) -> None:
        self._sources: dict[Value, list[Value]] = {}
        """The tokens that each token follows."""
        for op in function.walk():
            if not isinstance(op, CONTROL_FLOW):
                for token in _tokens(op.results):
                    self._sources[token] = _tokens(op.operands)
        for transfer in control_flow_transfers(function.walk()):
            for token in _tokens(transfer.targets):
                self._sources[token] = transfer.sources

    def of(self, op: memory.AccessOp) -> Iterator[memory.AccessOp]:
        """The accesses before one, each once; in a loop perhaps itself."""
        worklist = _tokens(op.operands)
        seen = set(worklist)
        while worklist:
            token = worklist.pop()
            maker = token.defining_op()
            if isinstance(maker, memory.AccessOp):
                yield maker
            more = [source for source in self._sources.get(token, ()) if source not in seen]
            seen.update(more)
            worklist += more


def _tokens(values: Iterable[Value]) -> list[Value]:
    return [value for value in values if value.type is MEM_TOKEN]


def _same_cta(one: memory.AccessOp, other: memory.AccessOp, cut: Cut) -> bool:
    """Whether each element that two accesses have in common is accessed by the same CTA."""
    ways = cut.ways.get(one), cut.ways.get(other)
    if ways == (None, None):
        # The first CTA writes what is not split; all of them read it.
        return isinstance(one, WRITES) and isinstance(other, WRITES)
    if None in ways:
        return False
    owners = _owner(one, cut), _owner(other, cut)
    return owners[0] is not None and owners[0] == owners[1]


def _owner(op: memory.AccessOp, cut: Cut) -> tuple[object, ...] | None:
    """What decides which CTA accesses an element; None if more than the element does."""
    axes = cut.ways[op].axes
    if isinstance(op, memory.LoadOp | memory.StoreOp | atomics.AtomicOp):
        is_fixed = not any(isinstance(outer, ForOp | WhileOp) for outer in _outer_ops(op.pointers))
        return (op.pointers, axes[op.pointers]) if is_fixed else None
    assert isinstance(op, view.TileLoadOp | view.TileStoreOp | view.TiledAtomicRmwOp)
    type, dim, cutter = (
        view.tiled_view(op.view),
        axes[op.tile],
        op.view.defined_by(view.BlockTileOp),
    )
    if cutter is None or type.sparse is not None or type.counted[dim] != type.tile[dim]:
        return None
    return (cutter.source, type.dims[dim], type.tile[dim])


def _outer_ops(value: Value) -> Iterator[Operation]:
    block = value.parent_block
    op = None if block is None else block.parent_op
    while op is not None:
        yield op
        op = op.parent_op
