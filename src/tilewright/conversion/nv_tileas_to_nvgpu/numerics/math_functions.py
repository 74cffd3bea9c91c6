"""Mathematical functions of nv_tileaa as those of math; `afn` asks for the fast variants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.numerics.rounding import cast_float
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import map_elements, splat_constant
from tilewright.dialects.arith.attributes import FastMathAttr
from tilewright.dialects.arith.casts import SIToFPOp
from tilewright.dialects.arith.floating import DivFOp, MulFOp
from tilewright.dialects.elements import element_of
from tilewright.dialects.math import ops as math
from tilewright.dialects.nv_tileaa import functions as tileaa
from tilewright.dialects.nv_tileaa.canonicalize.powers import integer_exponent
from tilewright.dialects.nvvm import arithmetic as nvvm
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.conversion_builder import ConversionPattern
from tilewright.ir.types import F64

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.floating import FloatOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

FAST: Final = FastMathAttr("afn")
MAX_UNROLLED_EXPONENT: Final = 16
"""The largest exponent whose power is unrolled to multiplications."""
ONE: Final = 0x3FF0000000000000
"""1.0 as the bits of an f64."""
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
_BINARY: Final[dict[type[Operation], type[math.BinaryFloat]]] = {
    tileaa.Atan2Op: math.Atan2Op,
    tileaa.FPowFOp: math.PowFOp,
}


def _flags(op: FloatOp) -> FastMathAttr:
    """Of the fast-math flags, only `afn`."""
    return FAST if "afn" in op.fastmath else FastMathAttr()


def _unary(op: tileaa.UnaryFloat, new: tileaa.UnaryFloat, build: ConversionBuilder) -> Result:
    """The function of the same name."""
    return build.create(_UNARY[type(op)], operand=new.source, fastmath=_flags(op))


@converts(tileaa.RsqrtOp, tileaa.Exp2Op)
def flushed(
    op: tileaa.FlushableFloat, new: tileaa.FlushableFloat, build: ConversionBuilder
) -> Result:
    """With flush-to-zero, the approximate instruction."""
    if not op.flush_to_zero:
        return None
    kind = nvvm.RsqrtApproxOp if isinstance(op, tileaa.RsqrtOp) else nvvm.Ex2ApproxOp
    return map_elements(build, lambda x: build.create(kind, arg=x[0], ftz=True).res, new.source)


def _binary(op: tileaa.BinaryFloat, new: tileaa.BinaryFloat, build: ConversionBuilder) -> Result:
    """The function of the same name."""
    return build.create(_BINARY[type(op)], lhs=new.lhs, rhs=new.rhs, fastmath=_flags(op))


@converts(tileaa.FPowIOp)
def integer_power(op: tileaa.FPowIOp, new: tileaa.FPowIOp, build: ConversionBuilder) -> Result:
    """A power in f64: multiplications for a small constant exponent, else `pow`."""
    element = element_of(new.source.type)
    base = cast_float(build, new.source, F64)
    constant_exponent = integer_exponent(op)
    if (
        constant_exponent is not None
        and 0 < abs(constant_exponent) <= MAX_UNROLLED_EXPONENT
        and element is not F64
    ):
        return cast_float(build, _power_by_squaring(build, base, constant_exponent), element)
    exponent = build.create(SIToFPOp, source=new.exponent, types=[base.type]).result
    power = build.create(math.PowFOp, lhs=base, rhs=exponent).result
    return cast_float(build, power, element)


def _power_by_squaring(build: ConversionBuilder, base: Value, exponent: int) -> Value:
    """Exponentiation by squaring; f64 is precise enough for the rounding of each step."""
    result: Value | None = None
    remaining = abs(exponent)
    while remaining:
        if remaining & 1:
            result = base if result is None else build.create(MulFOp, lhs=result, rhs=base).result
        remaining >>= 1
        base = build.create(MulFOp, lhs=base, rhs=base).result if remaining else base
    assert result is not None
    if exponent > 0:
        return result
    one = splat_constant(build, ONE, result.type)
    return build.create(DivFOp, lhs=one, rhs=result).result


PATTERNS: Final[Patterns] = (
    flushed,
    ConversionPattern(tuple(_UNARY), _unary, "function"),
    ConversionPattern(tuple(_BINARY), _binary, "binary function"),
    integer_power,
)
