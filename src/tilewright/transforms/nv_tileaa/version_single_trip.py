"""Loop versioning: loops that load the same tiles have a version for one iteration, without loops.

Kernels reduce a row in one loop over its tiles and normalize it in another. Often a tile is as long
as the row: then it is loaded once, and stays in registers. What later loops load beside it, such as
weights, is loaded at the same time, before the threads wait for each other in a reduction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa.conversion import ConversionOp
from tilewright.dialects.nv_tileaa.loop_schedule import is_pipelined
from tilewright.dialects.nv_tileaa.misc import AssertOp
from tilewright.dialects.nv_tileaa.queue import CreateQueueOp, ExecuteOp, QueueGetOp, QueuePutOp
from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.types import stored_bytes
from tilewright.ir.types import IntegerType
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
from tilewright.transforms.nv_tileaa.repeated_loads import find_repeated_loads, find_repeated_tiles
from tilewright.transforms.nv_tileaa.single_trip import SingleTrip, can_pass
from tilewright.transforms.nv_tileaa.unroll_loops import constant_range

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilewright.dialects.scf import ForOp
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink
    from tilewright.support.remark_catalogue import RemarkEntry
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
    groups = [each for each in find_repeated_tiles(function) if _is_dynamic(each.first.loop)]
    if not groups:
        if is_forced:
            function.refuse(SINGLE_TRIP_KEY, "no loops of unknown trip count load the same tiles")
        return False
    threads = threads_of(function)
    kept = find_repeated_loads(function, threads)
    any_versioned = False
    for repeated in groups:
        trip = SingleTrip(repeated)
        same = _same_loads(repeated, None if is_forced else EARLY_SHARE * threads)
        others = [each for each in (*groups, *kept) if each is not repeated]
        problem = _problem(trip, same, others)
        if problem is not None:
            text = "Loops not versioned for one iteration"
            _report(function, trip, sink, SINGLE_TRIP_REFUSED, text, problem)
            if is_forced:
                function.refuse(SINGLE_TRIP_KEY, problem)
            continue
        trip.hoist(trip.scalars)
        early = _early_loads(trip, same, None if is_forced else SINGLE_TRIP_SHARE * threads)
        text = (
            f"{len(trip.loops)} loops versioned for one iteration, with loads of later loops: "
            f"{len(same)} taken from the first loop, {len(early)} issued with its loads"
        )
        _report(function, trip, sink, SINGLE_TRIP, text)
        # Where shared memory keeps tiles for several iterations, it limits the blocks.
        if not kept:
            _keep_bytes_in_flight(function, threads, list(dict.fromkeys(same.values())), early)
        trip.build(same, early)
        any_versioned = True
    return any_versioned


def _is_dynamic(loop: ForOp) -> bool:
    """Whether the trip count is not constant: a constant one is unrolled, or not one."""
    is_counted = isinstance(loop.lower_bound.type, IntegerType) and not is_pipelined(loop)
    return is_counted and constant_range(loop) is None


def _problem(
    trip: SingleTrip, same: Mapping[Operation, Operation], others: Sequence[RepeatedLoads]
) -> str | None:
    """Why operations have no version for one iteration."""
    if not same:
        return f"tiles take more than {EARLY_SHARE} registers of a thread"
    inside = {inner for op in trip.ops for inner in op.walk()}
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
    if not all(value in scalars or can_pass(value.type) for value in trip.used_after()):
        return "a view is used after them"
    return None


def _same_loads(repeated: RepeatedLoads, limit: int | None) -> dict[Operation, Operation]:
    """The loads of later loops that load what the first loop has loaded, as far as tiles fit."""
    same: dict[Operation, Operation] = {}
    words = 0
    for number, first in enumerate(repeated.first.loads):
        later = [each.loads[number] for each in repeated.later]
        if first is None:
            continue
        words += _live_words(first.load)
        if limit is not None and words > limit:
            break
        for load in later:
            if load is not None:
                same[load.load] = first.load
    return same


def _live_words(load: Operation) -> int:
    """The 32-bit registers of a tile while threads wait: it is converted once, for all uses."""
    tile = load.results[0]
    converted = [op.results[0] for op in tile.users if isinstance(op, ConversionOp)]
    return max([tile_words(value.type) for value in (tile, *converted)])


def _early_loads(
    trip: SingleTrip, same: Mapping[Operation, Operation], limit: int | None
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
    function: FuncOp, threads: int, loads: Sequence[Operation], early: Sequence[PrefetchableLoad]
) -> None:
    """Ask for as many blocks on an SM as it takes to load rows at the bandwidth of memory.

    Early loads take registers, but read what is in a cache: the same in all blocks.
    """
    tiles = [load.results[0].type for load in loads]
    words = sum(map(tile_words, tiles)) + sum(
        tile_words(each.load.results[0].type) for each in early
    )
    blocks = loading_blocks(function, threads, sum(map(stored_bytes, tiles)), words)
    if blocks is not None:
        function.choose_blocks(blocks)


def _report(
    function: FuncOp, trip: SingleTrip, sink: Sink, entry: RemarkEntry, text: str, reason: str = ""
) -> None:
    if sink.wants_remarks:
        name, location = function.sym_name, trip.loops[0].location
        sink.remark(Remark(entry, text, VersionSingleTrip.name, name, location, reason))
