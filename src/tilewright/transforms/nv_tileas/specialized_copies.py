"""What a producer warp copies by TMA: tiles of pipelined loops, and of the code around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileas.attribute_names import ENGINE, SCHEDULE
from tilewright.dialects.nv_tileas.attributes import CopyEngine, ScheduleAttr
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.scf import ForOp
from tilewright.transforms.nv_tileaa.prefetchable_loads import find_prefetchable_loads
from tilewright.transforms.nv_tileas.copy_groups import CopyGroup, Stage, copy_groups
from tilewright.transforms.nv_tileas.rounded_loads import is_only_rounded, round_while_copying
from tilewright.transforms.nv_tileas.tma_loads import hoist_view

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Block


class SpecializedCopies:
    """The loads of a function that are copied by TMA, in groups, and its pipelined loops."""

    __slots__ = ("by_block", "loops")

    def __init__(self, function: FuncOp) -> None:
        self.loops: Mapping[ForOp, ScheduleAttr] = _scheduled_loops(function)
        """The pipelined loops, with their schedules."""
        bodies = {loop.body.block for loop in self.loops}
        self.by_block: Mapping[Block, Sequence[CopyGroup]] = {
            block: copy_groups(block, loads, is_loop=block in bodies)
            for block, loads in _copied_loads(function, self.loops).items()
        }
        """The groups of each block, in the order in which consumers wait for them."""

    @property
    def groups(self) -> list[CopyGroup]:
        """The groups of all blocks."""
        return [group for groups in self.by_block.values() for group in groups]

    @property
    def loads(self) -> list[TiledLoadOp]:
        """The loads of all groups."""
        return [load for group in self.groups for load in group.loads]

    @property
    def stages(self) -> list[Stage]:
        """The stage of each pipeline: groups with equal stages share one."""
        return list(dict.fromkeys(group.stage for group in self.groups))

    def prepare(self) -> None:
        """Create the views of copied loads before all loops, and let TMA round to tf32.

        Loads that are rounded are replaced, so that the groups are to be computed anew.
        """
        for load in self.loads:
            hoist_view(load)
            if is_only_rounded(load.tile):
                round_while_copying(load)


def _scheduled_loops(function: FuncOp) -> dict[ForOp, ScheduleAttr]:
    """The scheduled loops of a function that copy by TMA."""
    loops: dict[ForOp, ScheduleAttr] = {}
    for loop in [op for op in function.walk() if isinstance(op, ForOp)]:
        schedule = loop.attributes.get(SCHEDULE)
        if isinstance(schedule, ScheduleAttr) and any(map(_is_copied, loop.body.block)):
            loops[loop] = schedule
    return loops


def _copied_loads(
    function: FuncOp, loops: Mapping[ForOp, ScheduleAttr]
) -> dict[Block, list[TiledLoadOp]]:
    """The loads that are copied by TMA, by block: of a pipelined loop, those that can be."""
    if not loops:
        return {}
    early = {each.load for loop in loops for each in find_prefetchable_loads(loop)}
    by_block: dict[Block, list[TiledLoadOp]] = {}
    for op in function.walk():
        block = op.parent
        if not isinstance(op, TiledLoadOp) or block is None or not _is_copied(op):
            continue
        if op in early or block.parent_op not in loops:
            by_block.setdefault(block, []).append(op)
    return by_block


def _is_copied(load: object) -> bool:
    return isinstance(load, TiledLoadOp) and load.attributes.get(ENGINE) is CopyEngine.TMA
