"""Loops whose tiles a producer warp copies by TMA, and the pipeline that they share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.dialects.nv_tileas.attribute_names import ENGINE, SCHEDULE
from tilewright.dialects.nv_tileas.attributes import CopyEngine, ScheduleAttr
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.scf import ForOp
from tilewright.transforms.nv_tileaa.prefetchable_loads import find_prefetchable_loads
from tilewright.transforms.nv_tileas.rounded_loads import is_only_rounded, round_while_copying
from tilewright.transforms.nv_tileas.stage_copies import StageCopies
from tilewright.transforms.nv_tileas.tma_loads import hoist_view

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp


class SpecializedLoop(NamedTuple):
    """A loop whose tiles the producer copies."""

    loop: ForOp
    schedule: ScheduleAttr
    loads: Sequence[TiledLoadOp]
    copies: StageCopies


def specialized_loops(function: FuncOp) -> list[SpecializedLoop]:
    """The scheduled loops of a function that copy by TMA."""
    loops: list[SpecializedLoop] = []
    for loop in [op for op in function.walk() if isinstance(op, ForOp)]:
        schedule = loop.attributes.get(SCHEDULE)
        chosen = [each for each in find_prefetchable_loads(loop) if _is_copied(each.load)]
        if isinstance(schedule, ScheduleAttr) and chosen:
            loads = [each.load for each in chosen if isinstance(each.load, TiledLoadOp)]
            loops.append(SpecializedLoop(loop, schedule, loads, StageCopies(loop, chosen)))
    return loops


def prepare_loads(loops: Sequence[SpecializedLoop]) -> None:
    """Create the views of copied loads before all loops, and let TMA round to tf32."""
    for load in [load for each in loops for load in each.loads]:
        hoist_view(load)
        if is_only_rounded(load.tile):
            round_while_copying(load)


def _is_copied(load: object) -> bool:
    return isinstance(load, TiledLoadOp) and load.attributes.get(ENGINE) is CopyEngine.TMA
