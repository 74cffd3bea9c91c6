"""Two blocks on an SM, of which one multiplies while the other waits for copies or its dots.

A block with two warpgroups then has half of the registers of an SM: enough for accumulators and
what a loop over K computes besides, but not for another tile of their size. So nothing around the
loop may keep one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.elementwise import is_tile
from tilewright.dialects.nv_tileas.aggregate import ReduceOp, ScanOp
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.memory import AtomicRmwOp, LoadOp, TiledLoadOp
from tilewright.dialects.scf import ForOp, WhileOp
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
    if len(dots) != 1:
        return False
    accumulators = accumulator_words(dots[0].c.type)
    inside = set(loop.body.walk())
    others = [op for op in function.walk() if op not in inside and isinstance(op, KEEPING)]
    return all(is_small_beside(_widest(op), accumulators) for op in others)


def _widest(op: Operation) -> int:
    """The 32-bit registers of the widest tile that an operation reads or returns."""
    values = [*op.operands, *op.results] if isinstance(op, ReduceOp | ScanOp) else op.results
    return max([tile_words(value.type) for value in values if is_tile(value)], default=0)
