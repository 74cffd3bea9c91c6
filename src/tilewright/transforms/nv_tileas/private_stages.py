"""Software pipelines of tiles that each thread reads only after it copied them itself.

They need no barrier, so that one stage is enough: a thread copies the next tile as soon as it has
read its own part of this one. More stages keep more bytes in flight.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.targets import target_of
from tilewright.dialects.nv_tileaa.program import GetNumProgramsOp
from tilewright.dialects.nv_tileas.attributes import ScheduleAttr
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.transforms.nv_tileas.stage_memory import RESERVE, other_bytes, stage_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.dialects.scf import ForOp
    from tilewright.transforms.nv_tileas.pipelined_loads import TileLoad

STAGES: Final = 4
"""Of a loop, where memory allows."""
IN_FLIGHT: Final = 64 * 1024
"""Bytes that a persistent loop copies early: often, no other block of the SM does."""


class Limits(NamedTuple):
    """Limits on the shared memory of a block, in bytes."""

    block: int
    """For the whole block, so that others can be resident beside it."""
    iteration: int
    """For one iteration: larger loads saturate memory bandwidth without prefetching."""


PLAIN: Final = Limits(block=48 * 1024, iteration=32 * 1024)
"""Of loops that many blocks run, also on one SM."""
FEW_BLOCKS: Final = Limits(block=112 * 1024, iteration=64 * 1024)
"""Of loops whose blocks are few on an SM: with dots, as their registers do not allow more than two;
and of persistent kernels, whose grid has about as many blocks as there are SMs."""


def private_schedule(
    function: FuncOp, loop: ForOp, loads: Sequence[TileLoad], stages: int
) -> ScheduleAttr | None:
    """The schedule of a loop, with a number of stages at most (0: chosen), if its tiles fit."""
    arch = target_of(function)
    assert arch is not None
    needed, taken = stage_bytes(loads), other_bytes(function, loop, loads)
    is_persistent = _is_persistent(loop)
    has_dots = any(isinstance(op, DotOp) for op in loop.body.walk())
    limits = FEW_BLOCKS if is_persistent or has_dots else PLAIN
    wanted = max(STAGES, IN_FLIGHT // needed) if is_persistent else STAGES
    free = max(min(arch.static_shared, limits.block) - taken - RESERVE, 0)
    chosen = min(stages or wanted, free // needed)
    return ScheduleAttr(chosen, chosen) if chosen and needed <= limits.iteration else None


def _is_persistent(loop: ForOp) -> bool:
    """Whether a loop advances by the number of blocks: each takes tiles at that distance."""
    return isinstance(loop.step.defining_op(), GetNumProgramsOp)
