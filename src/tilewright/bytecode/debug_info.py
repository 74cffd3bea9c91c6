"""The Debug section: the locations of the operations of each function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final, TypeVar

from tilewright.bytecode.opcodes import DebugTag
from tilewright.bytecode.tables import OffsetTable, Pool, StringPool, StringTable
from tilewright.bytecode.varint import Buffer, Cursor
from tilewright.bytecode.versions import SUBPROGRAM_FLAGS, Version
from tilewright.dialects.cuda_tile.debug_info import (
    DICompileUnit,
    DIFile,
    DILexicalBlock,
    DILoc,
    DILocalScope,
    DINode,
    DISubprogram,
)
from tilewright.support.diagnostics import InvalidValue
from tilewright.support.location import (
    MAX_CALL_SITES,
    MAX_POSITION,
    UNKNOWN,
    ByteLoc,
    CallSiteLoc,
    FileLoc,
    Location,
    TextLoc,
    UnknownLoc,
)
from tilewright.support.stack import DeepRecursion

T = TypeVar("T", bound="DINode | Location")

MAX_RECORD_NESTING: Final = 2 * MAX_CALL_SITES
_DEEP: Final = 32
_FRAMES: Final = 1000 + 8 * MAX_RECORD_NESTING
"""The Python frames of the deepest nesting."""


class DebugTable:
    """The debug records of a file; number 0 is an unknown location, record n has number n + 1."""

    __slots__ = (
        "_indices",
        "_known",
        "_open",
        "_starts",
        "_strings",
        "lists",
        "locations",
        "records",
        "table",
        "version",
    )

    def __init__(self, cursor: Cursor, strings: StringTable, version: Version) -> None:
        self._strings = strings
        self.version = version
        count = cursor.count("functions", 4)
        self._starts = cursor.offsets(count, 4, "starts of functions")
        self.lists = cursor.at
        """Where the locations of all functions start, with their number."""
        count = cursor.count("locations", 8)
        self._indices = cursor.offsets(count, 8, "locations")
        self.records = cursor.at
        """Where the table of records starts, with their number."""
        self.table = OffsetTable(cursor, 4, "debug record")
        self._known: dict[int, DINode | Location] = {0: UNKNOWN}
        self.locations: dict[int, Location] = {}
        """Decoded locations; unknown ones depend on the byte offset and are not cached."""
        self._open: list[int] = []

    def function(self, number: int, user: Cursor, at: int) -> Locations:
        """The locations of a function and its operations, in order."""
        starts = self._starts
        if number > len(starts):
            user.fail(f"expected a list of locations up to {len(starts)}, found {number}", at)
        return Locations(self, islice(self._indices, starts[number - 1], None))

    def location(self, index: int, user: Cursor, at: int) -> Location:
        """Return the location with an index; if unknown, the byte offset."""
        if index == 0:
            return user.location(at)
        node = self._known.get(index) or self._decode(index, user, at)
        if not isinstance(node, Location):
            user.fail(f"expected debug record {index - 1} to be a location, found a scope", at)
        if node is UNKNOWN:
            return user.location(at)
        self.locations[index] = node
        return node

    @property
    def function_count(self) -> int:
        """The number of functions with locations."""
        return len(self._starts)

    @property
    def location_count(self) -> int:
        """The number of locations in the lists of all functions."""
        return len(self._indices)

    def node(self, index: int) -> DINode | Location:
        """Return the record of an index."""
        return self._known.get(index + 1) or self._decode(index + 1, self.table.cursor, 0)

    def _decode(self, index: int, user: Cursor, at: int) -> DINode | Location:
        if index in self._open:
            user.fail(f"expected debug records without cycles, found {index - 1} in itself", at)
        if len(self._open) == MAX_RECORD_NESTING:
            user.fail(f"expected at most {MAX_RECORD_NESTING} nested debug records, found more", at)
        with DeepRecursion():
            if len(self._open) == _DEEP:
                DeepRecursion.need(_FRAMES)
            self._open.append(index)
            node = self._known[index] = self.table.parse(index - 1, user, at, self._parse)
            self._open.pop()
        return node

    def _parse(self, record: Cursor) -> DINode | Location:
        return _PARSERS.get(record.varint(), _unknown)(self, record)

    def member(self, record: Cursor, kind: type[T]) -> T:
        """Read a reference to another record of a given kind."""
        at = record.at
        index = record.varint()
        node = self._known.get(index)
        if node is None:
            node = self._decode(index, record, at)
        if not isinstance(node, kind):
            record.fail(f"expected {_TITLES[kind]}, found {_title(node)}", at)
        return node

    def string(self, record: Cursor) -> str:
        """Read a string reference: a name, which ends at a NUL in most formats."""
        at = record.at
        text = self._strings.read(record)
        if "\0" in text:
            record.fail(f"expected a name without NUL characters, found '{text}'", at)
        return text

    def call_site(self, callee: Location, caller: Location, record: Cursor) -> Location:
        """Build a call-site location; reject one with too many call sites."""
        site = CallSiteLoc(callee, caller)
        problem = _call_site_problem(site)
        if problem is not None:
            record.fail(problem)
        return site


class Locations:
    """An iterator over the locations of one function."""

    __slots__ = ("_indices", "_known", "_table")

    def __init__(self, table: DebugTable, indices: Iterator[int]) -> None:
        self._table = table
        self._known = table.locations
        self._indices = indices

    def next(self, user: Cursor, at: int) -> Location:
        """Return the location of the entity at a position."""
        index = next(self._indices, None)
        if index is None:
            user.fail("expected a location for each operation, found the end of the list", at)
        return self._known.get(index) or self._table.location(index, user, at)


def _call_site_problem(site: CallSiteLoc) -> str | None:
    """Say that a call site has too many others in it; shared records multiply them."""
    if site.size <= MAX_CALL_SITES:
        return None
    return f"expected at most {MAX_CALL_SITES} nested call sites, found {site.size}"


def _title(node: DINode | Location) -> str:
    return next(title for kind, title in _TITLES.items() if isinstance(node, kind))


_TITLES: Final[dict[type, str]] = {
    DIFile: "a file",
    DICompileUnit: "a compile unit",
    DILocalScope: "a scope",
    Location: "a location",
}


def _unknown(table: DebugTable, record: Cursor) -> Location:
    return UNKNOWN


def _compile_unit(table: DebugTable, record: Cursor) -> DINode:
    return DICompileUnit(table.member(record, DIFile))


def _file(table: DebugTable, record: Cursor) -> DINode:
    name = table.string(record)
    return DIFile(name, table.string(record))


def _lexical_block(table: DebugTable, record: Cursor) -> DINode:
    scope = table.member(record, DILocalScope)
    file = table.member(record, DIFile)
    line = _position(record)
    return DILexicalBlock(scope, file, line, _position(record))


def _location(table: DebugTable, record: Cursor) -> Location:
    scope = table.member(record, DILocalScope)
    file = table.string(record)
    line = _position(record)
    return DILoc(FileLoc(file, line, _position(record)), scope)


def _position(record: Cursor) -> int:
    at = record.at
    number = record.varint()
    if number > MAX_POSITION:
        record.fail(f"expected a line or column of at most 32 bits, found {number}", at)
    return number


def _subprogram(table: DebugTable, record: Cursor) -> DINode:
    file = table.member(record, DIFile)
    line = _position(record)
    name = table.string(record)
    linkage_name = table.string(record)
    unit = table.member(record, DICompileUnit)
    scope_line = _position(record)
    if table.version >= SUBPROGRAM_FLAGS:
        at = record.at
        flags = record.varint()
        if flags:
            record.fail(f"expected 0 as the flags of a subprogram, found {flags}", at)
    return DISubprogram(file, line, name, linkage_name, unit, scope_line)


def _call_site(table: DebugTable, record: Cursor) -> Location:
    callee = table.member(record, Location)
    return table.call_site(callee, table.member(record, Location), record)


_PARSERS: Final[dict[int, Callable[[DebugTable, Cursor], DINode | Location]]] = {
    DebugTag.COMPILE_UNIT: _compile_unit,
    DebugTag.FILE: _file,
    DebugTag.LEXICAL_BLOCK: _lexical_block,
    DebugTag.LOCATION: _location,
    DebugTag.SUBPROGRAM: _subprogram,
    DebugTag.CALL_SITE: _call_site,
}


class DebugPool(Pool["DINode | Location"]):
    """The debug records to write, and the list of them that each function has."""

    __slots__ = ("_lists", "_strings", "_version")

    def __init__(self, strings: StringPool, version: Version) -> None:
        super().__init__()
        self._strings = strings
        self._version = version
        self._lists: list[list[int]] = []

    def function(self, locations: list[Location]) -> int:
        """Add the locations of a function and its operations, and return its index.

        Zero if all are unknown. Raises `InvalidValue` for a location that bytecode cannot encode.
        """
        with DeepRecursion():
            # Scopes nest as deeply as locations do, and do not count in their size.
            DeepRecursion.need(_FRAMES)
            indices = [self.index(location) for location in locations]
        if not any(indices):
            return 0
        self._lists.append(indices)
        return len(self._lists)

    def index(self, entry: DINode | Location) -> int:
        """Return the index of a record; text locations without a debug scope are unknown."""
        known = self.indices.get(entry)
        if known is not None:
            return known + 1
        record = self._record(entry)
        return 0 if record is None else self.add(entry, record) + 1

    def _record(self, entry: DINode | Location) -> bytes | None:
        if isinstance(entry, Location) and entry.kind in (UnknownLoc, FileLoc, ByteLoc):
            return None
        if isinstance(entry, CallSiteLoc) and (problem := _call_site_problem(entry)):
            raise InvalidValue(f"bytecode: {problem}")
        fields = _fields(entry)
        if fields is None:
            raise InvalidValue(
                "bytecode can hold locations with a debug scope and call sites of such, "
                f"found a {type(entry).__name__}"
            )
        record = Buffer()
        for value in fields:
            record.varint(self._number(value))
        if isinstance(entry, DISubprogram) and self._version >= SUBPROGRAM_FLAGS:
            record.varint(0)
        return bytes(record.out)

    def _number(self, value: DINode | Location | str | int) -> int:
        if isinstance(value, int):
            return value
        return self._strings.index(value) if isinstance(value, str) else self.index(value)

    def write(self, buffer: Buffer, size: int) -> None:
        """The lists of the functions, and then the records."""
        buffer.varint(len(self._lists))
        starts: list[int] = []
        indices: list[int] = []
        for entries in self._lists:
            starts.append(len(indices))
            indices += entries
        buffer.offsets(starts, 4)
        buffer.varint(len(indices))
        buffer.offsets(indices, 8)
        super().write(buffer, size)


def _fields(entry: DINode | Location) -> tuple[DINode | Location | str | int, ...] | None:
    match entry:
        case DICompileUnit():
            return DebugTag.COMPILE_UNIT, entry.file
        case DIFile():
            return DebugTag.FILE, entry.name, entry.directory
        case DILexicalBlock():
            return DebugTag.LEXICAL_BLOCK, entry.scope, entry.file, entry.line, entry.column
        case DILoc(location=FileLoc() | TextLoc() as source):
            source = source.resolve() if isinstance(source, TextLoc) else source
            return DebugTag.LOCATION, entry.scope, source.file, source.line, source.column
        case DISubprogram():
            names = entry.name, entry.linkage_name
            head = DebugTag.SUBPROGRAM, entry.file, entry.line
            return *head, *names, entry.compile_unit, entry.scope_line
        case CallSiteLoc():
            return DebugTag.CALL_SITE, entry.callee, entry.caller
        case _:
            return None
