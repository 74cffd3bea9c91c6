"""LLVM for another process: `main` serves one request after another.

A line of words and numbers comes in and the parts of the job behind it, as many bytes as it says;
a line of a word and a number and the PTX, or why there is none, go out. If LLVM ends this process,
the other one goes on, and reads why on the standard error output.
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
    """The file."""
    kept_in: str = ""
    """The folder for what was taken from the file before."""


class Outcome(StrEnum):
    """How a job ended."""

    DONE = "done"
    REJECTED = "rejected"
    UNSUPPORTED = "unsupported"


class Answer(NamedTuple):
    """PTX, or why there is none."""

    outcome: Outcome
    text: str


def request(job: Job) -> bytes:
    """What the worker reads."""
    texts = (job.text, job.libdevice, job.kept_in, *job.functions)
    parts = [text.encode("utf-8", "surrogateescape") for text in texts]
    head = " ".join(map(str, (job.cpu, job.features, job.opt_level, *map(len, parts))))
    return b"".join([head.encode(), b"\n", *parts])


def _requested(source: IO[bytes]) -> Job | None:
    """The next job; nothing if nobody asks any more."""
    line = source.readline()
    if not line:
        return None
    cpu, features, opt_level, *sizes = line.decode().split()
    parts = [source.read(int(size)).decode("utf-8", "surrogateescape") for size in sizes]
    text, libdevice, kept_in, *functions = parts
    return Job(text, cpu, features, int(opt_level), tuple(functions), libdevice, kept_in)


def reply(source: IO[bytes]) -> Answer | None:
    """What the worker wrote; nothing if it has ended."""
    line = source.readline()
    if not line.endswith(b"\n"):
        return None
    outcome, count = line.decode().split()
    body = source.read(int(count))
    return Answer(Outcome(outcome), body.decode()) if len(body) == int(count) else None


def main() -> int:
    """Serve until nobody asks any more."""
    _no_core_dumps()
    source = sys.stdin.buffer
    end_with_caller(source.fileno())
    # What LLVM or a library prints must not come between the replies.
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    missing = _load()
    while (job := _requested(source)) is not None:
        _write(target, missing or _answer(job))
    return 0


def _load() -> Answer | None:
    """Get LLVM ready; where there is none, that is the answer to everything."""
    try:
        from tilewright.emit.backend import prepared  # noqa: PLC0415
    except (ImportError, OSError) as error:
        return Answer(Outcome.UNSUPPORTED, f"{LLVM_IS_MISSING}: {error}")
    prepared()
    return None


def _answer(job: Job) -> Answer:
    # What may end the process is loaded only here.
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
    # Most modules call none.
    from tilewright.emit.libdevice import library_functions  # noqa: PLC0415

    return library_functions(job.functions, job.libdevice, job.kept_in)


def _write(target: IO[bytes], answer: Answer) -> None:
    body = answer.text.encode("utf-8", "replace")
    target.write(f"{answer.outcome} {len(body)}\n".encode() + body)
    target.flush()


def _no_core_dumps() -> None:
    """An abort is an answer here, and nobody wants its memory on disk."""
    try:
        import resource  # noqa: PLC0415
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
