"""Packed arithmetic and conversions of pairs, and approximate reciprocals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import ANY_VECTOR, vector
from tilewright.dialects.nvgpu.attributes import (
    PACKED_ROUNDING,
    RCP_ROUNDING,
    PackedRounding,
    RcpRounding,
)
from tilewright.ir import declare as d
from tilewright.ir.constraints import TypeConstraint, exactly
from tilewright.ir.operation import Operation
from tilewright.ir.traits import COMMUTATIVE, Effects, SameType
from tilewright.ir.types import (
    BF16,
    F4E2M1FN,
    F8E4M3FN,
    F8E5M2,
    F8E8M0FNU,
    F16,
    F32,
    FLOATS,
    VectorType,
)

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type


def _is_f32_vector(type: Type) -> bool:
    return isinstance(type, VectorType) and bool(type.shape) and type.element is F32


F32_VECTOR: Final = TypeConstraint("vector of 32-bit float values", _is_f32_vector)
F32_PAIR: Final = exactly(VectorType((2,), F32), "vector of 2 32-bit float values")


class RcpOp(Operation):
    """Compute an approximate reciprocal of each element."""

    name = "nvgpu.rcp"
    effects = Effects.PURE
    traits = (SameType("source", "result"),)
    syntax = (
        "$source `{` `rounding` `=` $rounding (`,` `ftz` $ftz^)? `}` attr-dict `:` type($result)"
    )

    source = d.operand(F32_VECTOR)
    rounding = d.attribute(RCP_ROUNDING, default=RcpRounding.APPROX)
    ftz = d.flag()
    result = d.result(F32_VECTOR)

    def verify(self) -> Iterator[str]:
        if self.rounding is not RcpRounding.APPROX:
            yield f"expected the rounding 'approx', got '{self.rounding.keyword}'"


_FP6: Final = (FLOATS["f6E2M3FN"], FLOATS["f6E3M2FN"])

TRUNCATIONS: Final[Mapping[Type, tuple[Type, ...]]] = {
    F32: (F16, BF16, F8E4M3FN, F8E5M2, *_FP6, F4E2M1FN, F8E8M0FNU),
    F16: (F8E4M3FN, F8E5M2),
    BF16: (F8E8M0FNU,),
}
"""The target types of one truncation instruction, by source type."""

EXTENSIONS: Final[Mapping[Type, tuple[Type, ...]]] = {
    F8E4M3FN: (F16,),
    F8E5M2: (F16,),
    **dict.fromkeys(_FP6, (F16,)),
    F4E2M1FN: (F16,),
    F8E8M0FNU: (BF16,),
    F16: (F32,),
    BF16: (F32,),
}


class PackedConversion(Operation):
    """Base of the conversions of pairs of floats."""

    effects = Effects.PURE
    syntax = "$source attr-dict `:` type($source) `to` type($result)"

    source = d.operand(ANY_VECTOR)
    result = d.result(ANY_VECTOR)

    def _problems(self, table: Mapping[Type, tuple[Type, ...]]) -> Iterator[str]:
        source, result = vector(self.source), vector(self.result)
        if source.shape != result.shape or not source.shape or source.shape[-1] % 2:
            yield f"expected vectors of one shape, of pairs, got '{source}' and '{result}'"
        if result.element not in table.get(source.element, ()):
            yield f"cannot convert pairs of '{source.element}' to '{result.element}'"


def _roundings(target: Type) -> tuple[PackedRounding, ...]:
    if target is F8E8M0FNU:
        return (PackedRounding.RZ, PackedRounding.RP)
    return (PackedRounding.RN, PackedRounding.RZ) if target in (F16, BF16) else (PackedRounding.RN,)


class CvtFPTruncOp(PackedConversion):
    """Truncate pairs of floats to a narrower type.

    Types of at most eight bits saturate to the largest finite value. With `relu`, negative
    values become zero.
    """

    name = "nvgpu.cvt_fptrunc"

    rounding = d.attribute(PACKED_ROUNDING, default=PackedRounding.RN)
    relu = d.flag()

    def verify(self) -> Iterator[str]:
        yield from self._problems(TRUNCATIONS)
        target = vector(self.result).element
        allowed = _roundings(target)
        if self.rounding not in allowed:
            expected = " or ".join([f"'{mode.keyword}'" for mode in allowed])
            yield f"expected the rounding {expected}, got '{self.rounding.keyword}'"
        if self.relu and target is F8E8M0FNU:
            yield f"expected no 'relu' for '{target}'"


class CvtFPExtOp(PackedConversion):
    """Extend pairs of floats to a wider type."""

    name = "nvgpu.cvt_fpext"

    def verify(self) -> Iterator[str]:
        yield from self._problems(EXTENSIONS)


class FmaPackedF32x2Op(Operation):
    """Compute `a * b + c` of two f32, each with one rounding."""

    name = "nvgpu.fma.packed.f32x2"
    effects = Effects.PURE
    syntax = "$a `,` $b `,` $c attr-dict `:` type($result)"

    a = d.operand(F32_PAIR)
    b = d.operand(F32_PAIR)
    c = d.operand(F32_PAIR)
    rounding = d.attribute(PACKED_ROUNDING, default=PackedRounding.RN)
    ftz = d.flag()
    result = d.result(F32_PAIR)


class MulPackedF32x2Op(Operation):
    """Compute `a * b` of two f32."""

    name = "nvgpu.mul.packed.f32x2"
    effects = Effects.PURE
    traits = (COMMUTATIVE,)
    syntax = "$a `,` $b attr-dict `:` type($result)"

    a = d.operand(F32_PAIR)
    b = d.operand(F32_PAIR)
    rounding = d.attribute(PACKED_ROUNDING, default=PackedRounding.RN)
    ftz = d.flag()
    result = d.result(F32_PAIR)
