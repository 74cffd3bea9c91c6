"""arith's conversions of floats of 8 bits, and between floats of one width.

The hardware converts pairs, and saturates: what is too large for 8 bits becomes the largest number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.elementwise import (
    computes,
    joined,
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
    I32,
    FloatType,
    VectorType,
)

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value

_BYTES: Final = VectorType((2,), I8)
_HALVES: Final = VectorType((2,), F16)
_SCALES: Final = {RoundingMode.UPWARD: Direction.RP, RoundingMode.TOWARD_ZERO: Direction.RZ}
TO_ZERO: Final = "llvm.nvvm.d2f.rz"


def _is_narrow(type: Type) -> bool:
    return scalar_of(type) in (*nvvm.F8, F8E8M0FNU)


def _pairs(values: list[Value]) -> list[tuple[Value, Value]]:
    """Neighbours; the last of an odd number has itself."""
    padded = values if len(values) % 2 == 0 else [*values, values[-1]]
    return list(zip(padded[::2], padded[1::2], strict=True))


def _scalars(build: ConversionBuilder, value: Value) -> list[Value]:
    return lanes(build, value) if isinstance(value.type, VectorType) else [value]


def _finished(build: ConversionBuilder, scalars: list[Value], type: Type) -> Value:
    if not isinstance(type, VectorType):
        return scalars[0]
    return joined(build, scalars[: type.shape[0]], type)


@converts(ExtFOp)
def widened(op: ExtFOp, new: ExtFOp, build: ConversionBuilder) -> Result:
    """Two bytes are two halves, or scales as bf16; from there it is LLVM's to go on."""
    type = result_type(op, build)
    if type is None or not _is_narrow(op.source.type) or not computes(op.result.type):
        return None
    source = scalar_of(op.source.type)
    scalars: list[Value] = []
    for pair in _pairs(_scalars(build, new.source)):
        scalars += _from_bytes(build, pair, source)
    found = [resized(build, each, scalar_of(type)) for each in scalars]
    return _finished(build, found, type)


def _from_bytes(build: ConversionBuilder, pair: tuple[Value, Value], source: Type) -> list[Value]:
    """Two numbers in f16, or in bf16 for scales."""
    both = joined(build, pair, _BYTES)
    kind = nvvm.F8x2ToBF16x2Op if source is F8E8M0FNU else nvvm.F8x2ToF16x2Op
    return lanes(build, build.create(kind, src=both, src_type=source).dst)


def resized(build: ConversionBuilder, value: Value, type: Type) -> Value:
    """A float in another type that LLVM has; one half becomes the other by way of f32."""
    found = value.type
    if found is type:
        return value
    assert isinstance(found, FloatType)
    assert isinstance(type, FloatType)
    if found.width == type.width:
        value = build.create(FPExtOp, arg=value, types=[F32]).res
    kind = FPExtOp if found.width < type.width else FPTruncOp
    return build.create(kind, arg=value, types=[type]).res


@converts(TruncFOp)
def narrowed(op: TruncFOp, new: TruncFOp, build: ConversionBuilder) -> Result:
    """Two numbers at a time, rounded once."""
    type = result_type(op, build)
    if type is None or not _is_narrow(op.result.type) or not computes(op.source.type):
        return None
    target = scalar_of(op.result.type)
    direction = _direction(target, op.rounding)
    if direction is None:
        return build.reject(f"expected a rounding that the hardware has for '{target}'")
    scalars: list[Value] = []
    for pair in _pairs(_scalars(build, new.source)):
        scalars += lanes(build, _to_bytes(build, pair, target, direction))
    return _finished(build, scalars, type)


def _direction(target: Type, mode: RoundingMode | None) -> Direction | None:
    """How the hardware rounds: scales up or to zero, the others to nearest even."""
    if target is F8E8M0FNU:
        return None if mode is None else _SCALES.get(mode)
    return Direction.RN if mode in (None, RoundingMode.TO_NEAREST_EVEN) else None


def _to_bytes(
    build: ConversionBuilder, pair: tuple[Value, Value], target: Type, direction: Direction
) -> Value:
    """Two numbers as two bytes."""
    if pair[0].type is F16 and target is not F8E8M0FNU:
        both = joined(build, pair, _HALVES)
        return build.create(nvvm.F16x2ToF8x2Op, a=both, dst_type=target, types=[_BYTES]).dst
    low, high = [_as_single(build, value) for value in pair]
    return build.create(
        nvvm.F32x2ToF8x2Op,
        a=high,
        b=low,
        rnd=direction,
        sat=SaturationMode.SATFINITE,
        dst_type=target,
        types=[_BYTES],
    ).dst


def _as_single(build: ConversionBuilder, value: Value) -> Value:
    """A number as an f32 that rounds as the number itself does."""
    if value.type is F32:
        return value
    if value.type is not F64:
        return build.create(FPExtOp, arg=value, types=[F32]).res
    # To odd: cut, and the last bit says that something was cut off.
    cut = build.create(CallIntrinsicOp, intrin=TO_ZERO, args=[value], types=[F32]).results[0]
    again = build.create(FPExtOp, arg=cut, types=[F64]).res
    inexact = build.create(FCmpOp, predicate=CmpFPredicate.ONE, lhs=again, rhs=value).res
    sticky = build.create(ZExtOp, arg=inexact, types=[I32]).res
    bits = build.create(OrOp, lhs=same_bits(build, cut, I32), rhs=sticky).res
    return same_bits(build, bits, F32)


@converts(ConvertFOp)
def converted(op: ConvertFOp, new: ConvertFOp, build: ConversionBuilder) -> Result:
    """By way of a wider type that holds both: f32 for halves, f16 or bf16 for bytes."""
    type = result_type(op, build)
    if type is None or op.rounding not in (None, RoundingMode.TO_NEAREST_EVEN):
        return build.reject("expected rounding to nearest even")
    if scalar_of(op.source.type) in (F16, BF16):
        found = [resized(build, each, scalar_of(type)) for each in _scalars(build, new.source)]
        return _finished(build, found, type)
    source, target = scalar_of(op.source.type), scalar_of(op.result.type)
    direction = _direction(target, op.rounding)
    if not (_is_narrow(source) and _is_narrow(target)) or direction is None:
        return build.reject(f"expected floats that are converted, got '{op.source.type}'")
    scalars: list[Value] = []
    for pair in _pairs(_scalars(build, new.source)):
        low, high = _from_bytes(build, pair, source)
        scalars += lanes(build, _to_bytes(build, (low, high), target, direction))
    return _finished(build, scalars, type)


PATTERNS: Final[Patterns] = (widened, narrowed, converted)
"""These come before the general casts, which know only what LLVM computes with."""
