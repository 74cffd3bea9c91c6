"""arith's conversions from and to fp8, and between floats of the same width.

The instructions convert pairs, and saturate to the largest finite fp8 value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.elementwise import (
    build_vector,
    is_llvm_float,
    lanes,
    result_type,
    scalar_of,
)
from tilewright.conversion.nvgpu_to_nvvm.fragments import same_bits
from tilewright.dialects.arith.attributes import CmpFPredicate, RoundingMode
from tilewright.dialects.arith.casts import ConvertFOp, ExtFOp, TruncFOp
from tilewright.dialects.llvm.arithmetic import FCmpOp, OrOp
from tilewright.dialects.llvm.calls import CallIntrinsicOp
from tilewright.dialects.llvm.conversion import FPExtOp, FPTruncOp, ZExtOp
from tilewright.dialects.nvvm import conversion as nvvm
from tilewright.dialects.nvvm.attributes import RoundingMode as Direction
from tilewright.dialects.nvvm.attributes import SaturationMode
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import (
    BF16,
    F8E8M0FNU,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    FloatType,
    VectorType,
)

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value

_FP8_PAIR: Final = VectorType((2,), I8)
_F16_PAIR: Final = VectorType((2,), F16)
_SCALES: Final = {RoundingMode.UPWARD: Direction.RP, RoundingMode.TOWARD_ZERO: Direction.RZ}
TO_ZERO: Final = "llvm.nvvm.d2f.rz"


def _is_narrow(type: Type) -> bool:
    return scalar_of(type) in (*nvvm.F8, F8E8M0FNU)


def _pairs(values: list[Value]) -> list[tuple[Value, Value]]:
    """Pair consecutive values; the last of an odd number is paired with itself."""
    padded = values if len(values) % 2 == 0 else [*values, values[-1]]
    return list(zip(padded[::2], padded[1::2], strict=True))


def _scalars(build: ConversionBuilder, value: Value) -> list[Value]:
    return lanes(build, value) if isinstance(value.type, VectorType) else [value]


def _finished(build: ConversionBuilder, scalars: list[Value], type: Type) -> Value:
    if not isinstance(type, VectorType):
        return scalars[0]
    return build_vector(build, scalars[: type.shape[0]], type)


@converts(ExtFOp)
def widened(op: ExtFOp, new: ExtFOp, build: ConversionBuilder) -> Result:
    """Convert pairs of fp8 to f16, or of e8m0 to bf16, and extend those to the result type."""
    type = result_type(op, build)
    if type is None or not _is_narrow(op.source.type) or not is_llvm_float(op.result.type):
        return None
    source = scalar_of(op.source.type)
    scalars: list[Value] = []
    for pair in _pairs(_scalars(build, new.source)):
        scalars += _fp8_to_half(build, pair, source)
    converted = [resized_float(build, each, scalar_of(type)) for each in scalars]
    return _finished(build, converted, type)


def _fp8_to_half(build: ConversionBuilder, pair: tuple[Value, Value], source: Type) -> list[Value]:
    """Convert two fp8 to f16, or two e8m0 to bf16."""
    packed = build_vector(build, pair, _FP8_PAIR)
    kind = nvvm.F8x2ToBF16x2Op if source is F8E8M0FNU else nvvm.F8x2ToF16x2Op
    return lanes(build, build.create(kind, src=packed, src_type=source).dst)


def resized_float(build: ConversionBuilder, value: Value, type: Type) -> Value:
    """Extend or truncate a float; f16 and bf16 convert to each other through f32."""
    source = value.type
    if source is type:
        return value
    assert isinstance(source, FloatType)
    assert isinstance(type, FloatType)
    if source.width == type.width:
        value = build.create(FPExtOp, arg=value, types=[F32]).res
    kind = FPExtOp if source.width < type.width else FPTruncOp
    return build.create(kind, arg=value, types=[type]).res


@converts(TruncFOp)
def narrowed(op: TruncFOp, new: TruncFOp, build: ConversionBuilder) -> Result:
    """Convert pairs to fp8 with one rounding."""
    type = result_type(op, build)
    if type is None or not _is_narrow(op.result.type) or not is_llvm_float(op.source.type):
        return None
    target = scalar_of(op.result.type)
    direction = _direction(target, op.rounding)
    if direction is None:
        return build.reject(f"expected a rounding mode of the conversion to '{target}'")
    pairs = [
        _to_fp8(build, pair, target, direction) for pair in _pairs(_scalars(build, new.source))
    ]
    if isinstance(type, VectorType) and type.shape[0] == 2 * len(pairs):
        # LLVM splits pairs into bytes that are inserted one by one, and joins them again.
        whole = [same_bits(build, pair, I16) for pair in pairs]
        vector = build_vector(build, whole, VectorType((len(pairs),), I16))
        return same_bits(build, vector, type)
    return _finished(build, [each for pair in pairs for each in lanes(build, pair)], type)


def _direction(target: Type, mode: RoundingMode | None) -> Direction | None:
    """Return the rounding mode of the instruction: e8m0 up or to zero, others to nearest even."""
    if target is F8E8M0FNU:
        return None if mode is None else _SCALES.get(mode)
    return Direction.RN if mode in (None, RoundingMode.TO_NEAREST_EVEN) else None


def _to_fp8(
    build: ConversionBuilder, pair: tuple[Value, Value], target: Type, direction: Direction
) -> Value:
    """Convert two floats to two fp8."""
    if pair[0].type is F16 and target is not F8E8M0FNU:
        packed = build_vector(build, pair, _F16_PAIR)
        return build.create(nvvm.F16x2ToF8x2Op, a=packed, dst_type=target, types=[_FP8_PAIR]).dst
    low, high = [_round_to_f32(build, value) for value in pair]
    return build.create(
        nvvm.F32x2ToF8x2Op,
        a=high,
        b=low,
        rnd=direction,
        sat=SaturationMode.SATFINITE,
        dst_type=target,
        types=[_FP8_PAIR],
    ).dst


def _round_to_f32(build: ConversionBuilder, value: Value) -> Value:
    """Convert to f32 such that the second rounding gives the correctly rounded result."""
    if value.type is F32:
        return value
    if value.type is not F64:
        return build.create(FPExtOp, arg=value, types=[F32]).res
    # Round f64 to odd: truncate, and set the last bit if the result is inexact.
    cut = build.create(CallIntrinsicOp, intrin=TO_ZERO, args=[value], types=[F32]).results[0]
    again = build.create(FPExtOp, arg=cut, types=[F64]).res
    inexact = build.create(FCmpOp, predicate=CmpFPredicate.ONE, lhs=again, rhs=value).res
    sticky = build.create(ZExtOp, arg=inexact, types=[I32]).res
    bits = build.create(OrOp, lhs=same_bits(build, cut, I32), rhs=sticky).res
    return same_bits(build, bits, F32)


@converts(ConvertFOp)
def converted(op: ConvertFOp, new: ConvertFOp, build: ConversionBuilder) -> Result:
    """Convert through a wider type: f32 between f16 and bf16, f16 or bf16 between fp8 types."""
    type = result_type(op, build)
    if type is None or op.rounding not in (None, RoundingMode.TO_NEAREST_EVEN):
        return build.reject("expected rounding to nearest even")
    if scalar_of(op.source.type) in (F16, BF16):
        floats = [
            resized_float(build, each, scalar_of(type)) for each in _scalars(build, new.source)
        ]
        return _finished(build, floats, type)
    source, target = scalar_of(op.source.type), scalar_of(op.result.type)
    direction = _direction(target, op.rounding)
    if not (_is_narrow(source) and _is_narrow(target)) or direction is None:
        return build.reject(f"expected f16, bf16 or fp8, got '{op.source.type}'")
    scalars: list[Value] = []
    for pair in _pairs(_scalars(build, new.source)):
        low, high = _fp8_to_half(build, pair, source)
        scalars += lanes(build, _to_fp8(build, (low, high), target, direction))
    return _finished(build, scalars, type)


PATTERNS: Final[Patterns] = (widened, narrowed, converted)
"""Before the general casts, which handle only the float types of LLVM."""
