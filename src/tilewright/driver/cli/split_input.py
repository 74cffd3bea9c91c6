"""Files of several programs, separated by lines `// -----`."""

from __future__ import annotations

import re
from typing import Final

SEPARATOR: Final = "// -----\n"
_LINE: Final = re.compile(r"^// -----[ \t\r]*\n", re.MULTILINE)


def split_input(text: str) -> list[str]:
    """The programs of a text; empty lines before each preserve the numbers of its lines.

    >>> split_input("a\\n// -----\\nb\\n")
    ['a\\n', '\\n\\nb\\n']
    """
    programs: list[str] = []
    start = 0
    for line in [*_LINE.finditer(text), None]:
        stop = len(text) if line is None else line.start()
        programs.append("\n" * text.count("\n", 0, start) + text[start:stop])
        start = stop if line is None else line.end()
    return programs
