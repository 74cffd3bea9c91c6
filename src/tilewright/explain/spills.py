"""Source lines of register spills, by nvdisasm where it is installed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tilewright.emit.sass import disassemble_cubin
from tilewright.explain.linked_text import SASS_LINE
from tilewright.explain.positions import NOWHERE
from tilewright.explain.report import Spill
from tilewright.support.diagnostics import Unsupported

if TYPE_CHECKING:
    from tilewright.explain.positions import Positions

_SECTION: Final = re.compile(r"^\s*\.section\s+\.text\.([\w$]+)")
_LOCAL: Final = re.compile(r"\*/\s+(?:@!?\w+\s+)?(STL|LDL)((?:\.\w+)*)\s")
_MARKER: Final = "SpillRefill"
"""How newer versions tell spills from other accesses of local memory."""
WORD: Final = 4
WIDTHS: Final = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}
"""Bytes of an access by its suffix, if not a word."""


def disassemble(cubin: bytes) -> str | None:
    """The SASS of a cubin with line comments; None if nvdisasm is missing or fails."""
    try:
        return disassemble_cubin(cubin)
    except Unsupported:
        return None


def spills_of(sass: str, kernel: str, positions: Positions) -> list[Spill]:
    """The bytes that a kernel spills by source line, most first."""
    counts: dict[int, list[int]] = {}
    current, is_inside = NOWHERE, False
    is_marked = _MARKER in sass
    for line in sass.splitlines():
        if match := _SECTION.match(line):
            is_inside, current = match[1] == kernel, NOWHERE
        elif match := SASS_LINE.search(line):
            current = positions.find(match[1], int(match[2]))
        elif is_inside and (match := _LOCAL.search(line)) and (not is_marked or _MARKER in line):
            widths = [WIDTHS[suffix] for suffix in match[2].split(".") if suffix in WIDTHS]
            counts.setdefault(current, [0, 0])[match[1] == "LDL"] += widths[0] if widths else WORD
    spills = [Spill(stores, loads, at) for at, (stores, loads) in counts.items()]
    return sorted(spills, key=lambda each: (-each.stores - each.loads, each.position))
