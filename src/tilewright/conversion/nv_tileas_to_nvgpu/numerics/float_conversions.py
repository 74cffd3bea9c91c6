"""Conversions of nv_tileaa between floats, and between floats and integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tilewright.analysis.targets import target_or_baseline
from tilewright.conversion.nv_tileas_to_nvgpu.numerics.narrow_floats import decode, encode
from tilewright.conversion.nv_tileas_to_nvgpu.numerics.packed_bytes import (
    are_whole_words,
    bytes_to_f16,
)
from tilewright.conversion.nv_tileas_to_nvgpu.numerics.rounding import (
    call_intrinsic,
    cast_float,
    compare_floats,
    f32_to_tf32,
    f64_to_f32,
    f64_to_f32_odd,
    round_to_16_bits,
    set_sticky_bit,
)
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import map_elements, splat_constant
from tilewright.dialects.arith import casts
from tilewright.dialects.arith.attributes import CmpFPredicate, CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp, SelectOp
from tilewright.dialects.arith.integer import MaxSIOp, MinSIOp, MinUIOp
from tilewright.dialects.elements import element_of, width_of, with_element
from tilewright.dialects.llvm.intrinsics.floats import FPToSISatOp, FPToUISatOp
from tilewright.dialects.nv_tileaa import shape
from tilewright.dialects.nv_tileaa.attributes import RoundingMode, Signedness
from tilewright.dialects.nv_tileaa.conversion import FpToFpOp, FToIOp
from tilewright.dialects.nvgpu.packed import CvtFPTruncOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import (
    BF16,
    F8E4M3FN,
    F8E5M2,
    F16,
    F32,
    F64,
    I1,
    I32,
    I64,
    TF32,
    FloatType,
    IntegerType,
    VectorType,
)

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

FLOATS: Final = (F16, BF16, F32, F64)
"""The types that arith converts between."""
EXACT_BITS: Final = 24
"""Integers of at most this many bits are exact in f32."""
_FP8: Final = (F8E4M3FN, F8E5M2)
INTEGER_TO_FLOAT: Final = (casts.SIToFPOp, casts.UIToFPOp)
"""Conversions of integers to floats."""
_ONE: Final = 0x3F800000
_MINUS_ONE: Final = 0xBF800000
_DIRECT: Final = (F16, F32, F64)
"""The float types that one instruction converts integers to."""


@converts(FpToFpOp)
def float_to_float(op: FpToFpOp, new: FpToFpOp, build: ConversionBuilder) -> Result:
    """Rounded once, whatever the path."""
    source, target = element_of(op.source.type), element_of(op.result.type)
    if _is_selected_f32(op, new.source) and target in (F16, BF16):
        # LLVM would convert both operands of the select, each element by itself.
        type = with_element(new.source.type, target)
        return build.create(CvtFPTruncOp, source=new.source, types=[type])
    return convert_float(op, build, new.source, source, target, op.rounding_mode)


def _is_selected_f32(op: FpToFpOp, value: Value) -> bool:
    """Whether a conversion, to nearest even, is of pairs of f32 that a select has chosen."""
    is_nearest = op.rounding_mode is RoundingMode.NEAREST_EVEN
    select = op.source.defining_op()
    is_selected = isinstance(select, shape.SelectOp | SelectOp)
    type = value.type
    has_pairs = isinstance(type, VectorType) and type.element is F32 and type.shape[0] % 2 == 0
    return is_nearest and is_selected and has_pairs


def convert_float(
    op: Operation,
    build: ConversionBuilder,
    value: Value,
    source: Type,
    target: Type,
    mode: RoundingMode,
) -> Value:
    """Convert floats of one type to another."""
    if not _is_wide(source):
        value = _decode(op, build, value, source)
        source = F32
    if target is F64 or (target is F32 and source is not F64):
        return cast_float(build, value, target)
    if target is F32:
        return f64_to_f32(build, value, mode)
    if element_of(value.type) is F64:
        # Rounded to odd, so that the next step rounds as if it were the only one.
        value = f64_to_f32_odd(build, value)
    return _round(op, build, value, target, mode)


def _is_wide(element: Type) -> bool:
    return element in FLOATS or element is TF32


def _decode(op: Operation, build: ConversionBuilder, value: Value, source: Type) -> Value:
    if source in _FP8 and target_or_baseline(op).converts(str(source)):
        return cast_float(build, value, F32)
    return decode(build, value, source)


def _round(
    op: Operation, build: ConversionBuilder, value: Value, target: Type, mode: RoundingMode
) -> Value:
    """Round f32, f16 or bf16 to a type that is no wider."""
    value = cast_float(build, value, F32)
    if target is TF32:
        return f32_to_tf32(build, value, mode, target_or_baseline(op))
    if target in (F16, BF16):
        return round_to_16_bits(build, value, target, mode)
    if target in _FP8 and target_or_baseline(op).converts(str(target)):
        return cast_float(build, value, target)
    return encode(build, value, target, mode)


@converts(FToIOp)
def float_to_int(op: FToIOp, new: FToIOp, build: ConversionBuilder) -> Result:
    """Truncate to an integer; saturates whether or not that is requested.

    To i1, without saturation: whether the number is not zero.
    """
    source, value = element_of(op.source.type), new.source
    if source not in (F32, F64):
        value = convert_float(op, build, value, source, F32, RoundingMode.NEAREST_EVEN)
    signed, target = op.signedness is Signedness.SIGNED, element_of(op.result.type)
    assert isinstance(target, IntegerType)
    if target is I1 and not op.saturating:
        return compare_floats(build, CmpFPredicate.UNE, value, splat_constant(build, 0, value.type))
    wide = with_element(value.type, target if target.width > I32.width else I32)
    result = build.create(FPToSISatOp if signed else FPToUISatOp, operand=value, types=[wide]).res
    return result if target.width >= I32.width else _saturate(build, result, target, signed)


def _saturate(build: ConversionBuilder, wide: Value, target: IntegerType, signed: bool) -> Value:
    """Saturate i32 to a narrower integer type."""
    high = (1 << target.width - signed) - 1
    kind = MinSIOp if signed else MinUIOp
    result = build.create(kind, lhs=wide, rhs=splat_constant(build, high, wide.type)).result
    if signed:
        low = splat_constant(build, -high - 1, wide.type)
        result = build.create(MaxSIOp, lhs=result, rhs=low).result
    narrow = with_element(wide.type, target)
    return build.create(casts.TruncIOp, source=result, types=[narrow]).result


def is_direct(op: Operation) -> bool:
    """Whether one instruction converts an integer, in the types of a thread."""
    (result,) = op.results
    return result.type in _DIRECT or (
        isinstance(result.type, VectorType) and result.type.element in _DIRECT
    )


@converts(*INTEGER_TO_FLOAT)
def int_to_float(op: Any, new: Any, build: ConversionBuilder) -> Result:
    """Round to nearest even; a conversion through f32 must not round twice."""
    source, target = element_of(op.source.type), element_of(op.result.type)
    signed = isinstance(op, casts.SIToFPOp)
    if target is F16 and are_whole_words(new.source):
        return bytes_to_f16(build, new.source, signed=signed)
    if target in _DIRECT:
        return None
    assert isinstance(target, FloatType)
    wide = width_of(source) > EXACT_BITS
    value = (
        _integer_to_f32_odd(build, new.source, signed)
        if wide
        else _integer_to_f32_exact(build, new.source, signed)
    )
    return _round(op, build, value, target, RoundingMode.NEAREST_EVEN)


def _integer_to_f32_exact(build: ConversionBuilder, value: Value, signed: bool) -> Value:
    if element_of(value.type) is I1:
        # LLVM converts a signed i1 to +1 where the result becomes bf16.
        f64_to_f32 = with_element(value.type, F32)
        one = splat_constant(build, _MINUS_ONE if signed else _ONE, f64_to_f32)
        zero = splat_constant(build, 0, f64_to_f32)
        return build.create(SelectOp, condition=value, true_value=one, false_value=zero).result
    kind = casts.SIToFPOp if signed else casts.UIToFPOp
    return build.create(kind, source=value, types=[with_element(value.type, F32)]).result


def _integer_to_f32_odd(build: ConversionBuilder, value: Value, signed: bool) -> Value:
    """Integers to f32, rounded to odd."""
    is_long = element_of(value.type) is I64
    name = ("" if signed else "u") + ("ll" if is_long else "i")
    integer = I64 if is_long else I32
    down, up = f"llvm.nvvm.{name}2f.rz", f"llvm.nvvm.f2{name}.rz"
    truncated = map_elements(build, lambda each: call_intrinsic(build, down, F32, *each), value)
    restored = map_elements(
        build, lambda each: call_intrinsic(build, up, integer, *each), truncated
    )
    inexact = build.create(CmpIOp, predicate=CmpIPredicate.NE, lhs=restored, rhs=value).result
    return set_sticky_bit(build, truncated, inexact)


PATTERNS: Final[Patterns] = (
    float_to_float,
    float_to_int,
    int_to_float,
)
