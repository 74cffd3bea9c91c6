"""Two blocks on an SM, of which one multiplies while the other waits for copies or its dots.

A block with two warpgroups then has half of the registers of an SM: enough for accumulators and
what a loop over K computes besides, but not for another tile of their size. So the dots of the loop
have one accumulator, and nothing around it may keep a tile.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from tilewright.analysis.elementwise import is_tile
from tilewright.dialects.nv_tileas.aggregate import ReduceOp, ScanOp
from tilewright.dialects.nv_tileas.matrix import DotOp, async_instruction
from tilewright.dialects.nv_tileas.memory import AtomicRmwOp, LoadOp, TiledLoadOp
from tilewright.dialects.scf import ForOp, WhileOp
from tilewright.plans.mma import is_promoted
from tilewright.schedule.registers import is_small_beside
from tilewright.schedule.tile_words import accumulator_words, tile_words

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation

KEEPING: Final = (AtomicRmwOp, DotOp, LoadOp, ReduceOp, ScanOp, TiledLoadOp)
"""Operations whose tiles are in registers beside accumulators, whatever computes with them: others
are computed in parts, as they are stored."""


def leaves_registers(function: FuncOp, loop: ForOp) -> bool:
    """Whether a loop over K, and what is around it, leaves registers for a second block.

    CTAs of a cluster are for grids that are small otherwise: there is no second block.
    """
    if function.cluster_size > 1:
        return False
    if any(isinstance(outer, ForOp | WhileOp) for outer in loop.ancestors()):
        return False
    dots = [op for op in loop.body.walk() if isinstance(op, DotOp)]
    if not dots or dots[0].c not in loop.carried or any(map(_is_promoted, dots)):
        return False
    if any(dot.c is not other.result for other, dot in pairwise(dots)):
        return False
    accumulators = accumulator_words(dots[0].c.type)
    inside = set(loop.body.walk())
    others = [op for op in function.walk() if op not in inside and isinstance(op, KEEPING)]
    return all(is_small_beside(_widest(op), accumulators) for op in others)


def _is_promoted(dot: DotOp) -> bool:
    """Whether a dot has accumulators of its own, beside those that they are added to."""
    instruction = async_instruction(dot)
    return instruction is not None and is_promoted(dot, instruction)


def _widest(op: Operation) -> int:
    """The 32-bit registers of the widest tile that an operation reads or returns."""
    values = [*op.operands, *op.results] if isinstance(op, ReduceOp | ScanOp) else op.results
    return max([tile_words(value.type) for value in values if is_tile(value)], default=0)
