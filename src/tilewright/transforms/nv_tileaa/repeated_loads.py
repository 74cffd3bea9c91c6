"""Loads that loops of one block repeat: each loop reads the tiles that the first one has read.

`keep-tiles` keeps such tiles in shared memory. `prefetch-loads` leaves them to it.
`version-single-trip` keeps them in registers where the loops have one iteration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.loop_bounds import is_same_bound
from tilewright.analysis.slices import backward_slice
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
    from collections.abc import Iterator, Mapping, Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value
    from tilewright.transforms.nv_tileaa.prefetchable_loads import PrefetchableLoad

_PER_BLOCK: Final = (GetProgramIdOp, GetCtaRankOp)
"""Operations without operands whose results differ between blocks."""


class LoopLoads(NamedTuple):
    """A loop, and its loads of repeated tiles by the number of the tile."""

    loop: ForOp
    loads: Mapping[int, PrefetchableLoad]


class RepeatedLoads(NamedTuple):
    """Tiles that a loop loads, and that later loops with the same iterations load again."""

    first: LoopLoads
    later: Sequence[LoopLoads]

    @staticmethod
    def of(loops: Sequence[LoopLoads], chosen: Sequence[int]) -> RepeatedLoads | None:
        """Some of the tiles that a loop loads; None if no later loop loads any of them."""
        numbers = list(enumerate(chosen))
        parts = [
            LoopLoads(loop, {number: loads[old] for number, old in numbers if old in loads})
            for loop, loads in loops
        ]
        later = [each for each in parts[1:] if each.loads]
        return RepeatedLoads(parts[0], later) if later else None

    @property
    def loops(self) -> Sequence[LoopLoads]:
        """The first loop and the later ones."""
        return (self.first, *self.later)


def find_repeated_loads(function: FuncOp, threads: int | None = None) -> list[RepeatedLoads]:
    """The loads that loops of a kernel repeat, without dots: these need memory and registers.

    With a number of threads, only those whose tiles are worth shared memory: large ones that differ
    between blocks. Else a later load may leave padding undefined that the first one defines.
    """
    loops: dict[Block, list[ForOp]] = {}
    for op in function.walk():
        if isinstance(op, DotOp):
            return []
        if isinstance(op, ForOp) and op.parent is not None:
            loops.setdefault(op.parent, []).append(op)
    least = None if threads is None else KEPT_BYTES * threads
    return [repeated for each in loops.values() for repeated in _in_block(each, least)]


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
    own = [each for each in find_prefetchable_loads(first) if _can_keep(each, first, least)]
    if not own:
        return None
    loads = LoopLoads(first, dict(enumerate(own)))
    later = [_equal_loads(loads, loop, may_pad=least is None) for loop in others]
    chosen = sorted({number for each in later for number in each.loads})
    return RepeatedLoads.of([loads, *later], chosen)


def _equal_loads(first: LoopLoads, loop: ForOp, *, may_pad: bool) -> LoopLoads:
    """The loads of another loop that read the same tiles: the first one for each tile."""
    own = [each for each in find_prefetchable_loads(loop) if each.is_unordered]
    pairs = [
        (number, each)
        for number, load in first.loads.items()
        for each in own
        if is_same_op(load.load, first.loop, each.load, loop, may_pad=may_pad)
    ]
    return LoopLoads(loop, dict(reversed(pairs)))


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
    operands = [value for op in (load.load, *load.address_ops) for value in op.operands]
    for value in backward_slice(operands, is_effect_free):
        op = value.defining_op()
        if op is not None:
            if isinstance(op, _PER_BLOCK) or not is_effect_free(op):
                return True
        elif value is not loop.induction_variable and not _is_argument(value):
            return True
    return False


def _is_argument(value: Value) -> bool:
    """Whether a value is an argument of the kernel."""
    return isinstance(value, BlockArgument) and isinstance(value.owner.parent_op, FuncOp)


def has_same_iterations(first: ForOp, second: ForOp) -> bool:
    """Whether the induction variables of two loops have the same values."""
    bounds = zip(first.operands[:3], second.operands[:3], strict=True)
    return first.unsigned_cmp == second.unsigned_cmp and all(is_same_bound(*b) for b in bounds)


def is_same_op(
    op: Operation, first: ForOp, other: Operation, second: ForOp, *, may_pad: bool = False
) -> bool:
    """Whether operations of two loops compute the same from the same induction variable.

    The first one `may_pad` tiles whose padding the other one leaves undefined.
    """

    def is_same_value(value: Value, twin: Value) -> bool:
        if value is twin:
            return True
        if value is first.induction_variable:
            return twin is second.induction_variable
        a, b = value.defining_op(), twin.defining_op()
        if a is None or b is None or not is_pure(a) or value.index != twin.index:
            return False
        return is_same_op(a, first, b, second, may_pad=may_pad)

    if type(op) is not type(other) or op.attributes != other.attributes:
        return False
    if len(op.operands) != len(other.operands) or op.segments != other.segments:
        return False
    if len(op.results) != len(other.results):
        return False
    return all(
        result.type is twin.type or (may_pad and _pads(result.type, twin.type))
        for result, twin in zip(op.results, other.results, strict=True)
    ) and all(map(is_same_value, op.operands, other.operands))


# Law: undefined padding may have any value, so also that of another view.
def _pads(type: Type, other: Type) -> bool:
    """Whether a type is that of a view whose padding another one leaves undefined."""
    if not isinstance(type, TiledViewType):
        return False
    return other is TiledViewType(type.tile, type.source, type.steps, type.dims, type.sparse)
