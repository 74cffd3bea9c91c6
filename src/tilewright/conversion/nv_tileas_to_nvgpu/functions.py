"""Mathematical functions of nv_tileaa as those of math; `afn` asks for the fast variants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.registers import one_by_one
from tilewright.conversion.nv_tileas_to_nvgpu.rounding import resized
from tilewright.dialects.arith.attributes import FastMathAttr
from tilewright.dialects.arith.casts import SIToFPOp
from tilewright.dialects.elements import element_of, with_element
from tilewright.dialects.math import ops as math
from tilewright.dialects.nv_tileaa import functions as tileaa
from tilewright.dialects.nvvm import arithmetic as nvvm
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.conversion_builder import ConversionPattern
from tilewright.ir.types import F64

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.floating import FloatOp
    from tilewright.ir.operation import Operation

FAST: Final = FastMathAttr("afn")
_UNARY: Final[dict[type[Operation], type[math.UnaryFloat]]] = {
    tileaa.RsqrtOp: math.RsqrtOp,
    tileaa.Exp2Op: math.Exp2Op,
    tileaa.ExpOp: math.ExpOp,
    tileaa.LogOp: math.LogOp,
    tileaa.Log2Op: math.Log2Op,
    tileaa.SinOp: math.SinOp,
    tileaa.CosOp: math.CosOp,
    tileaa.TanOp: math.TanOp,
    tileaa.SinHOp: math.SinhOp,
    tileaa.CosHOp: math.CoshOp,
    tileaa.TanHOp: math.TanhOp,
}


def _flags(op: FloatOp) -> FastMathAttr:
    """Of all that may change results, the choice of a fast variant alone."""
    return FAST if "afn" in op.fastmath else FastMathAttr()


def _unary(op: tileaa.UnaryFloat, new: tileaa.UnaryFloat, build: ConversionBuilder) -> Result:
    """The function of the same name."""
    return build.create(_UNARY[type(op)], operand=new.source, fastmath=_flags(op))


@converts(tileaa.RsqrtOp, tileaa.Exp2Op)
def flushed(
    op: tileaa.FlushableFloat, new: tileaa.FlushableFloat, build: ConversionBuilder
) -> Result:
    """The instruction takes tiny numbers for zero."""
    if not op.flush_to_zero:
        return None
    kind = nvvm.RsqrtApproxOp if isinstance(op, tileaa.RsqrtOp) else nvvm.Ex2ApproxOp
    return one_by_one(build, lambda x: build.create(kind, arg=x[0], ftz=True).res, new.source)


@converts(tileaa.Atan2Op, tileaa.FPowFOp)
def binary(op: tileaa.BinaryFloat, new: tileaa.BinaryFloat, build: ConversionBuilder) -> Result:
    """The function of the same name."""
    kind = math.Atan2Op if isinstance(op, tileaa.Atan2Op) else math.PowFOp
    return build.create(kind, lhs=new.lhs, rhs=new.rhs, fastmath=_flags(op))


@converts(tileaa.FPowIOp)
def integer_power(op: tileaa.FPowIOp, new: tileaa.FPowIOp, build: ConversionBuilder) -> Result:
    """The power of f64, which holds every exponent; repeated products lose a bit each time."""
    wide = with_element(new.source.type, F64)
    exponent = build.create(SIToFPOp, source=new.exponent, types=[wide]).result
    base = resized(build, new.source, F64)
    power = build.create(math.PowFOp, lhs=base, rhs=exponent).result
    return resized(build, power, element_of(new.source.type))


PATTERNS: Final[Patterns] = (
    flushed,
    ConversionPattern(tuple(_UNARY), _unary, "function"),
    binary,
    integer_power,
)
