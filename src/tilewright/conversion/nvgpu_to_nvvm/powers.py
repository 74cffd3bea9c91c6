"""math's powers with integer exponents, by libdevice or by squaring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.elementwise import scalar_of
from tilewright.conversion.nvgpu_to_nvvm.numbers import constant, resized
from tilewright.conversion.symbols import Symbols
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.llvm import arithmetic
from tilewright.dialects.llvm.constants import ConstantOp
from tilewright.dialects.llvm.control_flow import CondBrOp
from tilewright.dialects.llvm.conversion import FPExtOp, FPTruncOp
from tilewright.dialects.llvm.intrinsics.reductions import ReduceOrOp
from tilewright.dialects.math.ops import FPowIOp, IPowIOp
from tilewright.ir.attributes import DenseElementsAttr
from tilewright.ir.builder import InsertPoint
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import BF16, F16, F32, F64, I1, I32, IntegerType, VectorType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Block
    from tilewright.ir.values import Value


@converts(FPowIOp)
def float_power(op: FPowIOp, new: FPowIOp, build: ConversionBuilder) -> Result:
    """Call libdevice, which takes f32 or f64 and an i32 exponent; f16 and bf16 through f32."""
    type, exponent = op.result.type, op.rhs.type
    is_known = isinstance(exponent, IntegerType) and exponent.width <= I32.width
    if type not in (F16, BF16, F32, F64) or not is_known:
        types = f"'{type}' and '{exponent}'"
        return build.reject(
            f"expected a scalar float and an exponent of at most 32 bits, got {types}"
        )
    is_half = type in (F16, BF16)
    base = build.create(FPExtOp, arg=new.lhs, types=[F32]).res if is_half else new.lhs
    name, computed = ("__nv_powi", F64) if type is F64 else ("__nv_powif", F32)
    (result,) = Symbols(op, build).call(name, [base, resized(build, new.rhs, I32)], computed)
    return build.create(FPTruncOp, arg=result, types=[type]) if is_half else result


@converts(IPowIOp)
def integer_power(op: IPowIOp, new: IPowIOp, build: ConversionBuilder) -> Result:
    """Exponentiate by squaring; with a negative exponent only bases 1 and -1 give nonzero."""
    type = new.lhs.type
    if scalar_of(type) is I1:
        return build.reject("expected integers of more than one bit")
    zero, one = _splat(build, 0, type), _splat(build, 1, type)
    negative = _compare(build, CmpIPredicate.SLT, new.rhs, zero)
    start = _select(build, negative, zero, new.rhs)
    inverse = _inverse(build, new.lhs, new.rhs, zero, one)
    loop = build.add_block([type, type, type])
    after = build.add_block([type], after=loop)
    is_nonzero = _is_any_nonzero(build, start)
    otherwise = _select(build, negative, inverse, one)
    build.create(
        CondBrOp,
        condition=is_nonzero,
        true_operands=[new.lhs, start, one],
        false_operands=[otherwise],
        successors=[loop, after],
    )
    with build.at(InsertPoint.at_end(loop)):
        _iteration(build, loop.args, zero, one, loop, after)
    build.continue_in(after)
    return after.args[0]


def _iteration(
    build: ConversionBuilder,
    state: Sequence[Value],
    zero: Value,
    one: Value,
    loop: Block,
    after: Block,
) -> None:
    """Process one bit of the exponent: multiply the result by the base if the bit is set."""
    base, exponent, power = state
    bit = build.create(arithmetic.AndOp, lhs=exponent, rhs=one).res
    multiplied = build.create(arithmetic.MulOp, lhs=power, rhs=base).res
    is_odd = _compare(build, CmpIPredicate.NE, bit, zero)
    result = _select(build, is_odd, multiplied, power)
    square = build.create(arithmetic.MulOp, lhs=base, rhs=base).res
    remaining = build.create(arithmetic.LShrOp, lhs=exponent, rhs=one).res
    build.create(
        CondBrOp,
        condition=_is_any_nonzero(build, remaining),
        true_operands=[square, remaining, result],
        false_operands=[result],
        successors=[loop, after],
    )


def _splat(build: ConversionBuilder, number: int, type: Type) -> Value:
    """Create a constant, or a splat of it."""
    if isinstance(type, IntegerType):
        return constant(build, number, type)
    assert isinstance(type, VectorType)
    assert isinstance(type.element, IntegerType)
    data = number.to_bytes(-(-type.element.width // 8), "little") * type.shape[0]
    return build.create(ConstantOp, value=DenseElementsAttr(data, type), types=[type]).res


def _is_any_nonzero(build: ConversionBuilder, exponent: Value) -> Value:
    """Test whether an exponent, or any of a vector, is not zero."""
    if isinstance(exponent.type, VectorType):
        exponent = build.create(ReduceOrOp, operand=exponent).res
    zero = _splat(build, 0, exponent.type)
    return _compare(build, CmpIPredicate.NE, exponent, zero)


def _inverse(
    build: ConversionBuilder, base: Value, exponent: Value, zero: Value, one: Value
) -> Value:
    """Compute the integer 1 / base**n: 0 except for the bases 1 and -1."""
    minus = build.create(arithmetic.SubOp, lhs=zero, rhs=one).res
    bit = build.create(arithmetic.AndOp, lhs=exponent, rhs=one).res
    is_odd = _compare(build, CmpIPredicate.NE, bit, zero)
    of_minus = _select(build, is_odd, minus, one)
    is_minus = _compare(build, CmpIPredicate.EQ, base, minus)
    is_one = _compare(build, CmpIPredicate.EQ, base, one)
    return _select(build, is_one, one, _select(build, is_minus, of_minus, zero))


def _compare(build: ConversionBuilder, predicate: CmpIPredicate, lhs: Value, rhs: Value) -> Value:
    return build.create(arithmetic.ICmpOp, predicate=predicate, lhs=lhs, rhs=rhs).res


def _select(build: ConversionBuilder, condition: Value, yes: Value, no: Value) -> Value:
    return build.create(
        arithmetic.SelectOp, condition=condition, true_value=yes, false_value=no
    ).res


PATTERNS: Final[Patterns] = (float_power, integer_power)
