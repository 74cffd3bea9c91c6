"""Messages between the server of the playground and its child processes.

Requests and answers are JSON: code of the program that is compiled runs in children of the child,
so that nothing that arrives from there is unmarshalled or unpickled.
"""

from __future__ import annotations

import json
from struct import Struct
from typing import IO, Any, Final

LENGTH: Final = Struct("<Q")

EXPLAIN: Final = "explain"
RUN: Final = "run"
ACTIONS: Final = (EXPLAIN, RUN)


def write_request(target: IO[bytes], request: dict[str, Any]) -> None:
    """Send a request. The pipe stays open: the child ends as soon as it is closed."""
    data = json.dumps(request).encode()
    target.write(LENGTH.pack(len(data)) + data)
    target.flush()


def read_request(source: IO[bytes]) -> dict[str, Any] | None:
    """Receive a request; None at end of file."""
    head = source.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    [length] = LENGTH.unpack(head)
    data = source.read(length)
    return json.loads(data) if len(data) == length else None
