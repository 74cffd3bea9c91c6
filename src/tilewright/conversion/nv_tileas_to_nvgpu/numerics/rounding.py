"""From f32 and f64 to narrower floats, in every mode, rounded once."""

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
from tilewright.ir.types import F32, F64
from tilewright.support.floats import F32 as F32_FORMAT

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.values import Value

_TF32_DROPPED: Final = 13
"""How many bits of an f32 a tf32 does not have."""


_FROM_DOUBLE: Final = {
    RoundingMode.ZERO: "llvm.nvvm.d2f.rz",
    RoundingMode.NEGATIVE_INF: "llvm.nvvm.d2f.rm",
    RoundingMode.POSITIVE_INF: "llvm.nvvm.d2f.rp",
}


def cast_float(build: Builder, value: Value, element: Type) -> Value:
    """Floats in a type that holds them all, or to the nearest of a narrower one."""
    type = with_element(value.type, element)
    if value.type is type:
        return value
    found, wanted = element_of(value.type), element
    kind = ExtFOp if width_of(found) < width_of(wanted) else TruncFOp
    return build.create(kind, source=value, types=[type]).result


def call_intrinsic(build: Builder, name: str, type: Type, *operands: Value) -> Value:
    """An intrinsic of LLVM on scalars."""
    return build.create(CallIntrinsicOp, intrin=name, args=operands, types=[type]).outputs[0]


def compare_floats(build: Builder, predicate: CmpFPredicate, lhs: Value, rhs: Value) -> Value:
    """Where a predicate holds."""
    return build.create(CmpFOp, predicate=predicate, lhs=lhs, rhs=rhs).result


def f64_to_f32(build: Builder, doubles: Value, mode: RoundingMode) -> Value:
    """f64 as f32."""
    name = _FROM_DOUBLE.get(mode)
    if name is None:
        return cast_float(build, doubles, F32)
    return map_elements(build, lambda each: call_intrinsic(build, name, F32, *each), doubles)


def f64_to_f32_odd(build: Builder, doubles: Value) -> Value:
    """f64 as f32 that rounds on as the f64 does: cut, and an odd last bit if anything was cut."""
    cut = f64_to_f32(build, doubles, RoundingMode.ZERO)
    again = cast_float(build, cut, F64)
    inexact = compare_floats(build, CmpFPredicate.ONE, again, doubles)
    return set_sticky_bit(build, cut, inexact)


def set_sticky_bit(build: Builder, floats: Value, inexact: Value) -> Value:
    """Floats with their last bit set where something was cut off."""
    bits = as_integers(build, floats)
    last = build.create(ExtUIOp, source=inexact, types=[bits.type]).result
    joined = build.create(OrIOp, lhs=bits, rhs=last).result
    return bitcast(build, joined, floats.type)


def round_to_16_bits(build: Builder, singles: Value, element: Type, mode: RoundingMode) -> Value:
    """f32 as f16 or bf16: the nearest, and one step back where that lies on the wrong side."""
    near = cast_float(build, singles, element)
    if mode is RoundingMode.NEAREST_EVEN:
        return near
    back, bits = cast_float(build, near, F32), as_integers(build, near)
    one, zero = splat_constant(build, 1, bits.type), splat_constant(build, 0, bits.type)
    smaller = build.create(SubIOp, lhs=bits, rhs=one).result
    if mode is RoundingMode.ZERO:
        magnitudes = [build.create(AbsFOp, operand=each).result for each in (back, singles)]
        beyond = compare_floats(build, CmpFPredicate.OGT, *magnitudes)
        return bitcast(build, select(build, beyond, smaller, bits), near.type)
    larger = build.create(AddIOp, lhs=bits, rhs=one).result
    negative = build.create(CmpIOp, predicate=CmpIPredicate.SLT, lhs=bits, rhs=zero).result
    up = mode is RoundingMode.POSITIVE_INF
    wrong = compare_floats(build, CmpFPredicate.OLT if up else CmpFPredicate.OGT, back, singles)
    away, toward = (smaller, larger) if up else (larger, smaller)
    step = select(build, negative, away, toward)
    return bitcast(build, select(build, wrong, step, bits), near.type)


def f32_to_tf32(build: Builder, singles: Value, mode: RoundingMode) -> Value:
    """f32 as tf32: the bits that do not count are zero."""
    bits = as_integers(build, singles)
    rounded = bits
    if mode is not RoundingMode.ZERO:
        half_way = (1 << (_TF32_DROPPED - 1)) - (mode is RoundingMode.NEAREST_EVEN)
        rounded = _plus(build, bits, splat_constant(build, half_way, bits.type))
    if mode is RoundingMode.NEAREST_EVEN:
        places = splat_constant(build, _TF32_DROPPED, bits.type)
        shifted = build.create(ShRUIOp, lhs=bits, rhs=places).result
        one = splat_constant(build, 1, bits.type)
        rounded = _plus(build, rounded, build.create(AndIOp, lhs=shifted, rhs=one).result)
    kept = splat_constant(build, -1 << _TF32_DROPPED, bits.type)
    rounded = build.create(AndIOp, lhs=rounded, rhs=kept).result
    # Of a NaN all bits may be among those that go.
    nan = splat_constant(build, F32_FORMAT.nan or 0, bits.type)
    is_nan = compare_floats(build, CmpFPredicate.UNO, singles, singles)
    return bitcast(build, select(build, is_nan, nan, rounded), singles.type)


def _plus(build: Builder, lhs: Value, rhs: Value) -> Value:
    return build.create(AddIOp, lhs=lhs, rhs=rhs).result
