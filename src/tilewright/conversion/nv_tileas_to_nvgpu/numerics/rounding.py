"""Conversion of f32 and f64 to narrower floats, in every rounding mode, rounded once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.vectors import (
    as_integers,
    bitcast,
    map_elements,
    select,
    splat_constant,
)
from tilewright.dialects.arith.attributes import CmpFPredicate, CmpIPredicate
from tilewright.dialects.arith.casts import ExtFOp, ExtUIOp, TruncFOp
from tilewright.dialects.arith.comparison import CmpFOp, CmpIOp
from tilewright.dialects.arith.integer import AddIOp, AndIOp, OrIOp, ShRUIOp, SubIOp
from tilewright.dialects.elements import element_of, width_of, with_element
from tilewright.dialects.llvm.calls import CallIntrinsicOp
from tilewright.dialects.math.ops import AbsFOp
from tilewright.dialects.nv_tileaa.attributes import RoundingMode
from tilewright.dialects.nvvm.attributes import RoundingMode as NvvmRounding
from tilewright.dialects.nvvm.conversion import FloatToTF32Op
from tilewright.ir.types import F32, F64
from tilewright.support.floats import F32 as F32_FORMAT

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.values import Value
    from tilewright.target.arch import Arch

_TF32_DROPPED: Final = 13
"""The low bits of an f32 that a tf32 lacks."""
_TF32_ROUNDING: Final = {
    RoundingMode.NEAREST_EVEN: NvvmRounding.RN,
    RoundingMode.ZERO: NvvmRounding.RZ,
}
"""The modes in which an instruction rounds to tf32, from Hopper on."""
_FROM_DOUBLE: Final = {
    RoundingMode.ZERO: "llvm.nvvm.d2f.rz",
    RoundingMode.NEGATIVE_INF: "llvm.nvvm.d2f.rm",
    RoundingMode.POSITIVE_INF: "llvm.nvvm.d2f.rp",
}


def cast_float(build: Builder, value: Value, element: Type) -> Value:
    """Extend floats, or truncate them to nearest even."""
    type = with_element(value.type, element)
    if value.type is type:
        return value
    source, target = element_of(value.type), element
    kind = ExtFOp if width_of(source) < width_of(target) else TruncFOp
    return build.create(kind, source=value, types=[type]).result


def call_intrinsic(build: Builder, name: str, type: Type, *operands: Value) -> Value:
    """Call an LLVM intrinsic on scalars."""
    return build.create(CallIntrinsicOp, intrin=name, args=operands, types=[type]).outputs[0]


def compare_floats(build: Builder, predicate: CmpFPredicate, lhs: Value, rhs: Value) -> Value:
    """`arith.cmpf`."""
    return build.create(CmpFOp, predicate=predicate, lhs=lhs, rhs=rhs).result


def f64_to_f32(build: Builder, doubles: Value, mode: RoundingMode) -> Value:
    """f64 to f32, in a rounding mode."""
    name = _FROM_DOUBLE.get(mode)
    if name is None:
        return cast_float(build, doubles, F32)
    return map_elements(build, lambda each: call_intrinsic(build, name, F32, *each), doubles)


def f64_to_f32_odd(build: Builder, doubles: Value) -> Value:
    """f64 to f32, rounded to odd, so that rounding the result further equals rounding once."""
    cut = f64_to_f32(build, doubles, RoundingMode.ZERO)
    again = cast_float(build, cut, F64)
    inexact = compare_floats(build, CmpFPredicate.ONE, again, doubles)
    return set_sticky_bit(build, cut, inexact)


def set_sticky_bit(build: Builder, floats: Value, inexact: Value) -> Value:
    """Set the last bit of floats that are inexact."""
    bits = as_integers(build, floats)
    last = build.create(ExtUIOp, source=inexact, types=[bits.type]).result
    result = build.create(OrIOp, lhs=bits, rhs=last).result
    return bitcast(build, result, floats.type)


def round_to_16_bits(build: Builder, singles: Value, element: Type, mode: RoundingMode) -> Value:
    """f32 to f16 or bf16: to nearest, then one ulp back if that is on the wrong side."""
    nearest = cast_float(build, singles, element)
    if mode is RoundingMode.NEAREST_EVEN:
        return nearest
    extended, bits = cast_float(build, nearest, F32), as_integers(build, nearest)
    one, zero = splat_constant(build, 1, bits.type), splat_constant(build, 0, bits.type)
    smaller = build.create(SubIOp, lhs=bits, rhs=one).result
    if mode is RoundingMode.ZERO:
        magnitudes = [build.create(AbsFOp, operand=each).result for each in (extended, singles)]
        too_large = compare_floats(build, CmpFPredicate.OGT, *magnitudes)
        return bitcast(build, select(build, too_large, smaller, bits), nearest.type)
    larger = build.create(AddIOp, lhs=bits, rhs=one).result
    negative = build.create(CmpIOp, predicate=CmpIPredicate.SLT, lhs=bits, rhs=zero).result
    up = mode is RoundingMode.POSITIVE_INF
    wrong_side = compare_floats(
        build, CmpFPredicate.OLT if up else CmpFPredicate.OGT, extended, singles
    )
    away, toward = (smaller, larger) if up else (larger, smaller)
    step = select(build, negative, away, toward)
    return bitcast(build, select(build, wrong_side, step, bits), nearest.type)


def f32_to_tf32(build: Builder, singles: Value, mode: RoundingMode, arch: Arch) -> Value:
    """f32 to tf32: the low bits become zero."""
    rounding = _TF32_ROUNDING.get(mode)
    if rounding is not None and arch.converts("tf32"):
        return map_elements(build, lambda each: _round_to_tf32(build, each[0], rounding), singles)
    bits = as_integers(build, singles)
    rounded = bits
    if mode is not RoundingMode.ZERO:
        half_way = (1 << (_TF32_DROPPED - 1)) - (mode is RoundingMode.NEAREST_EVEN)
        rounded = _plus(build, bits, splat_constant(build, half_way, bits.type))
    if mode is RoundingMode.NEAREST_EVEN:
        shift = splat_constant(build, _TF32_DROPPED, bits.type)
        shifted = build.create(ShRUIOp, lhs=bits, rhs=shift).result
        one = splat_constant(build, 1, bits.type)
        rounded = _plus(build, rounded, build.create(AndIOp, lhs=shifted, rhs=one).result)
    kept = splat_constant(build, -1 << _TF32_DROPPED, bits.type)
    rounded = build.create(AndIOp, lhs=rounded, rhs=kept).result
    # All mantissa bits of a NaN may be among those that are dropped.
    nan = splat_constant(build, F32_FORMAT.nan or 0, bits.type)
    is_nan = compare_floats(build, CmpFPredicate.UNO, singles, singles)
    return bitcast(build, select(build, is_nan, nan, rounded), singles.type)


def _round_to_tf32(build: Builder, single: Value, rounding: NvvmRounding) -> Value:
    bits = build.create(FloatToTF32Op, src=single, rnd=rounding).res
    return bitcast(build, bits, F32)


def _plus(build: Builder, lhs: Value, rhs: Value) -> Value:
    return build.create(AddIOp, lhs=lhs, rhs=rhs).result
