"""PTX from LLVM IR: in this process where LLVM has been seen to take it, else in a watched one."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Final

from tilewright.emit.backend import Rejected, compile_text
from tilewright.emit.libdevice import library_functions
from tilewright.emit.worker import REJECTED, request
from tilewright.support.diagnostics import InternalError, Unsupported

if TYPE_CHECKING:
    from tilewright.emit.llvm.module import LLVMModule

TIMEOUT: Final = 600.0
"""Seconds after which a watched compilation is given up."""


def compile_ptx(module: LLVMModule, *, opt_level: int = 3, watched: bool = False) -> str:
    """The PTX of a module; `watched` asks for another process even where none is needed."""
    library = library_functions(module.library)
    if watched or module.unproven:
        return _compile_watched(module, opt_level, library)
    arch = module.arch
    try:
        return compile_text(module.text, arch.ptx_target, arch.llvm_features, opt_level, library)
    except Rejected as error:
        raise InternalError(f"LLVM rejects what we wrote: {error}") from None


def _compile_watched(module: LLVMModule, opt_level: int, library: list[bytes]) -> str:
    arch = module.arch
    data = request(module.text, arch.ptx_target, arch.llvm_features, opt_level, library)
    command = [sys.executable, "-m", "tilewright.emit.worker"]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        raise Unsupported(f"code for {arch.name}: no end after {TIMEOUT:.0f} seconds") from None
    if done.returncode == 0:
        return done.stdout.decode()
    reason = _reason(done.stderr.decode(errors="replace"))
    if done.returncode == REJECTED and not module.unproven:
        raise InternalError(f"LLVM rejects what we wrote: {reason}")
    raise Unsupported(f"code for {arch.name}: {reason}")


def _reason(output: str) -> str:
    """The line that says why LLVM gave up; the rest is the state of LLVM."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error:" in line.lower()]
    return (errors or lines or ["LLVM ended without a word"])[0]
