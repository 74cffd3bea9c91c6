"""Rotation of loops in which a dot depends on another, as in attention: P @ V on Q @ K.

An iteration of such a loop is serial: the second dot needs what is computed from the first. But the
first dot of an iteration needs nothing of the one before. So the second dot becomes part of
the next iteration, after its first dot:

    stage 0 of iteration 0
    for i = 1 to n:
      order 0: first dot of i
      order 1: stage 1 of i - 1, loads and the second dot
      order 2: rest of stage 0 of i, which runs while the second dot is in flight
      order 3: what is computed from the second dot
      order 4: what needs that in i
    stage 1 of iteration n - 1

A loop that goes on where another ends, as the one with a causal mask does, continues its pipeline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa.attribute_names import CONTINUES
from tilewright.dialects.nv_tileaa.loop_schedule import LoopSchedule, is_pipelined
from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import TiledLoadOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.attributes import UNIT
from tilewright.transforms.kernel_pass import KernelPass
from tilewright.transforms.nv_tileaa.memory_order import MemoryOrder
from tilewright.transforms.nv_tileaa.rotation import Rotation
from tilewright.transforms.pipeline.chains import chain_problem, next_loop

if TYPE_CHECKING:
    from collections.abc import Collection

    from tilewright.support.diagnostics import Sink

ROTATE: Final = "rotate"


class RotateDots(KernelPass):
    """Give the second of two dots in a row the next stage, beside what the first is used for."""

    name = "rotate-dots"
    change = Change.REORDER

    def run_on(self, function: FuncOp, sink: Sink) -> None:
        wanted = function.asks(ROTATE)
        if not function.is_kernel or wanted == 0:
            return
        rotations = _rotations(function, is_forced=wanted is not None)
        if wanted and not rotations:
            function.refuse(ROTATE, "no loop has a dot that it can compute an iteration later")
        _share_pipelines(function, rotations)
        for rotation in rotations.values():
            rotation.write_points()
        _mark_chains(rotations)


def _rotations(function: FuncOp, *, is_forced: bool) -> dict[ForOp, Rotation]:
    """The loops that are rotated: where it pays, or if it is forced, all that can be."""
    loops = [each for each in function.walk() if isinstance(each, ForOp) and not is_pipelined(each)]
    return {
        loop: rotation
        for loop in loops
        if (rotation := Rotation.of(loop)) is not None
        and (is_forced or rotation.blocks(function) > 0)
    }


def _share_pipelines(function: FuncOp, rotations: dict[ForOp, Rotation]) -> None:
    """Prepare loops for the number of blocks on an SM: loads may have to share a pipeline."""
    blocks = min([rotation.blocks(function) for rotation in rotations.values()], default=0)
    order = MemoryOrder()
    for loop, rotation in list(rotations.items()):
        if rotation.shares_pipeline(function):
            for load in [op for op in loop.body.block if isinstance(op, TiledLoadOp)]:
                order.load(load)
            again = Rotation.of(loop)
            assert again is not None
            rotations[loop] = again
    if blocks > 1:
        function.choose_blocks(blocks)


def _mark_chains(loops: Collection[ForOp]) -> None:
    """Let loops continue the pipelines of those before them, from the end on, two of them each."""
    continued: set[ForOp] = set()
    for loop in reversed([*loops]):
        following = next_loop(loop)
        if following is None or following in continued or following not in loops:
            continue
        if chain_problem(LoopSchedule(loop), LoopSchedule(following)) is None:
            following.attributes[CONTINUES] = UNIT
            continued.add(loop)
