"""Compile LLVM IR to PTX in a worker process, and turn its crashes into errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.emit.service import Ended, TooLong, gist, pool
from tilewright.emit.toolchain import cache_folder, cache_refusal, find_libdevice
from tilewright.emit.worker import Job, Outcome, request
from tilewright.support.diagnostics import InternalError, Unsupported, fail

if TYPE_CHECKING:
    from tilewright.emit.llvm.module import LLVMModule

TIMEOUT: Final = 600.0
"""The time limit of a compilation in seconds."""


def compile_ptx(
    module: LLVMModule,
    *,
    opt_level: int = 3,
    timeout: float | None = None,
    foreign: bool = False,
) -> str:
    """Compile a module to PTX, within a time limit in seconds.

    A failure on constructs that LLVM is known to accept is an internal error; otherwise the
    program uses an unsupported feature. `foreign` says that the module is a user's: a failure is
    an error in it.
    """
    arch = module.arch
    libdevice = find_libdevice() if module.library else ""
    kept_in = cache_folder() if module.library and cache_refusal() is None else ""
    job = Job(
        module.text, arch.ptx_target, arch.llvm_features, opt_level,
        tuple(module.library), libdevice, kept_in,
    )  # fmt: skip
    try:
        answer = pool().ask(request(job), timeout or TIMEOUT)
    except OSError as error:
        # No more processes, or no more memory for one.
        raise Unsupported(f"PTX without a process for LLVM: {error.strerror}") from None
    except TooLong:
        if timeout is not None:
            fail(f"LLVM took longer than {timeout:g} seconds, the limit of this compilation")
        raise Unsupported(f"code for {arch.name}: no end after {TIMEOUT:.0f} seconds") from None
    except Ended as error:
        if foreign:
            fail(f"LLVM ends on the program: {gist(str(error))}")
        raise _failure(module, "ends on", str(error)) from None
    if answer.outcome is Outcome.UNSUPPORTED:
        raise Unsupported(answer.text)
    if answer.outcome is Outcome.REJECTED:
        if foreign:
            fail(f"LLVM rejects the program: {answer.text}")
        raise _failure(module, "rejects", answer.text)
    return answer.text


def _failure(module: LLVMModule, verb: str, reason: str) -> Exception:
    if module.unproven:
        return Unsupported(f"code for {module.arch.name}: {gist(reason)}")
    return InternalError(f"LLVM {verb} what we wrote: {reason}")
