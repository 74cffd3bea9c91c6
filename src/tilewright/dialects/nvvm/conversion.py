"""Conversions between float formats, most of them of pairs.

Formats of at most 8 bits are integers with an attribute that names the format. Of two operands
`a` and `b` the first is the high half of the result.
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

FP8X2: Final = INT16 | vector_of(2, I8)
"""Two fp8, as an i16 or a vector of i8."""
F6: Final = (FLOATS["f6E2M3FN"], FLOATS["f6E3M2FN"])
F8: Final = (F8E4M3FN, F8E5M2)
_TF32_FORMS: Final = (RoundingMode.RN, RoundingMode.RZ, RoundingMode.RNA)


def _format_problems(format: Type, allowed: tuple[Type, ...]) -> Iterator[str]:
    if format not in allowed:
        names = ", ".join(map(str, allowed))
        yield f"expected one of the formats {names}, got '{format}'"


class FloatToTF32Op(NvvmOp):
    """Convert f32 to tf32, in an i32."""

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


class To16Bit(NvvmOp):
    """Base of the conversions of two f32 to two 16-bit floats."""

    effects = Effects.PURE
    syntax = "$src_hi `,` $src_lo (`,` $rbits^)? attr-dict `:` type($dst)"

    def _problems(self, rnd: RoundingMode, sat: SaturationMode) -> Iterator[str]:
        if rnd not in (RoundingMode.RN, RoundingMode.RZ, RoundingMode.RS):
            yield f"expected the rounding rn, rz or rs, got {rnd.keyword}"
        if (rnd is RoundingMode.RS) != (len(self.operands) == 3):
            yield "expected random bits if and only if the rounding is rs"
        if sat is not SaturationMode.NONE and rnd is not RoundingMode.RS:
            yield "expected 'satfinite' only with the rounding rs"


class F32x2ToF16x2Op(To16Bit):
    """Convert two f32 to f16."""

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


class F32x2ToBF16x2Op(To16Bit):
    """Convert two f32 to bf16."""

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
    """Convert two f32 to fp8 or e8m0."""

    name = "nvvm.convert.f32x2.to.f8x2"
    effects = Effects.PURE
    syntax = "$a `,` $b attr-dict `:` type($dst) `(` $dst_type `)`"

    a = d.operand(FLOAT32)
    b = d.operand(FLOAT32)
    rnd = d.attribute(ROUNDING, default=RoundingMode.NONE)
    sat = d.attribute(SATURATION, default=SaturationMode.NONE)
    relu = d.attribute(BOOL_ATTR, default=False)
    dst_type = d.attribute(TYPE_ATTR, spelling="dstTy")
    dst = d.result(FP8X2)

    def verify(self) -> Iterator[str]:
        yield from _format_problems(self.dst_type, (*F8, F8E8M0FNU))
        if self.dst_type is F8E8M0FNU:
            if self.rnd not in (RoundingMode.RZ, RoundingMode.RP):
                yield f"expected the rounding rz or rp for e8m0, got {self.rnd.keyword}"
            if self.relu:
                yield "cannot have 'relu' with e8m0"
        elif self.rnd is not RoundingMode.RN or self.sat is not SaturationMode.SATFINITE:
            yield "expected the rounding rn and 'satfinite' for fp8"


class F16x2ToF8x2Op(NvvmOp):
    """Convert two f16 to fp8, saturating to the largest finite value."""

    name = "nvvm.convert.f16x2.to.f8x2"
    effects = Effects.PURE
    syntax = "$a attr-dict `:` type($a) `->` type($dst) `(` $dst_type `)`"

    a = d.operand(vector_of(2, F16))
    relu = d.attribute(BOOL_ATTR, default=False)
    dst_type = d.attribute(TYPE_ATTR, spelling="dstTy")
    dst = d.result(FP8X2)

    def verify(self) -> Iterator[str]:
        yield from _format_problems(self.dst_type, F8)


class BF16x2ToF8x2Op(NvvmOp):
    """Convert two bf16 to e8m0."""

    name = "nvvm.convert.bf16x2.to.f8x2"
    effects = Effects.PURE
    syntax = "$a attr-dict `:` type($a) `->` type($dst) `(` $dst_type `)`"

    a = d.operand(vector_of(2, BF16))
    rnd = d.attribute(ROUNDING, default=RoundingMode.NONE)
    sat = d.attribute(SATURATION, default=SaturationMode.NONE)
    dst_type = d.attribute(TYPE_ATTR, spelling="dstTy")
    dst = d.result(FP8X2)

    def verify(self) -> Iterator[str]:
        yield from _format_problems(self.dst_type, (F8E8M0FNU,))
        if self.rnd not in (RoundingMode.RZ, RoundingMode.RP):
            yield f"expected the rounding rz or rp for e8m0, got {self.rnd.keyword}"


class F32x2ToF6x2Op(NvvmOp):
    """Convert two f32 to fp6, each in a byte."""

    name = "nvvm.convert.f32x2.to.f6x2"
    effects = Effects.PURE
    syntax = "$a `,` $b attr-dict `:` type($dst) `(` $dst_type `)`"

    a = d.operand(FLOAT32)
    b = d.operand(FLOAT32)
    relu = d.attribute(BOOL_ATTR, default=False)
    dst_type = d.attribute(TYPE_ATTR, spelling="dstTy")
    dst = d.result(FP8X2)

    def verify(self) -> Iterator[str]:
        yield from _format_problems(self.dst_type, F6)


class F32x2ToF4x2Op(NvvmOp):
    """Convert two f32 to fp4, in one byte."""

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
    """Base of the exact conversions of fp8, fp6 and fp4 to f16."""

    effects = Effects.PURE
    syntax = "$src attr-dict `:` type($src) `(` $src_type `)` `->` type($dst)"


class F8x2ToF16x2Op(ToF16x2):
    """Convert two fp8 to f16."""

    name = "nvvm.convert.f8x2.to.f16x2"

    src = d.operand(vector_of(2, I8))
    relu = d.attribute(BOOL_ATTR, default=False)
    src_type = d.attribute(TYPE_ATTR, spelling="srcType")
    dst = d.result(vector_of(2, F16))

    def verify(self) -> Iterator[str]:
        yield from _format_problems(self.src_type, F8)


class F6x2ToF16x2Op(ToF16x2):
    """Convert two fp6 to f16."""

    name = "nvvm.convert.f6x2.to.f16x2"

    src = d.operand(vector_of(2, I8))
    relu = d.attribute(BOOL_ATTR, default=False)
    src_type = d.attribute(TYPE_ATTR, spelling="srcType")
    dst = d.result(vector_of(2, F16))

    def verify(self) -> Iterator[str]:
        yield from _format_problems(self.src_type, F6)


class F4x2ToF16x2Op(ToF16x2):
    """Convert two fp4 to f16."""

    name = "nvvm.convert.f4x2.to.f16x2"

    src = d.operand(INT8)
    relu = d.attribute(BOOL_ATTR, default=False)
    src_type = d.attribute(TYPE_ATTR, spelling="srcType")
    dst = d.result(vector_of(2, F16))

    def verify(self) -> Iterator[str]:
        yield from _format_problems(self.src_type, (F4E2M1FN,))


class F8x2ToBF16x2Op(NvvmOp):
    """Convert two e8m0 to bf16."""

    name = "nvvm.convert.f8x2.to.bf16x2"
    effects = Effects.PURE
    syntax = "$src attr-dict `:` type($src) `(` $src_type `)` `->` type($dst)"

    src = d.operand(vector_of(2, I8))
    src_type = d.attribute(TYPE_ATTR, spelling="srcType")
    dst = d.result(vector_of(2, BF16))

    def verify(self) -> Iterator[str]:
        yield from _format_problems(self.src_type, (F8E8M0FNU,))
