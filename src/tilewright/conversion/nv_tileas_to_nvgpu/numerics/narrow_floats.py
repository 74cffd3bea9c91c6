"""Floats of 8 bits and less from and to f32, by integers: for GPUs that have no instruction."""

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


_ABOVE_ALL = _SINGLE.infinity or 0


class IntegerMath:
    """Arithmetic on i32 in every register, with constants."""

    __slots__ = ("build", "type")

    def __init__(self, build: Builder, like: Value) -> None:
        self.build = build
        self.type: Type = with_element(like.type, I32)

    def number(self, number: int) -> Value:
        """A constant."""
        return splat_constant(self.build, number, self.type)

    def apply(self, kind: type[Operation], lhs: Value, rhs: Value | int) -> Value:
        """An operation of arith on two integers."""
        right = self.number(rhs) if isinstance(rhs, int) else rhs
        return self.build.create(kind, lhs=lhs, rhs=right).results[0]

    def compare(self, predicate: CmpIPredicate, lhs: Value, rhs: int) -> Value:
        """Where a predicate holds."""
        right = self.number(rhs)
        return self.build.create(CmpIOp, predicate=predicate, lhs=lhs, rhs=right).result


def power_of_two(exponent: int) -> int:
    """The bits of a power of two as an f32."""
    return exponent + _SINGLE.bias << _SINGLE.mantissa_bits


def format_of(element: Type) -> FloatFormat:
    """What the bits of a float type mean."""
    assert isinstance(element, FloatType)
    return floats.FORMATS[element.format]


def decode(build: Builder, narrow: Value, element: Type) -> Value:
    """Narrow floats as f32, which holds them all.

    Where exponent and fraction stand at their places in an f32, the number lacks a power of two,
    also if it is subnormal.
    """
    format, on = format_of(element), IntegerMath(build, narrow)
    single = with_element(narrow.type, F32)
    bits = build.create(ExtUIOp, source=as_integers(build, narrow), types=[on.type]).result
    magnitude = on.apply(AndIOp, bits, (1 << format.exponent_bits + format.mantissa_bits) - 1)
    if not format.has_zero:
        return _decode_scale(on, magnitude, single)
    place = _SINGLE.mantissa_bits - format.mantissa_bits
    moved = bitcast(build, on.apply(ShLIOp, magnitude, place), single)
    factor = splat_constant(build, power_of_two(_SINGLE.bias - format.bias), single)
    found = as_integers(build, build.create(MulFOp, lhs=moved, rhs=factor).result)
    if format.infinity is not None:
        endless = on.compare(CmpIPredicate.EQ, magnitude, format.infinity)
        found = select(build, endless, on.number(_ABOVE_ALL), found)
    if format.nan is not None:
        is_nan = on.compare(
            CmpIPredicate.UGT, magnitude, max(format.max_finite, format.infinity or 0)
        )
        found = select(build, is_nan, on.number(_SINGLE.nan or 0), found)
    if format.signed:
        sign = on.apply(AndIOp, bits, format.sign)
        found = on.apply(OrIOp, found, on.apply(ShLIOp, sign, _SINGLE.width - format.width))
    return bitcast(build, found, single)


def _decode_scale(on: IntegerMath, exponent: Value, single: Type) -> Value:
    """Powers of two, of which the smallest is subnormal and the last one NaN."""
    build = on.build
    found = on.apply(ShLIOp, exponent, _SINGLE.mantissa_bits)
    least = on.compare(CmpIPredicate.EQ, exponent, 0)
    found = select(build, least, on.number(1 << _SINGLE.mantissa_bits - 1), found)
    is_nan = on.compare(CmpIPredicate.EQ, exponent, 0xFF)
    return bitcast(build, select(build, is_nan, on.number(_SINGLE.nan or 0), found), single)


def encode(build: Builder, singles: Value, element: Type, mode: RoundingMode) -> Value:
    """f32 as narrow floats; what is too large becomes the largest number."""
    format, on = format_of(element), IntegerMath(build, singles)
    bits = as_integers(build, singles)
    magnitude = on.apply(AndIOp, bits, (1 << _SINGLE.width - 1) - 1)
    if format.has_zero:
        found = _round_to_nearest(on, magnitude, format)
    else:
        found = _round_to_power_of_two(on, magnitude, mode)
    found = on.apply(MinUIOp, found, format.max_finite)
    if format.signed:
        sign = on.apply(ShRUIOp, bits, _SINGLE.width - format.width)
        found = on.apply(OrIOp, found, on.apply(AndIOp, sign, format.sign))
    is_nan = compare_floats(build, CmpFPredicate.UNO, singles, singles)
    # A format without NaN has its largest number for it.
    instead = format.max_finite if format.nan is None else format.nan
    found = select(build, is_nan, on.number(instead), found)
    narrow = with_element(singles.type, IntegerType(format.width))
    cut = build.create(TruncIOp, source=found, types=[narrow]).result
    return bitcast(build, cut, with_element(singles.type, element_type(element)))


def _round_to_nearest(on: IntegerMath, magnitude: Value, format: FloatFormat) -> Value:
    """The nearest number, ties to even: by a carry into what stays, or, of subnormal numbers,
    by a sum with a number so large that its last place is theirs."""
    build, dropped = on.build, _SINGLE.mantissa_bits - format.mantissa_bits
    last = on.apply(AndIOp, on.apply(ShRUIOp, magnitude, dropped), 1)
    raised = on.apply(AddIOp, on.apply(AddIOp, magnitude, (1 << dropped - 1) - 1), last)
    rebias = _SINGLE.bias - format.bias << format.mantissa_bits
    normal = on.apply(SubIOp, on.apply(ShRUIOp, raised, dropped), rebias)
    single = with_element(on.type, F32)
    step = power_of_two(format.min_exponent + dropped)
    large = splat_constant(build, step, single)
    small = bitcast(build, magnitude, single)
    total = as_integers(build, build.create(AddFOp, lhs=small, rhs=large).result)
    subnormal = on.apply(SubIOp, total, step)
    is_small = on.compare(CmpIPredicate.ULT, magnitude, power_of_two(format.min_exponent))
    return select(build, is_small, subnormal, normal)


def _round_to_power_of_two(on: IntegerMath, magnitude: Value, mode: RoundingMode) -> Value:
    """The power of two below, or above; all below the least one are that."""
    exponent = on.apply(ShRUIOp, magnitude, _SINGLE.mantissa_bits)
    if mode is RoundingMode.ZERO:
        return exponent
    fraction = on.apply(AndIOp, magnitude, (1 << _SINGLE.mantissa_bits) - 1)
    between = on.compare(CmpIPredicate.NE, fraction, 0)
    # 2^-127, the least one, is half of what a subnormal f32 can be.
    above = on.compare(CmpIPredicate.UGT, magnitude, 1 << _SINGLE.mantissa_bits - 1)
    up = on.build.create(AndIOp, lhs=between, rhs=above).result
    step = on.build.create(ExtUIOp, source=up, types=[on.type]).result
    return on.apply(AddIOp, exponent, step)
