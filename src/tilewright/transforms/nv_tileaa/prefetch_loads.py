"""Choose the loads that an iteration issues for the next one, whose tiles are in registers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.elementwise import is_elementwise
from tilewright.dialects.nv_tileaa.attribute_names import AT
from tilewright.dialects.nv_tileaa.attributes import EARLY, AtAttr
from tilewright.dialects.nv_tileaa.loop_schedule import is_pipelined
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileaa.shape import BroadcastOp, CatOp, Rearrangement
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.matrix import mma_instruction
from tilewright.dialects.scf import ForOp
from tilewright.schedule.limits import EARLY_SHARE, LARGE_TILE, PREFETCHED_BYTES
from tilewright.schedule.tile_words import REGISTER_BITS, tile_words
from tilewright.schedule.warp_counts import threads_of
from tilewright.transforms.kernel_pass import KernelPass
from tilewright.transforms.nv_tileaa.prefetchable_loads import (
    find_prefetchable_loads,
    is_copyable,
    reduces_tiles,
)
from tilewright.transforms.nv_tileaa.repeated_loads import find_repeated_loads
from tilewright.transforms.pipeline.pipeline_loops import pipeline

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from tilewright.dialects.nv_tileaa.early_execution import AnyLoad
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink
    from tilewright.transforms.nv_tileaa.prefetchable_loads import PrefetchableLoad

PREFETCH: Final = "prefetch"


class PrefetchLoads(KernelPass):
    """Give loads the stage before that of their users: they are issued an iteration early.

    `pipeline-loops` carries their tiles in registers. Only plain loads that are ordered after no
    access of the loop: no write to their memory is ordered between two iterations.
    """

    name = "prefetch-loads"
    change = Change.REORDER

    def run_on(self, function: FuncOp, sink: Sink) -> None:
        wanted = function.asks(PREFETCH)
        if not function.is_kernel or wanted == 0:
            return
        is_forced, keeps_tiles = wanted is not None, function.asks("kept_tiles") != 0
        any_chosen = _choose(function, keeps_tiles=keeps_tiles, is_forced=is_forced)
        if is_forced and not any_chosen:
            function.refuse(PREFETCH, "no loop loads small tiles that registers can hold")


def _choose(function: FuncOp, *, keeps_tiles: bool, is_forced: bool) -> bool:
    """Issue the loads of all loops early for which it pays; whether there are any."""
    any_chosen = False
    threads: int | None = None
    kept: set[AnyLoad] = set()
    for loop in [op for op in function.walk_post_order() if isinstance(op, ForOp)]:
        loads = find_prefetchable_loads(loop)
        if not loads or is_pipelined(loop):
            continue
        if threads is None:
            threads = threads_of(function)
            repeated = find_repeated_loads(function, threads) if keeps_tiles else []
            loops = [loop for each in repeated for loop in each.loops]
            kept = {load.load for loop in loops for load in loop.loads if load is not None}
        unprofitable = kept
        if not is_forced and not reduces_tiles(loop):
            unprofitable = kept | {load.load for load in loads if load.is_converted}
        chosen = _profitable(loads, threads, unprofitable)
        issue_early(chosen)
        any_chosen |= bool(chosen)
        # The first loads of a loop in another one are loads of that: it may issue them early, too.
        if chosen and isinstance(loop.parent_op, ForOp):
            pipeline(loop)
    return any_chosen


def _profitable(
    loads: Sequence[PrefetchableLoad], threads: int, unprofitable: AbstractSet[AnyLoad]
) -> list[PrefetchableLoad]:
    """The first loads whose tiles fit into the registers.

    Large unordered tiles go through shared memory, and with them the indices that they are loaded
    with. So do tiles that `keep-tiles` keeps for later loops. Where threads do not wait for each
    other, other warps hide the latency of a tile that is converted at once, with fewer registers.
    """
    chosen: list[PrefetchableLoad] = []
    left = min(EARLY_SHARE * threads, PREFETCHED_BYTES * 8 // REGISTER_BITS)
    addresses = {
        op
        for load in loads
        if _feeds_tensor_cores(load) or _is_staged(load, threads)
        for op in load.address_ops
    }
    for load in loads:
        words = tile_words(load.load.results[0].type)
        if _is_staged(load, threads) or load.load in addresses or not load.is_speculatable:
            continue
        cost = max(words, threads)
        if load.load in unprofitable or cost > left:
            continue
        if not _feeds_tensor_cores(load):
            left -= cost
            chosen.append(load)
    return chosen


def _is_staged(load: PrefetchableLoad, threads: int) -> bool:
    """Whether a tile is large and unordered, so that a software pipeline may copy it."""
    words = tile_words(load.load.results[0].type)
    return words >= LARGE_TILE * threads and load.is_unordered and is_copyable(load.load)


def _feeds_tensor_cores(load: PrefetchableLoad) -> bool:
    """Whether tensor cores multiply the tile, or what is computed from it element by element.

    A software pipeline copies it to shared memory for them. Not so for tiles that are broadcast,
    such as scales, which take few registers.
    """
    pending = list(load.load.results[0].users)
    seen: set[Operation] = set()
    while pending:
        user = pending.pop()
        if isinstance(user, DotOp):
            return mma_instruction(user) is not None
        follows = isinstance(user, Rearrangement | CatOp) or is_elementwise(user)
        if follows and not isinstance(user, BroadcastOp) and user not in seen:
            seen.add(user)
            pending += [each for result in user.results for each in result.users]
    return False


# Law: a load whose operands depend on the induction variable alone reads the same value one
# iteration earlier, if no access is ordered between. It is issued only for iterations that exist,
# so it accesses no memory that the original loop does not.
def issue_early(loads: Sequence[PrefetchableLoad]) -> None:
    """Let loads of a loop be issued in the iteration before, each after what it needs."""
    for order, each in enumerate(loads):
        each.load.attributes[AT] = AtAttr(EARLY, order)
