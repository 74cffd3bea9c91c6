"""Constants, and additions and multiplications that fold constants."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tilewright.conversion.block_constants import block_constant
from tilewright.dialects.llvm.arithmetic import AddOp, MulOp
from tilewright.dialects.llvm.constants import ConstantOp
from tilewright.dialects.llvm.conversion import SExtOp, TruncOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.types import I64, IntegerType
from tilewright.ir.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tilewright.ir.builder import Builder

Number: TypeAlias = "int | Value"
"""A 64-bit integer: a compile-time constant, or a value."""


def constant(build: Builder, value: int, type: IntegerType = I64) -> Value:
    """Create a constant integer."""
    return block_constant(build, ConstantOp, IntegerAttr(value, type), type)


def folded(number: Number) -> Number:
    """Return the integer that a value is, if it is a constant."""
    op = number.defined_by(ConstantOp) if isinstance(number, Value) else None
    return op.value.value if op is not None and isinstance(op.value, IntegerAttr) else number


def as_value(build: Builder, number: Number) -> Value:
    """Materialize a number as a value."""
    return number if isinstance(number, Value) else constant(build, number)


def add(build: Builder, a: Number, b: Number) -> Number:
    """Add two numbers."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if a == 0 or b == 0:
        return b if a == 0 else a
    return build.create(AddOp, lhs=as_value(build, a), rhs=as_value(build, b)).res


def mul(build: Builder, a: Number, b: Number) -> Number:
    """Multiply two numbers."""
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if a == 0 or b == 0:
        return 0
    if a == 1 or b == 1:
        return b if a == 1 else a
    return build.create(MulOp, lhs=as_value(build, a), rhs=as_value(build, b)).res


def dot(build: Builder, start: Number, pairs: Iterable[tuple[Number, Number]]) -> Number:
    """Add `a * b` of all pairs to `start`."""
    for a, b in pairs:
        start = add(build, start, mul(build, a, b))
    return start


def resized(build: Builder, value: Value, type: IntegerType) -> Value:
    """Sign-extend or truncate an integer; a truncation of an extension is what was extended."""
    source, extension = value.type, value.defined_by(SExtOp)
    assert isinstance(source, IntegerType)
    if source is type:
        return value
    if extension is not None and extension.arg.type is type:
        return extension.arg
    kind = SExtOp if source.width < type.width else TruncOp
    return build.create(kind, arg=value, types=[type]).res
