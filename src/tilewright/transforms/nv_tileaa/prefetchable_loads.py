"""Loads of a loop that can be issued for a later iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.analysis.elementwise import is_tile
from tilewright.dialects.arith.literals import splat_of
from tilewright.dialects.nv_tileaa.aggregate import AggregateOp
from tilewright.dialects.nv_tileaa.attributes import PaddingValue
from tilewright.dialects.nv_tileaa.conversion import ConversionOp
from tilewright.dialects.nv_tileaa.early_execution import (
    is_first,
    is_speculatable,
    predicate_problem,
)
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.misc import AssertOp, AssumeOp
from tilewright.dialects.nv_tileaa.view import TileLoadOp, tiled_view
from tilewright.ir.rules import constant_of
from tilewright.ir.types import IntegerType
from tilewright.transforms.nv_tileaa.address_ops import find_address_ops, find_index_loads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileaa.early_execution import AnyLoad
    from tilewright.dialects.scf import ForOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


class PrefetchableLoad(NamedTuple):
    """A load of a loop that can be prefetched, and the operations that compute its operands."""

    load: AnyLoad
    address_ops: Sequence[Operation]

    @property
    def is_converted(self) -> bool:
        """Whether all users of the tile are conversions in the same block."""
        block = self.load.parent
        users = self.load.results[0].users
        return all(isinstance(op, ConversionOp) and op.parent is block for op in users)

    @property
    def is_first(self) -> bool:
        """Whether no token orders the load after another access."""
        return is_first(self.load)

    @property
    def is_unordered(self) -> bool:
        """Whether no token orders the load after or before another access."""
        return self.is_first and not self.load.result_token.is_used

    @property
    def is_speculatable(self) -> bool:
        """Whether its operands can be computed for an iteration that does not exist.

        What is assumed need not hold there. A tile would be loaded in smaller parts without it.
        """
        is_scalar = not is_tile(self.load.results[0])
        return all(
            is_speculatable(op) or (is_scalar and isinstance(op, AssumeOp))
            for op in self.address_ops
        )

    @property
    def index_loads(self) -> list[PrefetchableLoad]:
        """The loads of the indices or pointers that it loads with."""
        loads = find_index_loads(self.load, self.address_ops)
        return [PrefetchableLoad(load, self.address_ops) for load in loads]


def find_prefetchable_loads(loop: ForOp) -> list[PrefetchableLoad]:
    """The loads of a loop that can be prefetched."""
    if not isinstance(loop.lower_bound.type, IntegerType):
        return []
    ops = [op for op in loop.body.block if isinstance(op, LoadOp | TileLoadOp)]
    examined = [_examine(op, loop) for op in ops]
    loads = [each for each in examined if isinstance(each, PrefetchableLoad)]
    return [] if loads and _has_assertions(loop) else loads


def _examine(load: AnyLoad, loop: ForOp) -> PrefetchableLoad | str:
    """A load that can be prefetched unless an assertion guards it; else why it cannot."""
    if (problem := predicate_problem(load)) is not None:
        return problem
    if load.token is not None and load.token.is_inside(loop):
        return "a token orders it after another access of the loop"
    address_ops = find_address_ops(load, loop)
    if address_ops is None:
        return "its address does not depend on the counter, or on more than an iteration can repeat"
    return PrefetchableLoad(load, address_ops)


def _has_assertions(loop: ForOp) -> bool:
    """Whether an assertion may guard a load, which must not be executed speculatively then."""
    return any(isinstance(op, AssertOp) for op in loop.body.walk())


def prefetch_problem(load: AnyLoad, loop: ForOp) -> str | None:
    """Why a load of a loop cannot be prefetched; None if it can."""
    if not isinstance(loop.lower_bound.type, IntegerType):
        return "the counter of the loop is no integer"
    examined = _examine(load, loop)
    if isinstance(examined, str):
        return examined
    return "an assertion may guard it" if _has_assertions(loop) else None


def is_copyable(load: AnyLoad) -> bool:
    """Whether `cp.async` may load a tile: it has no cache hints, and pads with zeros.

    Padding may also be undefined.
    """
    if load.cache is not None:
        return False
    if isinstance(load, LoadOp):
        return load.other is None or splat_of(constant_of(load.other)) == 0
    return tiled_view(load.view).padding in (None, PaddingValue.ZERO)


def reduces_tiles(loop: ForOp) -> bool:
    """Whether threads of a loop wait for each other in each iteration, to reduce or scan a tile.

    No warp then runs on into the next iteration, whose loads would hide the latency of its own.
    Not in loops with dots, which need the registers.
    """
    if any(isinstance(op, DotOp) for op in loop.body.walk()):
        return False
    return any(isinstance(op, AggregateOp) for op in loop.body.block)


def add_iter_args(loop: ForOp, init_args: Sequence[Value]) -> ForOp:
    """Give a loop, whose body already yields them, further loop-carried values.

    Returns the loop that replaces it.
    """
    operands = [*loop.operands, *init_args]
    new = loop.like(operands, [value.type for value in operands[3:]])
    new.insert_before(loop)
    new.set_regions(loop.regions)
    loop.regions = ()
    for old, result in zip(loop.results, new.results, strict=False):
        old.replace_all_uses_with(result)
    loop.erase()
    return new
