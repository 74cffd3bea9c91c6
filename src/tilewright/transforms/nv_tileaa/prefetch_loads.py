"""Choose the loads that an iteration issues for the next one, whose tiles are in registers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.elementwise import is_elementwise
from tilewright.analysis.slices import forward_slice
from tilewright.dialects.nv_tileaa.attribute_names import AT
from tilewright.dialects.nv_tileaa.attributes import EARLY, AtAttr
from tilewright.dialects.nv_tileaa.loop_schedule import is_pipelined
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileaa.shape import BroadcastOp, CatOp, Rearrangement
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import TiledLoadOp
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
        threads, any_chosen = threads_of(function), False
        keeps_tiles = function.asks("kept_tiles") != 0
        repeated = find_repeated_loads(function, threads) if keeps_tiles else []
        loads = [load for group in repeated for each in group.loops for load in each.loads.values()]
        kept = {load.load for load in loads}
        loops = [op for op in function.walk_post_order() if isinstance(op, ForOp)]
        for loop in [each for each in loops if not is_pipelined(each)]:
            loads = find_prefetchable_loads(loop)
            unprofitable = kept
            if wanted is None and any(map(_feeds_tensor_cores, loads)):
                # `schedule-loops` knows what copies the operands, and whether it copies these too.
                tiles = {each.load for each in loads if isinstance(each.load, TiledLoadOp)}
                unprofitable = kept | tiles
            elif wanted is None and not reduces_tiles(loop):
                unprofitable = kept | {load.load for load in loads if load.is_converted}
            chosen = _profitable(loads, threads, unprofitable)
            issue_early(chosen)
            any_chosen |= bool(chosen)
            # The first loads of a loop in another one are loads of that: it may issue them early.
            if chosen and isinstance(loop.parent_op, ForOp):
                pipeline(loop)
        if wanted and not any_chosen:
            function.refuse(PREFETCH, "no loop loads small tiles that registers can hold")


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
    copied = {
        load.load: load.address_ops
        for load in loads
        if _is_staged(load, threads) or _feeds_tensor_cores(load)
    }
    addresses = {op for address_ops in copied.values() for op in address_ops}
    for load in loads:
        is_taken = load.load in copied or load.load in addresses or load.load in unprofitable
        cost = max(tile_words(load.load.results[0].type), threads)
        if not is_taken and load.is_speculatable and cost <= left:
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

    def is_followed(op: Operation) -> bool:
        computes = isinstance(op, Rearrangement | CatOp) or is_elementwise(op)
        return computes and not isinstance(op, BroadcastOp)

    users = [user for _, user in forward_slice([load.load.results[0]], is_followed)]
    return any(isinstance(user, DotOp) and mma_instruction(user) is not None for user in users)


# Law: a load whose operands depend on the induction variable alone reads the same value one
# iteration earlier, if no access is ordered between. It is issued only for iterations that exist,
# so it accesses no memory that the original loop does not.
def issue_early(loads: Sequence[PrefetchableLoad]) -> None:
    """Let loads of a loop be issued in the iteration before, each after what it needs."""
    for order, each in enumerate(loads):
        each.load.attributes[AT] = AtAttr(EARLY, order)
