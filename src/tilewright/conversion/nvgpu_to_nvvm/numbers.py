"""Constants, and sums and products of which Python knows a part."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

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
"""A number of 64 bits that is known now, or when the program runs."""


def constant(build: Builder, value: int, type: IntegerType = I64) -> Value:
    """A constant integer."""
    return build.create(ConstantOp, value=IntegerAttr(value, type), types=[type]).res


def as_value(build: Builder, number: Number) -> Value:
    """A number as a value."""
    return number if isinstance(number, Value) else constant(build, number)


def add(build: Builder, a: Number, b: Number) -> Number:
    """A sum."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if a == 0 or b == 0:
        return b if a == 0 else a
    return build.create(AddOp, lhs=as_value(build, a), rhs=as_value(build, b)).res


def mul(build: Builder, a: Number, b: Number) -> Number:
    """A product."""
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if a == 0 or b == 0:
        return 0
    if a == 1 or b == 1:
        return b if a == 1 else a
    return build.create(MulOp, lhs=as_value(build, a), rhs=as_value(build, b)).res


def dot(build: Builder, start: Number, pairs: Iterable[tuple[Number, Number]]) -> Number:
    """`start` and the products of all pairs."""
    for a, b in pairs:
        start = add(build, start, mul(build, a, b))
    return start


def resized(build: Builder, value: Value, type: IntegerType) -> Value:
    """An integer in another width, as a signed one."""
    found = value.type
    assert isinstance(found, IntegerType)
    if found is type:
        return value
    kind = SExtOp if found.width < type.width else TruncOp
    return build.create(kind, arg=value, types=[type]).res
