"""LLVM for another process: `python -m tilewright.emit.worker` serves one request after another.

A line of words and numbers comes in and the text and the library behind it, as many bytes as it
says; a line of two numbers and the PTX, or why there is none, go out. If LLVM ends this process,
the other one goes on, and reads why on the standard error output.
"""

from __future__ import annotations

import os
import sys
from typing import IO, NamedTuple


class Answer(NamedTuple):
    """PTX, or why there is none."""

    done: bool
    text: str


def request(text: str, cpu: str, features: str, opt_level: int, library: list[bytes]) -> bytes:
    """What the worker reads."""
    body = text.encode("utf-8", "surrogateescape")
    sizes = [len(each) for each in (body, *library)]
    head = " ".join(map(str, (cpu, features, opt_level, *sizes)))
    return b"".join([head.encode(), b"\n", body, *library])


def reply(source: IO[bytes]) -> Answer | None:
    """What the worker wrote; nothing if it has ended."""
    line = source.readline()
    if not line.endswith(b"\n"):
        return None
    done, size = map(int, line.split())
    body = source.read(size)
    return Answer(bool(done), body.decode()) if len(body) == size else None


def main() -> int:
    """Serve until nobody asks any more."""
    _no_core_dumps()
    source = sys.stdin.buffer
    _end_with_caller(source.fileno())
    # What LLVM or a library prints must not come between the replies.
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # What may end the process is loaded only here.
    from tilewright.emit.backend import Rejected, compile_text, prepared  # noqa: PLC0415

    prepared()
    while line := source.readline():
        cpu, features, opt_level, *sizes = line.decode().split()
        body, *library = [source.read(int(size)) for size in sizes]
        text = body.decode("utf-8", "surrogateescape")
        try:
            ptx = compile_text(text, cpu, features, int(opt_level), library)
            _write(target, Answer(True, ptx))
        except Rejected as error:
            _write(target, Answer(False, str(error)))
    return 0


def _write(target: IO[bytes], answer: Answer) -> None:
    body = answer.text.encode("utf-8", "replace")
    target.write(b"%d %d\n" % (answer.done, len(body)) + body)
    target.flush()


def _end_with_caller(pipe: int) -> None:
    """End when nobody holds the other end of the pipe any more, in the middle of LLVM as well.

    Whoever compiles may be killed, for taking too long among other reasons.
    """
    import select  # noqa: PLC0415
    from threading import Thread  # noqa: PLC0415

    if not hasattr(select, "poll"):
        return
    watched = select.poll()
    # For no event at all: that it is closed is always reported.
    watched.register(pipe, 0)

    def wait() -> None:
        watched.poll()
        os._exit(0)

    Thread(target=wait, daemon=True).start()


def _no_core_dumps() -> None:
    """An abort is an answer here, and nobody wants its memory on disk."""
    try:
        import resource  # noqa: PLC0415
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    sys.exit(main())
