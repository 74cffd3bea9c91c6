"""Worker process of `emit.service`: `main` serves compilation requests.

A request is a header line with sizes, followed by the parts of the job. An answer is a header
line, followed by PTX or an error message. If LLVM aborts this process, the parent reads the
message from standard error.
"""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from typing import IO, Final, NamedTuple

from tilewright.support.diagnostics import Unsupported
from tilewright.support.interpreter import end_with_caller

LLVM_IS_MISSING: Final = "PTX without LLVM: the package llvmlite cannot be loaded"


class Job(NamedTuple):
    """A module for LLVM, and the functions of libdevice that it calls."""

    text: str
    cpu: str
    features: str
    opt_level: int
    functions: tuple[str, ...] = ()
    libdevice: str = ""
    """The path of libdevice."""
    kept_in: str = ""
    """The cache folder of extracted functions."""


class Outcome(StrEnum):
    """The outcome of a job."""

    DONE = "done"
    REJECTED = "rejected"
    UNSUPPORTED = "unsupported"


class Answer(NamedTuple):
    """PTX, or an error message."""

    outcome: Outcome
    text: str


def request(job: Job) -> bytes:
    """Encode a request."""
    texts = (job.text, job.libdevice, job.kept_in, *job.functions)
    parts = [text.encode("utf-8", "surrogateescape") for text in texts]
    head = " ".join(map(str, (job.cpu, job.features, job.opt_level, *map(len, parts))))
    return b"".join([head.encode(), b"\n", *parts])


def _requested(source: IO[bytes]) -> Job | None:
    """Read the next request; None at end of file."""
    line = source.readline()
    if not line:
        return None
    cpu, features, opt_level, *sizes = line.decode().split()
    parts = [source.read(int(size)).decode("utf-8", "surrogateescape") for size in sizes]
    text, libdevice, kept_in, *functions = parts
    return Job(text, cpu, features, int(opt_level), tuple(functions), libdevice, kept_in)


def reply(source: IO[bytes]) -> Answer | None:
    """Read an answer; None at end of file."""
    line = source.readline()
    if not line.endswith(b"\n"):
        return None
    outcome, count = line.decode().split()
    body = source.read(int(count))
    return Answer(Outcome(outcome), body.decode()) if len(body) == int(count) else None


def main() -> int:
    """Serve requests until standard input is closed."""
    _no_core_dumps()
    source = sys.stdin.buffer
    end_with_caller(source.fileno())
    # Output of LLVM must not interleave with the answers.
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    missing = _load()
    while (job := _requested(source)) is not None:
        _write(target, missing or _answer(job))
    return 0


def _load() -> Answer | None:
    """Load LLVM; return an error answer if it is not installed."""
    try:
        from tilewright.emit.backend import nvptx_target  # noqa: PLC0415
    except (ImportError, OSError) as error:
        return Answer(Outcome.UNSUPPORTED, f"{LLVM_IS_MISSING}: {error}")
    nvptx_target()
    return None


def _answer(job: Job) -> Answer:
    # LLVM, which may abort the process, is loaded only here.
    from tilewright.emit.backend import Rejected, compile_text  # noqa: PLC0415

    try:
        library = _library(job) if job.functions else []
        ptx = compile_text(job.text, job.cpu, job.features, job.opt_level, library)
    except Rejected as error:
        return Answer(Outcome.REJECTED, str(error))
    except Unsupported as error:
        return Answer(Outcome.UNSUPPORTED, error.feature)
    return Answer(Outcome.DONE, ptx)


def _library(job: Job) -> list[bytes]:
    # Most modules call no library functions.
    from tilewright.emit.libdevice import library_functions  # noqa: PLC0415

    return library_functions(job.functions, job.libdevice, job.kept_in)


def _write(target: IO[bytes], answer: Answer) -> None:
    body = answer.text.encode("utf-8", "replace")
    target.write(f"{answer.outcome} {len(body)}\n".encode() + body)
    target.flush()


def _no_core_dumps() -> None:
    """Disable core dumps: an abort is an expected outcome."""
    try:
        import resource  # noqa: PLC0415
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
