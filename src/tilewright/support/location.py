"""Source texts, and the locations of operations."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

MAX_CALL_SITES: Final = 1024
"""The call sites of one location: the most in bytecode, and the innermost ones in debug info."""
MAX_POSITION: Final = (1 << 32) - 1
"""The largest line or column."""


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

    size: int = 1
    """The leaves of the location as a tree; one of a million leaves may have twenty nodes."""

    def contents(self) -> tuple[object, ...]:
        """The fields that equality compares, other than the parts."""
        return ()

    def parts(self) -> tuple[Location, ...]:
        """The locations inside this one."""
        return ()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Location) and _is_same(self, other)

    def __hash__(self) -> int:
        return hash((self.kind, self.contents(), self.parts()))

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


def all_parts(location: Location) -> tuple[Location, ...]:
    """The parts of a location; of inlined code, callee and caller."""
    return location.parts()


def first(
    location: Location,
    test: Callable[[Location], T | None],
    parts: Callable[[Location], tuple[Location, ...]] = all_parts,
) -> T | None:
    """Return what `test` returns for the first node of a location, in preorder, that is not None.

    Each node is tested once, however often it is shared.
    """
    result = test(location)
    if result is not None:
        return result
    seen: set[int] = set()
    rest = list(reversed(parts(location)))
    while rest:
        node = rest.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        result = test(node)
        if result is not None:
            return result
        rest.extend(reversed(parts(node)))
    return None


def callee_parts(location: Location) -> tuple[Location, ...]:
    """The parts of a location; of inlined code, the callee alone."""
    return (location.callee,) if isinstance(location, CallSiteLoc) else location.parts()


def caller_parts(location: Location) -> tuple[Location, ...]:
    """The parts of a location; of inlined code, the caller alone."""
    return (location.caller,) if isinstance(location, CallSiteLoc) else location.parts()


def innermost(location: Location) -> Location:
    """The location without its callers, of inlined code that of the innermost callee."""
    while isinstance(location, CallSiteLoc):
        location = location.callee
    return location


def _leaf_text(location: Location) -> str | None:
    return None if isinstance(location, CompositeLoc) else str(location) or None


def _leaf_excerpt(location: Location) -> tuple[str, int] | None:
    return None if isinstance(location, CompositeLoc) else location.excerpt()


def _is_same(one: Location, other: Location) -> bool:
    """Compare locations node by node, each pair of nodes once."""
    seen: set[tuple[int, int]] = set()
    rest = [(one, other)]
    while rest:
        left, right = rest.pop()
        if left is right or (id(left), id(right)) in seen:
            continue
        if left.kind is not right.kind or left.contents() != right.contents():
            return False
        left_parts, right_parts = left.parts(), right.parts()
        if len(left_parts) != len(right_parts):
            return False
        if len(left_parts) > 1 and hash(left) != hash(right):
            return False
        seen.add((id(left), id(right)))
        rest.extend(zip(left_parts, right_parts, strict=True))
    return True


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

    @classmethod
    def at_shown_column(cls, file: str, line: int, column: int) -> FileLoc:
        """The location that is shown as `file:line:column`."""
        location = cls(file, line, column)
        return cls(file, line, column - 1) if location.is_python else location

    @property
    def is_python(self) -> bool:
        """Whether the file is Python's, so that the program came from cuTile."""
        return self.file.endswith(".py")

    @property
    def shown_column(self) -> int:
        """The column in diagnostics, which starts at 1.

        Python's parser, and so the debug information of cuTile, starts at 0.
        """
        return self.column + 1 if self.is_python else self.column

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.shown_column}"


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
        return FileLoc.at_shown_column(source.name, line, column)

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

    __slots__ = ("text_location",)

    def __init__(self, location: TextLoc) -> None:
        self.text_location = location

    @property
    def kind(self) -> type[Location]:
        return UnknownLoc

    def __str__(self) -> str:
        return str(self.text_location)

    def excerpt(self) -> tuple[str, int] | None:
        return self.text_location.excerpt()


class CompositeLoc(Location):
    """Base of the locations that are made of others, and shown as the first known one.

    Parts are shared: a chain of `callsite(#l at #l)` has few nodes, and exponentially many as a
    tree. Walks therefore visit each node once, as `first` does.
    """

    __slots__ = ()

    def __str__(self) -> str:
        return first(self, _leaf_text, callee_parts) or ""

    def excerpt(self) -> tuple[str, int] | None:
        return first(self, _leaf_excerpt, callee_parts)


def composite_hash(location: Location) -> int | None:
    """The hash of a location with one part, if the part is composite; parts have theirs.

    Those of leaves are computed on demand: few are asked for, and some have a text to search.
    """
    [part] = location.parts()
    if not isinstance(part, CompositeLoc):
        return None
    return hash((location.kind, location.contents(), part))


class NameLoc(CompositeLoc):
    """`loc("name"(child))`: a named location, with an optional child."""

    __slots__ = ("_hash", "child", "name", "size")

    def __init__(self, name: str, child: Location = UNKNOWN) -> None:
        self.name = name
        self.child = child
        self.size = child.size
        self._hash = composite_hash(self)

    @property
    def names(self) -> list[str]:
        """The result names of an operation at this location, `x,y` for two."""
        return self.name.split(",")

    def contents(self) -> tuple[object, ...]:
        return (self.name,)

    def parts(self) -> tuple[Location, ...]:
        return (self.child,)

    def __hash__(self) -> int:
        return super().__hash__() if self._hash is None else self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return NameLoc, (self.name, self.child)


def unnamed(location: Location) -> Location:
    """Strip value names from a location, for operations that do not define those values."""
    return location.child if isinstance(location, NameLoc) else location


class CallSiteLoc(CompositeLoc):
    """`loc(callsite(callee at caller))`: inlined code and its call site."""

    __slots__ = ("_hash", "callee", "caller", "size")

    def __init__(self, callee: Location, caller: Location) -> None:
        self.callee = callee
        self.caller = caller
        self.size = callee.size + caller.size
        # Parts have theirs, so that no hash walks a tree.
        self._hash = hash((CallSiteLoc, callee, caller))

    def parts(self) -> tuple[Location, ...]:
        return self.callee, self.caller

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return CallSiteLoc, (self.callee, self.caller)


class FusedLoc(CompositeLoc):
    """`loc(fused<metadata>[a, b])`: several locations; metadata is an attribute."""

    __slots__ = ("_hash", "locations", "metadata", "size")

    def __init__(self, locations: tuple[Location, ...], metadata: object = None) -> None:
        self.locations = locations
        self.metadata = metadata
        self.size = sum([location.size for location in locations])
        self._hash = hash((FusedLoc, locations, metadata))

    def contents(self) -> tuple[object, ...]:
        return (self.metadata,)

    def parts(self) -> tuple[Location, ...]:
        return self.locations

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return FusedLoc, (self.locations, self.metadata)


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
