"""fp8 and narrower floats from and to f32 by integer arithmetic, for GPUs without instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.conversion.nv_tileas_to_nvgpu.numerics.rounding import compare_floats
from tilewright.conversion.nv_tileas_to_nvgpu.types import element_type
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import (
    as_integers,
    bitcast,
    select,
    splat_constant,
)
from tilewright.dialects.arith.attributes import CmpFPredicate, CmpIPredicate
from tilewright.dialects.arith.casts import ExtUIOp, TruncIOp
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.arith.floating import AddFOp, MulFOp
from tilewright.dialects.arith.integer import (
    AddIOp,
    AndIOp,
    MinUIOp,
    OrIOp,
    ShLIOp,
    ShRUIOp,
    SubIOp,
)
from tilewright.dialects.elements import with_element
from tilewright.dialects.nv_tileaa.attributes import RoundingMode
from tilewright.ir.types import F32, I32, FloatType, IntegerType
from tilewright.support import floats

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.floats import FloatFormat

_SINGLE = floats.F32
_INFINITY = _SINGLE.infinity or 0


class IntegerMath:
    """Elementwise i32 arithmetic with constants."""

    __slots__ = ("build", "type")

    def __init__(self, build: Builder, like: Value) -> None:
        self.build = build
        self.type: Type = with_element(like.type, I32)

    def number(self, number: int) -> Value:
        """A constant."""
        return splat_constant(self.build, number, self.type)

    def apply(self, kind: type[Operation], lhs: Value, rhs: Value | int) -> Value:
        """A binary operation of arith."""
        right = self.number(rhs) if isinstance(rhs, int) else rhs
        return self.build.create(kind, lhs=lhs, rhs=right).results[0]

    def compare(self, predicate: CmpIPredicate, lhs: Value, rhs: int) -> Value:
        """`arith.cmpi` with a constant."""
        right = self.number(rhs)
        return self.build.create(CmpIOp, predicate=predicate, lhs=lhs, rhs=right).result


def power_of_two(exponent: int) -> int:
    """The bits of a power of two as an f32."""
    return exponent + _SINGLE.bias << _SINGLE.mantissa_bits


def format_of(element: Type) -> FloatFormat:
    """The format of a float type."""
    assert isinstance(element, FloatType)
    return floats.FORMATS[element.format]


def decode(build: Builder, narrow: Value, element: Type) -> Value:
    """Narrow floats to f32, which is exact.

    Shifted to the exponent and mantissa bits of an f32, a number, subnormal or not, is off by a
    power of two.
    """
    format, on = format_of(element), IntegerMath(build, narrow)
    single = with_element(narrow.type, F32)
    bits = build.create(ExtUIOp, source=as_integers(build, narrow), types=[on.type]).result
    magnitude = on.apply(AndIOp, bits, (1 << format.exponent_bits + format.mantissa_bits) - 1)
    if not format.has_zero:
        return _decode_scale(on, magnitude, single)
    shift = _SINGLE.mantissa_bits - format.mantissa_bits
    shifted = bitcast(build, on.apply(ShLIOp, magnitude, shift), single)
    scale = splat_constant(build, power_of_two(_SINGLE.bias - format.bias), single)
    result = as_integers(build, build.create(MulFOp, lhs=shifted, rhs=scale).result)
    if format.infinity is not None:
        is_infinite = on.compare(CmpIPredicate.EQ, magnitude, format.infinity)
        result = select(build, is_infinite, on.number(_INFINITY), result)
    if format.nan is not None:
        is_nan = on.compare(
            CmpIPredicate.UGT, magnitude, max(format.max_finite, format.infinity or 0)
        )
        result = select(build, is_nan, on.number(_SINGLE.nan or 0), result)
    if format.signed:
        sign = on.apply(AndIOp, bits, format.sign)
        result = on.apply(OrIOp, result, on.apply(ShLIOp, sign, _SINGLE.width - format.width))
    return bitcast(build, result, single)


def _decode_scale(on: IntegerMath, exponent: Value, single: Type) -> Value:
    """Scales (f8E8M0FNU): powers of two, the smallest subnormal as f32, the last one NaN."""
    build = on.build
    result = on.apply(ShLIOp, exponent, _SINGLE.mantissa_bits)
    is_smallest = on.compare(CmpIPredicate.EQ, exponent, 0)
    result = select(build, is_smallest, on.number(1 << _SINGLE.mantissa_bits - 1), result)
    is_nan = on.compare(CmpIPredicate.EQ, exponent, 0xFF)
    return bitcast(build, select(build, is_nan, on.number(_SINGLE.nan or 0), result), single)


def encode(build: Builder, singles: Value, element: Type, mode: RoundingMode) -> Value:
    """f32 to narrow floats; overflow saturates to the largest finite number."""
    format, on = format_of(element), IntegerMath(build, singles)
    bits = as_integers(build, singles)
    magnitude = on.apply(AndIOp, bits, (1 << _SINGLE.width - 1) - 1)
    if format.has_zero:
        result = _round_to_nearest(on, magnitude, format)
    else:
        result = _round_to_power_of_two(on, magnitude, mode)
    result = on.apply(MinUIOp, result, format.max_finite)
    if format.signed:
        sign = on.apply(ShRUIOp, bits, _SINGLE.width - format.width)
        result = on.apply(OrIOp, result, on.apply(AndIOp, sign, format.sign))
    is_nan = compare_floats(build, CmpFPredicate.UNO, singles, singles)
    # A format without NaN has its largest number instead.
    nan_bits = format.max_finite if format.nan is None else format.nan
    result = select(build, is_nan, on.number(nan_bits), result)
    narrow = with_element(singles.type, IntegerType(format.width))
    truncated = build.create(TruncIOp, source=result, types=[narrow]).result
    return bitcast(build, truncated, with_element(singles.type, element_type(element)))


def _round_to_nearest(on: IntegerMath, magnitude: Value, format: FloatFormat) -> Value:
    """Round to nearest even: normal numbers by a carry out of the dropped bits; subnormal ones by
    adding a number so large that its ulp is theirs."""
    build, dropped = on.build, _SINGLE.mantissa_bits - format.mantissa_bits
    last = on.apply(AndIOp, on.apply(ShRUIOp, magnitude, dropped), 1)
    rounded = on.apply(AddIOp, on.apply(AddIOp, magnitude, (1 << dropped - 1) - 1), last)
    rebias = _SINGLE.bias - format.bias << format.mantissa_bits
    normal = on.apply(SubIOp, on.apply(ShRUIOp, rounded, dropped), rebias)
    single = with_element(on.type, F32)
    magic = power_of_two(format.min_exponent + dropped)
    magic_value = splat_constant(build, magic, single)
    small = bitcast(build, magnitude, single)
    sum_bits = as_integers(build, build.create(AddFOp, lhs=small, rhs=magic_value).result)
    subnormal = on.apply(SubIOp, sum_bits, magic)
    is_small = on.compare(CmpIPredicate.ULT, magnitude, power_of_two(format.min_exponent))
    return select(build, is_small, subnormal, normal)


def _round_to_power_of_two(on: IntegerMath, magnitude: Value, mode: RoundingMode) -> Value:
    """Round to the power of two below, or above; underflow gives the smallest one."""
    exponent = on.apply(ShRUIOp, magnitude, _SINGLE.mantissa_bits)
    if mode is RoundingMode.ZERO:
        return exponent
    fraction = on.apply(AndIOp, magnitude, (1 << _SINGLE.mantissa_bits) - 1)
    between = on.compare(CmpIPredicate.NE, fraction, 0)
    # 2^-127, the smallest one, is a subnormal f32: half of the smallest normal number.
    above = on.compare(CmpIPredicate.UGT, magnitude, 1 << _SINGLE.mantissa_bits - 1)
    up = on.build.create(AndIOp, lhs=between, rhs=above).result
    step = on.build.create(ExtUIOp, source=up, types=[on.type]).result
    return on.apply(AddIOp, exponent, step)
