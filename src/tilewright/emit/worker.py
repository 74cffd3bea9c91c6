"""Compiles one module for another process: `python -m tilewright.emit.worker`.

A line of JSON comes in and the text and the library behind it, as many bytes as it says; the PTX
goes out. If LLVM ends this process, the other one reads why on the standard error output.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Final

REJECTED: Final = 3
"""The exit code where LLVM says what is wrong instead of ending the process."""


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


def main() -> int:
    """Serve one request."""
    _no_core_dumps()
    source = sys.stdin.buffer
    head: dict[str, Any] = json.loads(source.readline())
    text = source.read(head["text"]).decode("utf-8", "surrogateescape")
    library = [source.read(size) for size in head["library"]]
    # What may end the process is loaded only here.
    from tilewright.emit.backend import Rejected, compile_text  # noqa: PLC0415

    try:
        ptx = compile_text(text, head["cpu"], head["features"], head["opt_level"], library)
    except Rejected as error:
        print(error, file=sys.stderr)
        return REJECTED
    sys.stdout.buffer.write(ptx.encode())
    return 0


def _no_core_dumps() -> None:
    """An abort is an answer here, and nobody wants its memory on disk."""
    try:
        import resource  # noqa: PLC0415
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    sys.exit(main())
