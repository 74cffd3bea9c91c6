"""Rows of arithmetic and conversions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from tilewright.dialects.nvvm import arithmetic, conversion
from tilewright.dialects.nvvm.attributes import RoundingMode, SaturationMode
from tilewright.emit.llvm.rows import Assembly, Row, intrinsic
from tilewright.emit.llvm.types import mangled
from tilewright.ir.types import BF16, F8E4M3FN, F8E5M2, F8E8M0FNU, F16, F32, F64, I8, I16
from tilewright.target.features import Feature

if TYPE_CHECKING:
    from tilewright.dialects.nvvm.base import NvvmOp
    from tilewright.emit.llvm.function import FunctionWriter
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value


def _rounded(word: str) -> Row:
    def name(op: Any) -> str:
        ftz = ".ftz" if op.ftz else ""
        return f"{word}.{op.rnd.keyword}{ftz}.{'d' if op.res.type is F64 else 'f'}"

    return intrinsic(name)


def _approximate(word: str) -> Row:
    return intrinsic(lambda op: f"{word}.approx{'.ftz' if op.ftz else ''}.f")


def _rcp(w: FunctionWriter, op: arithmetic.RcpApproxOp) -> None:
    if op.ftz:
        w.call(op, "llvm.nvvm.rcp.approx.ftz.f", w.all_typed(op.operands))
    else:
        w.bind(op.res, _asm(w, "rcp.approx.f32 {0}, {1};", op.res.type, (op.arg,)))


def _asm(
    w: FunctionWriter,
    template: str,
    type: Type,
    values: tuple[Value, ...],
    *,
    stays: bool = False,
) -> str:
    """Emit pure inline PTX with one result, `{0}`; if it `stays`, LLVM does not move it."""
    asm = Assembly(w)
    registers = [asm.output(type), *[asm.input(value) for value in values]]
    return asm.call(template.format(*registers), convergent=stays, memory=False)


def _opaque(w: FunctionWriter, op: arithmetic.OpaqueOp) -> None:
    text = "mov.b64 {0}, {1};"
    w.bind(op.res, _asm(w, text, op.res.type, (op.arg,), stays=op.repeated))


def _ex2(op: arithmetic.Ex2ApproxOp) -> str:
    return f"ex2.approx{'.ftz' if op.ftz else ''}.{mangled(op.res.type)}"


def _tanh(w: FunctionWriter, op: arithmetic.TanhApproxOp) -> None:
    element = getattr(op.res.type, "element", F32)
    suffix = {F32: "f32", F16: "f16x2", BF16: "bf16x2"}[element]
    w.bind(op.res, _asm(w, f"tanh.approx.{suffix} {{0}}, {{1}};", op.res.type, (op.arg,)))


def _half_feature(op: Any) -> Feature:
    """Return the feature of packed bf16 (sm_90); f32 and f16 need none."""
    return Feature.CLUSTER if getattr(op.res.type, "element", F32) is BF16 else Feature.BASE


def _div(op: arithmetic.DivApproxOp) -> str:
    ftz = ".ftz" if op.ftz else ""
    return f"div.full{ftz}" if op.full else f"div.approx{ftz}.f"


_OPCODES: Final = {"add": "fadd", "mul": "fmul"}


def _packed(word: str) -> Row:
    def emit(w: FunctionWriter, op: Any) -> None:
        if op.rnd is RoundingMode.RN and not op.ftz:
            # LLVM selects the packed instruction itself.
            if word == "fma":
                w.call(op, "llvm.fma.v2f32", w.all_typed(op.operands))
            else:
                a, b = op.operands
                w.bind(op.res, f"{_OPCODES[word]} {w.typed(a)}, {w.names[b]}")
            return
        ftz = ".ftz" if op.ftz else ""
        operands = ", ".join([f"{{{index}}}" for index in range(len(op.operands) + 1)])
        template = f"{word}.{op.rnd.keyword}{ftz}.f32x2 {operands};"
        w.bind(op.res, _asm(w, template, op.res.type, op.operands))

    return Row(emit, Feature.PACKED_F32)


def _relu(op: Any) -> str:
    return ".relu" if op.relu else ""


def _sat(op: Any) -> str:
    return ".satfinite" if op.sat is SaturationMode.SATFINITE else ""


def _to_tf32(op: conversion.FloatToTF32Op) -> str:
    return f"f2tf32.{op.rnd.keyword}{_relu(op)}{_sat(op)}"


def _tf32_feature(op: conversion.FloatToTF32Op) -> Feature:
    if op.rnd is RoundingMode.RNA:
        return Feature.BASE if op.sat is SaturationMode.NONE else Feature.FP8
    return Feature.CLUSTER if op.sat is SaturationMode.NONE else Feature.PACKED_F32


def _to_packed_f16(word: str) -> Row:
    return intrinsic(
        lambda op: f"ff2{word}x2.{op.rnd.keyword}{_relu(op)}{_sat(op)}",
        lambda op: Feature.RANDOM_ROUNDING if op.rnd is RoundingMode.RS else Feature.BASE,
    )


_FORMATS: Final[Mapping[Type, str]] = {
    F8E4M3FN: "e4m3",
    F8E5M2: "e5m2",
    F8E8M0FNU: "ue8m0",
    conversion.F6[0]: "e2m3",
    conversion.F6[1]: "e3m2",
}


def _narrow_feature(op: Any) -> Feature:
    format: Type = getattr(op, "dst_type", None) or op.src_type
    return Feature.FP8 if format in conversion.F8 else Feature.NARROW_FLOATS


def _bytes(w: FunctionWriter, op: Any, name: str) -> None:
    """Call a conversion to a pair of fp8 in an i16, and bitcast it if needed."""
    arguments = ", ".join(w.all_typed(op.operands))
    text = f"call i16 @llvm.nvvm.{name}({arguments})"
    if op.dst.type is I16:
        w.bind(op.dst, text)
    else:
        w.bind(op.dst, f"bitcast i16 {w.temporary(text)} to <2 x i8>")


def _to_f8(w: FunctionWriter, op: conversion.F32x2ToF8x2Op) -> None:
    format = _FORMATS[op.dst_type]
    # fp8 conversions always saturate; for scales saturation is optional.
    sat = _sat(op) if op.dst_type is F8E8M0FNU else ""
    _bytes(w, op, f"ff.to.{format}x2.{op.rnd.keyword}{_relu(op)}{sat}")


def _half_to_f8(w: FunctionWriter, op: conversion.F16x2ToF8x2Op) -> None:
    _bytes(w, op, f"f16x2.to.{_FORMATS[op.dst_type]}x2.rn{_relu(op)}")


def _bf16_to_f8(w: FunctionWriter, op: conversion.BF16x2ToF8x2Op) -> None:
    _bytes(w, op, f"bf16x2.to.ue8m0x2.{op.rnd.keyword}{_sat(op)}")


def _to_f6(w: FunctionWriter, op: conversion.F32x2ToF6x2Op) -> None:
    _bytes(w, op, f"ff.to.{_FORMATS[op.dst_type]}x2.rn{_relu(op)}.satfinite")


def _to_f4(w: FunctionWriter, op: conversion.F32x2ToF4x2Op) -> None:
    arguments = ", ".join(w.all_typed(op.operands))
    name = f"llvm.nvvm.ff.to.e2m1x2.rn{_relu(op)}.satfinite"
    wide = w.temporary(f"call i16 @{name}({arguments})")
    w.bind(op.dst, f"trunc i16 {wide} to i8")


def _from_bytes(w: FunctionWriter, op: Any) -> None:
    name = f"{_FORMATS[op.src_type]}x2.to.f16x2.rn{_relu(op)}"
    packed = w.temporary(f"bitcast {w.typed(op.src)} to i16")
    w.bind(op.dst, f"call <2 x half> @llvm.nvvm.{name}(i16 {packed})")


def _from_f4(w: FunctionWriter, op: conversion.F4x2ToF16x2Op) -> None:
    assert op.src.type is I8
    packed = w.temporary(f"zext {w.typed(op.src)} to i16")
    name = f"llvm.nvvm.e2m1x2.to.f16x2.rn{_relu(op)}"
    w.bind(op.dst, f"call <2 x half> @{name}(i16 {packed})")


def _from_scales(w: FunctionWriter, op: conversion.F8x2ToBF16x2Op) -> None:
    packed = w.temporary(f"bitcast {w.typed(op.src)} to i16")
    w.bind(op.dst, f"call <2 x bfloat> @llvm.nvvm.ue8m0x2.to.bf16x2(i16 {packed})")


NARROW: Final = Feature.NARROW_FLOATS

ARITHMETIC_ROWS: Final[Mapping[type[NvvmOp], Row]] = {
    arithmetic.AddFOp: _rounded("add"),
    arithmetic.MulFOp: _rounded("mul"),
    arithmetic.DivFOp: _rounded("div"),
    arithmetic.FmaOp: _rounded("fma"),
    arithmetic.SqrtFOp: _rounded("sqrt"),
    arithmetic.RcpFOp: _rounded("rcp"),
    arithmetic.RcpApproxFtzF32Op: intrinsic("rcp.approx.ftz.f"),
    arithmetic.OpaqueOp: Row(_opaque),
    arithmetic.RcpApproxOp: Row(_rcp),
    arithmetic.SqrtApproxOp: _approximate("sqrt"),
    arithmetic.RsqrtApproxOp: _approximate("rsqrt"),
    arithmetic.Lg2ApproxOp: _approximate("lg2"),
    arithmetic.SinApproxOp: _approximate("sin"),
    arithmetic.CosApproxOp: _approximate("cos"),
    arithmetic.Ex2ApproxOp: intrinsic(_ex2, _half_feature),
    arithmetic.TanhApproxOp: Row(_tanh, _half_feature),
    arithmetic.DivApproxOp: intrinsic(_div),
    arithmetic.AddPackedF32x2Op: _packed("add"),
    arithmetic.MulPackedF32x2Op: _packed("mul"),
    arithmetic.FmaPackedF32x2Op: _packed("fma"),
    conversion.FloatToTF32Op: intrinsic(_to_tf32, _tf32_feature),
    conversion.F32x2ToF16x2Op: _to_packed_f16("f16"),
    conversion.F32x2ToBF16x2Op: _to_packed_f16("bf16"),
    conversion.F32x2ToF8x2Op: Row(_to_f8, _narrow_feature),
    conversion.F16x2ToF8x2Op: Row(_half_to_f8, _narrow_feature),
    conversion.BF16x2ToF8x2Op: Row(_bf16_to_f8, NARROW),
    conversion.F32x2ToF6x2Op: Row(_to_f6, NARROW),
    conversion.F32x2ToF4x2Op: Row(_to_f4, NARROW),
    conversion.F8x2ToF16x2Op: Row(_from_bytes, _narrow_feature),
    conversion.F6x2ToF16x2Op: Row(_from_bytes, NARROW),
    conversion.F4x2ToF16x2Op: Row(_from_f4, NARROW),
    conversion.F8x2ToBF16x2Op: Row(_from_scales, NARROW),
}
