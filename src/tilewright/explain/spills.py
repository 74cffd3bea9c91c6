"""Source lines of register spills, by nvdisasm where it is installed."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING, Final

from tilewright.emit.toolchain import on_the_path, toolkit_folders, wheel_folders
from tilewright.explain.linked_text import SASS_LINE
from tilewright.explain.positions import NOWHERE
from tilewright.explain.report import Spill
from tilewright.support.temporary import temporary_folder

if TYPE_CHECKING:
    from tilewright.explain.positions import Positions

TIMEOUT: Final = 60
_SECTION: Final = re.compile(r"^\s*\.section\s+\.text\.([\w$]+)")
_LOCAL: Final = re.compile(r"\*/\s+(?:@!?\w+\s+)?(STL|LDL)((?:\.\w+)*)\s")
_MARKER: Final = "SpillRefill"
"""How newer versions tell spills from other accesses of local memory."""
WORD: Final = 4
WIDTHS: Final = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}
"""Bytes of an access by its suffix, if not a word."""


def find_nvdisasm() -> str | None:
    """Locate nvdisasm: a wheel, the search path or a toolkit."""
    folders = [*wheel_folders(), *toolkit_folders()]
    inside = [os.path.join(folder, "bin", "nvdisasm") for folder in folders]
    return on_the_path("nvdisasm") or next(filter(os.path.isfile, inside), None)


def disassemble(cubin: bytes) -> str | None:
    """The SASS of a cubin with line comments; None if nvdisasm is missing or fails."""
    tool = find_nvdisasm()
    if tool is None:
        return None
    with temporary_folder("sass") as folder:
        path = os.path.join(folder, "module.cubin")
        with open(path, "wb") as file:
            file.write(cubin)
        try:
            done = subprocess.run(
                [tool, "-g", "-c", path],
                capture_output=True, text=True, errors="replace", timeout=TIMEOUT, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired):
            return None
    return done.stdout if done.returncode == 0 else None


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
