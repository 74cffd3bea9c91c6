"""Arithmetic without an LLVM instruction: rounding modes, approximations, packed f32x2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tilewright.dialects.llvm.constraints import FLOAT32, FLOAT64, INT64, vector_of
from tilewright.dialects.nvvm.attributes import ROUNDING, RoundingMode
from tilewright.dialects.nvvm.base import NvvmOp
from tilewright.ir import declare as d
from tilewright.ir.traits import Effects, SameType
from tilewright.ir.types import BF16, F16, F32, F64

WORD: Final = FLOAT32 | FLOAT64
PAIR: Final = vector_of(2, F32)
F32_OR_F16X2: Final = FLOAT32 | vector_of(2, F16, BF16)
BINARY: Final = SameType("a", "b", "res")
_DIRECTIONS: Final = (RoundingMode.RN, RoundingMode.RM, RoundingMode.RP, RoundingMode.RZ)


def _rounding_problems(mode: RoundingMode) -> Iterator[str]:
    if mode not in _DIRECTIONS:
        yield f"expected the rounding rn, rm, rp or rz, got {mode.keyword}"


class OpaqueOp(NvvmOp):
    """Copy an integer in a way that LLVM does not see through.

    LLVM computes values that differ by a constant from one another; where each of them should keep
    a register of its own, such as the addresses of copies in a loop, it must not see that they do.
    A `repeated` copy is made where it is, in each iteration of a loop: what is computed from it is
    not hoisted, and takes no registers elsewhere.
    """

    name = "nvvm.opaque"
    effects = Effects.PURE
    traits = (SameType("arg", "res"),)
    syntax = "$arg attr-dict `:` type($res)"

    arg = d.operand(INT64)
    repeated = d.flag()
    res = d.result(INT64)


class RoundedBinary(NvvmOp):
    """Base of the binary float operations with a rounding mode."""

    effects = Effects.PURE
    traits = (BINARY,)
    syntax = "$a `,` $b attr-dict `:` type($res)"

    a = d.operand(WORD)
    b = d.operand(WORD)
    rnd = d.attribute(ROUNDING, default=RoundingMode.RN)
    ftz = d.flag()
    """Whether subnormal numbers are flushed to zero; f32 only."""
    res = d.result(WORD)

    def verify(self) -> Iterator[str]:
        yield from _rounding_problems(self.rnd)
        if self.ftz and self.res.type is F64:
            yield "expected 'ftz' only on f32"


class AddFOp(RoundedBinary):
    """Add with a rounding mode."""

    name = "nvvm.addf"


class MulFOp(RoundedBinary):
    """Multiply with a rounding mode."""

    name = "nvvm.mulf"


class DivFOp(RoundedBinary):
    """Divide with a rounding mode."""

    name = "nvvm.divf"


class FmaOp(NvvmOp):
    """Fused multiply-add `a * b + c`."""

    name = "nvvm.fma"
    effects = Effects.PURE
    traits = (SameType("a", "b", "c", "res"),)
    syntax = "$a `,` $b `,` $c attr-dict `:` type($res)"

    a = d.operand(WORD)
    b = d.operand(WORD)
    c = d.operand(WORD)
    rnd = d.attribute(ROUNDING, default=RoundingMode.RN)
    ftz = d.flag()
    res = d.result(WORD)

    def verify(self) -> Iterator[str]:
        yield from _rounding_problems(self.rnd)
        if self.ftz and self.res.type is F64:
            yield "expected 'ftz' only on f32"


class RoundedUnary(NvvmOp):
    """Base of the unary float operations with a rounding mode."""

    effects = Effects.PURE
    traits = (SameType("a", "res"),)
    syntax = "$a attr-dict `:` type($res)"

    a = d.operand(WORD)
    rnd = d.attribute(ROUNDING, default=RoundingMode.RN)
    ftz = d.flag()
    res = d.result(WORD)

    def verify(self) -> Iterator[str]:
        yield from _rounding_problems(self.rnd)
        if self.ftz and self.res.type is F64:
            yield "expected 'ftz' only on f32"


class SqrtFOp(RoundedUnary):
    """Square root."""

    name = "nvvm.sqrtf"


class RcpFOp(RoundedUnary):
    """Reciprocal."""

    name = "nvvm.rcpf"


class RcpApproxFtzF32Op(NvvmOp):
    """Approximate reciprocal; subnormal numbers are flushed to zero."""

    name = "nvvm.rcp.approx.ftz.f"
    effects = Effects.PURE
    syntax = "$arg attr-dict `:` type($res)"

    arg = d.operand(FLOAT32)
    res = d.result(FLOAT32)


class Approximation(NvvmOp):
    """Base of the approximate unary operations."""

    effects = Effects.PURE
    traits = (SameType("arg", "res"),)
    syntax = "$arg attr-dict `:` type($res)"


class ScalarApproximation(Approximation):
    """Base of the approximate operations on f32."""

    arg = d.operand(FLOAT32)
    ftz = d.flag()
    res = d.result(FLOAT32)


class RcpApproxOp(ScalarApproximation):
    """Reciprocal."""

    name = "nvvm.rcp.approx"


class SqrtApproxOp(ScalarApproximation):
    """Square root."""

    name = "nvvm.sqrt.approx"


class RsqrtApproxOp(ScalarApproximation):
    """Reciprocal square root."""

    name = "nvvm.rsqrt.approx"


class Lg2ApproxOp(ScalarApproximation):
    """Logarithm to base two."""

    name = "nvvm.lg2.approx"


class SinApproxOp(ScalarApproximation):
    """Sine."""

    name = "nvvm.sin.approx"


class CosApproxOp(ScalarApproximation):
    """Cosine."""

    name = "nvvm.cos.approx"


class Ex2ApproxOp(Approximation):
    """Power of two; bf16 always flushes subnormal numbers."""

    name = "nvvm.ex2.approx"

    arg = d.operand(F32_OR_F16X2)
    ftz = d.flag()
    res = d.result(F32_OR_F16X2)

    def verify(self) -> Iterator[str]:
        element = getattr(self.res.type, "element", F32)
        if element is F16 and self.ftz:
            yield "expected no 'ftz' on f16"
        if element is BF16 and not self.ftz:
            yield "expected 'ftz' on bf16"


class TanhApproxOp(Approximation):
    """Hyperbolic tangent."""

    name = "nvvm.tanh.approx"

    arg = d.operand(F32_OR_F16X2)
    res = d.result(F32_OR_F16X2)


class DivApproxOp(NvvmOp):
    """Approximate division; `full` is valid for the full range of divisors."""

    name = "nvvm.div.approx"
    effects = Effects.PURE
    traits = (BINARY,)
    syntax = "$a `,` $b attr-dict `:` type($res)"

    a = d.operand(FLOAT32)
    b = d.operand(FLOAT32)
    full = d.flag()
    ftz = d.flag()
    res = d.result(FLOAT32)


class PackedBinary(NvvmOp):
    """Base of the packed f32x2 operations."""

    effects = Effects.PURE
    traits = (BINARY,)
    syntax = "$a `,` $b attr-dict `:` type($res)"

    a = d.operand(PAIR)
    b = d.operand(PAIR)
    rnd = d.attribute(ROUNDING, default=RoundingMode.RN)
    ftz = d.flag()
    res = d.result(PAIR)

    def verify(self) -> Iterator[str]:
        yield from _rounding_problems(self.rnd)


class AddPackedF32x2Op(PackedBinary):
    """Add two pairs of f32."""

    name = "nvvm.add.packed.f32x2"


class MulPackedF32x2Op(PackedBinary):
    """Multiply two pairs of f32."""

    name = "nvvm.mul.packed.f32x2"


class FmaPackedF32x2Op(NvvmOp):
    """Fused multiply-add of pairs of f32."""

    name = "nvvm.fma.packed.f32x2"
    effects = Effects.PURE
    traits = (SameType("a", "b", "c", "res"),)
    syntax = "$a `,` $b `,` $c attr-dict `:` type($res)"

    a = d.operand(PAIR)
    b = d.operand(PAIR)
    c = d.operand(PAIR)
    rnd = d.attribute(ROUNDING, default=RoundingMode.RN)
    ftz = d.flag()
    res = d.result(PAIR)

    def verify(self) -> Iterator[str]:
        yield from _rounding_problems(self.rnd)
