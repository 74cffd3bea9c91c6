"""The line information of Triton's PTX, as the emulator reads it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Final

_FILE: Final = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', re.MULTILINE)
_FIRST_LOC: Final = re.compile(r"^\s*\.loc\s+(\d+)", re.MULTILINE)
_LOC: Final = re.compile(r"(\s*\.loc\s+\d+\s+\d+\s+\d+)\s*//[^@]*@\[(.*)")
_CALL: Final = re.compile(r"\s*([^@\[\]]*?):(\d+):(\d+)(?=[\s\]@])")
_ASSEMBLY: Final = {"// begin inline asm": True, "// end inline asm": False}


def readable_lines(ptx: str, folder: str, file: str = "") -> str:
    """The PTX with the same lines, whose `.loc` directives the emulator can follow to the program.

    `file` is the file of the kernel, if it is known: the cache of Triton returns the PTX of an
    equal kernel in another file, too.

    Triton 3.6 names the calls of inlined functions in comments alone: they become `inlined_at`,
    with the innermost call outside of `folder`, that of Triton. The directives inside of inline
    assembly, as Triton 3.9 has them, count the lines of the assembly, not of the program: they are
    left out.
    """
    ptx = _in_file(ptx, file)
    files = {os.path.basename(path): (number, path) for number, path in _FILE.findall(ptx)}
    return "\n".join(_readable(ptx.split("\n"), files, folder))


def _in_file(ptx: str, file: str) -> str:
    """The PTX with the first line of its kernel in a file."""
    first = _FIRST_LOC.search(ptx)
    if first is None or not file or '"' in file:
        return ptx
    number = first[1]

    def renamed(match: re.Match[str]) -> str:
        return match[0].replace(match[2], file) if match[1] == number else match[0]

    return _FILE.sub(renamed, ptx)


def _readable(lines: list[str], files: Mapping[str, tuple[str, str]], folder: str) -> Iterator[str]:
    in_assembly = False
    for line in lines:
        in_assembly = _ASSEMBLY.get(line.strip(), in_assembly)
        if ".loc" not in line:
            yield line
        elif not in_assembly:
            yield _with_call(line, files, folder)
        else:
            yield "" if line.lstrip().startswith(".loc") else line


def _with_call(line: str, files: Mapping[str, tuple[str, str]], folder: str) -> str:
    """The directive with the call that its comment names."""
    match = _LOC.match(line)
    if match is None:
        return line
    for name, row, column in _CALL.findall(match[2]):
        number, path = files.get(name, ("", ""))
        if number and not path.startswith(os.path.join(folder, "")):
            return f"{match[1]}, function_name $inlined, inlined_at {number} {row} {column}"
    return line
