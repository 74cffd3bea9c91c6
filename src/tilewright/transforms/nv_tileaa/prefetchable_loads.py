"""Loads of a loop that can be prefetched: which ones, and how to issue them an iteration early."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import splat_of
from tilewright.dialects.elements import element_of, with_element
from tilewright.dialects.nv_tileaa.aggregate import AggregateOp
from tilewright.dialects.nv_tileaa.attributes import PaddingValue
from tilewright.dialects.nv_tileaa.conversion import ConversionOp
from tilewright.dialects.nv_tileaa.integer import AndIOp, CmpIOp
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.misc import AssertOp
from tilewright.dialects.nv_tileaa.shape import SelectOp, SplatOp
from tilewright.dialects.nv_tileaa.view import TileLoadOp, tiled_view
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.rules import constant_of
from tilewright.ir.types import I1, FloatType, IntegerType, TensorType
from tilewright.transforms.nv_tileaa.address_ops import (
    clone_address_ops,
    find_address_ops,
    find_index_loads,
    is_first,
    is_speculatable,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.scf import ForOp
    from tilewright.ir.builder import Builder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.transforms.nv_tileaa.address_ops import AnyLoad

LARGE: Final = 16
"""How many registers of a thread a large tile takes, at least."""
OUT_OF_BOUNDS: Final = -1
"""A tile with this index is out of bounds, whatever its other indices are."""


class PrefetchableLoad(NamedTuple):
    """A load of a loop that can be prefetched, and the operations that compute its operands."""

    load: AnyLoad
    address_ops: Sequence[Operation]

    @property
    def used(self) -> list[Value]:
        """The results that have users."""
        return [result for result in self.load.results if result.is_used]

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
        """Whether its operands can be computed for an iteration that does not exist."""
        return all(is_speculatable(op) for op in self.address_ops)

    @property
    def index_loads(self) -> list[PrefetchableLoad]:
        """The loads of the indices or pointers that it loads with."""
        loads = find_index_loads(self.load, self.address_ops)
        return [PrefetchableLoad(load, self.address_ops) for load in loads]


def find_prefetchable_loads(loop: ForOp) -> list[PrefetchableLoad]:
    """The loads of a loop that can be prefetched."""
    if not isinstance(loop.lower_bound.type, IntegerType):
        return []
    loads = [load for op in loop.body.block if (load := _prefetchable(op, loop)) is not None]
    return [] if loads and _has_assertions(loop) else loads


def _has_assertions(loop: ForOp) -> bool:
    """Whether an assertion may guard a load, which must not be executed speculatively then."""
    return any(isinstance(op, AssertOp) for op in loop.body.walk())


def prefetch_problem(load: AnyLoad, loop: ForOp) -> str | None:
    """Why a load of a loop cannot be prefetched; None if it can."""
    if not isinstance(loop.lower_bound.type, IntegerType):
        return "the counter of the loop is no integer"
    problem = _load_problem(load, loop)
    if problem is not None:
        return problem
    if find_address_ops(load, loop) is None:
        return "its address does not depend on the counter, or on more than an iteration can repeat"
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


def _prefetchable(op: Operation, loop: ForOp) -> PrefetchableLoad | None:
    """An operation of a loop's body as a prefetchable load, if it is one."""
    if not isinstance(op, LoadOp | TileLoadOp) or _load_problem(op, loop) is not None:
        return None
    address_ops = find_address_ops(op, loop)
    return None if address_ops is None else PrefetchableLoad(op, address_ops)


def _load_problem(load: AnyLoad, loop: ForOp) -> str | None:
    """Why a load cannot be prefetched whatever its address is."""
    if not load.is_plain:
        return "it is not weak, or volatile"
    if load.token is not None and load.token.is_inside(loop):
        return "a token orders it after another access of the loop"
    if isinstance(load, TileLoadOp) and _scalar_index(load) is None:
        return "no index of it is a scalar"
    if not isinstance(element_of(load.results[0].type), IntegerType | FloatType):
        return "its elements are pointers"
    return None


def iteration_exists(build: Builder, loop: ForOp, counter: Value) -> Value:
    """Whether a loop has an iteration with a value of its counter, the first one or the next."""
    predicate = CmpIPredicate.ULT if loop.unsigned_cmp else CmpIPredicate.SLT
    return build.create(CmpIOp, lhs=counter, rhs=loop.upper_bound, predicate=predicate).result


def prefetch(
    build: Builder,
    loop: ForOp,
    loads: Sequence[PrefetchableLoad],
    counter: Value,
    condition: Value,
) -> list[Value]:
    """Issue loads for a value of the counter; results are undefined if the condition is false."""
    values: dict[Value, Value] = {loop.induction_variable: counter}
    for load in loads:
        clone_address_ops(build, load.load, load.address_ops, values)
        copy = load.load.clone(values)
        if isinstance(copy, LoadOp):
            _mask(build, copy, condition)
        else:
            _move_out_of_bounds(build, copy, condition)
        build.insert(copy)
    return [values[value] for load in loads for value in load.used]


# Law: where its mask is false, a load accesses no memory.
def _mask(build: Builder, load: LoadOp, condition: Value) -> None:
    type = with_element(load.pointers.type, I1)
    mask = condition
    if isinstance(type, TensorType):
        mask = build.create(SplatOp, source=condition, types=[type]).result
    if load.mask is not None:
        mask = build.create(AndIOp, lhs=load.mask, rhs=mask).result
    pointers, other, token = load.pointers, load.other, load.token
    rest = [value for value in (other, token) if value is not None]
    segments = (1, 1, int(other is not None), int(token is not None))
    load.set_operands([pointers, mask, *rest], segments)


# Law: a load of a tile that is out of bounds accesses no memory; an assumption that it is in bounds
# is dropped.
def _move_out_of_bounds(build: Builder, load: TileLoadOp, condition: Value) -> None:
    number = _scalar_index(load)
    assert number is not None
    index = load.indices[number]
    assert isinstance(index.type, IntegerType)
    away = build.create(
        ConstantOp, value=IntegerAttr(OUT_OF_BOUNDS, index.type), types=[index.type]
    )
    moved = build.create(
        SelectOp, condition=condition, true_value=index, false_value=away.result, types=[index.type]
    ).result
    load.set_operand(1 + number, moved)
    load.sliced = True
    if load.in_bounds is not None:
        load.in_bounds = tuple([*load.in_bounds[:number], 0, *load.in_bounds[number + 1 :]])


def _scalar_index(load: TileLoadOp) -> int | None:
    """The first index that is a scalar, not a tile of row indices."""
    sparse = tiled_view(load.view).sparse
    scalars = [number for number in range(len(load.indices)) if number != sparse]
    return scalars[0] if scalars else None


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
