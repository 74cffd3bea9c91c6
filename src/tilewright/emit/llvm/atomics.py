"""Atomic read-modify-writes, compare-and-swap, and fences.

LLVM 22 drops ordering and scope of `atomicrmw` for NVPTX, which makes it relaxed and GPU-scoped.
Other orderings and scopes are emitted as inline PTX.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from tilewright.dialects.llvm import memory
from tilewright.dialects.llvm.attributes import AtomicBinOp, AtomicOrdering
from tilewright.emit.llvm.constants import escaped
from tilewright.emit.llvm.rows import Assembly, space_of
from tilewright.ir.types import BF16, F16, F32, F64, I32, I64, VectorType
from tilewright.target.features import Feature

if TYPE_CHECKING:
    from tilewright.emit.llvm.function import Emit, FunctionWriter
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation


def scope_text(op: Any) -> str:
    """Spell the scope: ` syncscope("device")`, empty for system scope."""
    return "" if op.syncscope is None else f' syncscope("{escaped(op.syncscope)}")'


_SCOPES: Final[Mapping[str | None, str]] = {
    None: "sys",
    "": "sys",
    "device": "gpu",
    "cluster": "cluster",
    "block": "cta",
}
_SPACES: Final = {0: "", 1: ".global", 3: ".shared", 7: ".shared::cluster"}
_ORDERS: Final = {
    AtomicOrdering.MONOTONIC: "relaxed",
    AtomicOrdering.ACQUIRE: "acquire",
    AtomicOrdering.RELEASE: "release",
    AtomicOrdering.ACQ_REL: "acq_rel",
    AtomicOrdering.SEQ_CST: "acq_rel",
}

_F16X2: Final = VectorType((2,), F16)
_BF16X2: Final = VectorType((2,), BF16)

INSTRUCTIONS: Final[Mapping[tuple[AtomicBinOp, Type], str]] = {
    **{(AtomicBinOp.XCHG, type): f"exch.b{width}" for type, width in ((I32, 32), (I64, 64))},
    **{(AtomicBinOp.ADD, type): f"add.u{width}" for type, width in ((I32, 32), (I64, 64))},
    **{(AtomicBinOp.SUB, type): f"add.u{width}" for type, width in ((I32, 32), (I64, 64))},
    **{
        (kind, type): f"{kind.name.lower()}.b{width}"
        for kind in (AtomicBinOp.AND, AtomicBinOp.OR, AtomicBinOp.XOR)
        for type, width in ((I32, 32), (I64, 64))
    },
    **{
        (kind, type): f"{kind.name.lower()}.s{width}"
        for kind in (AtomicBinOp.MAX, AtomicBinOp.MIN)
        for type, width in ((I32, 32), (I64, 64))
    },
    **{
        (kind, type): f"{kind.name.lower()[1:]}.u{width}"
        for kind in (AtomicBinOp.UMAX, AtomicBinOp.UMIN)
        for type, width in ((I32, 32), (I64, 64))
    },
    (AtomicBinOp.UINC_WRAP, I32): "inc.u32",
    (AtomicBinOp.UDEC_WRAP, I32): "dec.u32",
    (AtomicBinOp.FADD, F32): "add.f32",
    (AtomicBinOp.FADD, F64): "add.f64",
    (AtomicBinOp.FADD, F16): "add.noftz.f16",
    (AtomicBinOp.FADD, _F16X2): "add.noftz.f16x2",
    (AtomicBinOp.FADD, BF16): "add.noftz.bf16",
    (AtomicBinOp.FADD, _BF16X2): "add.noftz.bf16x2",
}
"""The PTX instructions; LLVM expands all others to compare-and-swap loops."""


def _instruction(w: FunctionWriter, op: memory.AtomicRMWOp) -> str | None:
    """Return the suffix of the PTX instruction; None if LLVM selects it."""
    type = op.val.type
    if type in (BF16, _BF16X2) and Feature.BF16_ATOMICS not in w.arch:
        return None
    if op.syncscope not in _SCOPES or space_of(op.ptr) not in _SPACES:
        return None
    suffix = INSTRUCTIONS.get((op.bin_op, type))
    as_written = op.ordering is AtomicOrdering.MONOTONIC and op.syncscope == "device"
    # LLVM expands vectors to a loop even if there is an instruction.
    return None if as_written and not isinstance(type, VectorType) else suffix


def _atomicrmw(w: FunctionWriter, op: memory.AtomicRMWOp) -> None:
    suffix = _instruction(w, op)
    if suffix is None:
        words = "volatile " if op.volatile else ""
        kind = op.bin_op.keyword.removeprefix("_")
        operands = ", ".join(w.all_typed(op.operands))
        align = f", align {op.alignment}" if op.alignment else ""
        order = f"{scope_text(op)} {op.ordering.keyword}{align}"
        w.bind(op.res, f"atomicrmw {words}{kind} {operands}{order}")
        return
    if op.ordering is AtomicOrdering.SEQ_CST:
        w.line(f"fence{scope_text(op)} seq_cst")
    value = w.names[op.val]
    if op.bin_op is AtomicBinOp.SUB:
        value = w.temporary(f"sub {w.types[op.val.type]} 0, {value}")
    asm = Assembly(w)
    result = asm.output(op.res.type)
    address, operand = asm.input(op.ptr), asm.named(op.val.type, value)
    name = (
        f"atom.{_ORDERS[op.ordering]}.{_SCOPES[op.syncscope]}{_SPACES[space_of(op.ptr)]}.{suffix}"
    )
    w.bind(op.res, asm.call(f"{name} {result}, [{address}], {operand};", convergent=False))


def _cmpxchg(w: FunctionWriter, op: memory.CmpXchgOp) -> None:
    words = ("weak " if op.weak else "") + ("volatile " if op.volatile else "")
    operands = ", ".join(w.all_typed(op.operands))
    orders = f"{op.success_ordering.keyword} {op.failure_ordering.keyword}"
    align = f", align {op.alignment}" if op.alignment else ""
    w.bind(op.res, f"cmpxchg {words}{operands}{scope_text(op)} {orders}{align}")


def _fence(w: FunctionWriter, op: memory.FenceOp) -> None:
    w.line(f"fence{scope_text(op)} {op.ordering.keyword}")


ATOMICS: Final[Mapping[type[Operation], Emit]] = {
    memory.CmpXchgOp: _cmpxchg,
    memory.AtomicRMWOp: _atomicrmw,
    memory.FenceOp: _fence,
}
