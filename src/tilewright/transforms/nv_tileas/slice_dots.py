"""Slicing of dots along K, so that operands are read from their stage when they are multiplied.

A dot by `mma.sync` takes its operands in registers. Read as a whole, a tile of A and B would take
more registers than a thread has, or hold back the first instruction until the last fragment is
loaded. Element-wise operations between a stage and the dot are sliced with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileas.matrix import DotOp, mma_instruction
from tilewright.dialects.nv_tileas.pipeline import ConsumerReadOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.schedule.limits import DOT_SLICES
from tilewright.transforms.generic.dce import erase_with_sources
from tilewright.transforms.kernel_pass import KernelPass
from tilewright.transforms.tile.unrolled import Part, UnrolledParts

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.support.diagnostics import Sink

MATRIX_DIMS: Final = 2


class SliceDots(KernelPass):
    """Multiply operands that are read from a stage by slices of K."""

    name = "slice-dots"
    change = Change.REORDER

    def run_on(self, function: FuncOp, sink: Sink) -> None:
        for dot in [inner for inner in function.walk() if isinstance(inner, DotOp)]:
            if dot.atom.holds_warps:
                _slice(dot)


def _slice(dot: DotOp) -> None:
    """Replace a dot by one for each slice of K, if it reads both operands from stages."""
    instruction = mma_instruction(dot)
    assert instruction is not None
    rank, k = len(shape(dot.a.type)), shape(dot.a.type)[-1]
    step = max(instruction.shape[2], k // DOT_SLICES)
    if k <= step:
        return
    operands = ((dot.a, rank - 1), (dot.b, rank - MATRIX_DIMS))
    parts = UnrolledParts(until=dot)
    if not all(parts.can_build(operand, Part(axis, 0, step)) for operand, axis in operands):
        return
    build = Builder(InsertPoint.before(dot), dot.location)
    accumulator = dot.c
    for start in range(0, k, step):
        pair = [parts.build(each, Part(axis, start, step), build) for each, axis in operands]
        made = build.insert(dot.like([*pair, accumulator], [dot.result.type]))
        accumulator = made.results[0]
    dot.result.replace_all_uses_with(accumulator)
    erase_with_sources(dot, also=(ConsumerReadOp,))
