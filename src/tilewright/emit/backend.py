"""LLVM itself, by way of llvmlite: from the text of a module to PTX, in this process.

LLVM ends the process on what it cannot select: `emit.service` has processes for that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import Any, Final

import llvmlite.binding  # pyright: ignore[reportMissingTypeStubs]

llvm: Any = llvmlite.binding
"""As a value without types: llvmlite has none."""

TRIPLE: Final = "nvptx64-nvidia-cuda"

WGMMA: Final = "wgmma"
"""What is in the text of every module that multiplies in groups of warps."""

LIBRARY_FORMAT: Final = 3
"""How functions are taken from the library and kept: counts up with each change."""

_PRECISION: Final = re.compile(r'@([\w.]+) = [^\n]* c"__CUDA_PREC_\w+\\00"')

_lock = Lock()
_ready: list[Any] = []


class Rejected(Exception):
    """LLVM does not take the text; says why."""


def prepared() -> Any:
    """LLVM's target, which is made once."""
    with _lock:
        if not _ready:
            llvm.initialize_all_targets()
            llvm.initialize_all_asmprinters()
            _ready.append(llvm.Target.from_triple(TRIPLE))
    return _ready[0]


def compile_text(
    text: str, cpu: str, features: str, opt_level: int, library: Sequence[bytes] = ()
) -> str:
    """The PTX of a module. `library` is bitcode of functions that it calls."""
    # Without its registers assigned at all, code around wgmma is not what ptxas expects.
    codegen = max(opt_level, 1) if WGMMA in text else opt_level
    machine = prepared().create_target_machine(cpu=cpu, features=features, opt=codegen)
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
    # ptxas unrolls where it helps; here it makes the code that follows slow to compile.
    tuning.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)


def _kernels(module: Any) -> set[str]:
    """What was there before the library came: its functions start with `__nv_`."""
    return {f.name for f in module.functions if not f.name.startswith("__nv_")}


def internalize(module: Any, keep: Iterable[str]) -> None:
    """Let nobody outside see the functions and variables of a module, but those to keep."""
    kept = set(keep)
    for each in (*module.functions, *module.global_variables):
        if not each.is_declaration and each.name not in kept:
            each.linkage = "internal"


def extract_function(library: bytes, name: str) -> bytes | None:
    """The bitcode of one function of a library with all that it needs; nothing if it has none."""
    machine = prepared().create_target_machine()
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


def _precise(text: str) -> str:
    """The text of a module of the library, whose questions about precision are answered with yes.

    Square roots are rounded to nearest then. LLVM knows no answer, and takes no for one.
    """
    for name in _PRECISION.findall(text):
        asked = re.compile(rf"call i32 @__nvvm_reflect\(ptr @{re.escape(name)}\)[^\n]*")
        text = asked.sub("add i32 1, 0", text)
    return text


def llvm_version() -> str:
    """Which LLVM this is; its bitcode is only sure to be read by the same."""
    return ".".join(map(str, llvm.llvm_version_info))
