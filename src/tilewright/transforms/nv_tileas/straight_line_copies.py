"""Copies by TMA outside of pipelined loops: loads whose tiles fit into the stages of such loops.

In attention whose loop is rotated, the first tile of K and the last one of V are loaded before and
after the loop. The producer copies them to the pipelines of K and V, too, since the other tiles of
the loop would have to wait otherwise. All other loads, such as that of Q, stay what they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa.early_execution import is_first
from tilewright.dialects.nv_tileas.attributes import in_shared_memory
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.nv_tileas.shape import Rearrangement
from tilewright.dialects.nv_tileas.types import without_layout
from tilewright.transforms.nv_tileas.copy_groups import copy_groups, stage_plan, stage_tile
from tilewright.transforms.nv_tileas.producer_slice import ProducerSlice
from tilewright.transforms.nv_tileas.stage_uses import stage_users

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.dialects.scf import ForOp
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Block, Operation
    from tilewright.transforms.nv_tileas.copy_groups import CopyGroup
    from tilewright.transforms.nv_tileas.tma_loads import TmaLoads


def straight_line_groups(
    function: FuncOp, loops: Collection[ForOp], groups: Sequence[CopyGroup], by_tma: TmaLoads
) -> list[CopyGroup]:
    """The groups outside of pipelined loops that have stages of the groups in them."""
    stages = {group.stage for group in groups}
    tiles = {tile for stage in stages for tile in stage}
    copied = [load for group in groups for load in group.loads]
    enclosing = ProducerSlice(function, loops, copied).enclosing
    chosen: list[CopyGroup] = []
    for block in _blocks(function, enclosing):
        inner = [op for op in block if op in enclosing or op in loops]
        loads = [op for op in block if isinstance(op, TiledLoadOp)]
        loads = [load for load in loads if _is_suitable(load, tiles, by_tma)]
        for group in copy_groups(block, loads):
            is_open = group.problem is None and not any(map(group.spans, inner))
            together = [*copied, *group.loads]
            if not is_open or group.stage not in stages:
                continue
            if ProducerSlice(function, loops, together).problem is None:
                chosen.append(group)
                copied = together
    return chosen


def _blocks(function: FuncOp, enclosing: Collection[Operation]) -> Iterator[Block]:
    """The blocks that the producer executes outside of the pipelined loops."""
    for op in function.walk():
        if op is function or op in enclosing:
            yield from (region.block for region in op.regions if region.blocks)


def _is_suitable(load: TiledLoadOp, tiles: Collection[Type], by_tma: TmaLoads) -> bool:
    """Whether TMA can copy a load to a stage with one of some tiles, and how it is read suits that.

    Dots read it there, or registers that no dot takes are read from it. All of this is in the block
    of the load.
    """
    if without_layout(load.tile.type) not in {without_layout(tile) for tile in tiles}:
        return False
    if not load.is_plain or not is_first(load) or by_tma.problem(load) is not None:
        return False
    plan = stage_plan(load)
    if stage_tile(load, plan) not in tiles:
        return False
    users = stage_users(load, plan)
    if all(in_shared_memory(use.convert.result) for use in plan.uses):
        return all(_reads_stage(user, load) for user in users)
    return all(user.parent is load.parent and not isinstance(user, DotOp) for user in users)


def _reads_stage(user: Operation, load: TiledLoadOp) -> bool:
    """Whether a user of a load is a dot of its block that reads the stage, or leads to one."""
    if isinstance(user, Rearrangement):
        return in_shared_memory(user.result)
    return isinstance(user, DotOp) and user.atom.asynchronous and user.parent is load.parent
