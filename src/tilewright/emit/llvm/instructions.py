"""Emitters of the LLVM dialect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from tilewright.dialects.llvm import aggregate, arithmetic, calls, control_flow, conversion, memory
from tilewright.dialects.llvm.attributes import (
    AtomicOrdering,
    CallingConvention,
    LoopAnnotationAttr,
)
from tilewright.dialects.llvm.directives import DYNAMIC_INDEX, no_wrap_keywords
from tilewright.emit.llvm.accumulators import bind_lanes, takes_lanes
from tilewright.emit.llvm.assembly import emit_assembly
from tilewright.emit.llvm.atomics import ATOMICS, scope_text
from tilewright.emit.llvm.constants import symbol
from tilewright.emit.llvm.rows import flags_text, space_of

if TYPE_CHECKING:
    from tilewright.emit.llvm.function import Emit, FunctionWriter
    from tilewright.ir.operation import Operation


def _flags(op: Operation, spelling: str) -> str:
    """Print the flags of an operation with a trailing space; empty if none is set."""
    flags: Any = op.attributes.get(spelling)
    return flags_text(flags) if flags is not None and flags.bits else ""


# These emitters write most lines of a program. They access operands and attributes directly:
# declared accessors would dominate the time.


def _binary(kind: type[Operation]) -> Emit:
    opcode = kind.name.removeprefix("llvm.")
    inherent = kind.schema.inherent
    names_of_flags = ("overflowFlags", "fastmathFlags")
    spelling = next((name for name in names_of_flags if name in inherent), "")
    word = next((name for name in ("isExact", "isDisjoint") if name in inherent), "")
    shown = {"isExact": "exact ", "isDisjoint": "disjoint "}.get(word, "")

    def emit(w: FunctionWriter, op: Operation) -> None:
        names = w.names
        a, b = op.operands
        flags = _flags(op, spelling) if spelling else ""
        if word and word in op.attributes:
            flags = shown
        w.lines.append(
            f"  {names[op.results[0]]} = {opcode} {flags}{w.types[a.type]} "
            f"{names[a]}, {names[b]}{w.tail}"
        )

    return emit


def _cast(kind: type[Operation]) -> Emit:
    opcode = kind.name.removeprefix("llvm.")
    flag = "nonNeg" if "nonNeg" in kind.schema.inherent else ""
    overflow = "overflowFlags" in kind.schema.inherent

    def emit(w: FunctionWriter, op: Operation) -> None:
        (value,) = op.operands
        result = op.results[0]
        words = "nneg " if flag and flag in op.attributes else ""
        words += _flags(op, "overflowFlags") if overflow else ""
        names, types = w.names, w.types
        w.lines.append(
            f"  {names[result]} = {opcode} {words}{types[value.type]} {names[value]} "
            f"to {types[result.type]}{w.tail}"
        )

    return emit


def _negate(w: FunctionWriter, op: arithmetic.FNegOp) -> None:
    w.bind(op.res, f"fneg {_flags(op, 'fastmathFlags')}{w.typed(op.operand)}")


def _compare(kind: type[Operation]) -> Emit:
    opcode = kind.name.removeprefix("llvm.")

    def emit(w: FunctionWriter, op: Operation) -> None:
        names = w.names
        a, b = op.operands
        predicate: Any = op.attributes["predicate"]
        flags = _flags(op, "fastmathFlags")
        w.lines.append(
            f"  {names[op.results[0]]} = {opcode} {flags}{predicate.name.lower()} "
            f"{w.types[a.type]} {names[a]}, {names[b]}{w.tail}"
        )

    return emit


def _select(w: FunctionWriter, op: Operation) -> None:
    names, types = w.names, w.types
    c, a, b = op.operands
    type = types[a.type]
    w.lines.append(
        f"  {names[op.results[0]]} = select {_flags(op, 'fastmathFlags')}{types[c.type]} "
        f"{names[c]}, {type} {names[a]}, {type} {names[b]}{w.tail}"
    )


def _freeze(w: FunctionWriter, op: arithmetic.FreezeOp) -> None:
    w.bind(op.res, f"freeze {w.typed(op.val)}")


_NO_WRAP_FLAGS: Final = ["".join([f" {word}" for word in no_wrap_keywords(n)]) for n in range(8)]


def _address(w: FunctionWriter, op: Operation) -> None:
    names, types, attributes = w.names, w.types, op.attributes
    base, *dynamic = op.operands
    raw: Any = attributes["rawConstantIndices"]
    element: Any = attributes["elem_type"]
    no_wrap: Any = attributes.get("noWrapFlags")
    words = _NO_WRAP_FLAGS[no_wrap.value if no_wrap is not None else 0]
    text = (
        f"  {names[op.results[0]]} = getelementptr{words} {types[element.type]}, "
        f"{types[base.type]} {names[base]}"
    )
    at = 0
    for number in raw.values:
        if number == DYNAMIC_INDEX:
            value = dynamic[at]
            at += 1
            text += f", {types[value.type]} {names[value]}"
        else:
            text += f", i32 {number}"
    w.lines.append(text + w.tail)


def _alloca(w: FunctionWriter, op: memory.AllocaOp) -> None:
    space = space_of(op.res)
    parts = [f"alloca {w.types[op.element]}", w.typed(op.size)]
    parts += [f"align {op.alignment}"] if op.alignment else []
    parts += [f"addrspace({space})"] if space else []
    w.bind(op.res, ", ".join(parts))


def _access(w: FunctionWriter, op: Operation) -> tuple[str, str]:
    """Return the prefix and suffix of a memory access."""
    attributes = op.attributes
    ordering = attributes.get("ordering", AtomicOrdering.NOT_ATOMIC)
    words = tail = ""
    if ordering is not AtomicOrdering.NOT_ATOMIC:
        assert isinstance(ordering, AtomicOrdering)
        words, tail = "atomic ", f"{scope_text(op)} {ordering.keyword}"
    if "volatile_" in attributes:
        words += "volatile "
    alignment: Any = attributes.get("alignment")
    if alignment is not None:
        tail += f", align {alignment.value}"
    if "nontemporal" in attributes:
        tail += f", !nontemporal !{w.module.debug.node('!{i32 1}')}"
    if "invariant" in attributes:
        tail += f", !invariant.load !{w.module.debug.node('!{}')}"
    return words, tail


def _load(w: FunctionWriter, op: Operation) -> None:
    names, types = w.names, w.types
    address, result = op.operands[0], op.results[0]
    words, tail = _access(w, op)
    w.lines.append(
        f"  {names[result]} = load {words}{types[result.type]}, {types[address.type]} "
        f"{names[address]}{tail}{w.tail}"
    )


def _store(w: FunctionWriter, op: Operation) -> None:
    names, types = w.names, w.types
    value, address = op.operands
    words, tail = _access(w, op)
    w.lines.append(
        f"  store {words}{types[value.type]} {names[value]}, {types[address.type]} "
        f"{names[address]}{tail}{w.tail}"
    )


def _position(op: Operation) -> str:
    position: Any = op.attributes["position"]
    return ", ".join(map(str, position.values))


def _extractvalue(w: FunctionWriter, op: Operation) -> None:
    names = w.names
    container = op.operands[0]
    w.lines.append(
        f"  {names[op.results[0]]} = extractvalue {w.types[container.type]} "
        f"{names[container]}, {_position(op)}{w.tail}"
    )


def _insertvalue(w: FunctionWriter, op: Operation) -> None:
    names, types = w.names, w.types
    container, value = op.operands
    w.lines.append(
        f"  {names[op.results[0]]} = insertvalue {types[container.type]} {names[container]}, "
        f"{types[value.type]} {names[value]}, {_position(op)}{w.tail}"
    )


def _elements(opcode: str) -> Emit:
    def emit(w: FunctionWriter, op: Operation) -> None:
        w.bind(op.results[0], f"{opcode} {', '.join(w.all_typed(op.operands))}")

    return emit


def _shuffle(w: FunctionWriter, op: aggregate.ShuffleVectorOp) -> None:
    if takes_lanes(w, op):
        bind_lanes(w, op)
        return
    mask = ", ".join(["i32 poison" if n < 0 else f"i32 {n}" for n in op.mask])
    operands = f"{w.typed(op.v1)}, {w.typed(op.v2)}"
    w.bind(op.res, f"shufflevector {operands}, <{len(op.mask)} x i32> <{mask}>")


def _loop(w: FunctionWriter, annotation: LoopAnnotationAttr | None) -> str:
    """Print the loop metadata of a back edge."""
    if annotation is None:
        return ""
    unroll, debug = annotation.unroll, w.module.debug
    wishes: list[int] = []
    if unroll.disable:
        wishes.append(debug.node('!{!"llvm.loop.unroll.disable"}'))
    if unroll.full:
        wishes.append(debug.node('!{!"llvm.loop.unroll.full"}'))
    if unroll.count:
        wishes.append(debug.node(f'!{{!"llvm.loop.unroll.count", i32 {unroll.count}}}'))
    listed = "".join([f", !{number}" for number in wishes])
    return f", !llvm.loop !{debug.distinct('distinct !{{{self}' + listed + '}}')}"


def _weights(w: FunctionWriter, weights: tuple[int, ...] | None) -> str:
    if weights is None:
        return ""
    listed = ", ".join([f"i32 {weight}" for weight in weights])
    node = w.module.debug.node(f'!{{!"branch_weights", {listed}}}')
    return f", !prof !{node}"


def _branch(w: FunctionWriter, op: control_flow.BrOp) -> None:
    w.line(f"br {w.target(op, 0)}{_loop(w, op.loop_annotation)}")


def _conditional(w: FunctionWriter, op: control_flow.CondBrOp) -> None:
    tail = _weights(w, op.branch_weights) + _loop(w, op.loop_annotation)
    w.line(f"br {w.typed(op.condition)}, {w.target(op, 0)}, {w.target(op, 1)}{tail}")


def _switch(w: FunctionWriter, op: control_flow.SwitchOp) -> None:
    type = w.types[op.value.type]
    cases = [f"{type} {n}, {w.target(op, index)}" for index, n in enumerate(op.cases, 1)]
    tail = _weights(w, op.branch_weights)
    w.line(f"switch {w.typed(op.value)}, {w.target(op, 0)} [ {' '.join(cases)} ]{tail}")


def _return(w: FunctionWriter, op: control_flow.ReturnOp) -> None:
    w.line("ret void" if op.arg is None else f"ret {w.typed(op.arg)}")


def _unreachable(w: FunctionWriter, op: control_flow.UnreachableOp) -> None:
    w.line("unreachable")


_CONVENTIONS: Final = {
    CallingConvention.CCC: "",
    CallingConvention.FASTCC: "fastcc ",
    CallingConvention.PTX_KERNELCC: "ptx_kernel ",
    CallingConvention.PTX_DEVICECC: "ptx_device ",
}


def _call(w: FunctionWriter, op: calls.CallOp) -> None:
    words = _flags(op, "fastmathFlags") + _CONVENTIONS[op.calling_convention]
    arguments = list(op.args)
    callee = op.callee
    if callee is not None:
        w.module.called.add(callee)
    target = symbol(callee) if callee is not None else w.names[arguments.pop(0)]
    variadic = op.variadic_type
    result = op.outputs[0] if op.outputs else None
    type = "void" if result is None else w.types[result.type]
    if variadic is not None:
        type = w.types[variadic.type]
    tail = " convergent" if callee is None or op.convergent else ""
    text = f"call {words}{type} {target}({', '.join(w.all_typed(arguments))}){tail}"
    if result is None:
        w.line(text)
    else:
        w.bind(result, text)


PROVEN_INTRINSICS: Final = frozenset(
    ("llvm.nvvm.d2f.rz", "llvm.nvvm.nanosleep", "llvm.nvvm.read.ptx.sreg.dynamic_smem_size")
)
"""Intrinsics that LLVM is known to accept for every target."""


def _intrinsic(w: FunctionWriter, op: calls.CallIntrinsicOp) -> None:
    if op.intrin not in PROVEN_INTRINSICS:
        w.module.unproven.append(op.intrin)
    w.call(op, op.intrin, w.all_typed(op.args), _flags(op, "fastmathFlags"))


_BINARY: Final = (
    arithmetic.AddOp, arithmetic.SubOp, arithmetic.MulOp, arithmetic.UDivOp, arithmetic.SDivOp,
    arithmetic.URemOp, arithmetic.SRemOp, arithmetic.AndOp, arithmetic.OrOp, arithmetic.XorOp,
    arithmetic.ShlOp, arithmetic.LShrOp, arithmetic.AShrOp, arithmetic.FAddOp, arithmetic.FSubOp,
    arithmetic.FMulOp, arithmetic.FDivOp, arithmetic.FRemOp,
)  # fmt: skip
_CASTS: Final = (
    conversion.BitcastOp, conversion.AddrSpaceCastOp, conversion.IntToPtrOp,
    conversion.PtrToIntOp, conversion.SExtOp, conversion.ZExtOp, conversion.TruncOp,
    conversion.SIToFPOp, conversion.UIToFPOp, conversion.FPToSIOp, conversion.FPToUIOp,
    conversion.FPExtOp, conversion.FPTruncOp,
)  # fmt: skip

INSTRUCTIONS: Final[Mapping[type[Operation], Emit]] = {
    **{kind: _binary(kind) for kind in _BINARY},
    **{kind: _cast(kind) for kind in _CASTS},
    arithmetic.FNegOp: _negate,
    arithmetic.ICmpOp: _compare(arithmetic.ICmpOp),
    arithmetic.FCmpOp: _compare(arithmetic.FCmpOp),
    arithmetic.SelectOp: _select,
    arithmetic.FreezeOp: _freeze,
    memory.GEPOp: _address,
    memory.AllocaOp: _alloca,
    memory.LoadOp: _load,
    memory.StoreOp: _store,
    **ATOMICS,
    aggregate.ExtractValueOp: _extractvalue,
    aggregate.InsertValueOp: _insertvalue,
    aggregate.ExtractElementOp: _elements("extractelement"),
    aggregate.InsertElementOp: _elements("insertelement"),
    aggregate.ShuffleVectorOp: _shuffle,
    control_flow.BrOp: _branch,
    control_flow.CondBrOp: _conditional,
    control_flow.SwitchOp: _switch,
    control_flow.ReturnOp: _return,
    control_flow.UnreachableOp: _unreachable,
    calls.CallOp: _call,
    calls.CallIntrinsicOp: _intrinsic,
    calls.InlineAsmOp: emit_assembly,
}
"""The emitter of each operation, except constants and intrinsics."""
