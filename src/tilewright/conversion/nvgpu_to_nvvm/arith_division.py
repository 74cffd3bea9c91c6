"""Ceiling and floor division of arith, expanded to LLVM's truncating division."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.integer import (
    BinaryInteger,
    CeilDivSIOp,
    CeilDivUIOp,
    FloorDivSIOp,
)
from tilewright.dialects.llvm.arithmetic import (
    AddOp,
    AndOp,
    ICmpOp,
    SDivOp,
    SRemOp,
    SubOp,
    UDivOp,
    URemOp,
    XorOp,
)
from tilewright.dialects.llvm.constants import ZeroOp
from tilewright.dialects.llvm.conversion import ZExtOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value


def _compare(build: ConversionBuilder, predicate: CmpIPredicate, a: Value, b: Value) -> Value:
    return build.create(ICmpOp, predicate=predicate, lhs=a, rhs=b).res


def _number(build: ConversionBuilder, condition: Value, type: Type) -> Value:
    """Convert a condition to 0 or 1 of a type; one of single bits is that already."""
    if condition.type == type:
        return condition
    return build.create(ZExtOp, arg=condition, types=[type]).res


@converts(CeilDivUIOp)
def ceil_unsigned(op: CeilDivUIOp, new: CeilDivUIOp, build: ConversionBuilder) -> Result:
    """Lower to `a / b + (a % b != 0)`, which does not overflow."""
    zero = build.create(ZeroOp, types=[new.lhs.type]).res
    quotient = build.create(UDivOp, lhs=new.lhs, rhs=new.rhs).res
    remainder = build.create(URemOp, lhs=new.lhs, rhs=new.rhs).res
    inexact = _compare(build, CmpIPredicate.NE, remainder, zero)
    increment = _number(build, inexact, new.lhs.type)
    return build.create(AddOp, lhs=quotient, rhs=increment)


@converts(CeilDivSIOp, FloorDivSIOp)
def signed(op: BinaryInteger, new: BinaryInteger, build: ConversionBuilder) -> Result:
    """Correct the truncated quotient by one if the remainder is not zero and the signs require it.

    Truncation rounds down if the signs agree and up if they differ.
    """
    type = new.lhs.type
    zero = build.create(ZeroOp, types=[type]).res
    quotient = build.create(SDivOp, lhs=new.lhs, rhs=new.rhs).res
    remainder = build.create(SRemOp, lhs=new.lhs, rhs=new.rhs).res
    inexact = _compare(build, CmpIPredicate.NE, remainder, zero)
    signs = build.create(XorOp, lhs=new.lhs, rhs=new.rhs).res
    up = isinstance(op, CeilDivSIOp)
    direction = CmpIPredicate.SGE if up else CmpIPredicate.SLT
    wrong_direction = _compare(build, direction, signs, zero)
    is_off_by_one = build.create(AndOp, lhs=inexact, rhs=wrong_direction).res
    correction = _number(build, is_off_by_one, type)
    return build.create(AddOp if up else SubOp, lhs=quotient, rhs=correction)


DIVISIONS: Final[Patterns] = (ceil_unsigned, signed)
