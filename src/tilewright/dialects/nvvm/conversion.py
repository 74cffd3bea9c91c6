"""Conversions between float formats, most of them of two numbers at once.

Formats of 8 bits and less travel as integers; an attribute says which they are. Of two operands
`a` and `b` the first goes into the upper half of the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tilewright.dialects.llvm.constraints import FLOAT32, INT8, INT16, INT32, vector_of
from tilewright.dialects.nvvm.attributes import (
    ROUNDING,
    SATURATION,
    RoundingMode,
    SaturationMode,
)
from tilewright.dialects.nvvm.base import NvvmOp
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import BOOL_ATTR, TYPE_ATTR
from tilewright.ir.traits import Effects
from tilewright.ir.types import BF16, F4E2M1FN, F8E4M3FN, F8E5M2, F8E8M0FNU, F16, FLOATS, I8

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type

BYTES: Final = INT16 | vector_of(2, I8)
"""Two bytes, as one integer or apart."""
F6: Final = (FLOATS["f6E2M3FN"], FLOATS["f6E3M2FN"])
F8: Final = (F8E4M3FN, F8E5M2)
_TF32_FORMS: Final = (RoundingMode.RN, RoundingMode.RZ, RoundingMode.RNA)


def _format_problems(found: Type, allowed: tuple[Type, ...]) -> Iterator[str]:
    if found not in allowed:
        words = ", ".join(map(str, allowed))
        yield f"expected one of the formats {words}, got '{found}'"


class FloatToTF32Op(NvvmOp):
    """An f32 as a tf32, in an i32."""

    name = "nvvm.convert.float.to.tf32"
    effects = Effects.PURE
    syntax = "$src attr-dict"

    src = d.operand(FLOAT32)
    rnd = d.attribute(ROUNDING, default=RoundingMode.NONE)
    sat = d.attribute(SATURATION, default=SaturationMode.NONE)
    relu = d.attribute(BOOL_ATTR, default=False)
    """Whether negative numbers become zero."""
    res = d.result(INT32)

    def verify(self) -> Iterator[str]:
        if self.rnd not in _TF32_FORMS:
            yield f"expected the rounding rn, rz or rna, got {self.rnd.keyword}"
        elif self.relu and self.rnd is RoundingMode.RNA:
            yield "cannot have 'relu' with the rounding rna"


class ToHalves(NvvmOp):
    """Base of the conversions of two f32 to two 16-bit floats."""

    effects = Effects.PURE
    syntax = "$src_hi `,` $src_lo (`,` $rbits^)? attr-dict `:` type($dst)"

    def _problems(self, rnd: RoundingMode, sat: SaturationMode) -> Iterator[str]:
        if rnd not in (RoundingMode.RN, RoundingMode.RZ, RoundingMode.RS):
            yield f"expected the rounding rn, rz or rs, got {rnd.keyword}"
        if (rnd is RoundingMode.RS) != (len(self.operands) == 3):
            yield "expected random bits where the rounding is rs, and only there"
        if sat is not SaturationMode.NONE and rnd is not RoundingMode.RS:
            yield "expected 'satfinite' with the rounding rs alone"


class F32x2ToF16x2Op(ToHalves):
    """Two f32 as f16."""

    name = "nvvm.convert.f32x2.to.f16x2"

    src_hi = d.operand(FLOAT32)
    src_lo = d.operand(FLOAT32)
    rbits = d.optional_operand(INT32)
    rnd = d.attribute(ROUNDING, default=RoundingMode.RS)
    sat = d.attribute(SATURATION, default=SaturationMode.NONE)
    relu = d.attribute(BOOL_ATTR, default=False)
    dst = d.result(vector_of(2, F16))

    def verify(self) -> Iterator[str]:
        yield from self._problems(self.rnd, self.sat)


class F32x2ToBF16x2Op(ToHalves):
    """Two f32 as bf16."""

    name = "nvvm.convert.f32x2.to.bf16x2"

    src_hi = d.operand(FLOAT32)
    src_lo = d.operand(FLOAT32)
    rbits = d.optional_operand(INT32)
    rnd = d.attribute(ROUNDING, default=RoundingMode.RS)
    sat = d.attribute(SATURATION, default=SaturationMode.NONE)
    relu = d.attribute(BOOL_ATTR, default=False)
    dst = d.result(vector_of(2, BF16))

    def verify(self) -> Iterator[str]:
        yield from self._problems(self.rnd, self.sat)


class F32x2ToF8x2Op(NvvmOp):
    """Two f32 as 8-bit floats or scales."""

    name = "nvvm.convert.f32x2.to.f8x2"
    effects = Effects.PURE
    syntax = "$a `,` $b attr-dict `:` type($dst) `(` $dst_type `)`"

    a = d.operand(FLOAT32)
    b = d.operand(FLOAT32)
    rnd = d.attribute(ROUNDING, default=RoundingMode.NONE)
    sat = d.attribute(SATURATION, default=SaturationMode.NONE)
    relu = d.attribute(BOOL_ATTR, default=False)
    dst_type = d.attribute(TYPE_ATTR, spelling="dstTy")
    dst = d.result(BYTES)

    def verify(self) -> Iterator[str]:
        yield from _format_problems(self.dst_type, (*F8, F8E8M0FNU))
        if self.dst_type is F8E8M0FNU:
            if self.rnd not in (RoundingMode.RZ, RoundingMode.RP):
                yield f"expected the rounding rz or rp of scales, got {self.rnd.keyword}"
            if self.relu:
                yield "cannot have 'relu' with scales"
        elif self.rnd is not RoundingMode.RN or self.sat is not SaturationMode.SATFINITE:
            yield "expected the rounding rn and 'satfinite' of 8-bit floats"


class F16x2ToF8x2Op(NvvmOp):
    """Two f16 as 8-bit floats; what is too large becomes the largest number."""

    name = "nvvm.convert.f16x2.to.f8x2"
    effects = Effects.PURE
    syntax = "$a attr-dict `:` type($a) `->` type($dst) `(` $dst_type `)`"

    a = d.operand(vector_of(2, F16))
    relu = d.attribute(BOOL_ATTR, default=False)
    dst_type = d.attribute(TYPE_ATTR, spelling="dstTy")
    dst = d.result(BYTES)

    def verify(self) -> Iterator[str]:
        yield from _format_problems(self.dst_type, F8)


class BF16x2ToF8x2Op(NvvmOp):
    """Two bf16 as scales."""

    name = "nvvm.convert.bf16x2.to.f8x2"
    effects = Effects.PURE
    syntax = "$a attr-dict `:` type($a) `->` type($dst) `(` $dst_type `)`"

    a = d.operand(vector_of(2, BF16))
    rnd = d.attribute(ROUNDING, default=RoundingMode.NONE)
    sat = d.attribute(SATURATION, default=SaturationMode.NONE)
    dst_type = d.attribute(TYPE_ATTR, spelling="dstTy")
    dst = d.result(BYTES)

    def verify(self) -> Iterator[str]:
        yield from _format_problems(self.dst_type, (F8E8M0FNU,))
        if self.rnd not in (RoundingMode.RZ, RoundingMode.RP):
            yield f"expected the rounding rz or rp of scales, got {self.rnd.keyword}"


class F32x2ToF6x2Op(NvvmOp):
    """Two f32 as 6-bit floats, each in a byte."""

    name = "nvvm.convert.f32x2.to.f6x2"
    effects = Effects.PURE
    syntax = "$a `,` $b attr-dict `:` type($dst) `(` $dst_type `)`"

    a = d.operand(FLOAT32)
    b = d.operand(FLOAT32)
    relu = d.attribute(BOOL_ATTR, default=False)
    dst_type = d.attribute(TYPE_ATTR, spelling="dstTy")
    dst = d.result(BYTES)

    def verify(self) -> Iterator[str]:
        yield from _format_problems(self.dst_type, F6)


class F32x2ToF4x2Op(NvvmOp):
    """Two f32 as 4-bit floats in one byte."""

    name = "nvvm.convert.f32x2.to.f4x2"
    effects = Effects.PURE
    syntax = "$a `,` $b attr-dict `:` type($dst) `(` $dst_type `)`"

    a = d.operand(FLOAT32)
    b = d.operand(FLOAT32)
    relu = d.attribute(BOOL_ATTR, default=False)
    dst_type = d.attribute(TYPE_ATTR, spelling="dstTy")
    dst = d.result(INT8)

    def verify(self) -> Iterator[str]:
        yield from _format_problems(self.dst_type, (F4E2M1FN,))


class ToF16x2(NvvmOp):
    """Base of the conversions of narrow floats to f16, which hold them all."""

    effects = Effects.PURE
    syntax = "$src attr-dict `:` type($src) `(` $src_type `)` `->` type($dst)"


class F8x2ToF16x2Op(ToF16x2):
    """Two 8-bit floats as f16."""

    name = "nvvm.convert.f8x2.to.f16x2"

    src = d.operand(vector_of(2, I8))
    relu = d.attribute(BOOL_ATTR, default=False)
    src_type = d.attribute(TYPE_ATTR, spelling="srcType")
    dst = d.result(vector_of(2, F16))

    def verify(self) -> Iterator[str]:
        yield from _format_problems(self.src_type, F8)


class F6x2ToF16x2Op(ToF16x2):
    """Two 6-bit floats as f16."""

    name = "nvvm.convert.f6x2.to.f16x2"

    src = d.operand(vector_of(2, I8))
    relu = d.attribute(BOOL_ATTR, default=False)
    src_type = d.attribute(TYPE_ATTR, spelling="srcType")
    dst = d.result(vector_of(2, F16))

    def verify(self) -> Iterator[str]:
        yield from _format_problems(self.src_type, F6)


class F4x2ToF16x2Op(ToF16x2):
    """Two 4-bit floats as f16."""

    name = "nvvm.convert.f4x2.to.f16x2"

    src = d.operand(INT8)
    relu = d.attribute(BOOL_ATTR, default=False)
    src_type = d.attribute(TYPE_ATTR, spelling="srcType")
    dst = d.result(vector_of(2, F16))

    def verify(self) -> Iterator[str]:
        yield from _format_problems(self.src_type, (F4E2M1FN,))


class F8x2ToBF16x2Op(NvvmOp):
    """Two scales as bf16."""

    name = "nvvm.convert.f8x2.to.bf16x2"
    effects = Effects.PURE
    syntax = "$src attr-dict `:` type($src) `(` $src_type `)` `->` type($dst)"

    src = d.operand(vector_of(2, I8))
    src_type = d.attribute(TYPE_ATTR, spelling="srcType")
    dst = d.result(vector_of(2, BF16))

    def verify(self) -> Iterator[str]:
        yield from _format_problems(self.src_type, (F8E8M0FNU,))
