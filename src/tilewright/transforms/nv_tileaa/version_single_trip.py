"""Loop versioning: loops that load the same tiles have a version for one iteration, without loops.

Kernels reduce a row in one loop over its tiles and normalize it in another. Often a tile is as long
as the row: then it is loaded once, and stays in registers. What later loops load beside it, such as
weights, is loaded at the same time, before the threads wait for each other in a reduction.

    scf.if %trip_count == 1 {
      operations of the loops, once       // each tile that several loops load is loaded once
    } else {
      the loops
    }
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.elementwise import is_tile
from tilewright.analysis.loop_bounds import integer_of
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.elements import width_of
from tilewright.dialects.nv_tileaa.constraints import TOKEN
from tilewright.dialects.nv_tileaa.conversion import ConversionOp
from tilewright.dialects.nv_tileaa.integer import AndIOp, CmpIOp, SubIOp
from tilewright.dialects.nv_tileaa.loop_schedule import is_pipelined
from tilewright.dialects.nv_tileaa.misc import AssertOp
from tilewright.dialects.nv_tileaa.queue import CreateQueueOp, ExecuteOp, QueueGetOp, QueuePutOp
from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.types import stored_bytes
from tilewright.dialects.scf import ForOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.effects import is_pure
from tilewright.ir.types import FloatType, IntegerType, TensorType
from tilewright.schedule.limits import COPIED_OPS, EARLY_SHARE, SINGLE_TRIP_SHARE
from tilewright.schedule.row_kernels import loading_blocks
from tilewright.schedule.tile_words import tile_words
from tilewright.schedule.warp_counts import threads_of
from tilewright.support.remark_catalogue import SINGLE_TRIP, SINGLE_TRIP_REFUSED
from tilewright.support.remarks import Remark
from tilewright.transforms.generic.canonicalize import Canonicalize
from tilewright.transforms.generic.cse import Cse
from tilewright.transforms.kernel_pass import KernelPass
from tilewright.transforms.nv_tileaa.prefetchable_loads import find_prefetchable_loads
from tilewright.transforms.nv_tileaa.repeated_loads import find_repeated_loads, has_same_iterations
from tilewright.transforms.nv_tileaa.scalars import constant
from tilewright.transforms.nv_tileaa.unroll_loops import constant_range
from tilewright.transforms.pipeline.iterations import branch, iteration_exists

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink
    from tilewright.transforms.nv_tileaa.prefetchable_loads import PrefetchableLoad
    from tilewright.transforms.nv_tileaa.repeated_loads import RepeatedLoads

SINGLE_TRIP_KEY: Final = "single_trip"

_SINGLE: Final = (AssertOp, CreateQueueOp, ExecuteOp, QueueGetOp, QueuePutOp)
"""Operations of which there is to be no second version: they guard loads, or own memory."""


class VersionSingleTrip(KernelPass):
    """Version loops that load the same tiles for one iteration, which loads each tile once."""

    name = "version-single-trip"
    change = Change.REORDER

    def run_on(self, function: FuncOp, sink: Sink) -> None:
        wanted = function.asks(SINGLE_TRIP_KEY)
        if wanted == 0 or not function.is_kernel:
            return
        if _version(function, sink, is_forced=wanted is not None):
            Canonicalize().run(function, sink)
            Cse().run(function, sink)


def _version(function: FuncOp, sink: Sink, *, is_forced: bool) -> bool:
    """Version the loops of a kernel; whether there are any."""
    groups = [each for each in find_repeated_loads(function) if _is_dynamic(each.first.loop)]
    if not groups:
        if is_forced:
            function.refuse(SINGLE_TRIP_KEY, "no loops of unknown trip count load the same tiles")
        return False
    threads = threads_of(function)
    kept = find_repeated_loads(function, threads)
    any_versioned = False
    for repeated in groups:
        trip = _SingleTrip(repeated)
        name, location = function.sym_name, trip.loops[0].location
        same = _same_loads(repeated, None if is_forced else EARLY_SHARE * threads)
        others = [each for each in (*groups, *kept) if each is not repeated]
        problem = _problem(trip, same, others)
        if problem is not None:
            text = "Loops not versioned for one iteration"
            sink.remark(
                Remark(SINGLE_TRIP_REFUSED, text, VersionSingleTrip.name, name, location, problem)
            )
            if is_forced:
                function.refuse(SINGLE_TRIP_KEY, problem)
            continue
        trip.hoist_scalars()
        early = _early_loads(trip, same, None if is_forced else SINGLE_TRIP_SHARE * threads)
        text = (
            f"{len(trip.loops)} loops versioned for one iteration, with loads of later loops: "
            f"{len(same)} taken from the first loop, {len(early)} issued with its loads"
        )
        sink.remark(Remark(SINGLE_TRIP, text, VersionSingleTrip.name, name, location))
        # Where shared memory keeps tiles for several iterations, it limits the blocks.
        if not kept:
            _keep_bytes_in_flight(function, threads, dict.fromkeys(same.values()), early)
        trip.build(same, early)
        any_versioned = True
    return any_versioned


def _is_dynamic(loop: ForOp) -> bool:
    """Whether the trip count is not constant: a constant one is unrolled, or not one."""
    is_counted = isinstance(loop.lower_bound.type, IntegerType) and not is_pipelined(loop)
    return is_counted and constant_range(loop) is None


def _problem(
    trip: _SingleTrip, same: Mapping[Operation, Operation], others: Sequence[RepeatedLoads]
) -> str | None:
    """Why operations have no version for one iteration."""
    if not same:
        return f"tiles take more than {EARLY_SHARE} registers of a thread"
    inside = trip.inside
    if len(inside) > COPIED_OPS:
        return f"they have more than {COPIED_OPS} operations"
    if any(isinstance(op, _SINGLE) for op in inside):
        return "assertions or queues are among them"
    # What other loops share must stay in one block, and have one version.
    loops = [{loop.loop for loop in each.loops} for each in others]
    mine = set(trip.loops)
    if any(not each.isdisjoint(inside) and not each <= mine for each in loops):
        return "other loops that load the same tiles are among them"
    scalars = {result for op in trip.scalars for result in op.results}
    # A branch can have these results: tiles, numbers and tokens.
    passed = (TensorType, IntegerType, FloatType)
    types = [value.type for value in trip.uses_after() if value not in scalars]
    if not all(isinstance(type, passed) or TOKEN.accepts(type) for type in types):
        return "a view is used after them"
    return None


def _same_loads(repeated: RepeatedLoads, limit: int | None) -> dict[Operation, Operation]:
    """The loads of later loops that load what the first loop has loaded, as far as tiles fit."""
    same: dict[Operation, Operation] = {}
    words = 0
    for number, first in repeated.first.loads.items():
        words += _live_words(first.load)
        if limit is not None and words > limit:
            break
        later = [each.loads[number] for each in repeated.later if number in each.loads]
        same |= {load.load: first.load for load in later}
    return same


def _live_words(load: Operation) -> int:
    """The 32-bit registers of a tile while threads wait: it is converted once, for all uses."""
    tile = load.results[0]
    converted = [op.results[0] for op in tile.users if isinstance(op, ConversionOp)]
    return max([tile_words(value.type) for value in (tile, *converted)])


def _early_loads(
    trip: _SingleTrip, same: Mapping[Operation, Operation], limit: int | None
) -> list[PrefetchableLoad]:
    """The loads of later loops that depend on no other operation, as far as registers suffice."""
    inside = {result for op in trip.ops for result in op.results}
    words = sum([_live_words(load) for load in dict.fromkeys(same.values())])
    early: list[PrefetchableLoad] = []
    for load in [each for loop in trip.loops[1:] for each in find_prefetchable_loads(loop)]:
        operands = [value for op in (load.load, *load.address_ops) for value in op.operands]
        if load.load in same or not load.is_unordered or load.index_loads:
            continue
        words += _live_words(load.load)
        if inside.isdisjoint(operands) and (limit is None or words <= limit):
            early.append(load)
    return early


def _keep_bytes_in_flight(
    function: FuncOp, threads: int, loads: Iterable[Operation], early: Sequence[PrefetchableLoad]
) -> None:
    """Ask for as many blocks on an SM as it takes to load rows at the bandwidth of memory.

    Early loads take registers, but read what is in a cache: the same in all blocks.
    """
    tiles = [load.results[0].type for load in loads]
    early_tiles = [each.load.results[0].type for each in early]
    words = sum(map(tile_words, [*tiles, *early_tiles]))
    blocks = loading_blocks(function, threads, sum(map(stored_bytes, tiles)), words)
    if blocks is not None:
        function.choose_blocks(blocks)


class _SingleTrip:
    """The operations of a block from the first loop of some repeated loads up to the last one."""

    __slots__ = ("_first", "loops", "ops")

    def __init__(self, repeated: RepeatedLoads) -> None:
        first, last = repeated.first.loop, repeated.later[-1].loop
        assert first.parent is not None
        block = list(first.parent)
        self._first = first
        self.ops = block[block.index(first) : block.index(last) + 1]
        """The operations, in order."""
        loops = [op for op in self.ops if isinstance(op, ForOp)]
        self.loops = [loop for loop in loops if has_same_iterations(first, loop)]
        """The loops among them with as many iterations as the first one."""

    @property
    def inside(self) -> set[Operation]:
        """The operations, and those inside of them."""
        return {inner for op in self.ops for inner in op.walk()}

    @property
    def scalars(self) -> list[Operation]:
        """What computes scalars and views, and depends on no other operation of these."""
        inside = {result for op in self.ops for result in op.results}
        independent: list[Operation] = []
        for op in self.ops:
            if op.regions or any(map(is_tile, op.results)) or not is_pure(op):
                continue
            if inside.isdisjoint(op.operands):
                inside.difference_update(op.results)
                independent.append(op)
        return independent

    def hoist_scalars(self) -> None:
        """Move them before the first loop: both versions need them."""
        scalars = self.scalars
        for op in scalars:
            op.detach().insert_before(self._first)
        self.ops = [op for op in self.ops if op not in scalars]

    def uses_after(self) -> dict[Value, list[Operation]]:
        """The results of the operations that others use, and these others."""
        inside = self.inside
        results = [result for op in self.ops for result in op.results]
        uses = {each: [user for user in each.users if user not in inside] for each in results}
        return {result: users for result, users in uses.items() if users}

    def build(self, same: Mapping[Operation, Operation], early: Sequence[PrefetchableLoad]) -> None:
        """Build both versions.

        For one iteration, the loads `same` are those of the first loop that they map to, and the
        loads `early` are issued right after them.
        """
        uses = self.uses_after()
        build = Builder(InsertPoint.after(self.ops[-1]), self._first.location)
        values: dict[Value, Value] = {}
        copies: dict[Operation, Operation] = {}

        def once(inside: Builder) -> Sequence[Value]:
            copies.update({op: inside.insert(op.clone(values)) for op in self.ops})
            return [values[value] for value in uses]

        def repeatedly(inside: Builder) -> Sequence[Value]:
            for op in self.ops:
                inside.insert(op.detach())
            return list(uses)

        made = branch(build, _is_single(build, self._first), once, repeatedly)
        for (value, users), new in zip(uses.items(), made.results, strict=True):
            for user in users:
                user.replace_operand(value, new)
        for loop in self.loops:
            _inline(copies[loop])
        _load_once(values, same, early)


# Law: with one iteration, a loop is its body with the lower bound and the initial values.
def _inline(loop: Operation) -> None:
    """Replace a loop by its body, executed once."""
    assert isinstance(loop, ForOp)
    *ops, last = loop.body.block
    starts = (loop.lower_bound, *loop.init_args)
    for argument, value in zip(loop.body.block.args, starts, strict=True):
        argument.replace_all_uses_with(value)
    for op in ops:
        op.detach().insert_before(loop)
    for result, value in zip(loop.results, last.operands, strict=True):
        result.replace_all_uses_with(value)
    loop.erase()


def _load_once(
    values: Mapping[Value, Value],
    same: Mapping[Operation, Operation],
    early: Sequence[PrefetchableLoad],
) -> None:
    """Take some loads of a copy from others, and issue some right after the last of these.

    `values` has the copies of results.
    """

    def copy_of(op: Operation) -> Operation:
        copy = values[op.results[0]].defining_op()
        assert copy is not None
        return copy

    for load, first in same.items():
        copy = copy_of(load)
        copy.results[0].replace_all_uses_with(values[first.results[0]])
        copy.erase()
    loads = {copy_of(first) for first in same.values()}
    block = next(iter(loads)).parent
    assert block is not None
    at = [op for op in block if op in loads][-1]
    for op in dict.fromkeys([op for each in early for op in (*each.address_ops, each.load)]):
        copy = copy_of(op).detach()
        copy.insert_after(at)
        at = copy


def _is_single(build: Builder, loop: ForOp) -> Value:
    """Whether a loop has exactly one iteration."""
    type = loop.lower_bound.type
    assert isinstance(type, IntegerType)
    lower, step = integer_of(loop.lower_bound), integer_of(loop.step)
    most = (1 << (width_of(type) - 1)) - 1
    if step == 1 and lower is not None and 0 <= lower < most:
        following = constant(build, lower + 1, type)
        return build.create(
            CmpIOp, lhs=loop.upper_bound, rhs=following, predicate=CmpIPredicate.EQ
        ).result
    # The difference of the bounds is that of the numbers, modulo their width, if there is one.
    span = build.create(SubIOp, lhs=loop.upper_bound, rhs=loop.lower_bound).result
    is_short = build.create(CmpIOp, lhs=span, rhs=loop.step, predicate=CmpIPredicate.ULE).result
    exists = iteration_exists(build, loop, loop.lower_bound)
    return build.create(AndIOp, lhs=exists, rhs=is_short).result
