"""Arithmetic that LLVM has no instruction for: other roundings, approximations, packed pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tilewright.dialects.llvm.constraints import FLOAT32, FLOAT64, vector_of
from tilewright.dialects.nvvm.attributes import ROUNDING, RoundingMode
from tilewright.dialects.nvvm.base import NvvmOp
from tilewright.ir import declare as d
from tilewright.ir.traits import Effects, SameType
from tilewright.ir.types import BF16, F16, F32, F64

WORD: Final = FLOAT32 | FLOAT64
PAIR: Final = vector_of(2, F32)
HALVES: Final = FLOAT32 | vector_of(2, F16, BF16)
BINARY: Final = SameType("a", "b", "res")
_DIRECTIONS: Final = (RoundingMode.RN, RoundingMode.RM, RoundingMode.RP, RoundingMode.RZ)


def _rounding_problems(found: RoundingMode) -> Iterator[str]:
    if found not in _DIRECTIONS:
        yield f"expected the rounding rn, rm, rp or rz, got {found.keyword}"


class RoundedBinary(NvvmOp):
    """Base of the operations on two floats with a rounding of their own."""

    effects = Effects.PURE
    traits = (BINARY,)
    syntax = "$a `,` $b attr-dict `:` type($res)"

    a = d.operand(WORD)
    b = d.operand(WORD)
    rnd = d.attribute(ROUNDING, default=RoundingMode.RN)
    ftz = d.flag()
    """Whether numbers too small for the normal form are zero; f32 alone."""
    res = d.result(WORD)

    def verify(self) -> Iterator[str]:
        yield from _rounding_problems(self.rnd)
        if self.ftz and self.res.type is F64:
            yield "expected 'ftz' on f32 alone"


class AddFOp(RoundedBinary):
    """Sum."""

    name = "nvvm.addf"


class MulFOp(RoundedBinary):
    """Product."""

    name = "nvvm.mulf"


class DivFOp(RoundedBinary):
    """Quotient."""

    name = "nvvm.divf"


class FmaOp(NvvmOp):
    """`a * b + c`, rounded once."""

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
            yield "expected 'ftz' on f32 alone"


class RoundedUnary(NvvmOp):
    """Base of the functions of one float with a rounding of their own."""

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
            yield "expected 'ftz' on f32 alone"


class SqrtFOp(RoundedUnary):
    """Square root."""

    name = "nvvm.sqrtf"


class RcpFOp(RoundedUnary):
    """Reciprocal."""

    name = "nvvm.rcpf"


class RcpApproxFtzF32Op(NvvmOp):
    """Approximate reciprocal; numbers too small for the normal form are zero."""

    name = "nvvm.rcp.approx.ftz.f"
    effects = Effects.PURE
    syntax = "$arg attr-dict `:` type($res)"

    arg = d.operand(FLOAT32)
    res = d.result(FLOAT32)


class Approximation(NvvmOp):
    """Base of the functions that the hardware computes approximately."""

    effects = Effects.PURE
    traits = (SameType("arg", "res"),)
    syntax = "$arg attr-dict `:` type($res)"


class ScalarApproximation(Approximation):
    """Base of the approximations of f32 alone."""

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
    """Reciprocal of the square root."""

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
    """Power of two; bf16 always takes tiny numbers for zero."""

    name = "nvvm.ex2.approx"

    arg = d.operand(HALVES)
    ftz = d.flag()
    res = d.result(HALVES)

    def verify(self) -> Iterator[str]:
        element = getattr(self.res.type, "element", F32)
        if element is F16 and self.ftz:
            yield "expected no 'ftz' on f16"
        if element is BF16 and not self.ftz:
            yield "expected 'ftz' on bf16"


class TanhApproxOp(Approximation):
    """Hyperbolic tangent."""

    name = "nvvm.tanh.approx"

    arg = d.operand(HALVES)
    res = d.result(HALVES)


class DivApproxOp(NvvmOp):
    """Quotient, approximate; `full` holds over the full range of divisors."""

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
    """Base of the operations on pairs of f32 in one instruction."""

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
    """Two sums."""

    name = "nvvm.add.packed.f32x2"


class MulPackedF32x2Op(PackedBinary):
    """Two products."""

    name = "nvvm.mul.packed.f32x2"


class FmaPackedF32x2Op(NvvmOp):
    """Two times `a * b + c`, each rounded once."""

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
