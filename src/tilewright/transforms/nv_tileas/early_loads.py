"""Tiles that consumers load an iteration early, since the producer cannot copy them by TMA.

Such are scales, biases, and statistics of rows: no dot takes them, and they are small. Where
threads copy, the stages of the operands take them along (`joins_operands` of `pipelined_loads`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileas.attribute_names import ENGINE
from tilewright.dialects.nv_tileas.attributes import CopyEngine
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.scf import ForOp
from tilewright.schedule.limits import EARLY_SHARE
from tilewright.schedule.tile_words import tile_words
from tilewright.schedule.warp_counts import threads_of
from tilewright.transforms.nv_tileaa.prefetch_loads import PREFETCH, issue_early
from tilewright.transforms.nv_tileaa.prefetchable_loads import find_prefetchable_loads
from tilewright.transforms.nv_tileas.consecutive_loops import scheduled_loads
from tilewright.transforms.nv_tileas.pipelined_loads import feeds_tensor_cores, is_yielded
from tilewright.transforms.pipeline.pipeline_loops import pipeline

if TYPE_CHECKING:
    from collections.abc import Collection

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation
    from tilewright.transforms.nv_tileaa.prefetchable_loads import PrefetchableLoad


def load_early(function: FuncOp) -> None:
    """Let consumers load tiles beside the operands that a producer copies an iteration early.

    Where it is asked what is prefetched, `prefetch-loads` has decided. The first loads of a loop in
    another one are loads of that: it issues them early, too.
    """
    is_specialized = any(op.attributes.get(ENGINE) is CopyEngine.TMA for op in function.walk())
    if not is_specialized or function.asks(PREFETCH) is not None:
        return
    threads = threads_of(function)
    first: set[Operation] = set()
    for loop in [op for op in function.walk_post_order() if isinstance(op, ForOp)]:
        early = loads_beside_operands(loop, scheduled_loads(loop), threads)
        if first:
            loads = find_prefetchable_loads(loop)
            early += [each for each in loads if each.load in first and each.is_speculatable]
        issue_early(early)
        outer = loop.parent_op
        if early and isinstance(outer, ForOp):
            before = set(outer.body.block)
            pipeline(loop)
            first |= set(outer.body.block) - before


def loads_beside_operands(
    loop: ForOp, copied: Collection[Operation], threads: int
) -> list[PrefetchableLoad]:
    """The loads of tiles beside the operands of dots that can be issued an iteration early.

    Registers hold their tiles meanwhile, within the share of what is on its way.
    """
    loads = find_prefetchable_loads(loop)
    if not any(feeds_tensor_cores(each.load.results[0]) for each in loads):
        return []
    addresses = {op for each in loads if each.load in copied for op in each.address_ops}
    left = EARLY_SHARE * threads
    early: list[PrefetchableLoad] = []
    for each in loads:
        tile = each.load.results[0]
        is_taken = each.load in copied or each.load in addresses or feeds_tensor_cores(tile)
        may_be_early = isinstance(each.load, TiledLoadOp) and each.is_speculatable
        words = max(tile_words(tile.type), threads)
        if may_be_early and not is_taken and not is_yielded(tile) and words <= left:
            left -= words
            early.append(each)
    return early
