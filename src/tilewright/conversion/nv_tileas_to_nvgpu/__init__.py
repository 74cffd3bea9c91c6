"""The lowering of tiles with layouts to threads: nv_tileas to gpu, nvgpu, arith, scf, vector, llvm.

Patterns are in subpackages by kind of operation; the modules beside this one are what they share.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from tilewright.analysis.remarks import report_accesses, report_refusals
from tilewright.conversion.nv_tileas_to_nvgpu.collectives import generate, histogram, reduce, scan
from tilewright.conversion.nv_tileas_to_nvgpu.conversion_remarks import report_conversions
from tilewright.conversion.nv_tileas_to_nvgpu.memory import (
    alloca,
    atomics,
    global_constants,
    multimem,
    pointers,
    views,
)
from tilewright.conversion.nv_tileas_to_nvgpu.mma import fma, mma_sync, wgmma
from tilewright.conversion.nv_tileas_to_nvgpu.numerics import (
    elementwise,
    float_conversions,
    floats,
    integers,
    math_functions,
)
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines import (
    async_copies,
    iterators,
    pipelines,
    shared_buffers,
    tensor_maps,
    tma_stores,
)
from tilewright.conversion.nv_tileas_to_nvgpu.shape import (
    convert_layout,
    pack_unpack,
    rearrangements,
    slices,
    splat_range,
)
from tilewright.conversion.nv_tileas_to_nvgpu.structure import (
    agents,
    compiler_hints,
    functions,
    print_assert,
    synchronization,
    warpgroup_order,
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
    *functions.PATTERNS,
    *agents.PATTERNS,
    *synchronization.PATTERNS,
    *warpgroup_order.PATTERNS,
    *compiler_hints.PATTERNS,
    *print_assert.PATTERNS,
    *splat_range.PATTERNS,
    *rearrangements.PATTERNS,
    *slices.PATTERNS,
    *pack_unpack.PATTERNS,
    *convert_layout.PATTERNS,
    *global_constants.PATTERNS,
    *alloca.PATTERNS,
    *pointers.PATTERNS,
    *views.PATTERNS,
    *atomics.PATTERNS,
    *multimem.PATTERNS,
    *async_copies.PATTERNS,
    *iterators.PATTERNS,
    *shared_buffers.PATTERNS,
    *pipelines.PATTERNS,
    *tensor_maps.PATTERNS,
    *tma_stores.PATTERNS,
    *integers.PATTERNS,
    *floats.PATTERNS,
    *math_functions.PATTERNS,
    *float_conversions.PATTERNS,
    *generate.PATTERNS,
    *reduce.PATTERNS,
    *scan.PATTERNS,
    *histogram.PATTERNS,
    *mma_sync.PATTERNS,
    *wgmma.PATTERNS,
    *fma.PATTERNS,
    *elementwise.PATTERNS,
)
"""For one operation, the first pattern that applies wins."""


def target(types: TypeConverter) -> ConversionTarget:
    """Legal are operations of threads, on types that threads have."""
    return ConversionTarget(
        legal=("cf", "gpu", "nvgpu", "cute_nvgpu", "vector", "memref", "llvm", "nvvm", ModuleOp),
        illegal=("nv_tileaa", "nv_tileas"),
        dynamic={
            **dict.fromkeys(elementwise.ELEMENTWISE_DIALECTS, types.is_legal),
            **dict.fromkeys(float_conversions.INTEGER_TO_FLOAT, float_conversions.is_direct),
        },
    )


@cache
def _finder() -> PatternFinder:
    return PatternFinder(PATTERNS)


class ConvertTileASToNvgpu(Pass):
    """Lower tiles to the vector of registers that each thread holds."""

    name = "convert-tileas-to-nvgpu"
    is_required = True

    def run(self, op: Operation, sink: Sink) -> None:
        report_accesses(op, sink, self.name)
        report_conversions(op, sink, self.name)
        report_refusals(op, sink, self.name)
        types = thread_types()
        convert(op, target(types), _finder(), types, sink=sink)
