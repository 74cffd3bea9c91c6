"""Lowering of gpu, nvgpu, cute_nvgpu and the standard dialects to the NVVM and LLVM dialects."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm import (
    arith,
    async_copy,
    atomics,
    block_reduce,
    casts,
    cf,
    cute_tensormap,
    cute_threads,
    cute_tma,
    cute_wgmma,
    descriptor,
    func,
    gpu,
    gpu_functions,
    ldmatrix,
    math,
    mbarrier,
    memref,
    mma_sparse,
    mma_sync,
    narrow_floats,
    packed,
    packed_conversion,
    powers,
    tensormap,
    tma,
    vector,
    vector_masked,
    warp,
    warpgroup,
    wgmma_descriptor,
)
from tilewright.conversion.nvgpu_to_nvvm.types import llvm_types
from tilewright.conversion.scf_to_cf import PATTERNS as SCF_PATTERNS
from tilewright.dialects.builtin import ModuleOp
from tilewright.dialects.gpu.structure import GPUModuleOp, YieldOp
from tilewright.ir.conversion import PatternFinder, Patterns, convert
from tilewright.ir.legality import ConversionTarget
from tilewright.ir.passes import Pass, option

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink

PATTERNS: Final[Patterns] = (
    *narrow_floats.PATTERNS,
    *arith.PATTERNS,
    *async_copy.PATTERNS,
    *block_reduce.PATTERNS,
    *casts.PATTERNS,
    *cf.PATTERNS,
    *cute_tensormap.PATTERNS,
    *cute_threads.PATTERNS,
    *cute_tma.PATTERNS,
    *cute_wgmma.PATTERNS,
    *descriptor.PATTERNS,
    *func.PATTERNS,
    *gpu.PATTERNS,
    *gpu_functions.PATTERNS,
    *ldmatrix.PATTERNS,
    *math.SCALARISERS,
    *math.PATTERNS,
    *mbarrier.PATTERNS,
    *atomics.PATTERNS,
    *memref.PATTERNS,
    *mma_sparse.PATTERNS,
    *mma_sync.PATTERNS,
    *packed.PATTERNS,
    *packed_conversion.PATTERNS,
    *powers.PATTERNS,
    *SCF_PATTERNS,
    *tensormap.PATTERNS,
    *tma.PATTERNS,
    *vector.PATTERNS,
    *vector_masked.PATTERNS,
    *warp.PATTERNS,
    *warpgroup.PATTERNS,
    *wgmma_descriptor.PATTERNS,
)
"""The patterns of every instance of the pass; `gpu.BARRIERS` has the one its option chooses."""

TARGET: Final = ConversionTarget(
    legal=("llvm", "nvvm", ModuleOp, GPUModuleOp, YieldOp),
    illegal=(
        *("gpu", "nvgpu", "cute_nvgpu", "arith", "math", "cf", "scf"),
        *("func", "vector", "memref", "ub"),
    ),
)
"""Legality. `gpu.yield` is legal only during the conversion: no op with such a body remains."""


def _parse_barrier(text: str) -> str:
    if text not in gpu.BARRIERS:
        raise ValueError(f"expected {' or '.join(gpu.BARRIERS)}")
    return text


@cache
def _finder(barrier: str) -> PatternFinder:
    return PatternFinder((*PATTERNS, gpu.BARRIERS[barrier]))


class ConvertGpuNvgpuToNvvm(Pass):
    """Convert everything to NVVM and LLVM; only modules stay as they are."""

    name = "convert-gpu-nvgpu-to-nvvm"
    is_required = True
    barrier: str = option(
        default="bar.sync.aligned", doc="NVVM operation for gpu.barrier", parse=_parse_barrier
    )

    def run(self, op: Operation, sink: Sink) -> None:
        convert(op, TARGET, _finder(self.barrier), llvm_types(), sink=sink)
