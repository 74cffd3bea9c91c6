"""The last arrow: gpu, nvgpu and the standard dialects to NVVM and LLVM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm import (
    arith,
    async_copy,
    cf,
    descriptor,
    func,
    gpu,
    gpu_functions,
    math,
    mbarrier,
    memref,
    packed,
    tensormap,
    tma,
    vector,
)
from tilewright.conversion.nvgpu_to_nvvm.types import llvm_types
from tilewright.dialects.builtin import ModuleOp
from tilewright.dialects.gpu.structure import GPUModuleOp, YieldOp
from tilewright.ir.conversion import Patterns, convert
from tilewright.ir.legality import ConversionTarget
from tilewright.ir.passes import Pass, option

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink

PATTERNS: Final[Patterns] = (
    *arith.PATTERNS,
    *async_copy.PATTERNS,
    *cf.PATTERNS,
    *descriptor.PATTERNS,
    *func.PATTERNS,
    *gpu.PATTERNS,
    *gpu_functions.PATTERNS,
    *math.SCALARISERS,
    *math.PATTERNS,
    *mbarrier.PATTERNS,
    *memref.PATTERNS,
    *packed.PATTERNS,
    *tensormap.PATTERNS,
    *tma.PATTERNS,
    *vector.PATTERNS,
)
"""All but that of the barrier, which has two spellings."""

TARGET: Final = ConversionTarget(
    legal=("llvm", "nvvm", ModuleOp, GPUModuleOp, YieldOp),
    illegal=("gpu", "nvgpu", "arith", "math", "cf", "func", "vector", "memref", "ub"),
)
"""What may be left. A `gpu.yield` is legal on the way alone: nothing that holds one stays."""


def _spelling(text: str) -> str:
    if text not in gpu.BARRIERS:
        raise ValueError(f"expected {' or '.join(gpu.BARRIERS)}")
    return text


class ConvertGpuNvgpuToNvvm(Pass):
    """Convert everything to NVVM and LLVM; only modules stay as they are."""

    name = "convert-gpu-nvgpu-to-nvvm"
    barrier: str = option(
        default="bar.sync.aligned", doc="how the barrier of a block is spelled", parse=_spelling
    )

    def run(self, op: Operation, sink: Sink) -> None:
        patterns = (*PATTERNS, gpu.BARRIERS[self.barrier])
        convert(op, TARGET, patterns, llvm_types(), sink=sink)
