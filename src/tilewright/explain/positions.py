"""Number the source lines that locations name, and read their files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from tilewright.explain.report import Position, SourceFile
from tilewright.support.location import FileLoc, TextLoc

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tilewright.support.location import Location

MAX_POSITIONS: Final = 16
"""The most source lines of one operation: fused locations may have thousands."""
MAX_SOURCE_BYTES: Final = 2 << 20
SUFFIXES: Final = (".py", ".cu", ".cuh", ".h", ".hpp", ".jl", ".rs", ".mlir")
PACKAGES: Final = frozenset(("site-packages", "dist-packages"))
NOWHERE: Final = -1


class Positions:
    """The source lines of a program, numbered in the order in which they are first seen."""

    def __init__(self, known: Mapping[str, str], folders: Sequence[str] = ()) -> None:
        self._known = known
        """The texts of sources that were read already, by file name."""
        self._folders = [os.path.realpath(folder) for folder in folders]
        """Where files may be read: a module names any file, and pages are shared."""
        self._numbers: dict[tuple[str, int], int] = {}
        self._by_path: dict[tuple[str, int], int] = {}
        self._by_location: dict[int, tuple[int, ...]] = {}
        self._kept: list[Location] = []

    def of(self, location: Location) -> tuple[int, ...]:
        """The positions of a location: of inlined code, those of callee and callers."""
        known = self._by_location.get(id(location))
        if known is None:
            known = tuple(dict.fromkeys(self.number(*each) for each in _lines(location)))
            self._by_location[id(location)] = known
            # An id is unique as long as the location is alive.
            self._kept.append(location)
        return known

    def first(self, location: Location) -> int:
        """The first position of a location, or `NOWHERE`."""
        return next(iter(self.of(location)), NOWHERE)

    def number(self, file: str, line: int) -> int:
        """The number of a line of a file."""
        number = self._numbers.get((file, line))
        if number is None:
            number = self._numbers[file, line] = len(self._numbers)
            self._by_path.setdefault((os.path.normpath(file), line), number)
        return number

    def find(self, file: str, line: int) -> int:
        """The number of a line of a file that may be spelled in another way, or `NOWHERE`.

        LLVM splits a path into folder and name, and drops what it does not need.
        """
        number = self._numbers.get((file, line))
        if number is not None:
            return number
        return self._by_path.get((os.path.normpath(file), line), NOWHERE)

    def tables(self) -> tuple[list[SourceFile], list[Position]]:
        """The files with their texts, and all positions."""
        texts = {file: self._text(file) for file, _ in self._numbers}
        for name, text in self._known.items():
            texts.setdefault(name, text)
        names = sorted((name for name, text in texts.items() if text is not None), key=self._order)
        sources = [SourceFile(name, (texts[name] or "").splitlines()) for name in names]
        index = {name: number for number, name in enumerate(names)}
        positions = [
            Position(file, line, self._source(index.get(file, NOWHERE), line, sources))
            for file, line in self._numbers
        ]
        return sources, positions

    def _order(self, name: str) -> tuple[bool, str]:
        """Front-end sources first, the text of the module last."""
        return name in self._known, name

    @staticmethod
    def _source(index: int, line: int, sources: list[SourceFile]) -> int:
        exists = index != NOWHERE and 1 <= line <= len(sources[index].lines)
        return index if exists else NOWHERE

    def _text(self, file: str) -> str | None:
        if file in self._known:
            return self._known[file]
        path = os.path.realpath(file)
        if not path.endswith(SUFFIXES) or not self._may_read(path):
            return None
        try:
            if not os.path.isfile(path) or os.path.getsize(path) > MAX_SOURCE_BYTES:
                return None
            with open(path, encoding="utf-8", errors="replace") as stream:
                return stream.read()
        except OSError:
            return None

    def _may_read(self, path: str) -> bool:
        """Whether a file is in one of the folders, and not part of an installed package."""
        for folder in self._folders:
            inside = os.path.relpath(path, folder).split(os.sep)
            if inside[0] != os.pardir and not PACKAGES.intersection(inside):
                return True
        return False


def _lines(location: Location) -> Iterable[tuple[str, int]]:
    """The files and lines of the leaves of a location, each node once."""
    lines: dict[tuple[str, int], None] = {}
    seen: set[int] = set()
    rest = [location]
    while rest and len(lines) < MAX_POSITIONS:
        node = rest.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        leaf = node.resolve() if isinstance(node, TextLoc) else node
        if isinstance(leaf, FileLoc):
            lines[leaf.file, leaf.line] = None
        rest.extend(reversed(node.parts()))
    return lines
