"""math to libdevice calls on scalars, or to instructions if the hardware has the function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from tilewright.conversion.nvgpu_to_nvvm.elementwise import fast_math, is_llvm_float
from tilewright.conversion.symbols import Symbols
from tilewright.dialects.arith.floating import RemFOp
from tilewright.dialects.llvm.conversion import FPExtOp, FPTruncOp
from tilewright.dialects.llvm.intrinsics import floats, integers
from tilewright.dialects.math import ops
from tilewright.dialects.nvvm import arithmetic as approximate
from tilewright.dialects.vector.elements import FromElementsOp, ToElementsOp
from tilewright.ir.conversion import (
    ConversionBuilder,
    ConversionPattern,
    Patterns,
    Result,
    converts,
)
from tilewright.ir.types import BF16, F16, F32, F64, VectorType

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

LIBDEVICE: Final[Mapping[type[Operation], str]] = {
    ops.AcosOp: "acos",
    ops.AcoshOp: "acosh",
    ops.AsinOp: "asin",
    ops.AsinhOp: "asinh",
    ops.AtanOp: "atan",
    ops.AtanhOp: "atanh",
    ops.CbrtOp: "cbrt",
    ops.CosOp: "cos",
    ops.CoshOp: "cosh",
    ops.ErfOp: "erf",
    ops.ErfcOp: "erfc",
    ops.ExpOp: "exp",
    ops.Exp2Op: "exp2",
    ops.ExpM1Op: "expm1",
    ops.LogOp: "log",
    ops.Log10Op: "log10",
    ops.Log1pOp: "log1p",
    ops.Log2Op: "log2",
    ops.RoundOp: "round",
    ops.RsqrtOp: "rsqrt",
    ops.SinOp: "sin",
    ops.SinhOp: "sinh",
    ops.SqrtOp: "sqrt",
    ops.TanOp: "tan",
    ops.TanhOp: "tanh",
    ops.Atan2Op: "atan2",
    ops.PowFOp: "pow",
    RemFOp: "fmod",
}
"""The libdevice function of f64; that of f32 has the suffix `f`."""

FAST: Final = frozenset(
    (
        ops.CosOp, ops.ExpOp, ops.Log10Op, ops.Log2Op, ops.LogOp, ops.PowFOp, ops.SinOp,
        ops.TanOp, ops.TanhOp,
    )
)  # fmt: skip
"""Operations with a fast f32 variant in libdevice."""

APPROXIMATE: Final[Mapping[type[Operation], type[approximate.Approximation]]] = {
    ops.Exp2Op: approximate.Ex2ApproxOp,
    ops.SqrtOp: approximate.SqrtApproxOp,
    ops.RsqrtOp: approximate.RsqrtApproxOp,
}
"""Operations with an approximate f32 instruction, and no fast variant in libdevice."""


def callee(kind: type[Operation], suffix: str, *, fast: bool) -> str:
    """Return the libdevice function; `suffix` is "f" for f32 and empty for f64."""
    name = LIBDEVICE[kind]
    return f"__nv_fast_{name}{suffix}" if fast and kind in FAST else f"__nv_{name}{suffix}"


def _library(root: type[Operation]) -> ConversionPattern:
    """Lower a scalar to a call of libdevice; f16 and bf16 are computed in f32."""

    def apply(op: Any, new: Operation, build: ConversionBuilder) -> Result:
        type = op.results[0].type
        if type not in (F16, BF16, F32, F64):
            return build.reject(f"expected a scalar type of libdevice, got '{type}'")
        fast = "afn" in op.fastmath and type is not F64
        arguments = _widened(build, new.operands) if type is not F64 else list(new.operands)
        if fast and root in APPROXIMATE:
            result = build.create(APPROXIMATE[root], arg=arguments[0]).results[0]
        else:
            computed = F64 if type is F64 else F32
            name = callee(root, "" if type is F64 else "f", fast=fast)
            (result,) = Symbols(op, build).call(name, arguments, computed)
        if result.type is type:
            return result
        return build.create(FPTruncOp, arg=result, types=[type])

    return ConversionPattern((root,), apply, f"{root.name} by libdevice")


def _widened(build: ConversionBuilder, values: tuple[Value, ...]) -> list[Value]:
    return [
        value if value.type is F32 else build.create(FPExtOp, arg=value, types=[F32]).res
        for value in values
    ]


@converts(ops.SinCosOp)
def sine_and_cosine(op: ops.SinCosOp, new: ops.SinCosOp, build: ConversionBuilder) -> Result:
    """Split into `math.sin` and `math.cos`: libdevice's `sincos` returns through memory."""
    flags = op.fastmath
    sine = build.create(ops.SinOp, operand=new.operand, fastmath=flags).result
    return [sine, build.create(ops.CosOp, operand=new.operand, fastmath=flags).result]


def _per_lane(root: type[Operation]) -> ConversionPattern:
    """Scalarize a vector operation; patterns of scalars convert the result."""

    def apply(op: Operation, new: Operation, build: ConversionBuilder) -> Result:
        type = op.results[0].type
        if not isinstance(type, VectorType):
            return build.reject(f"expected a vector, got '{type}'")
        vectors = [build.create(ToElementsOp, source=value).elements for value in new.operands]
        lanes = [
            build.insert(op.like(list(values), [type.element], [])).results[0]
            for values in zip(*vectors, strict=True)
        ]
        (converted,) = build.types.convert_all([type]) or (type,)
        return build.create(FromElementsOp, elements=lanes, types=[converted])

    return ConversionPattern((root,), apply, f"{root.name} by lane")


_INTRINSICS: Final[Mapping[type[Operation], type[Operation]]] = {
    ops.AbsFOp: floats.FAbsOp,
    ops.CeilOp: floats.CeilOp,
    ops.FloorOp: floats.FloorOp,
    ops.RoundEvenOp: floats.RoundEvenOp,
    ops.TruncOp: floats.FTruncOp,
    ops.CopySignOp: floats.CopySignOp,
    ops.FmaOp: floats.FMAOp,
}
"""LLVM intrinsics with an instruction of their own."""


def _intrinsic(root: type[Operation]) -> ConversionPattern:
    kind = _INTRINSICS[root]
    names = [field.name for field in kind.schema.operands]

    def apply(op: Any, new: Operation, build: ConversionBuilder) -> Result:
        if not is_llvm_float(op.results[0].type):
            return build.reject(f"expected a float type of LLVM, got '{op.operands[0].type}'")
        operands: dict[str, Any] = dict(zip(names, new.operands, strict=True))
        return build.create(kind, **operands, fastmath=fast_math(op.fastmath))

    return ConversionPattern((root,), apply, f"{root.name} to {kind.name}")


@converts(ops.ClampFOp)
def clamp(op: ops.ClampFOp, new: ops.ClampFOp, build: ConversionBuilder) -> Result:
    """Lower `math.clampf` to `maximum` and `minimum`, which propagate NaN."""
    flags = fast_math(op.fastmath)
    lower = build.create(floats.MaximumOp, lhs=new.value, rhs=new.min, fastmath=flags).res
    return build.create(floats.MinimumOp, lhs=lower, rhs=new.max, fastmath=flags)


_CLASSES: Final[Mapping[type[ops.ClassifyOp], int]] = {
    ops.IsNaNOp: 0x003,
    ops.IsInfOp: 0x204,
    ops.IsFiniteOp: 0x1F8,
    ops.IsNormalOp: 0x108,
}
"""The mask of `llvm.is.fpclass` for each operation."""


def _classification(root: type[ops.ClassifyOp]) -> ConversionPattern:
    def apply(op: ops.ClassifyOp, new: ops.ClassifyOp, build: ConversionBuilder) -> Result:
        if not is_llvm_float(op.operand.type):
            return build.reject(f"expected a float type of LLVM, got '{op.operand.type}'")
        return build.create(floats.IsFPClassOp, operand=new.operand, bit=_CLASSES[root])

    return ConversionPattern((root,), apply, f"{root.name} by class")


@converts(ops.AbsIOp)
def magnitude(op: ops.AbsIOp, new: ops.AbsIOp, build: ConversionBuilder) -> Result:
    """Lower `math.absi` to `llvm.abs`, with a defined result for the minimum."""
    return build.create(integers.AbsOp, operand=new.operand, is_int_min_poison=False)


@converts(ops.CtlzOp, ops.CttzOp)
def zeros(op: ops.UnaryInteger, new: ops.UnaryInteger, build: ConversionBuilder) -> Result:
    """Lower to `llvm.ctlz` or `llvm.cttz`, defined for zero."""
    leading = isinstance(op, ops.CtlzOp)
    kind = integers.CountLeadingZerosOp if leading else integers.CountTrailingZerosOp
    return build.create(kind, operand=new.operand, is_zero_poison=False)


@converts(ops.CtPopOp)
def ones(op: ops.CtPopOp, new: ops.CtPopOp, build: ConversionBuilder) -> Result:
    """Lower to `llvm.ctpop`."""
    return build.create(integers.CtPopOp, operand=new.operand)


SCALARISERS: Final[Patterns] = tuple(_per_lane(root) for root in (*LIBDEVICE, ops.FPowIOp))
"""Patterns that scalarize vectors; before the libdevice patterns, which take scalars."""

PATTERNS: Final[Patterns] = (
    *map(_library, LIBDEVICE),
    sine_and_cosine,
    *map(_intrinsic, _INTRINSICS),
    clamp,
    *map(_classification, _CLASSES),
    magnitude,
    zeros,
    ones,
)
