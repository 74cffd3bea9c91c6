"""The functions of a PTX module: the lines of each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEAD: Final = re.compile(r"^(?:\.\w+\s+)*\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)")


class Function(NamedTuple):
    """A function with a body, from the line of its opening brace to that of its closing one."""

    name: str
    start: int
    end: int


def ptx_functions(lines: Sequence[str]) -> list[Function]:
    """The functions that have bodies; inline PTX has braces of its own, which are balanced."""
    functions: list[Function] = []
    name, start, level = "", -1, 0
    for number, line in enumerate(lines):
        if level == 0 and (match := _HEAD.match(line)):
            name = match[1]
        if not name:
            continue
        if level == 0 and line.startswith("{"):
            start = number
        if start < 0:
            # Parameters precede the body, and a declaration has none.
            name = "" if line.endswith(";") else name
            continue
        level += line.count("{") - line.count("}")
        if level == 0:
            functions.append(Function(name, start, number))
            name, start = "", -1
    return functions
