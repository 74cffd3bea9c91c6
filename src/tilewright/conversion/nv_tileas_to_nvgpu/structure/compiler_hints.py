"""Operations that only direct earlier passes, and are dropped here."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.nv_tileaa import misc
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.operation import Operation


@converts(misc.OptimizationBarrierOp)
def optimization_barrier(
    op: misc.OptimizationBarrierOp, new: misc.OptimizationBarrierOp, build: ConversionBuilder
) -> Result:
    """Forward the values: the passes that it constrained have run."""
    return [build.values(value) for value in op.values]


@converts(misc.MessageOp, misc.MarkForReuseOp)
def dropped(op: Operation, new: Operation, build: ConversionBuilder) -> Result:
    """Drop messages and reuse marks, which only earlier passes read."""
    return []


PATTERNS: Final[Patterns] = (
    optimization_barrier,
    dropped,
)
