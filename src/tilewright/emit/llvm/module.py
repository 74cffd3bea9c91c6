"""Translate a program in the llvm and nvvm dialects to LLVM IR text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tilewright.dialects.llvm.attributes import CallingConvention, Linkage, UnnamedAddress
from tilewright.dialects.llvm.control_flow import ReturnOp
from tilewright.dialects.llvm.functions import FuncOp
from tilewright.dialects.llvm.globals import GlobalOp
from tilewright.dialects.nvvm.base import NvvmOp
from tilewright.emit.llvm.attributes import (
    check_launch,
    flushes_denormals,
    function_text,
    parameter_text,
)
from tilewright.emit.llvm.constants import constant_text, symbol
from tilewright.emit.llvm.debug_info import DebugInfo
from tilewright.emit.llvm.function import INLINE, FunctionWriter, ModuleState
from tilewright.emit.llvm.instructions import INSTRUCTIONS
from tilewright.emit.llvm.intrinsics import INTRINSICS
from tilewright.emit.llvm.nvvm import find_row
from tilewright.emit.llvm.types import TypeTexts
from tilewright.emit.llvm.variables import Variables
from tilewright.ir.traits import SYMBOL_TABLE
from tilewright.support.diagnostics import InternalError, Unsupported, fail

if TYPE_CHECKING:
    from tilewright.emit.llvm.function import Emit
    from tilewright.ir.operation import Operation
    from tilewright.target.arch import Arch

TRIPLE: Final = "nvptx64-nvidia-cuda"
LAYOUT: Final = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

LIBRARY_PREFIX: Final = "__nv_"

_PTX_NAME: Final = re.compile(r"[A-Za-z][\w$]*|[_$%][\w$]+", re.ASCII)
_RENAMED: Final = str.maketrans(".@", "__")


class LLVMModule:
    """LLVM IR text, and what compiling it needs."""

    __slots__ = ("arch", "entries", "library", "text", "unproven")

    def __init__(
        self,
        text: str,
        arch: Arch,
        entries: list[str],
        library: list[str],
        unproven: list[str],
    ) -> None:
        self.text = text
        self.arch = arch
        self.entries = entries
        """The kernels, in order."""
        self.library = library
        """The functions of libdevice that are called."""
        self.unproven = unproven
        """Constructs that LLVM is not known to accept."""


def members(module: Operation) -> Iterator[FuncOp | GlobalOp]:
    """Yield the functions and globals of a module and its nested modules."""
    for op in module.members():
        if isinstance(op, FuncOp | GlobalOp):
            yield op
        elif SYMBOL_TABLE in op.traits:
            yield from members(op)
        else:
            fail(f"expected functions and globals in a module, got '{op.name}'", op.location)


def _check_names(symbols: list[FuncOp | GlobalOp]) -> None:
    """Reject duplicate symbols: nested modules share the namespace of the PTX module."""
    seen: set[str] = set()
    for op in symbols:
        if not _is_writable(op):
            kind = "kernel" if isinstance(op, FuncOp) else "global"
            message = f"expected letters, digits, _ and $ in the name of a {kind}"
            fail(f"{message}, got '@{op.sym_name}'", op.location)
        if op.sym_name in seen:
            message = f"'@{op.sym_name}' in several modules: each is a program of its own"
            raise Unsupported(message, op.location)
        seen.add(op.sym_name)


def _is_writable(op: FuncOp | GlobalOp) -> bool:
    """Whether a symbol is valid in PTX; LLVM renames functions and local symbols."""
    if isinstance(op, FuncOp) and not op.is_kernel:
        return True
    name = op.sym_name
    if op.linkage in (Linkage.INTERNAL, Linkage.PRIVATE):
        name = name.translate(_RENAMED)
    return _PTX_NAME.fullmatch(name) is not None


def emit_llvm(
    module: Operation, arch: Arch, *, line_info: bool = False, variables: bool = False
) -> LLVMModule:
    """Translate a module, with line info for profilers or full debug info for debuggers.

    Raises `Unsupported` for features that the target lacks.
    """
    types = TypeTexts()
    state = ModuleState(types, DebugInfo(variables), line_info or variables)
    symbols = list(members(module))
    _check_names(symbols)
    functions = [op for op in symbols if isinstance(op, FuncOp)]
    head = [f'target triple = "{TRIPLE}"', f'target datalayout = "{LAYOUT}"']
    globals = [op for op in symbols if isinstance(op, GlobalOp)]
    # Shared memory is allocated in this order: less is lost to alignment.
    globals.sort(key=lambda op: op.alignment or 0, reverse=True)
    lines = [_global(op, types) for op in globals]
    for function in functions:
        lines += _function(function, state, arch)
    flags: list[str] = []
    if any(map(flushes_denormals, functions)):
        flags.append('!{i32 4, !"nvvm-reflect-ftz", i32 1}')
    lines += state.debug.finish(flags)
    lines.append("")
    return LLVMModule(
        "\n".join([*head, *types.definitions, *lines]),
        arch,
        [function.sym_name for function in functions if function.is_kernel],
        sorted(name for name in state.called if name.startswith(LIBRARY_PREFIX)),
        state.unproven,
    )


_LINKAGES: Final = {
    Linkage.EXTERNAL: "",
    Linkage.EXTERN_WEAK: "extern_weak ",
}


def _linkage(linkage: Linkage) -> str:
    return _LINKAGES.get(linkage, f"{linkage.keyword} ")


def _global(op: GlobalOp, types: TypeTexts) -> str:
    type = types[op.type]
    value = _initial_value(op, types)
    is_defined = value is not None or op.linkage is not Linkage.EXTERNAL
    words = _linkage(op.linkage) if is_defined else "external "
    if op.unnamed_addr is not None and op.unnamed_addr is not UnnamedAddress.NONE:
        words += f"{op.unnamed_addr.keyword} "
    words += f"addrspace({op.address_space}) " if op.address_space else ""
    kind = "constant" if op.constant else "global"
    initial = f" {value or 'undef'}" if is_defined else ""
    align = f", align {op.alignment}" if op.alignment else ""
    return f"{symbol(op.sym_name)} = {words}{kind} {type}{initial}{align}"


def _initial_value(op: GlobalOp, types: TypeTexts) -> str | None:
    if op.value is not None:
        return constant_text(op.value, op.type, types)
    if not op.initializer.blocks:
        return None
    last = op.initializer.block.last
    value = last.arg if isinstance(last, ReturnOp) else None
    source = value.defining_op() if value is not None else None
    inline = INLINE.get(type(source)) if source is not None else None
    if inline is None:
        raise Unsupported(f"the initializer of '@{op.sym_name}': no constant", op.location)
    return inline(source, types)


_CONVENTIONS: Final = {
    CallingConvention.CCC: "",
    CallingConvention.FASTCC: "fastcc ",
    CallingConvention.PTX_KERNELCC: "ptx_kernel ",
    CallingConvention.PTX_DEVICECC: "ptx_device ",
}


def _function(op: FuncOp, state: ModuleState, arch: Arch) -> list[str]:
    types = state.types
    type = op.function_type
    convention = "ptx_kernel " if op.is_kernel else _CONVENTIONS[op.calling_convention]
    attributes = [
        parameter_text(op.argument_attributes(index), types) for index in range(len(type.inputs))
    ]
    kinds = [types[each] + text for each, text in zip(type.inputs, attributes, strict=True)]
    head = f"{convention}{types[type.result]} {symbol(op.sym_name)}"
    if not op.body.blocks:
        inside = ", ".join([*kinds, *["..."] * type.variadic])
        return [f"declare {head}({inside}){function_text(op)}"]
    check_launch(op, arch)
    writer = FunctionWriter(state, arch)
    debug = state.debug.begin(op.sym_name, op.location) if state.line_info else ""
    if state.debug.variables:
        Variables(writer, state.debug, op).write(lambda each: _emitter(each, arch))
    else:
        writer.write(op, lambda each: _emitter(each, arch))
    named = [
        f"{kind} {writer.names[argument]}"
        for kind, argument in zip(kinds, op.arguments, strict=True)
    ]
    linkage = "" if op.linkage is Linkage.EXTERNAL else _linkage(op.linkage)
    start = f"define {linkage}{head}({', '.join(named)}){function_text(op)}{debug} {{"
    return [start, *writer.lines, "}"]


def _emitter(op: Operation, arch: Arch) -> Emit:
    """Look up the emitter of an operation class, once per function."""
    kind = type(op)
    if isinstance(op, NvvmOp):
        return find_row(op)
    emit = INSTRUCTIONS.get(kind) or INTRINSICS.get(kind)
    if emit is None:
        raise InternalError(f"'{op.name}' has no form in LLVM IR", op.location)
    return emit
