"""From tiles with layouts to threads: nv_tileas to gpu, nvgpu, arith, math, scf, vector, llvm."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from tilewright.analysis.remarks import report_accesses
from tilewright.conversion.nv_tileas_to_nvgpu import (
    agents,
    allocation,
    async_copies,
    atomics,
    buffers,
    dot,
    elementwise,
    float_conversions,
    floats,
    fma_dot,
    functions,
    generation,
    histograms,
    integers,
    memory,
    messages,
    moves,
    ordering,
    packing,
    pipelines,
    pointers,
    reductions,
    scans,
    shape,
    slices,
    staging,
    structure,
    tables,
    views,
    warpgroup_dot,
)
from tilewright.conversion.nv_tileas_to_nvgpu.types import thread_types
from tilewright.dialects.builtin import ModuleOp
from tilewright.ir.conversion import PatternFinder, Patterns, convert
from tilewright.ir.legality import ConversionTarget
from tilewright.ir.passes import Pass

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.type_converter import TypeConverter
    from tilewright.support.diagnostics import Sink

PATTERNS: Final[Patterns] = (
    *structure.PATTERNS,
    *shape.PATTERNS,
    *slices.PATTERNS,
    *packing.PATTERNS,
    *tables.PATTERNS,
    *generation.PATTERNS,
    *messages.PATTERNS,
    *ordering.PATTERNS,
    *allocation.PATTERNS,
    *agents.PATTERNS,
    *async_copies.PATTERNS,
    *staging.PATTERNS,
    *buffers.PATTERNS,
    *pipelines.PATTERNS,
    *integers.PATTERNS,
    *floats.PATTERNS,
    *functions.PATTERNS,
    *float_conversions.PATTERNS,
    *memory.PATTERNS,
    *atomics.PATTERNS,
    *pointers.PATTERNS,
    *moves.PATTERNS,
    *reductions.PATTERNS,
    *scans.PATTERNS,
    *histograms.PATTERNS,
    *views.PATTERNS,
    *dot.PATTERNS,
    *warpgroup_dot.PATTERNS,
    *fma_dot.PATTERNS,
    *elementwise.PATTERNS,
)


def target(types: TypeConverter) -> ConversionTarget:
    """What may be left: what threads do, with what threads have."""
    return ConversionTarget(
        legal=("cf", "gpu", "nvgpu", "cute_nvgpu", "vector", "memref", "llvm", "nvvm", ModuleOp),
        illegal=("nv_tileaa", "nv_tileas"),
        dynamic={
            **dict.fromkeys(elementwise.SAME, types.is_legal),
            **dict.fromkeys(float_conversions.ROUNDED, float_conversions.is_direct),
        },
    )


@cache
def _finder() -> PatternFinder:
    return PatternFinder(PATTERNS)


class ConvertTileASToNvgpu(Pass):
    """Give every thread its part of each tile."""

    name = "convert-tileas-to-nvgpu"

    def run(self, op: Operation, sink: Sink) -> None:
        report_accesses(op, sink, self.name)
        types = thread_types()
        convert(op, target(types), _finder(), types, sink=sink)
