"""Rows of matrices: ldmatrix, stmatrix, mma.sync, wgmma."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from tilewright.dialects.nvvm import matrix, wgmma
from tilewright.dialects.nvvm.attributes import (
    MatrixElement,
    MMAB1Op,
    MMAIntOverflow,
    MMALayout,
    MMAType,
    WGMMAScaleOut,
    WGMMAType,
)
from tilewright.emit.llvm.accumulators import bind_tied, copied, tie
from tilewright.emit.llvm.rows import Assembly, Row, intrinsic
from tilewright.support.diagnostics import InternalError
from tilewright.target.features import Feature
from tilewright.target.tensor_cores import find_mma

if TYPE_CHECKING:
    from tilewright.dialects.nvvm.base import NvvmOp
    from tilewright.emit.llvm.function import FunctionWriter


def _small(op: matrix.LdMatrixOp | matrix.StMatrixOp, count: int) -> str:
    trans = ".trans" if op.layout is MMALayout.COL else ""
    return f"sync.aligned.{op.shape}.x{count}{trans}.{op.element.keyword}.p3"


def _matrix_feature(op: matrix.LdMatrixOp) -> Feature:
    return Feature.BASE if op.element is MatrixElement.B16 else Feature.NARROW_FLOATS


def _stmatrix_feature(op: matrix.StMatrixOp) -> Feature:
    return Feature.STMATRIX if op.element is MatrixElement.B16 else Feature.NARROW_FLOATS


_FP8: Final = (MMAType.E4M3, MMAType.E5M2)


def _mma_suffix(op: matrix.MmaOp | matrix.MmaSpOp) -> str:
    """Return the suffix of the intrinsic: shape, layouts, overflow and types."""
    a, b, c = op.multiplicand("A"), op.multiplicand("B"), op.accumulator
    shape = op.shape
    head = f"{shape}.row.col"
    if op.int_overflow is MMAIntOverflow.SATFINITE:
        head += ".satfinite"
    if a is MMAType.F16:
        return f"{head}.{c.keyword}.{c.keyword}"
    if a in _FP8:
        return f"{head}.{c.keyword}.{a.keyword}.{b.keyword}.{c.keyword}"
    return f"{head}.{a.keyword}" + (f".{b.keyword}" if b is not a else "")


def _dense(op: matrix.MmaOp) -> str:
    bits = ""
    if op.multiplicand("A") is MMAType.B1:
        bits = "and.popc." if op.b1_op is MMAB1Op.AND_POPC else "xor.popc."
    return f"mma.{bits}{_mma_suffix(op)}"


def _sparse(w: FunctionWriter, op: matrix.MmaSpOp) -> None:
    ordered = "ordered.metadata." if op.ordered else ""
    arguments = [*w.all_typed(op.operands), f"i32 {op.selector}"]
    w.call(op, f"llvm.nvvm.mma.sp.{ordered}{_mma_suffix(op)}", arguments)


def _mma_feature(op: matrix.MmaOp | matrix.MmaSpOp) -> Feature:
    a, b, c = op.multiplicand("A").keyword, op.multiplicand("B").keyword, op.accumulator.keyword
    instruction = find_mma(op.table, a, b, c, op.shape.extents)
    if instruction is None:
        raise InternalError("an mma that is not in the tables", op.location)
    return instruction.requires


def _instruction(op: wgmma.WgmmaMmaAsyncOp | wgmma.WgmmaStepsOp) -> str:
    types = [op.type_d, op.type_a, op.type_b]
    words = ".".join([type.keyword for type in types])
    satfinite = getattr(op, "satfinite", None) is MMAIntOverflow.SATFINITE
    tail = ".satfinite" if satfinite else ".and.popc" if op.type_a is WGMMAType.B1 else ""
    return f"wgmma.mma_async.sync.aligned.{op.shape}.{words}{tail}"


_INTEGERS: Final = (WGMMAType.S8, WGMMAType.U8, WGMMAType.B1)
_TRANSPOSABLE: Final = (WGMMAType.F16, WGMMAType.BF16)


def _modifiers(op: wgmma.WgmmaMmaAsyncOp | wgmma.WgmmaStepsOp, a_in_registers: bool) -> str:
    """Return the immediates after scale-d: negation and, for 16-bit types, transposition."""
    if op.type_a in _INTEGERS:
        return ""
    parts = [str(op.scale_a.value), str(op.scale_b.value)]
    if op.type_a in _TRANSPOSABLE:
        if not a_in_registers:
            parts.append(str(int(op.layout_a is MMALayout.COL)))
        parts.append(str(int(op.layout_b is MMALayout.ROW)))
    return "".join([f", {part}" for part in parts])


def _mma_async(w: FunctionWriter, op: wgmma.WgmmaMmaAsyncOp) -> None:
    asm = Assembly(w)
    (registers,) = tie(asm, w, (op.inouts,))
    a, b = asm.input(op.descriptor_a), asm.input(op.descriptor_b)
    scale = int(op.scale_d is WGMMAScaleOut.ONE)
    text = _statement(op, registers, a, b, str(scale), False)
    bind_tied(w, (op.res,), asm.call(text))


def _statement(
    op: wgmma.WgmmaMmaAsyncOp | wgmma.WgmmaStepsOp,
    registers: str,
    a: str,
    b: str,
    scale: str,
    a_in_registers: bool,
) -> str:
    tail = _modifiers(op, a_in_registers)
    return f"{_instruction(op)} {registers}, {a}, {b}, {scale}{tail};"


def _steps(w: FunctionWriter, op: wgmma.WgmmaStepsOp) -> None:
    asm = Assembly(w)
    statements: list[str] = []
    if op.apart:
        (registers,), statements = copied(asm, w, (op.inouts,))
    else:
        (registers,) = tie(asm, w, (op.inouts,))
    if op.fence:
        statements.append("wgmma.fence.sync.aligned;")
    scale = str(int(op.scale is WGMMAScaleOut.ONE))
    if op.scale_d is not None:
        scale = asm.input(op.scale_d)
    a_registers = op.registers_a
    for step, descriptor in enumerate(op.descriptors_b):
        if a_registers:
            start = step * wgmma.A_REGISTERS
            parts = [asm.input(v) for v in a_registers[start : start + wgmma.A_REGISTERS]]
            a = f"{{{', '.join(parts)}}}"
        else:
            a = asm.input(op.descriptors_a[step])
        b = asm.input(descriptor)
        statements.append(_statement(op, registers, a, b, scale, bool(a_registers)))
        scale = "1"
    if op.commit:
        statements.append("wgmma.commit_group.sync.aligned;")
    bind_tied(w, (op.res,), asm.call("\n".join(statements)))


def _wait(w: FunctionWriter, op: wgmma.WgmmaWaitGroupSyncOp) -> None:
    if op.accumulators:
        _through(w, op, f"wgmma.wait_group.sync.aligned {op.group};")
    else:
        w.line(f"call void @llvm.nvvm.wgmma.wait_group.sync.aligned(i64 {op.group})")


def _fence(w: FunctionWriter, op: wgmma.WgmmaFenceAlignedOp) -> None:
    if op.apart:
        asm = Assembly(w)
        _, movs = copied(asm, w, op.accumulators)
        bind_tied(w, op.outputs, asm.call("\n".join([*movs, "wgmma.fence.sync.aligned;"])))
    elif op.accumulators:
        _through(w, op, "wgmma.fence.sync.aligned;")
    else:
        w.line("call void @llvm.nvvm.wgmma.fence.sync.aligned()")


def _through(w: FunctionWriter, op: wgmma.TiedOp, text: str) -> None:
    """Tie accumulators with inline PTX: intrinsics cannot name registers."""
    asm = Assembly(w)
    tie(asm, w, op.accumulators)
    bind_tied(w, op.outputs, asm.call(text))


WGMMA: Final = Feature.WGMMA

MATRIX_ROWS: Final[Mapping[type[NvvmOp], Row]] = {
    matrix.LdMatrixOp: intrinsic(lambda op: f"ldmatrix.{_small(op, op.num)}", _matrix_feature),
    matrix.StMatrixOp: intrinsic(
        lambda op: f"stmatrix.{_small(op, len(op.sources))}", _stmatrix_feature
    ),
    matrix.MmaOp: intrinsic(_dense, _mma_feature),
    matrix.MmaSpOp: Row(_sparse, _mma_feature),
    wgmma.WgmmaFenceAlignedOp: Row(_fence, WGMMA),
    wgmma.WgmmaGroupSyncAlignedOp: intrinsic("wgmma.commit_group.sync.aligned", WGMMA),
    wgmma.WgmmaWaitGroupSyncOp: Row(_wait, WGMMA),
    wgmma.WgmmaMmaAsyncOp: Row(_mma_async, WGMMA),
    wgmma.WgmmaStepsOp: Row(_steps, WGMMA),
}
