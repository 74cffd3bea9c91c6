"""LLVM for another process: `python -m tilewright.emit.worker` serves one request after another.

A line of JSON comes in and the text and the library behind it, as many bytes as it says; a line of
JSON and the PTX, or why there is none, go out. If LLVM ends this process, the other one goes on,
and reads why on the standard error output.
"""

from __future__ import annotations

import json
import os
import sys
from typing import IO, Any, NamedTuple


class Answer(NamedTuple):
    """PTX, or why there is none."""

    done: bool
    text: str


def request(text: str, cpu: str, features: str, opt_level: int, library: list[bytes]) -> bytes:
    """What the worker reads."""
    body = text.encode("utf-8", "surrogateescape")
    head = {
        "cpu": cpu,
        "features": features,
        "opt_level": opt_level,
        "text": len(body),
        "library": [len(each) for each in library],
    }
    return b"".join([json.dumps(head).encode(), b"\n", body, *library])


def reply(source: IO[bytes]) -> Answer | None:
    """What the worker wrote; nothing if it has ended."""
    line = source.readline()
    if not line.endswith(b"\n"):
        return None
    head: dict[str, Any] = json.loads(line)
    body = source.read(head["size"])
    return Answer(head["done"], body.decode()) if len(body) == head["size"] else None


def main() -> int:
    """Serve until nobody asks any more."""
    _no_core_dumps()
    source = sys.stdin.buffer
    # What LLVM or a library prints must not come between the replies.
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # What may end the process is loaded only here.
    from tilewright.emit.backend import Rejected, compile_text, prepared  # noqa: PLC0415

    prepared()
    while line := source.readline():
        head: dict[str, Any] = json.loads(line)
        text = source.read(head["text"]).decode("utf-8", "surrogateescape")
        library = [source.read(size) for size in head["library"]]
        try:
            ptx = compile_text(text, head["cpu"], head["features"], head["opt_level"], library)
            _write(target, Answer(True, ptx))
        except Rejected as error:
            _write(target, Answer(False, str(error)))
    return 0


def _write(target: IO[bytes], answer: Answer) -> None:
    body = answer.text.encode("utf-8", "replace")
    target.write(json.dumps({"done": answer.done, "size": len(body)}).encode() + b"\n" + body)
    target.flush()


def _no_core_dumps() -> None:
    """An abort is an answer here, and nobody wants its memory on disk."""
    try:
        import resource  # noqa: PLC0415
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    sys.exit(main())
