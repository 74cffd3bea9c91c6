"""Texts of the levels of a program, each line linked to its source lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tilewright.explain.positions import NOWHERE
from tilewright.explain.ptx_functions import ptx_functions
from tilewright.explain.report import LevelText
from tilewright.support.stack import DeepRecursion
from tilewright.text.printer import Printer, Style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.explain.positions import Positions
    from tilewright.ir.operation import Operation
    from tilewright.support.location import Location

_LOC: Final = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)")
_FILE: Final = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?')
_INLINED: Final = re.compile(r"inlined_at\s+(\d+)\s+(\d+)")
_NO_CODE: Final = (".reg", ".file", "//", "{", "}", ")", "$")
"""How lines of a function begin that are no instructions; inline PTX is not indented."""
SASS_LINE: Final = re.compile(r'//## File "([^"]*)", line (\d+)')
"""The comment of nvdisasm before the instructions of a source line."""
_DBG: Final = re.compile(r"!dbg !(\d+)")
_NODE: Final = re.compile(r"^!(\d+) = (?:distinct )?!(\w+)\((.*)\)$")
_FIELD: Final = re.compile(r'(\w+): (?:!(\d+)|"([^"]*)"|(\d+))')


class _LinkedPrinter(Printer):
    """A printer that records where the text of each operation begins."""

    __slots__ = ("starts",)

    def __init__(self, root: Operation) -> None:
        super().__init__(root, Style.PUBLIC, debug=False, generic=False)
        self.starts: list[tuple[int, Location]] = []
        """The number of pieces of output before an operation, and its location."""

    def operation(self, op: Operation, before: str = "") -> None:
        self.starts.append((len(self.out), op.location))
        super().operation(op, before)


def module_text(name: str, module: Operation, positions: Positions) -> LevelText:
    """Print a module; the closing lines of an operation with regions have no positions."""
    with DeepRecursion():
        printer = _LinkedPrinter(module)
        body = printer.top_level([module], "builtin")
    lines = body.splitlines()
    # Definitions of aliases precede the operations: the body ends where the text ends.
    newlines = [piece.count("\n") for piece in printer.out]
    first = len(lines) - sum(newlines)
    links: list[Sequence[int]] = [()] * len(lines)
    at, piece = first, 0
    for start, location in printer.starts:
        at += sum(newlines[piece:start])
        piece = start
        # The first piece of an operation begins with the line break before it.
        row = at + (printer.out[start].startswith("\n") if start < len(newlines) else 0)
        links[row] = positions.of(location)
    return LevelText(name, lines, links)


def ptx_text(ptx: str, positions: Positions) -> LevelText:
    """Link lines of PTX by its `.loc` directives, which stay in effect until the next one."""
    lines = ptx.splitlines()
    files = {
        match[1]: f"{match[2]}/{match[3]}" if match[3] else match[2]
        for match in map(_FILE.match, lines)
        if match
    }
    links: list[Sequence[int]] = []
    current: Sequence[int] = ()
    ends = {function.end for function in ptx_functions(lines)}
    for number, line in enumerate(lines):
        if number in ends:
            current = ()
        elif match := _LOC.match(line):
            spots = [(match[1], match[2]), *_INLINED.findall(line)]
            numbers = [positions.find(files.get(file, ""), int(row)) for file, row in spots]
            current = tuple(dict.fromkeys(each for each in numbers if each != NOWHERE))
        code = line.strip()
        links.append(() if not code or code.startswith(_NO_CODE) else current)
    return LevelText("ptx", lines, links)


def sass_text(sass: str, positions: Positions) -> LevelText:
    """Link instructions of SASS by the comments of nvdisasm; callers of inlined code follow it."""
    lines = [line.rstrip() for line in sass.splitlines()]
    links: list[Sequence[int]] = []
    current: tuple[int, ...] = ()
    is_inlined = False
    for line in lines:
        match = SASS_LINE.search(line)
        if match is not None:
            number = positions.find(match[1], int(match[2]))
            known = () if number == NOWHERE else (number,)
            current = tuple(dict.fromkeys((*current, *known))) if is_inlined else known
        elif line.lstrip().startswith(".section"):
            current = ()
        is_inlined = match is not None and "inlined at" in line
        links.append(current if "/*" in line else ())
    return LevelText("sass", lines, links)


def llvm_text(llvm: str, positions: Positions) -> LevelText:
    """Link lines of LLVM IR by their debug locations."""
    lines = llvm.splitlines()
    nodes: dict[str, tuple[str, dict[str, str]]] = {}
    for match in map(_NODE.match, lines):
        if match:
            fields = {key: node or text or number for key, node, text, number in
                      _FIELD.findall(match[3])}  # fmt: skip
            nodes[match[1]] = match[2], fields
    known: dict[str, Sequence[int]] = {}
    links: list[Sequence[int]] = []
    for line in lines:
        match = _DBG.search(line)
        if match is None:
            links.append(())
            continue
        if match[1] not in known:
            known[match[1]] = _debug_positions(match[1], nodes, positions)
        links.append(known[match[1]])
    return LevelText("llvm", lines, links)


def _debug_positions(
    node: str, nodes: dict[str, tuple[str, dict[str, str]]], positions: Positions
) -> Sequence[int]:
    """The positions of a debug location and of the calls through which it was inlined."""
    known: dict[int, None] = {}
    seen: set[str] = set()
    while node in nodes and node not in seen:
        seen.add(node)
        kind, fields = nodes[node]
        if kind not in ("DILocation", "DISubprogram"):
            break
        scope = node if kind == "DISubprogram" else fields.get("scope", "")
        number = positions.find(_debug_file(scope, nodes), int(fields.get("line", "0")))
        if number != NOWHERE:
            known[number] = None
        node = fields.get("inlinedAt", "")
    return tuple(known)


def _debug_file(scope: str, nodes: dict[str, tuple[str, dict[str, str]]]) -> str:
    _, fields = nodes.get(scope, ("", {}))
    _, file = nodes.get(fields.get("file", ""), ("", {}))
    folder, name = file.get("directory", ""), file.get("filename", "")
    return f"{folder}/{name}" if folder else name
