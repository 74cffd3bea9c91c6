"""What patterns of elementwise operations share: flags, guards, lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tilewright.conversion.nvgpu_to_nvvm.context import lowering_context
from tilewright.conversion.nvgpu_to_nvvm.numbers import constant
from tilewright.dialects.llvm.aggregate import ExtractElementOp, InsertElementOp
from tilewright.dialects.llvm.constants import PoisonOp
from tilewright.dialects.llvm.flags import FastMathFlags, OverflowFlags
from tilewright.dialects.llvm.types import is_float
from tilewright.ir.conversion_builder import ConversionBuilder
from tilewright.ir.types import I32, VectorType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.arith.attributes import FastMathAttr, OverflowAttr
    from tilewright.ir.attributes import Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.values import Value


def fast_math(flags: FastMathAttr | None) -> FastMathFlags:
    """The flags of arith as those of LLVM."""
    return FastMathFlags() if flags is None else FastMathFlags(*flags.names)


def overflow(flags: OverflowAttr) -> OverflowFlags:
    """The promises of arith as those of LLVM."""
    return OverflowFlags(*flags.names)


def scalar_of(type: Type) -> Type:
    """The type of an element, or the type itself."""
    return type.element if isinstance(type, VectorType) else type


def computes(type: Type) -> bool:
    """Whether LLVM computes with these floats; narrow ones are bytes to it."""
    return is_float(scalar_of(type))


def result_type(op: Any, build: ConversionBuilder) -> Type | None:
    """What the type of the first result becomes; nothing if it is not one type."""
    types = build.types.convert(op.results[0].type)
    return types[0] if types is not None and len(types) == 1 else None


def lanes(build: Builder, vector: Value) -> list[Value]:
    """The elements of a vector."""
    assert isinstance(vector.type, VectorType)
    return [
        build.create(ExtractElementOp, vector=vector, position=_lane(build, lane)).res
        for lane in range(vector.type.shape[0])
    ]


def _lane(build: Builder, lane: int) -> Value:
    """The number of an element; one that the block has already serves again."""
    if not isinstance(build, ConversionBuilder):
        return constant(build, lane, I32)
    block = build.point.block
    # At the end of a block all that it has comes before; what was taken back is in no block.
    indices = lowering_context(build).element_indices
    index = indices.get((block, lane)) if build.point.before is None else None
    if index is None or index.parent_block is not block:
        index = indices[block, lane] = constant(build, lane, I32)
    return index


def joined(build: Builder, elements: Sequence[Value], type: Type) -> Value:
    """A vector of elements."""
    vector: Value = build.create(PoisonOp, types=[type]).res
    for lane, element in enumerate(elements):
        place = _lane(build, lane)
        vector = build.create(InsertElementOp, vector=vector, value=element, position=place).res
    return vector
