"""nvgpu's float conversions to NVVM's conversions of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.elementwise import lanes, result_type
from tilewright.conversion.nvgpu_to_nvvm.fragments import (
    pack_registers,
    same_bits,
    unpack_registers,
)
from tilewright.conversion.nvgpu_to_nvvm.packed import rounding_mode
from tilewright.conversion.nvgpu_to_nvvm.vector import vector_of
from tilewright.dialects.llvm.conversion import FPExtOp, TruncOp, ZExtOp
from tilewright.dialects.nvgpu.packed import CvtFPExtOp, CvtFPTruncOp
from tilewright.dialects.nvvm import conversion as nvvm
from tilewright.dialects.nvvm.attributes import SaturationMode
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import (
    BF16,
    F4E2M1FN,
    F8E8M0FNU,
    F16,
    F32,
    I8,
    FloatType,
    IntegerType,
    VectorType,
)

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value

_FP8_PAIR: Final = VectorType((2,), I8)
_SATURATE: Final = SaturationMode.SATFINITE


@converts(CvtFPTruncOp)
def narrow(op: CvtFPTruncOp, new: CvtFPTruncOp, build: ConversionBuilder) -> Result:
    """Lower a truncation to conversions of pairs."""
    type = result_type(op, build)
    if type is None:
        return build.reject(f"expected a vector type that converts to LLVM, got '{op.result.type}'")
    source, target = vector_of(op.source).element, vector_of(op.result).element
    if source is F32:
        numbers = lanes(build, new.source)
        pairs = zip(numbers[::2], numbers[1::2], strict=True)
        parts = [_from_f32(op, low, high, target, build) for low, high in pairs]
    else:
        pair = VectorType((2,), source)
        parts = [
            _from_f16x2(op, each, target, build)
            for each in unpack_registers(build, new.source, pair)
        ]
    return pack_registers(build, parts, type)


def _from_f32(
    op: CvtFPTruncOp, low: Value, high: Value, target: Type, build: ConversionBuilder
) -> Value:
    """Convert two f32 to a pair, the first in the low half."""
    rounding, relu = rounding_mode(op.rounding), op.relu
    if target in (F16, BF16):
        kind = nvvm.F32x2ToF16x2Op if target is F16 else nvvm.F32x2ToBF16x2Op
        pair = VectorType((2,), target)
        return build.create(
            kind, src_hi=high, src_lo=low, rnd=rounding, relu=relu, types=[pair]
        ).dst
    if target is F4E2M1FN:
        return build.create(nvvm.F32x2ToF4x2Op, a=high, b=low, relu=relu, dst_type=target).dst
    if target in nvvm.F6:
        made = build.create(
            nvvm.F32x2ToF6x2Op, a=high, b=low, relu=relu, dst_type=target, types=[_FP8_PAIR]
        ).dst
        fp6_pair = VectorType((2,), IntegerType(6))
        return build.create(TruncOp, arg=made, types=[fp6_pair]).res
    return build.create(
        nvvm.F32x2ToF8x2Op,
        a=high,
        b=low,
        rnd=rounding,
        sat=_SATURATE,
        relu=relu,
        dst_type=target,
        types=[_FP8_PAIR],
    ).dst


def _from_f16x2(op: CvtFPTruncOp, pair: Value, target: Type, build: ConversionBuilder) -> Value:
    """Convert two f16 to fp8, or two bf16 to e8m0."""
    if target is not F8E8M0FNU:
        return build.create(
            nvvm.F16x2ToF8x2Op, a=pair, relu=op.relu, dst_type=target, types=[_FP8_PAIR]
        ).dst
    return build.create(
        nvvm.BF16x2ToF8x2Op,
        a=pair,
        rnd=rounding_mode(op.rounding),
        sat=_SATURATE,
        dst_type=target,
        types=[_FP8_PAIR],
    ).dst


@converts(CvtFPExtOp)
def widen(op: CvtFPExtOp, new: CvtFPExtOp, build: ConversionBuilder) -> Result:
    """Lower an extension to conversions of pairs; f16 and bf16 to `llvm.fpext`."""
    type = result_type(op, build)
    if type is None:
        return build.reject(f"expected a vector type that converts to LLVM, got '{op.result.type}'")
    source = vector_of(op.source).element
    if source in (F16, BF16):
        return build.create(FPExtOp, arg=new.source, types=[type])
    assert isinstance(source, FloatType)
    pair = VectorType((2,), IntegerType(source.width))
    parts = [
        _extend_pair(each, source, build) for each in unpack_registers(build, new.source, pair)
    ]
    return pack_registers(build, parts, type)


def _extend_pair(pair: Value, source: Type, build: ConversionBuilder) -> Value:
    if source is F4E2M1FN:
        packed = same_bits(build, pair, I8)
        return build.create(nvvm.F4x2ToF16x2Op, src=packed, src_type=source).dst
    if source in nvvm.F6:
        bytes = build.create(ZExtOp, arg=pair, types=[_FP8_PAIR]).res
        return build.create(nvvm.F6x2ToF16x2Op, src=bytes, src_type=source).dst
    kind = nvvm.F8x2ToBF16x2Op if source is F8E8M0FNU else nvvm.F8x2ToF16x2Op
    return build.create(kind, src=pair, src_type=source).dst


PATTERNS: Final[Patterns] = (narrow, widen)
