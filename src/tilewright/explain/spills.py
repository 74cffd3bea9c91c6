"""Source lines of register spills, by nvdisasm where it is installed."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING, Final

from tilewright.emit.toolchain import on_the_path, toolkit_folders, wheel_folders
from tilewright.explain.positions import NOWHERE
from tilewright.explain.report import Spill
from tilewright.support.temporary import temporary_folder

if TYPE_CHECKING:
    from tilewright.explain.positions import Positions

TIMEOUT: Final = 60
_SECTION: Final = re.compile(r"^\s*\.section\s+\.text\.([\w$]+)")
_LINE: Final = re.compile(r'//## File "([^"]*)", line (\d+)')
_LOCAL: Final = re.compile(r"\*/\s+(?:@!?\w+\s+)?(STL|LDL)\b")


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
    """Instructions of a kernel that store to or load from local memory, by source line."""
    counts: dict[int, list[int]] = {}
    current, is_inside = NOWHERE, False
    for line in sass.splitlines():
        if match := _SECTION.match(line):
            is_inside, current = match[1] == kernel, NOWHERE
        elif match := _LINE.search(line):
            current = positions.find(match[1], int(match[2]))
        elif is_inside and (match := _LOCAL.search(line)):
            counts.setdefault(current, [0, 0])[match[1] == "LDL"] += 1
    return [Spill(stores, loads, at) for at, (stores, loads) in sorted(counts.items())]
