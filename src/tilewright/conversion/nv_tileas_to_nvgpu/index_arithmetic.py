"""Index arithmetic that folds constants: operands are integers or values of arith."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tilewright.conversion.block_constants import block_constant
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.casts import ExtSIOp, ExtUIOp, IndexCastOp, TruncIOp
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.integer import AddIOp, AndIOp, MulIOp, ShLIOp, ShRUIOp, XOrIOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.math.ops import CtPopOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.types import I32, I64, INDEX, IndexType, IntegerType, VectorType
from tilewright.ir.values import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.builder import Builder

OpFoldResult: TypeAlias = "int | Value"
"""An integer known at compile time, or the value that has it at run time (MLIR's term)."""


def constant(build: Builder, number: int, type: IntegerType = I32) -> Value:
    """A constant integer."""
    wrapped = (number + (1 << (type.width - 1))) % (1 << type.width) - (1 << (type.width - 1))
    return block_constant(build, ConstantOp, IntegerAttr(wrapped, type), type)


def as_index(build: Builder, number: Value) -> Value:
    """An i32 as an index."""
    return build.create(IndexCastOp, source=number, types=[INDEX]).result


def index_constant(build: Builder, number: int) -> Value:
    """A constant index."""
    return block_constant(build, ConstantOp, IntegerAttr(number, INDEX), INDEX)


def constants(build: Builder, numbers: Sequence[int], type: IntegerType = I32) -> Value:
    """A vector of constant integers."""
    vector = VectorType((len(numbers),), type)
    value = literal([number % (1 << type.width) for number in numbers], vector)
    return build.create(ConstantOp, value=value, types=[vector]).result


def as_value(build: Builder, number: OpFoldResult, type: IntegerType = I32) -> Value:
    """Materialize a constant; a value is itself."""
    return number if isinstance(number, Value) else constant(build, number, type)


def add(build: Builder, a: OpFoldResult, b: OpFoldResult, type: IntegerType = I32) -> OpFoldResult:
    """`a + b`."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if a == 0 or b == 0:
        return b if a == 0 else a
    return build.create(AddIOp, lhs=as_value(build, a, type), rhs=as_value(build, b, type)).result


def multiply(
    build: Builder, a: OpFoldResult, b: OpFoldResult, type: IntegerType = I32
) -> OpFoldResult:
    """`a * b`."""
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if a == 0 or b == 0:
        return 0
    if a == 1 or b == 1:
        return b if a == 1 else a
    return build.create(MulIOp, lhs=as_value(build, a, type), rhs=as_value(build, b, type)).result


def xor(build: Builder, a: OpFoldResult, b: OpFoldResult, type: IntegerType = I32) -> OpFoldResult:
    """`a ^ b`."""
    if isinstance(a, int) and isinstance(b, int):
        return a ^ b
    if a == 0 or b == 0:
        return b if a == 0 else a
    return build.create(XOrIOp, lhs=as_value(build, a, type), rhs=as_value(build, b, type)).result


def extract_bits(build: Builder, number: Value, mask: int, shift: int) -> Value:
    """The bits of an i32 in a mask, shifted left by `shift`, or right if it is negative."""
    bits = build.create(AndIOp, lhs=number, rhs=constant(build, mask)).result
    if not shift:
        return bits
    kind = ShLIOp if shift > 0 else ShRUIOp
    return build.create(kind, lhs=bits, rhs=constant(build, abs(shift))).result


def parity(build: Builder, number: Value, mask: int) -> Value:
    """The parity of the bits of an i32 in a mask, as an i1."""
    bits = build.create(AndIOp, lhs=number, rhs=constant(build, mask)).result
    if mask & (mask - 1):
        ones = build.create(CtPopOp, operand=bits).result
        bits = build.create(AndIOp, lhs=ones, rhs=constant(build, 1)).result
    zero = constant(build, 0)
    return build.create(CmpIOp, predicate=CmpIPredicate.NE, lhs=bits, rhs=zero).result


def to_i64(build: Builder, number: OpFoldResult, *, signed: bool = True) -> OpFoldResult:
    """Extend or truncate an integer or index to i64."""
    if isinstance(number, int):
        return number
    type = number.type
    if isinstance(type, IndexType):
        return build.create(IndexCastOp, source=number, types=[I64]).result
    assert isinstance(type, IntegerType)
    if type.width == I64.width:
        return number
    if type.width > I64.width:
        return build.create(TruncIOp, source=number, types=[I64]).result
    return build.create(ExtSIOp if signed else ExtUIOp, source=number, types=[I64]).result
