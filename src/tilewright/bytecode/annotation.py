"""Explain the bytes of a bytecode file: the section of each, and what it encodes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.bytecode.body_reader import BodyReader
from tilewright.bytecode.opcodes import MAGIC, TITLES, Section
from tilewright.bytecode.reader import (
    HEADER_SIZE,
    ModuleReader,
    SectionPart,
    read_header,
    read_sections,
)
from tilewright.bytecode.varint import Cursor
from tilewright.bytecode.versions import Version, spell
from tilewright.support.collector import CollectorPause
from tilewright.support.diagnostics import UserError
from tilewright.support.quoting import one_line

if TYPE_CHECKING:
    from tilewright.bytecode.attribute_reader import Reader
    from tilewright.bytecode.debug_info import Locations
    from tilewright.bytecode.tables import OffsetTable
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value
    from tilewright.support.location import Location

PER_LINE: Final = 8
LONGEST: Final = 240
"""The characters of a meaning that are printed: constants may have millions of elements."""
_COUNTED: Final = ("regions", "blocks", "block arguments", "operations")
"""The counts in a function body that belong to no operation."""


class ByteRange(NamedTuple):
    """Consecutive bytes with one meaning."""

    start: int
    stop: int
    section: str
    meaning: str


class _Marks:
    """Meanings by the offset at which their bytes start; each ends at the next one."""

    __slots__ = ("_meanings", "_sections")

    def __init__(self) -> None:
        self._meanings: dict[int, str] = {}
        self._sections: dict[int, str] = {}

    def add(self, offset: int, meaning: str) -> None:
        """Add a meaning; of two at one offset the first has no bytes, and the second is kept."""
        self._meanings[offset] = meaning

    def section(self, offset: int, title: str) -> None:
        """Start a section."""
        self._sections[offset] = title

    def ranges(self, size: int) -> list[ByteRange]:
        """The ranges of a file, which cover each of its bytes once."""
        starts = sorted(offset for offset in self._meanings if offset < size)
        sections = sorted(self._sections)
        ranges: list[ByteRange] = []
        for start, stop in zip(starts, [*starts[1:], size], strict=True):
            section = self._sections[sections[bisect_right(sections, start) - 1]]
            ranges.append(ByteRange(start, stop, section, self._meanings[start]))
        return ranges


def annotate(data: bytes, name: str = "<bytes>") -> list[ByteRange]:
    """Return what the bytes of a file encode; raises a `UserError` if it cannot be read."""
    file = Cursor(data, 0, name, "file")
    marks = _Marks()
    with CollectorPause():
        version = read_header(file)
        marks.section(0, "Header")
        marks.add(0, "magic number")
        marks.add(len(MAGIC), f"version {spell(version)}")
        marks.add(len(MAGIC) + 2, "tag, which readers ignore")
        parts = list(read_sections(file))
        _mark_sections(marks, parts)
        marks.section(len(data) - 1, "End")
        marks.add(len(data) - 1, "end marker")
        sections = {part.section: part.contents for part in parts}
        for section in (Section.STRING, Section.FUNC):
            if section not in sections:
                file.fail(f"expected a {TITLES[section]}, found none", HEADER_SIZE)
        _AnnotatingReader(sections, version, name, marks).annotate()
    return marks.ranges(len(data))


def _mark_sections(marks: _Marks, parts: list[SectionPart]) -> None:
    used = {part.section: part for part in parts}
    for part in parts:
        title = TITLES[part.section]
        contents = part.contents
        marks.section(part.start, title.removesuffix(" section"))
        marks.add(part.start, f"{title} of {contents.end} bytes")
        marks.add(part.padding, "padding")
        is_used = used[part.section] is part
        marks.add(contents.base, "unused" if is_used else f"unused: another {title} follows")


class _AnnotatingReader(ModuleReader):
    """Reads a module, and marks what it reads."""

    __slots__ = ("_marks", "_parts")

    def __init__(
        self, sections: dict[int, Cursor], version: Version, name: str, marks: _Marks
    ) -> None:
        super().__init__(sections, version, name)
        self._marks = marks
        self._parts: dict[str, Reader] = {}

    def annotate(self) -> None:
        """Mark all sections."""
        strings, types, constants = self._strings.table, self._types.table, self._constants.table
        self._table(strings, 0, 4, self._string)
        if Section.TYPE in self._sections:
            self._table(types, 0, 4, lambda index: f"'{self._types.type(index)}'")
        if Section.CONSTANT in self._sections:
            self._table(constants, 0, 8, self._constant)
        if self._debug is not None:
            self._debug_section()
        self.module()
        for section, what in ((Section.GLOBAL, "globals"), (Section.FUNC, "functions")):
            contents = self._sections.get(section)
            if contents is not None:
                self._marks.add(contents.base, f"number of {what}")
                end = self._parts[TITLES[section]].at
                if end < contents.end:
                    self._marks.add(contents.base + end, "padding")
        producer = self._sections.get(Section.PRODUCER)
        if producer is not None:
            self._marks.add(producer.base, "producer: index of a string")
            if producer.at < producer.end:
                self._marks.add(producer.base + producer.at, "unused")

    def _table(self, table: OffsetTable, at: int, size: int, text: Callable[[int], str]) -> None:
        """Mark the number of records at an offset, their offsets, and each record."""
        cursor, marks, what = table.cursor, self._marks, table.what
        count = len(table.offsets)
        self._list(cursor, at, count, size, table.start, what)
        marks.add(cursor.base + table.start, "unused")
        for index, offset in enumerate(table.offsets):
            try:
                meaning = text(index)
            except UserError as error:
                meaning = error.diagnostics[0].message
            marks.add(cursor.base + table.start + offset, f"{what} {index}: {meaning}")

    def _list(self, cursor: Cursor, at: int, count: int, size: int, stop: int, what: str) -> None:
        """Mark a number of words, their padding, and the words before `stop`."""
        base, marks = cursor.base, self._marks
        marks.add(base + at, f"number of {what}s: {count}")
        back, cursor.at = cursor.at, at
        cursor.varint()
        first = stop - count * size
        if first > cursor.at:
            marks.add(base + cursor.at, "padding")
        if count:
            marks.add(base + first, f"{what} offsets: {count} of {size} bytes")
        cursor.at = back

    def _string(self, index: int) -> str:
        table = self._strings.table
        start, stop = table.bounds(index, table.cursor, 0)
        return repr(table.cursor.data[start:stop].decode("utf-8", "backslashreplace"))

    def _constant(self, index: int) -> str:
        table = self._constants.table
        start, stop = table.bounds(index, table.cursor, 0)
        return f"its length and data, {stop - start} bytes"

    def _debug_section(self) -> None:
        debug = self._debug
        assert debug is not None
        cursor = debug.table.cursor
        self._list(cursor, 0, debug.function_count, 4, debug.lists, "function")
        self._list(cursor, debug.lists, debug.location_count, 8, debug.records, "location")
        self._table(debug.table, debug.records, 4, lambda index: _debug_text(debug.node(index)))

    def _reader(self, part: Cursor) -> Reader:
        reader = super()._reader(part)
        self._parts[part.title] = reader
        return reader

    def _global(self, reader: Reader) -> Operation:
        start = reader.at
        op = super()._global(reader)
        self._marks.add(reader.base + start, f"global @{_symbol(op)}")
        return op

    def _function(self, reader: Reader) -> Operation:
        start = reader.at
        op = super()._function(reader)
        what = "name, type, flags, locations, hints, argument attributes, size of the body"
        self._marks.add(reader.base + start, f"function @{_symbol(op)}: {what}")
        return op

    def _body_reader(self, part: Reader, locations: Locations | None) -> BodyReader:
        return _AnnotatingBodyReader(part, locations, self._marks)


class _AnnotatingBodyReader(BodyReader):
    """Reads a function body, and marks its operations and the counts between them."""

    __slots__ = ("_marks", "_numbered", "_numbers")

    def __init__(self, part: Reader, locations: Locations | None, marks: _Marks) -> None:
        super().__init__(part, locations)
        self._marks = marks
        self._numbers: dict[Value, int] = {}
        """The index of each value, as operands name it."""
        self._numbered = 0

    def operation(self) -> Operation:
        start, first = self.base + self.at, len(self._values)
        op = super().operation()
        self._number_values()
        self._marks.add(start, self._text(op, first))
        return op

    def count(self, what: str, size: int = 1) -> int:
        at = self.at
        count = super().count(what, size)
        if what in _COUNTED:
            suffix = ", and their types" if what == "block arguments" else ""
            self._marks.add(self.base + at, f"number of {what}: {count}{suffix}")
        return count

    def block(self, location: Location) -> Block:
        block = super().block(location)
        self._numbered = min(self._numbered, len(self._values))
        return block

    def _number_values(self) -> None:
        for index in range(self._numbered, len(self._values)):
            self._numbers[self._values[index]] = index
        self._numbered = len(self._values)

    def _text(self, op: Operation, first: int) -> str:
        """The operation with the indices of values that the bytes have."""
        # Loaded only to print.
        from tilewright.text.attribute_printer import attribute_text  # noqa: PLC0415

        results = [f"%{first + index}" for index in range(len(op.results))]
        start = f"{', '.join(results)} = " if results else ""
        operands = ", ".join(f"%{self._numbers[value]}" for value in op.operands)
        entries = [f"{name} = {attribute_text(value)}" for name, value in op.attributes.items()]
        attributes = f" {{{', '.join(entries)}}}" if entries else ""
        types = ", ".join(str(result.type) for result in op.results)
        name = op.name.partition(".")[2]
        text = f"{start}{name} {operands}".rstrip() + attributes
        return f"{text} : {types}" if types else text


def _symbol(op: Operation) -> str:
    return getattr(op, "sym_name")  # noqa: B009 - globals and entries have it


def _debug_text(node: object) -> str:
    # Loaded only to print.
    from tilewright.ir.attributes import Attribute  # noqa: PLC0415
    from tilewright.text.attribute_printer import attribute_text  # noqa: PLC0415

    if isinstance(node, Attribute):
        return attribute_text(node)
    return f"location {node}".rstrip()


def annotation_text(data: bytes, ranges: list[ByteRange]) -> str:
    """Format ranges: offset, bytes, section and meaning, eight bytes a line."""
    width = max(len(section) for section in ("section", *(each.section for each in ranges)))
    lines = [f"{'offset':<8}  {'bytes':<{3 * PER_LINE - 1}}  {'section':<{width}}  meaning"]
    for each in ranges:
        for start in range(each.start, each.stop, PER_LINE):
            hexadecimal = data[start : min(start + PER_LINE, each.stop)].hex(" ")
            line = f"{start:08x}  {hexadecimal:<{3 * PER_LINE - 1}}"
            if start == each.start:
                line += f"  {each.section:<{width}}  {_shortened(one_line(each.meaning))}"
            lines.append(line.rstrip())
    return "\n".join(lines) + "\n"


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
