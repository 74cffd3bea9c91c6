"""Shared by patterns of elementwise operations: flags, type checks, vector elements."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from tilewright.conversion.nvgpu_to_nvvm.numbers import constant
from tilewright.dialects.llvm.aggregate import ExtractElementOp, InsertElementOp
from tilewright.dialects.llvm.constants import PoisonOp
from tilewright.dialects.llvm.flags import FastMathFlags, OverflowFlags
from tilewright.dialects.llvm.types import is_float
from tilewright.ir.types import I32, VectorType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.arith.attributes import FastMathAttr, OverflowAttr
    from tilewright.ir.attributes import Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.conversion_builder import ConversionBuilder
    from tilewright.ir.values import Value


@cache
def fast_math(flags: FastMathAttr | None) -> FastMathFlags:
    """Convert fast-math flags of arith to LLVM's."""
    return FastMathFlags() if flags is None else FastMathFlags(*flags.names)


@cache
def overflow(flags: OverflowAttr) -> OverflowFlags:
    """Convert overflow flags of arith to LLVM's."""
    return OverflowFlags(*flags.names)


def scalar_of(type: Type) -> Type:
    """Return the element type of a vector, or the type itself."""
    return type.element if isinstance(type, VectorType) else type


def is_llvm_float(type: Type) -> bool:
    """Return whether LLVM has arithmetic of this float type; fp8 is an integer there."""
    return is_float(scalar_of(type))


def result_type(op: Any, build: ConversionBuilder) -> Type | None:
    """Return the converted type of the first result, or `None` if it is not exactly one."""
    types = build.types.convert(op.results[0].type)
    return types[0] if types is not None and len(types) == 1 else None


def lanes(build: Builder, vector: Value) -> list[Value]:
    """Extract all elements of a vector."""
    assert isinstance(vector.type, VectorType)
    types = [vector.type.element]
    elements: list[Value] = []
    for lane in range(vector.type.shape[0]):
        index = constant(build, lane, I32)
        element = build.create(ExtractElementOp, vector=vector, position=index, types=types)
        elements.append(element.res)
    return elements


def build_vector(build: Builder, elements: Sequence[Value], type: Type) -> Value:
    """Build a vector from its elements."""
    types = [type]
    vector: Value = build.create(PoisonOp, types=types).res
    for lane, element in enumerate(elements):
        index = constant(build, lane, I32)
        vector = build.create(
            InsertElementOp, vector=vector, value=element, position=index, types=types
        ).res
    return vector
