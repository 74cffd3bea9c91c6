"""Source texts, and the locations of operations."""

from __future__ import annotations

from bisect import bisect_right
from typing import Final


class Source:
    """A named source text; computes lines and columns on demand."""

    __slots__ = ("_line_starts", "name", "text")

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self._line_starts: list[int] | None = None

    def line_column(self, offset: int) -> tuple[int, int]:
        """The 1-based line and column of a character offset."""
        starts = self._line_starts
        if starts is None:
            starts = [0]
            find = self.text.find
            at = find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = find("\n", at + 1)
            self._line_starts = starts
        row = bisect_right(starts, offset) - 1
        return row + 1, offset - starts[row] + 1

    def line(self, number: int) -> str:
        """The text of a 1-based line, without its line break."""
        self.line_column(0)
        starts = self._line_starts or [0]
        start = starts[number - 1]
        end = starts[number] - 1 if number < len(starts) else len(self.text)
        return self.text[start:end]


class Location:
    """Base of all locations: immutable, compared by contents."""

    __slots__ = ()

    def contents(self) -> tuple[object, ...]:
        """The fields that equality compares."""
        return ()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Location) or self.kind is not other.kind:
            return False
        return self.contents() == other.contents()

    def __hash__(self) -> int:
        return hash((self.kind, self.contents()))

    @property
    def kind(self) -> type[Location]:
        """The class used in comparisons."""
        return type(self)

    def __str__(self) -> str:
        """The location in diagnostics; empty if unknown."""
        return ""

    def excerpt(self) -> tuple[str, int] | None:
        """The source line and 1-based column, if the source text is available."""
        return None


class UnknownLoc(Location):
    """`loc(unknown)`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = UnknownLoc()


class FileLoc(Location):
    """`loc("file":line:column)`, or a range of positions in one file."""

    __slots__ = ("column", "end", "file", "line")

    file: str
    line: int
    column: int
    end: tuple[int, int] | None

    def __init__(
        self, file: str, line: int, column: int, end: tuple[int, int] | None = None
    ) -> None:
        self.file = file
        self.line = line
        self.column = column
        self.end = end

    @property
    def kind(self) -> type[Location]:
        return FileLoc

    def contents(self) -> tuple[object, ...]:
        return self.file, self.line, self.column, self.end

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class TextLoc(Location):
    """A location in a parsed text, equal to the `FileLoc` that it resolves to.

    Most locations are never inspected, so the parser stores only `position` and the `Positions`
    that convert it to a character offset.
    """

    __slots__ = ("position", "positions")

    def __init__(self, positions: Positions, position: int) -> None:
        self.positions = positions
        self.position = position

    @property
    def kind(self) -> type[Location]:
        return FileLoc

    def resolve(self) -> FileLoc:
        """Compute the file location."""
        source = self.positions.source
        line, column = source.line_column(self.positions.offset(self.position))
        return FileLoc(source.name, line, column)

    def contents(self) -> tuple[object, ...]:
        return self.resolve().contents()

    def __str__(self) -> str:
        return str(self.resolve())

    def excerpt(self) -> tuple[str, int] | None:
        source = self.positions.source
        line, column = source.line_column(self.positions.offset(self.position))
        return source.line(line), column


class Positions:
    """Converts positions in one text to character offsets; a lexer overrides `offset`."""

    __slots__ = ("source",)

    def __init__(self, source: Source) -> None:
        self.source = source

    def offset(self, position: int) -> int:
        """Return the character offset of a position; the identity by default."""
        return position


class ByteLoc(Location):
    """A byte offset in a binary file."""

    __slots__ = ("file", "offset")

    def __init__(self, file: str, offset: int) -> None:
        self.file = file
        self.offset = offset

    def contents(self) -> tuple[object, ...]:
        return self.file, self.offset

    def __str__(self) -> str:
        return f"{self.file}: {self.offset_text}"

    @property
    def offset_text(self) -> str:
        """The offset without the file name."""
        return f"byte {self.offset} (0x{self.offset:x})"


class UnstatedLoc(UnknownLoc):
    """`loc(unknown)` in a text: equal to `UNKNOWN`, but diagnostics show its text location."""

    __slots__ = ("_text_location",)

    def __init__(self, location: TextLoc) -> None:
        self._text_location = location

    @property
    def kind(self) -> type[Location]:
        return UnknownLoc

    def __str__(self) -> str:
        return str(self._text_location)

    def excerpt(self) -> tuple[str, int] | None:
        return self._text_location.excerpt()


class NameLoc(Location):
    """`loc("name"(child))`: a named location, with an optional child."""

    __slots__ = ("child", "name")

    def __init__(self, name: str, child: Location = UNKNOWN) -> None:
        self.name = name
        self.child = child

    @property
    def names(self) -> list[str]:
        """The result names of an operation at this location, `x,y` for two."""
        return self.name.split(",")

    def contents(self) -> tuple[object, ...]:
        return self.name, self.child

    def __str__(self) -> str:
        return str(self.child)

    def excerpt(self) -> tuple[str, int] | None:
        return self.child.excerpt()


def unnamed(location: Location) -> Location:
    """Strip value names from a location, for operations that do not define those values."""
    return location.child if isinstance(location, NameLoc) else location


class CallSiteLoc(Location):
    """`loc(callsite(callee at caller))`: inlined code and its call site."""

    __slots__ = ("callee", "caller")

    def __init__(self, callee: Location, caller: Location) -> None:
        self.callee = callee
        self.caller = caller

    def contents(self) -> tuple[object, ...]:
        return self.callee, self.caller

    def __str__(self) -> str:
        return str(self.callee)

    def excerpt(self) -> tuple[str, int] | None:
        return self.callee.excerpt()


class FusedLoc(Location):
    """`loc(fused<metadata>[a, b])`: several locations; metadata is an attribute."""

    __slots__ = ("locations", "metadata")

    def __init__(self, locations: tuple[Location, ...], metadata: object = None) -> None:
        self.locations = locations
        self.metadata = metadata

    def contents(self) -> tuple[object, ...]:
        return self.locations, self.metadata

    def __str__(self) -> str:
        return next((text for location in self.locations if (text := str(location))), "")

    def excerpt(self) -> tuple[str, int] | None:
        excerpts = (location.excerpt() for location in self.locations)
        return next((excerpt for excerpt in excerpts if excerpt is not None), None)


def fuse(*locations: Location) -> Location:
    """Fuse locations; duplicates and unknown locations are dropped."""
    parts: dict[Location, None] = {}
    for location in locations:
        members: tuple[Location, ...] = (location,)
        if isinstance(location, FusedLoc) and location.metadata is None:
            members = location.locations
        parts.update((member, None) for member in members if member is not UNKNOWN)
    if not parts:
        return UNKNOWN
    known = tuple(parts)
    return known[0] if len(known) == 1 else FusedLoc(known)
