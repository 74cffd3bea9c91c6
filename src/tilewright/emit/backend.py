"""Compile LLVM IR text to PTX with llvmlite, in this process.

LLVM aborts the process on instruction-selection failures, so `emit.service` runs this module in
worker processes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import Any, Final

import llvmlite.binding

llvm: Any = llvmlite.binding
"""Untyped: llvmlite has no type stubs."""

TRIPLE: Final = "nvptx64-nvidia-cuda"

WGMMA: Final = "wgmma"
"""Occurs in the text of every module that uses wgmma."""

LIBRARY_FORMAT: Final = 3
"""Format version of cached libdevice functions."""

_PRECISION: Final = re.compile(r'@([\w.]+) = [^\n]* c"__CUDA_PREC_\w+\\00"')

_lock = Lock()
_ready: list[Any] = []


class Rejected(Exception):
    """LLVM rejects the module."""


def nvptx_target() -> Any:
    """Return LLVM's NVPTX target, initialized once."""
    with _lock:
        if not _ready:
            llvm.initialize_all_targets()
            llvm.initialize_all_asmprinters()
            _ready.append(llvm.Target.from_triple(TRIPLE))
    return _ready[0]


def compile_text(
    text: str, cpu: str, features: str, opt_level: int, library: Sequence[bytes] = ()
) -> str:
    """Compile a module to PTX. `library` is bitcode of libdevice functions it calls."""
    # At -O0, LLVM's code around wgmma violates the expectations of ptxas.
    codegen = max(opt_level, 1) if WGMMA in text else opt_level
    machine = nvptx_target().create_target_machine(cpu=cpu, features=features, opt=codegen)
    context = llvm.create_context()
    try:
        module = llvm.parse_assembly(text, context=context)
        module.verify()
    except RuntimeError as error:
        raise Rejected(str(error).strip()) from None
    for bitcode in library:
        module.link_in(llvm.parse_bitcode(bitcode, context=context))
    if library:
        internalize(module, keep=_kernels(module))
    if opt_level:
        _optimize(module, machine, opt_level)
    return machine.emit_assembly(module)


def _optimize(module: Any, machine: Any, opt_level: int) -> None:
    tuning = llvm.create_pipeline_tuning_options(speed_level=opt_level)
    # ptxas unrolls itself; unrolling in LLVM slows down the later passes.
    tuning.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)


def _kernels(module: Any) -> set[str]:
    """Return the functions of the program; those of libdevice start with `__nv_`."""
    return {f.name for f in module.functions if not f.name.startswith("__nv_")}


def internalize(module: Any, keep: Iterable[str]) -> None:
    """Give internal linkage to all functions and globals except `keep`."""
    kept = set(keep)
    for each in (*module.functions, *module.global_variables):
        if not each.is_declaration and each.name not in kept:
            each.linkage = "internal"


def extract_function(library: bytes, name: str) -> bytes | None:
    """Extract the bitcode of one library function and its callees; None if absent."""
    machine = nvptx_target().create_target_machine()
    context = llvm.create_context()
    try:
        module = llvm.parse_bitcode(library, context=context)
    except RuntimeError:
        raise Rejected("it is no bitcode of this LLVM") from None
    if not any(f.name == name and not f.is_declaration for f in module.functions):
        return None
    internalize(module, keep=(name,))
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
    manager = llvm.create_new_module_pass_manager()
    manager.add_global_dead_code_eliminate_pass()
    manager.run(module, builder)
    return llvm.parse_assembly(_precise(str(module)), context=context).as_bitcode()


def defines_function(bitcode: bytes, name: str) -> bool:
    """Whether data is bitcode that defines a function."""
    try:
        module = llvm.parse_bitcode(bitcode, context=llvm.create_context())
    except RuntimeError:
        return False
    return any(f.name == name and not f.is_declaration for f in module.functions)


def _precise(text: str) -> str:
    """Resolve the precision queries of libdevice to true.

    Square roots are then rounded to nearest. LLVM would resolve the unknown queries to false.
    """
    for name in _PRECISION.findall(text):
        asked = re.compile(rf"call i32 @__nvvm_reflect\(ptr @{re.escape(name)}\)[^\n]*")
        text = asked.sub("add i32 1, 0", text)
    return text


def llvm_version() -> str:
    """Return the LLVM version; bitcode is only portable within a version."""
    return ".".join(map(str, llvm.llvm_version_info))
