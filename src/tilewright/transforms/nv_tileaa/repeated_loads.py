"""Loads that loops of one block repeat: each loop reads the tiles that the first one has read.

`keep-tiles` keeps such tiles in shared memory. `prefetch-loads` leaves them to it.
`version-single-trip` keeps them in registers where the loops have one iteration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.loop_bounds import is_same_bound
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.constraints import count
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.program import GetCtaRankOp, GetProgramIdOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.types import TiledViewType
from tilewright.dialects.scf import ForOp
from tilewright.ir.effects import is_effect_free, is_pure
from tilewright.ir.types import TensorType
from tilewright.ir.values import BlockArgument
from tilewright.schedule.limits import KEPT_BYTES
from tilewright.transforms.nv_tileaa.prefetchable_loads import find_prefetchable_loads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tilewright.dialects.nv_tileaa.early_execution import AnyLoad
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value
    from tilewright.transforms.nv_tileaa.prefetchable_loads import PrefetchableLoad

_PER_BLOCK: Final = (GetProgramIdOp, GetCtaRankOp)
"""Operations without operands whose results differ between blocks."""


class LoopLoads(NamedTuple):
    """A loop, and its loads of repeated tiles: corresponding ones have the same position."""

    loop: ForOp
    loads: Sequence[PrefetchableLoad | None]
    """None for a tile that this loop does not load."""


class RepeatedLoads(NamedTuple):
    """Tiles that a loop loads, and that later loops with the same iterations load again."""

    first: LoopLoads
    later: Sequence[LoopLoads]

    @property
    def loops(self) -> Sequence[LoopLoads]:
        """The first loop and the later ones."""
        return (self.first, *self.later)

    @property
    def all_loads(self) -> Iterator[AnyLoad]:
        """The loads of all loops."""
        return (load.load for each in self.loops for load in each.loads if load is not None)


def find_repeated_loads(function: FuncOp, threads: int) -> list[RepeatedLoads]:
    """The loads that loops of a kernel repeat, and whose tiles are worth shared memory."""
    return _find(function, KEPT_BYTES * threads)


def find_repeated_tiles(function: FuncOp) -> list[RepeatedLoads]:
    """The loads that loops of a kernel repeat, whatever tiles they load.

    A later load may leave padding undefined that the first one defines.
    """
    return _find(function, None)


def _find(function: FuncOp, least: int | None) -> list[RepeatedLoads]:
    """The repeated loads of a kernel without dots, which need shared memory and registers.

    Those of tiles that differ between blocks and have `least` bytes, or of all tiles.
    """
    loops: dict[Block, list[ForOp]] = {}
    for op in function.walk():
        if isinstance(op, ForOp) and op.parent is not None:
            loops.setdefault(op.parent, []).append(op)
    several = [each for each in loops.values() if len(each) > 1]
    if not several or any(isinstance(op, DotOp) for op in function.walk()):
        return []
    return [repeated for each in several for repeated in _in_block(each, least)]


def _in_block(loops: Sequence[ForOp], least: int | None) -> Iterator[RepeatedLoads]:
    """The repeated loads among the loops of one block, in program order."""
    rest = list(loops)
    while rest:
        first = rest.pop(0)
        others = [loop for loop in rest if has_same_iterations(first, loop)]
        repeated = _repeated(first, others, least) if others else None
        if repeated is not None:
            yield repeated
            done = {each.loop for each in repeated.later}
            rest = [loop for loop in rest if loop not in done]


def _repeated(first: ForOp, others: Sequence[ForOp], least: int | None) -> RepeatedLoads | None:
    loads = [each for each in find_prefetchable_loads(first) if _can_keep(each, first, least)]
    if not loads:
        return None
    may_pad = least is None
    later = [LoopLoads(loop, _equal_loads(first, loads, loop, may_pad)) for loop in others]
    kept = [n for n in range(len(loads)) if any(each.loads[n] is not None for each in later)]
    if not kept:
        return None
    chosen = [
        LoopLoads(each.loop, [each.loads[n] for n in kept])
        for each in (LoopLoads(first, loads), *later)
    ]
    used = [each for each in chosen[1:] if any(load is not None for load in each.loads)]
    return RepeatedLoads(chosen[0], used)


def _equal_loads(
    first: ForOp, loads: Sequence[PrefetchableLoad], loop: ForOp, may_pad: bool
) -> list[PrefetchableLoad | None]:
    """For each load of the first loop, the one of another loop that reads the same tiles."""
    own = [each for each in find_prefetchable_loads(loop) if each.is_unordered]

    def is_equal(load: PrefetchableLoad, other: PrefetchableLoad) -> bool:
        return is_same_op(load.load, first, other.load, loop, may_pad=may_pad)

    return [next((each for each in own if is_equal(load, each)), None) for load in loads]


# Law: an unordered load reads the same value whenever it is executed: a write to its memory is a
# race.
def _can_keep(load: PrefetchableLoad, loop: ForOp, least: int | None) -> bool:
    """Whether a tile may be kept; if `least` says so, only a large one that few blocks read."""
    tile = load.load.results[0].type
    if not load.is_unordered or load.index_loads or not isinstance(tile, TensorType):
        return False
    if least is None:
        return True
    bytes = count(tile) * pointee_bytes(element_of(tile))
    return bytes >= least and _differs_by_block(load, loop)


def _differs_by_block(load: PrefetchableLoad, loop: ForOp) -> bool:
    """Whether the tiles depend on more than the iteration, constants and the kernel's arguments.

    Tiles that all blocks read, such as weights, are in the caches.
    """
    pending = [value for op in (load.load, *load.address_ops) for value in op.operands]
    seen = {loop.induction_variable, *pending}
    while pending:
        value = pending.pop()
        op = value.defining_op()
        if isinstance(value, BlockArgument):
            is_argument = isinstance(value.owner.parent_op, FuncOp)
            if value is not loop.induction_variable and not is_argument:
                return True
        elif op is None or isinstance(op, _PER_BLOCK) or not is_effect_free(op):
            return True
        else:
            pending += [each for each in op.operands if each not in seen]
            seen.update(op.operands)
    return False


def has_same_iterations(first: ForOp, second: ForOp) -> bool:
    """Whether the induction variables of two loops have the same values."""
    if first.unsigned_cmp != second.unsigned_cmp:
        return False
    return all(
        is_same_bound(a, b) for a, b in zip(first.operands[:3], second.operands[:3], strict=True)
    )


def is_same_op(
    op: Operation, first: ForOp, other: Operation, second: ForOp, *, may_pad: bool = False
) -> bool:
    """Whether operations of two loops compute the same from the same induction variable.

    The first one `may_pad` tiles whose padding the other one leaves undefined.
    """
    if type(op) is not type(other) or op.attributes != other.attributes:
        return False
    if len(op.operands) != len(other.operands) or op.segments != other.segments:
        return False
    if len(op.results) != len(other.results):
        return False
    for result, twin in zip(op.results, other.results, strict=True):
        if result.type != twin.type and not (may_pad and _pads(result.type, twin.type)):
            return False
    pairs = zip(op.operands, other.operands, strict=True)
    return all(_is_same_value(a, first, b, second, may_pad) for a, b in pairs)


# Law: undefined padding may have any value, so also that of another view.
def _pads(type: Type, other: Type) -> bool:
    """Whether a type is that of a view whose padding another one leaves undefined."""
    if not isinstance(type, TiledViewType):
        return False
    return other is TiledViewType(type.tile, type.source, type.steps, type.dims, type.sparse)


def _is_same_value(value: Value, first: ForOp, other: Value, second: ForOp, may_pad: bool) -> bool:
    if value is other:
        return True
    if value is first.induction_variable:
        return other is second.induction_variable
    op, twin = value.defining_op(), other.defining_op()
    if op is None or twin is None or not is_pure(op) or value.index != other.index:
        return False
    return is_same_op(op, first, twin, second, may_pad=may_pad)
