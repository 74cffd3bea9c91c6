"""Division of several f32 elements of a thread by the same divisor, as in a softmax.

`div.rn.f32` computes a reciprocal and checks the range of its operands for each element, both in
the unit of the special functions, a quarter or less of the throughput of an fma. Here elements with
a common divisor share its reciprocal, and integer instructions check the ranges:

    r = 1 / y, refined once
    q = x * r, corrected twice by r times the exact remainder x - y * q

The second correction gives the correctly rounded quotient, as in the division of ptxas, where no
step overflows and no remainder underflows. Elsewhere all elements of the thread are divided by
`div.rn.f32`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.conversion.nv_tileas_to_nvgpu.vectors import (
    as_integers,
    as_vector,
    elements,
    map_elements,
    select_registers,
    splat_constant,
)
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.arith.floating import DivFOp, MulFOp, NegFOp
from tilewright.dialects.arith.integer import AndIOp, OrIOp, SubIOp
from tilewright.dialects.math.ops import FmaOp
from tilewright.dialects.nvvm.arithmetic import RcpApproxFtzF32Op
from tilewright.dialects.scf import IfOp, YieldOp
from tilewright.dialects.vector.shapes import BroadcastOp, ShuffleOp
from tilewright.ir.builder import InsertPoint
from tilewright.ir.operation import Block
from tilewright.ir.types import F32, VectorType

if TYPE_CHECKING:
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.values import Value

BIAS: Final = 127
MANTISSA_BITS: Final = 23
MAGNITUDE: Final = 0x7FFFFFFF
ONE: Final = BIAS << MANTISSA_BITS
DIVIDEND_EXPONENT: Final = 100
"""A dividend is at least 2**-100, so that its remainder, 46 bits below it, is a normal number."""
DIVISOR_EXPONENT: Final = 24
"""A divisor is at most 2**24, so that the quotient of any such dividend is a normal number."""


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


def divide_by_shared(build: ConversionBuilder, dividends: Value, divisors: Value) -> Value | None:
    """Each quotient rounded to nearest even; None unless elements of a thread share divisors."""
    if not isinstance(dividends.type, VectorType) or dividends.type.element is not F32:
        return None
    repeated = Repeated.of(build, divisors)
    if repeated is None:
        return None
    is_safe = build.create(
        AndIOp,
        lhs=_all(build, _in_range(build, repeated.distinct, DIVISOR_EXPONENT, zero=False)),
        rhs=_all(build, _in_range(build, dividends, DIVIDEND_EXPONENT, zero=True)),
    ).result
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

    distinct = repeated.distinct
    negated = build.create(NegFOp, operand=distinct).result
    estimate = map_elements(
        build, lambda each: build.create(RcpApproxFtzF32Op, arg=each[0], types=[F32]).res, distinct
    )
    error = fma(negated, estimate, splat_constant(build, ONE, distinct.type))
    reciprocals = repeated.spread(build, fma(estimate, error, estimate))
    negated = repeated.spread(build, negated)
    result = build.create(MulFOp, lhs=dividends, rhs=reciprocals).result
    for _ in range(2):
        remainder = fma(negated, result, dividends)
        result = fma(remainder, reciprocals, result)
    return result


def _in_range(build: ConversionBuilder, floats: Value, exponent: int, *, zero: bool) -> Value:
    """Which magnitudes are from 2**-exponent to 2**exponent, or +0 if it is allowed.

    -0 is not: the correction of its quotient would lose the sign.
    """
    bits = as_integers(build, floats)

    def number(value: int) -> Value:
        return splat_constant(build, value, bits.type)

    magnitude = build.create(AndIOp, lhs=bits, rhs=number(MAGNITUDE)).result
    least = (BIAS - exponent) << MANTISSA_BITS
    above = build.create(SubIOp, lhs=magnitude, rhs=number(least)).result
    count = (2 * exponent) << MANTISSA_BITS
    result = build.create(CmpIOp, predicate=CmpIPredicate.ULT, lhs=above, rhs=number(count)).result
    if not zero:
        return result
    is_zero = build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=bits, rhs=number(0)).result
    return build.create(OrIOp, lhs=result, rhs=is_zero).result


def _all(build: ConversionBuilder, conditions: Value) -> Value:
    """Whether all elements of a vector of conditions hold.

    LLVM would pack the vector of a `vector.reduction` into the bits of an integer.
    """
    result, *others = elements(build, conditions)
    for other in others:
        result = build.create(AndIOp, lhs=result, rhs=other).result
    return result


def _length(vector: Value) -> int:
    assert isinstance(vector.type, VectorType)
    return vector.type.shape[0]
