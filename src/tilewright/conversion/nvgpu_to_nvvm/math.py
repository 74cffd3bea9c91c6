"""math to libdevice, one scalar at a time; to instructions where the hardware has the function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from tilewright.conversion.nvgpu_to_nvvm.elementwise import computes, fast_math
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
"""The function of f64; with an `f` behind it is that of f32."""

FAST: Final = frozenset(
    (
        ops.CosOp, ops.ExpOp, ops.Log10Op, ops.Log2Op, ops.LogOp, ops.PowFOp, ops.SinOp,
        ops.TanOp, ops.TanhOp,
    )
)  # fmt: skip
"""Those of which libdevice has a fast variant, for f32 alone."""

APPROXIMATE: Final[Mapping[type[Operation], type[approximate.Approximation]]] = {
    ops.Exp2Op: approximate.Ex2ApproxOp,
    ops.SqrtOp: approximate.SqrtApproxOp,
    ops.RsqrtOp: approximate.RsqrtApproxOp,
}
"""Those that an instruction approximates, for f32, where libdevice has no fast variant."""


def callee(kind: type[Operation], suffix: str, *, fast: bool) -> str:
    """The function of libdevice; `suffix` is "f" for f32 and nothing for f64."""
    name = LIBDEVICE[kind]
    return f"__nv_fast_{name}{suffix}" if fast and kind in FAST else f"__nv_{name}{suffix}"


def _library(root: type[Operation]) -> ConversionPattern:
    """Scalars call libdevice; it has no functions of half floats, which go by way of f32."""

    def apply(op: Any, new: Operation, build: ConversionBuilder) -> Result:
        type = op.results[0].type
        if type not in (F16, BF16, F32, F64):
            return build.reject(f"expected a scalar that libdevice takes, got '{type}'")
        fast = "afn" in op.fastmath and type is not F64
        arguments = _widened(build, new.operands) if type is not F64 else list(new.operands)
        if fast and root in APPROXIMATE:
            found = build.create(APPROXIMATE[root], arg=arguments[0]).results[0]
        else:
            computed = F64 if type is F64 else F32
            name = callee(root, "" if type is F64 else "f", fast=fast)
            (found,) = Symbols(op, build).call(name, arguments, computed)
        if found.type is type:
            return found
        return build.create(FPTruncOp, arg=found, types=[type])

    return ConversionPattern((root,), apply, f"{root.name} by libdevice")


def _widened(build: ConversionBuilder, values: tuple[Value, ...]) -> list[Value]:
    return [
        value if value.type is F32 else build.create(FPExtOp, arg=value, types=[F32]).res
        for value in values
    ]


@converts(ops.SinCosOp)
def sine_and_cosine(op: ops.SinCosOp, new: ops.SinCosOp, build: ConversionBuilder) -> Result:
    """Both, one by one: libdevice's way to have both at once goes through memory."""
    flags = op.fastmath
    sine = build.create(ops.SinOp, operand=new.operand, fastmath=flags).result
    return [sine, build.create(ops.CosOp, operand=new.operand, fastmath=flags).result]


def _per_lane(root: type[Operation]) -> ConversionPattern:
    """A vector is taken apart; the scalars are converted in their turn."""

    def apply(op: Operation, new: Operation, build: ConversionBuilder) -> Result:
        type = op.results[0].type
        if not isinstance(type, VectorType):
            return build.reject(f"expected a vector, got '{type}'")
        vectors = [build.create(ToElementsOp, source=value).elements for value in new.operands]
        lanes = [
            build.insert(op.like(list(values), [type.element], [])).results[0]
            for values in zip(*vectors, strict=True)
        ]
        (whole,) = build.types.convert_all([type]) or (type,)
        return build.create(FromElementsOp, elements=lanes, types=[whole])

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
"""What the hardware computes itself."""


def _intrinsic(root: type[Operation]) -> ConversionPattern:
    kind = _INTRINSICS[root]
    names = [field.name for field in kind.schema.operands]

    def apply(op: Any, new: Operation, build: ConversionBuilder) -> Result:
        if not computes(op.results[0].type):
            return build.reject(
                f"expected floats that LLVM computes with, got '{op.operands[0].type}'"
            )
        operands: dict[str, Any] = dict(zip(names, new.operands, strict=True))
        return build.create(kind, **operands, fastmath=fast_math(op.fastmath))

    return ConversionPattern((root,), apply, f"{root.name} to {kind.name}")


@converts(ops.ClampFOp)
def clamp(op: ops.ClampFOp, new: ops.ClampFOp, build: ConversionBuilder) -> Result:
    """No less than one bound, no more than the other; a NaN stays one."""
    flags = fast_math(op.fastmath)
    lower = build.create(floats.MaximumOp, lhs=new.value, rhs=new.min, fastmath=flags).res
    return build.create(floats.MinimumOp, lhs=lower, rhs=new.max, fastmath=flags)


_CLASSES: Final[Mapping[type[ops.ClassifyOp], int]] = {
    ops.IsNaNOp: 0x003,
    ops.IsInfOp: 0x204,
    ops.IsFiniteOp: 0x1F8,
    ops.IsNormalOp: 0x108,
}
"""The classes of floats, by LLVM's bits for them."""


def _classification(root: type[ops.ClassifyOp]) -> ConversionPattern:
    def apply(op: ops.ClassifyOp, new: ops.ClassifyOp, build: ConversionBuilder) -> Result:
        if not computes(op.operand.type):
            return build.reject(f"expected floats that LLVM computes with, got '{op.operand.type}'")
        return build.create(floats.IsFPClassOp, operand=new.operand, bit=_CLASSES[root])

    return ConversionPattern((root,), apply, f"{root.name} by class")


@converts(ops.AbsIOp)
def magnitude(op: ops.AbsIOp, new: ops.AbsIOp, build: ConversionBuilder) -> Result:
    """The least number stays what it is."""
    return build.create(integers.AbsOp, operand=new.operand, is_int_min_poison=False)


@converts(ops.CtlzOp, ops.CttzOp)
def zeros(op: ops.UnaryInteger, new: ops.UnaryInteger, build: ConversionBuilder) -> Result:
    """Of zero all bits are counted."""
    leading = isinstance(op, ops.CtlzOp)
    kind = integers.CountLeadingZerosOp if leading else integers.CountTrailingZerosOp
    return build.create(kind, operand=new.operand, is_zero_poison=False)


@converts(ops.CtPopOp)
def ones(op: ops.CtPopOp, new: ops.CtPopOp, build: ConversionBuilder) -> Result:
    """How many bits are set."""
    return build.create(integers.CtPopOp, operand=new.operand)


SCALARISERS: Final[Patterns] = tuple(_per_lane(root) for root in (*LIBDEVICE, ops.FPowIOp))
"""These take vectors apart before libdevice is asked, which knows scalars alone."""

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
