"""Emitters of `llvm.intr.*` operations, and the ones that the target supports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from tilewright.dialects.elements import element_of
from tilewright.dialects.llvm.base import IntrinsicOp
from tilewright.dialects.llvm.intrinsics import effects
from tilewright.dialects.llvm.intrinsics import floats as f
from tilewright.dialects.llvm.intrinsics import integers as i
from tilewright.dialects.llvm.intrinsics import reductions as r
from tilewright.emit.llvm.rows import flags_text
from tilewright.emit.llvm.types import mangled
from tilewright.ir.types import BF16, F16, F32, VectorType
from tilewright.support.diagnostics import Unsupported

if TYPE_CHECKING:
    from tilewright.emit.llvm.function import Emit, FunctionWriter
    from tilewright.ir.operation import Operation

Suffix = Callable[["Operation"], str]
Extra = Callable[[Any], list[str]]


def _of_operand(op: Operation) -> str:
    return f".{mangled(op.operands[0].type)}"


def _of_result_and_operand(op: Operation) -> str:
    return f".{mangled(op.results[0].type)}.{mangled(op.operands[0].type)}"


def _of_vector(op: Operation) -> str:
    return f".{mangled(op.operands[-1].type)}"


def _of_all(op: Operation) -> str:
    return "".join([f".{mangled(value.type)}" for value in op.operands])


def _of_memset(op: Operation) -> str:
    return f".{mangled(op.operands[0].type)}.{mangled(op.operands[2].type)}"


def _nothing(op: Operation) -> str:
    return ""


def _none(op: Operation) -> list[str]:
    return []


def _flags(op: Operation) -> str:
    flags: Any = op.attributes.get("fastmathFlags")
    return flags_text(flags) if flags is not None and flags.bits else ""


def _row(suffix: Suffix = _of_operand, extra: Extra = _none) -> Emit:
    def emit(w: FunctionWriter, op: IntrinsicOp) -> None:
        arguments = [*w.all_typed(op.operands), *extra(op)]
        w.call(op, f"{op.intrinsic}{suffix(op)}", arguments, _flags(op))

    return emit


def _approximate(*types: object) -> Emit:
    """Emit an intrinsic that the target supports only with `afn` and for some types."""
    plain = _row()

    def emit(w: FunctionWriter, op: Any) -> None:
        if "afn" not in op.fastmath or element_of(op.res.type) not in types:
            without = "" if "afn" in op.fastmath else " without 'afn'"
            raise Unsupported(
                f"'{op.name}' of '{op.res.type}'{without}: the target has no such instruction, "
                "libdevice has the function",
                op.location,
            )
        plain(w, op)

    return emit


def _missing(w: FunctionWriter, op: IntrinsicOp) -> None:
    raise Unsupported(
        f"'{op.name}': the target has no such instruction, libdevice has the function",
        op.location,
    )


def _only(*types: object) -> Emit:
    """Emit an intrinsic that the target supports for some types."""
    plain = _row()

    def emit(w: FunctionWriter, op: Any) -> None:
        if element_of(op.res.type) not in types:
            raise Unsupported(f"'{op.name}' of '{op.res.type}'", op.location)
        plain(w, op)

    return emit


def _byte_swap(w: FunctionWriter, op: i.ByteSwapOp) -> None:
    """Emit per element: LLVM 22 cannot select <2 x i32> on targets with packed f32."""
    type = op.res.type
    if not isinstance(type, VectorType):
        _row()(w, op)
        return
    lane = type.element
    built = "poison"
    for index in range(type.shape[0]):
        before = w.temporary(f"extractelement {w.typed(op.operand)}, i32 {index}")
        name = f"llvm.bswap.{mangled(lane)}"
        after = w.temporary(f"call {w.types[lane]} @{name}({w.types[lane]} {before})")
        text = f"insertelement {w.types[type]} {built}, {w.types[lane]} {after}, i32 {index}"
        if index + 1 == type.shape[0]:
            w.bind(op.res, text)
        else:
            built = w.temporary(text)


_PLAIN: Final = (
    f.SqrtOp, f.FAbsOp, f.FloorOp, f.CeilOp, f.FTruncOp, f.RintOp, f.NearbyintOp, f.RoundOp,
    f.RoundEvenOp, f.MaxNumOp, f.MinNumOp, f.MaximumOp, f.MinimumOp, f.CopySignOp, f.FMAOp,
    f.FMulAddOp,
    i.CtPopOp, i.BitReverseOp, i.SMaxOp, i.SMinOp, i.UMaxOp, i.UMinOp, i.SAddSatOp, i.UAddSatOp,
    i.SSubSatOp, i.USubSatOp, i.FshlOp, i.FshrOp, i.SAddWithOverflowOp, i.UAddWithOverflowOp,
    i.SSubWithOverflowOp, i.USubWithOverflowOp, i.SMulWithOverflowOp, i.UMulWithOverflowOp,
    r.ReduceAddOp, r.ReduceMulOp, r.ReduceAndOp, r.ReduceOrOp, r.ReduceXorOp, r.ReduceSMaxOp,
    r.ReduceSMinOp, r.ReduceUMaxOp, r.ReduceUMinOp, r.ReduceFMaxOp, r.ReduceFMinOp,
    r.ReduceFMaximumOp, r.ReduceFMinimumOp,
    effects.ExpectOp,
)  # fmt: skip


def _bool(value: bool) -> str:
    return f"i1 {'true' if value else 'false'}"


INTRINSICS: Final[Mapping[type[Operation], Emit]] = {
    **dict.fromkeys(_PLAIN, _row()),
    **dict.fromkeys((f.ExpOp, f.LogOp, f.Log2Op, f.Log10Op, f.PowOp), _missing),
    f.Exp2Op: _only(F32, F16, BF16),
    f.SinOp: _approximate(F32),
    f.CosOp: _approximate(F32),
    f.TanhOp: _approximate(F32, F16, BF16),
    i.ByteSwapOp: _byte_swap,
    f.IsFPClassOp: _row(extra=lambda op: [f"i32 {op.bit}"]),
    i.CountLeadingZerosOp: _row(extra=lambda op: [_bool(op.is_zero_poison)]),
    i.CountTrailingZerosOp: _row(extra=lambda op: [_bool(op.is_zero_poison)]),
    i.AbsOp: _row(extra=lambda op: [_bool(op.is_int_min_poison)]),
    f.FPToSISatOp: _row(_of_result_and_operand),
    f.FPToUISatOp: _row(_of_result_and_operand),
    r.ReduceFAddOp: _row(_of_vector),
    r.ReduceFMulOp: _row(_of_vector),
    effects.MemcpyOp: _row(_of_all, lambda op: [_bool(op.is_volatile)]),
    effects.MemmoveOp: _row(_of_all, lambda op: [_bool(op.is_volatile)]),
    effects.MemsetOp: _row(_of_memset, lambda op: [_bool(op.is_volatile)]),
    effects.AssumeOp: _row(_nothing),
    effects.TrapOp: _row(_nothing),
    effects.DebugTrapOp: _row(_nothing),
}
"""The emitter of each intrinsic; those without an instruction raise `Unsupported`."""
