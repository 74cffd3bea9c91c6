"""Division of several f32 elements of a thread by the same divisor, as in a softmax.

`div.rn.f32` computes a reciprocal and checks the range of its operands for each element, both in
the unit of the special functions, a quarter or less of the throughput of an fma. Here elements with
a common divisor share its reciprocal, and integer instructions check the ranges:

    r = 1 / y, refined by its error 1 - y * r and 2**-45
    q = x * r, corrected by r times the remainder x - y * q

The quotient is correctly rounded where no step overflows and no remainder underflows. Elsewhere all
elements of the thread are divided by `div.rn.f32`.

Proof, with the enumerations of `tests/run/test_hard_divisions.py`: PTX documents an estimate of the
reciprocal within one ulp, of the exact or of the correctly rounded one. For every such estimate, r
is correctly rounded, but for five mantissas of divisors. Where it is, the sum q + r * (x - y * q)
is x / y but for less than 2**-22 of its last bit. Only a quotient that is as close to a midpoint of
two floats could be rounded to the wrong one. With mantissas as integers, such a quotient satisfies
x * 2**k = y * m + c for an odd m of 25 bits and a small c; all of them are divided. With each other
r of the five mantissas all mantissas of dividends are. Refined by the error alone, r is never above
1 / y before it is rounded, and wrong for the largest mantissa, as that of a sum of numbers that add
up to one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.conversion.nv_tileas_to_nvgpu.vectors import (
    as_integers,
    as_vector,
    elements,
    select_registers,
    splat_constant,
)
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.arith.floating import AddFOp, DivFOp, MaxNumFOp, MulFOp, NegFOp
from tilewright.dialects.arith.integer import AddIOp, AndIOp, MaxUIOp, MinUIOp, SubIOp
from tilewright.dialects.math.ops import AbsFOp, FmaOp
from tilewright.dialects.nvgpu.packed import RcpOp
from tilewright.dialects.scf import IfOp, YieldOp
from tilewright.dialects.vector.shapes import BroadcastOp, ShuffleOp
from tilewright.ir.builder import InsertPoint
from tilewright.ir.operation import Block
from tilewright.ir.types import F32, VectorType

if TYPE_CHECKING:
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

BIAS: Final = 127
MANTISSA_BITS: Final = 23
DIVIDEND_EXPONENT: Final = 100
"""A dividend is at least 2**-100, so that its remainder, 46 bits below it, is a normal number."""
DIVISOR_EXPONENT: Final = 24
"""A divisor is at most 2**24, so that the quotient of any such dividend is a normal number."""

EXCESS_EXPONENT: Final = -45
"""A multiple of the last bit of an error, by which reciprocals are above 1 / y if it is small."""


class Repeated(NamedTuple):
    """A vector whose elements are those of a shorter one."""

    distinct: Value
    indices: list[int]
    """Of each element, the element of `distinct` that it is."""

    @staticmethod
    def of(build: ConversionBuilder, vector: Value) -> Repeated | None:
        """A vector that is made from a shorter one, which has at most half of its elements."""
        op = vector.defining_op()
        if isinstance(op, BroadcastOp) and not isinstance(op.source.type, VectorType):
            source, mask = as_vector(build, op.source), [0] * _length(vector)
        elif isinstance(op, ShuffleOp) and op.v1 is op.v2:
            length = _length(op.v1)
            source, mask = op.v1, [index % length for index in op.mask]
        else:
            return None
        used = sorted(set(mask))
        if 2 * len(used) > len(mask):
            return None
        return Repeated(select_registers(build, source, used), [used.index(each) for each in mask])

    def spread(self, build: ConversionBuilder, values: Value) -> Value:
        """A value of each element of `distinct`, for each element of the vector."""
        return select_registers(build, values, self.indices)


def divide_by_shared(
    build: ConversionBuilder, dividends: Value, divisors: Value, *, are_bounded: bool = False
) -> Value | None:
    """Each quotient rounded to nearest even; None unless elements of a thread share divisors.

    Dividends that safe divisors bound are not checked (`normalized_weights`).
    """
    if not isinstance(dividends.type, VectorType) or dividends.type.element is not F32:
        return None
    repeated = Repeated.of(build, divisors)
    if repeated is None:
        return None
    is_safe = _are_divisors_safe(build, repeated.distinct)
    if not are_bounded:
        are_safe = _are_dividends_safe(build, dividends)
        is_safe = build.create(AndIOp, lhs=is_safe, rhs=are_safe).result
    fast, exact = Block(), Block()
    branch = build.create(
        IfOp, condition=is_safe, then_region=fast, else_region=exact, types=[dividends.type]
    )
    with build.at(InsertPoint.at_end(fast)):
        build.create(YieldOp, values=[_divide(build, dividends, divisors, repeated)])
    with build.at(InsertPoint.at_end(exact)):
        quotient = build.create(DivFOp, lhs=dividends, rhs=divisors).result
        build.create(YieldOp, values=[quotient])
    return branch.results[0]


def _divide(
    build: ConversionBuilder, dividends: Value, divisors: Value, repeated: Repeated
) -> Value:
    """Each quotient, where no step overflows or underflows."""

    def fma(a: Value, b: Value, c: Value) -> Value:
        return build.create(FmaOp, a=a, b=b, c=c).result

    def negated(value: Value) -> Value:
        return build.create(NegFOp, operand=value).result

    distinct = repeated.distinct
    estimate = build.create(RcpOp, source=distinct, ftz=True).result
    error = fma(negated(distinct), estimate, splat_constant(build, power_of_two(0), distinct.type))
    excess = splat_constant(build, power_of_two(EXCESS_EXPONENT), distinct.type)
    refined = fma(estimate, build.create(AddFOp, lhs=error, rhs=excess).result, estimate)
    reciprocals, opposite = (repeated.spread(build, each) for each in (refined, negated(refined)))
    quotient = build.create(MulFOp, lhs=dividends, rhs=reciprocals).result
    # y * q - x instead of x - y * q: its zero keeps the sign of a quotient that is zero.
    remainder = fma(divisors, quotient, negated(dividends))
    return fma(remainder, opposite, quotient)


def _are_divisors_safe(build: ConversionBuilder, divisors: Value) -> Value:
    """Whether all are positive, and neither too small nor too large."""
    bits = as_integers(build, divisors)
    least = splat_constant(build, power_of_two(-DIVISOR_EXPONENT), bits.type)
    above = build.create(SubIOp, lhs=bits, rhs=least).result
    most = power_of_two(DIVISOR_EXPONENT) - power_of_two(-DIVISOR_EXPONENT)
    return _compare(build, CmpIPredicate.ULE, _extreme(build, MaxUIOp, above), most)


def _are_dividends_safe(build: ConversionBuilder, dividends: Value) -> Value:
    """Whether all are zero, NaN, or neither too small nor too large.

    `2 * bits - 1` drops the sign, and makes zero the largest number.
    """
    bits = as_integers(build, dividends)
    doubled = build.create(AddIOp, lhs=bits, rhs=bits).result
    ones = splat_constant(build, -1, bits.type)
    smallest = _extreme(build, MinUIOp, build.create(AddIOp, lhs=doubled, rhs=ones).result)
    magnitudes = build.create(AbsFOp, operand=dividends).result
    largest = as_integers(build, _extreme(build, MaxNumFOp, magnitudes))
    is_large = _compare(
        build, CmpIPredicate.UGE, smallest, 2 * power_of_two(-DIVIDEND_EXPONENT) - 1
    )
    is_small = _compare(build, CmpIPredicate.ULE, largest, power_of_two(DIVIDEND_EXPONENT))
    return build.create(AndIOp, lhs=is_large, rhs=is_small).result


def power_of_two(exponent: int) -> int:
    """The bits of a power of two."""
    return (BIAS + exponent) << MANTISSA_BITS


def _extreme(build: ConversionBuilder, kind: type[Operation], vector: Value) -> Value:
    """The least or greatest element.

    LLVM would pack conditions of all elements into the bits of an integer.
    """
    result, *others = elements(build, vector)
    for other in others:
        result = build.create(kind, lhs=result, rhs=other).results[0]
    return result


def _compare(build: ConversionBuilder, predicate: CmpIPredicate, bits: Value, limit: int) -> Value:
    right = splat_constant(build, limit, bits.type)
    return build.create(CmpIOp, predicate=predicate, lhs=bits, rhs=right).result


def _length(vector: Value) -> int:
    assert isinstance(vector.type, VectorType)
    return vector.type.shape[0]
