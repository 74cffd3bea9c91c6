"""Accumulators that exceed the registers, split along N: a loop over parts of the columns.

A tile of 256×256 accumulators in f32 takes all registers of an SM. Where a loop does nothing but
accumulate a dot, and only element-wise operations and stores follow, all of them run once for each
part of the columns. A is loaded again for each part, which it finds in the L2 cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.targets import target_of
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import TiledStoreOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.passes import Pass
from tilewright.schedule.registers import fits_registers
from tilewright.schedule.tile_words import tile_words
from tilewright.schedule.warps import NUMBERS, fixed_warps
from tilewright.target.arch import WARP_SIZE
from tilewright.transforms.generic.dce import erase_dead_code
from tilewright.transforms.tile.closure import CannotCut, Cut
from tilewright.transforms.tile.control_flow import Scope
from tilewright.transforms.tile.loop import build_loop
from tilewright.transforms.tile.region import PartRegion

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink

LEAST_COLUMNS: Final = 64
"""Of a part."""


class SplitAccumulators(Pass):
    """Split the columns of accumulators that do not fit into registers."""

    name = "split-accumulators"

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            if target_of(function) is None or not function.is_kernel:
                continue
            fixed = fixed_warps(function)
            for loop in [each for each in function.walk_post_order() if isinstance(each, ForOp)]:
                dots = [inner for inner in loop.body.block if isinstance(inner, DotOp)]
                parts = _parts(dots[0], fixed) if len(dots) == 1 else 1
                if parts > 1 and _split(loop, dots[0], parts):
                    # Whole tiles that are left would count for the number of warps.
                    erase_dead_code(function.body)


def _parts(dot: DotOp, fixed: int | None) -> int:
    """Into how many parts the columns of a dot are split, so that its accumulators fit."""
    words, columns = tile_words(dot.c.type), shape(dot.c.type)[-1]
    parts = 1
    while columns // parts >= LEAST_COLUMNS:
        numbers = NUMBERS if fixed is None else (fixed,)
        if any(fits_registers(words // parts, warps * WARP_SIZE) for warps in numbers):
            return parts
        parts *= 2
    return 1


def _split(loop: ForOp, dot: DotOp, parts: int) -> bool:
    """Run a loop, and what follows it, once for each part of the columns; False if impossible."""
    end, block = loop.body.block.last, loop.parent
    assert end is not None
    assert block is not None
    if [*loop.carried] != [dot.c] or [*end.operands] != [dot.result]:
        return False
    cut = Cut(Scope.of_block(block), parts)
    try:
        columns = cut.way_along(dot, dot.b, len(shape(dot.c.type)) - 1)
        region = PartRegion(block, cut.with_op(dot, columns))
    except CannotCut:
        return False
    if not any(isinstance(op, TiledStoreOp) for op in region.members):
        return False
    build_loop(region)
    return True
