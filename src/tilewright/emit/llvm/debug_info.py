"""Line information: where each instruction comes from, as LLVM's metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.emit.llvm.constants import escaped
from tilewright.support.location import FileLoc
from tilewright.support.source_place import source_place

if TYPE_CHECKING:
    from tilewright.support.location import FileLoc, Location


_PRODUCER: Final = "tilewright"


class DebugInfo:
    """Numbers of metadata for files, functions and places; each is written once."""

    __slots__ = ("_known", "_lines", "_scope", "_scope_file", "_unit")

    def __init__(self) -> None:
        self._known: dict[object, int] = {}
        self._lines: list[str] = []
        self._unit = -1
        self._scope = -1
        self._scope_file = ""

    def _add(self, key: object, text: str) -> int:
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(self._lines)
            self._lines.append(f"!{found} = {text}")
        return found

    def _file(self, name: str) -> int:
        folder, slash, base = name.rpartition("/")
        directory = escaped((folder + (slash if not folder else "")).encode())
        return self._add(
            ("file", name),
            f'!DIFile(filename: "{escaped(base.encode())}", directory: "{directory}")',
        )

    def begin(self, function: str, location: Location) -> str:
        """Start a function; gives what stands behind its signature."""
        place = source_place(location) or FileLoc("<unknown>", 0, 0)
        file = self._file(place.file)
        if self._unit < 0:
            # With any other kind LLVM asks ptxas for code to debug, which is not optimised.
            self._unit = self._add(
                "unit",
                f"distinct !DICompileUnit(language: DW_LANG_C, file: !{file}, "
                f'producer: "{_PRODUCER}", isOptimized: true, runtimeVersion: 0, '
                "emissionKind: DebugDirectivesOnly)",
            )
        kind = self._add("type", "!DISubroutineType(types: !{})")
        self._scope_file = place.file
        self._scope = self._add(
            ("function", function),
            f'distinct !DISubprogram(name: "{escaped(function.encode())}", file: !{file}, '
            f"scope: !{file}, line: {place.line}, type: !{kind}, scopeLine: {place.line}, "
            f"spFlags: DISPFlagDefinition, unit: !{self._unit})",
        )
        return f" !dbg !{self._scope}"

    def tail(self, location: Location) -> str:
        """What stands behind an instruction."""
        place = source_place(location)
        if place is None:
            return f", !dbg !{self._place(0, 0, self._scope)}"
        scope = self._scope
        if place.file != self._scope_file:
            file = self._file(place.file)
            scope = self._add(
                ("block", scope, file),
                f"!DILexicalBlockFile(scope: !{scope}, file: !{file}, discriminator: 0)",
            )
        return f", !dbg !{self._place(place.line, place.column, scope)}"

    def _place(self, line: int, column: int, scope: int) -> int:
        return self._add(
            (line, column, scope),
            f"!DILocation(line: {line}, column: {column}, scope: !{scope})",
        )

    def node(self, text: str) -> int:
        """Some other metadata."""
        return self._add(text, text)

    def distinct(self, text: str) -> int:
        """Metadata that is its own first operand, which `{self}` stands for."""
        number = len(self._lines)
        self._lines.append(f"!{number} = {text.format(self=f'!{number}')}")
        return number

    def finish(self, flags: list[str]) -> list[str]:
        """All metadata; module flags are given by their text."""
        named: list[str] = []
        if self._unit >= 0:
            named.append(f"!llvm.dbg.cu = !{{!{self._unit}}}")
            flags = [*flags, '!{i32 2, !"Debug Info Version", i32 3}']
        if flags:
            numbers = [self.node(flag) for flag in flags]
            listed = ", ".join([f"!{number}" for number in numbers])
            named.append(f"!llvm.module.flags = !{{{listed}}}")
        return [*named, *self._lines]
