"""nvgpu's approximate reciprocal and packed f32x2 arithmetic to NVVM."""

from __future__ import annotations

from typing import Final

from tilewright.conversion.nvgpu_to_nvvm.elementwise import build_vector, lanes
from tilewright.dialects.nvgpu.attributes import PackedRounding
from tilewright.dialects.nvgpu.packed import FmaPackedF32x2Op, MulPackedF32x2Op, RcpOp
from tilewright.dialects.nvvm import arithmetic as nvvm
from tilewright.dialects.nvvm.attributes import RoundingMode
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts


@converts(RcpOp)
def reciprocal(op: RcpOp, new: RcpOp, build: ConversionBuilder) -> Result:
    """Lower to `rcp.approx` of each element."""
    if op.ftz:
        reciprocals = [
            build.create(nvvm.RcpApproxFtzF32Op, arg=lane).res for lane in lanes(build, new.source)
        ]
    else:
        reciprocals = [
            build.create(nvvm.RcpApproxOp, arg=lane).res for lane in lanes(build, new.source)
        ]
    return build_vector(build, reciprocals, new.source.type)


def rounding_mode(mode: PackedRounding) -> RoundingMode:
    """Convert a rounding mode of nvgpu to NVVM's."""
    return RoundingMode[mode.name]


@converts(FmaPackedF32x2Op)
def fma(op: FmaPackedF32x2Op, new: FmaPackedF32x2Op, build: ConversionBuilder) -> Result:
    """Lower to `fma.f32x2`."""
    rounding = rounding_mode(op.rounding)
    return build.create(nvvm.FmaPackedF32x2Op, a=new.a, b=new.b, c=new.c, rnd=rounding, ftz=op.ftz)


@converts(MulPackedF32x2Op)
def mul(op: MulPackedF32x2Op, new: MulPackedF32x2Op, build: ConversionBuilder) -> Result:
    """Lower to `mul.f32x2`."""
    rounding = rounding_mode(op.rounding)
    return build.create(nvvm.MulPackedF32x2Op, a=new.a, b=new.b, rnd=rounding, ftz=op.ftz)


PATTERNS: Final[Patterns] = (reciprocal, fma, mul)
