"""nvgpu.ldmatrix to NVVM."""

from __future__ import annotations

from typing import Final

from tilewright.conversion.nvgpu_to_nvvm.buffers import Buffer
from tilewright.conversion.nvgpu_to_nvvm.elementwise import result_type
from tilewright.conversion.nvgpu_to_nvvm.fragments import members, pack_registers
from tilewright.dialects.nvgpu.warp import LdMatrixOp
from tilewright.dialects.nvvm import matrix as nvvm
from tilewright.dialects.nvvm.attributes import MMALayout
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts


@converts(LdMatrixOp)
def ldmatrix(op: LdMatrixOp, new: LdMatrixOp, build: ConversionBuilder) -> Result:
    """Lower to `nvvm.ldmatrix`, whose registers hold 32 bits of a row for any element type."""
    type = result_type(op, build)
    if type is None:
        return build.reject(f"expected a vector type that converts to LLVM, got '{op.res.type}'")
    address = Buffer.of(op.src_memref, build).element_address(new.indices, build)
    layout = MMALayout.COL if op.transpose else MMALayout.ROW
    loaded = build.create(nvvm.LdMatrixOp, ptr=address, num=op.num_tiles, layout=layout).res
    return pack_registers(build, members(build, loaded), type)


PATTERNS: Final[Patterns] = (ldmatrix,)
