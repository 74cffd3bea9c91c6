"""Read Tile IR bytecode: the container and the top level of the module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from tilewright.bytecode.attribute_reader import Reader
from tilewright.bytecode.body_reader import BodyReader
from tilewright.bytecode.debug_info import DebugTable, Locations
from tilewright.bytecode.opcodes import (
    ALIGNED,
    ALIGNMENT,
    MAGIC,
    MLIR_MAGIC,
    TITLES,
    FunctionFlag,
    Section,
)
from tilewright.bytecode.tables import ConstantTable, StringTable
from tilewright.bytecode.types import TypeTable
from tilewright.bytecode.varint import Cursor
from tilewright.bytecode.versions import (
    ARGUMENT_ATTRIBUTES,
    GLOBAL_FLAGS,
    Version,
    check_supported,
)
from tilewright.dialects.cuda_tile.attributes import OptimizationHintsAttr
from tilewright.dialects.cuda_tile.enums import SymbolVisibility
from tilewright.dialects.cuda_tile.structure import EntryOp, GlobalOp, ModuleOp
from tilewright.ir.attributes import (
    UNIT,
    ArrayAttr,
    Attribute,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    TypeAttr,
)
from tilewright.ir.operation import Block, Operation, Region
from tilewright.ir.types import I64, FunctionType
from tilewright.support.bits import is_power_of_two, to_signed
from tilewright.support.collector import CollectorPause

MODULE_NAME: Final = "kernels"
"""The name of modules from bytecode, which does not store one."""

HEADER_SIZE: Final = len(MAGIC) + 4
VISIBILITIES: Final = {member.value: member for member in SymbolVisibility}


def read_bytecode(data: bytes, name: str = "<bytes>") -> ModuleOp:
    """Read a module without verifying it; raises a `UserError` with a byte offset.

    Operations without debug information get their byte offset as location.
    """
    file = Cursor(data, 0, name, "file")
    with CollectorPause():
        version = read_header(file)
        return ModuleReader(find_sections(file), version, name).module()


def read_header(file: Cursor) -> Version:
    """Read the magic number and the version."""
    data = file.data[: file.end]
    if not data:
        file.fail("expected Tile IR bytecode, found an empty file")
    if data.startswith(MLIR_MAGIC):
        file.fail("expected Tile IR bytecode, found MLIR bytecode")
    if not data.startswith(MAGIC[: file.end]):
        file.fail(f"expected Tile IR bytecode, which starts with 7f 'TileIR' 00, {_magic_of(data)}")
    if file.end < HEADER_SIZE:
        file.fail(f"expected a header of {HEADER_SIZE} bytes, found {file.end}")
    major, minor = data[len(MAGIC)], data[len(MAGIC) + 1]
    # A two-byte tag follows, which readers ignore.
    file.at = HEADER_SIZE
    check_supported((major, minor), file.location(len(MAGIC)))
    return major, minor


def _magic_of(data: bytes) -> str:
    start = data[: len(MAGIC)]
    if all(byte >= 0x20 or byte in b"\t\n\r" for byte in start):
        return "found what looks like text"
    return f"found {start.hex(' ')}"


class SectionPart(NamedTuple):
    """A section of a file: where it starts, where its padding starts, and its contents."""

    section: int
    start: int
    padding: int
    contents: Cursor


def find_sections(file: Cursor) -> dict[int, Cursor]:
    """Split the file into sections; the last one of a kind wins."""
    sections = {part.section: part.contents for part in read_sections(file)}
    for section in (Section.STRING, Section.FUNC):
        if section not in sections:
            file.fail(f"expected a {TITLES[section]}, found none", HEADER_SIZE)
    return sections


def read_sections(file: Cursor) -> Iterator[SectionPart]:
    """Yield the sections of a file, and check that it ends after them."""
    while True:
        at = file.at
        if at == file.end:
            file.fail("expected a section or the end marker, found the end of the file")
        number = file.byte()
        if number == Section.END:
            break
        section = number & ~ALIGNED
        if section not in TITLES:
            file.fail(f"expected the number of a section, 1 to 7, found {section}", at)
        length = _section_length(file, section)
        padding = _step_over_padding(file, section, at, aligned=number & ALIGNED != 0)
        base = file.at
        contents = Cursor(file.take(length), base, file.file, TITLES[section])
        yield SectionPart(section, at, padding, contents)
    if file.at < file.end:
        file.fail("expected the end of the file after the end marker, found more")


def _section_length(file: Cursor, section: int) -> int:
    at = file.at
    length = file.varint()
    remaining = file.end - file.at
    if length > remaining:
        actual = (
            f"found {remaining} to the end of the file: it is cut off, or not what it claims to be"
        )
        file.fail(f"expected {length} bytes of the {TITLES[section]}, {actual}", at)
    return length


def _step_over_padding(file: Cursor, section: int, at: int, *, aligned: bool) -> int:
    """Align the contents of a section; return where the padding starts."""
    needed = ALIGNMENT.get(section, 1)
    alignment = file.varint() if aligned else 1
    if not is_power_of_two(alignment) or alignment % needed:
        file.fail(
            f"expected the {TITLES[section]} to have a power of two that {needed} divides as "
            f"alignment, found {alignment}",
            at,
        )
    padding = file.at
    file.align(alignment)
    return padding


class ModuleReader:
    """Builds the module from its sections."""

    __slots__ = ("_constants", "_debug", "_name", "_sections", "_strings", "_types", "_version")

    def __init__(self, sections: dict[int, Cursor], version: Version, name: str) -> None:
        self._sections = sections
        self._version = version
        self._name = name
        self._strings = StringTable(sections[Section.STRING])
        self._types = TypeTable(self._section(Section.TYPE), version)
        self._constants = ConstantTable(self._section(Section.CONSTANT))
        debug = sections.get(Section.DEBUG)
        self._debug = None if debug is None else DebugTable(debug, self._strings, version)

    def _section(self, section: int) -> Cursor:
        """Return a section, or an empty one if it is absent."""
        present = self._sections.get(section)
        return Cursor(b"\0", 0, self._name, TITLES[section]) if present is None else present

    def _body_reader(self, part: Reader, locations: Locations | None) -> BodyReader:
        return BodyReader(part, locations)

    def _reader(self, part: Cursor) -> Reader:
        return Reader(part, self._strings, self._types, self._constants)

    def module(self) -> ModuleOp:
        """Read the module."""
        attributes: dict[str, Attribute] = {"sym_name": StringAttr(MODULE_NAME)}
        producer = self._sections.get(Section.PRODUCER)
        if producer is not None:
            attributes["producer"] = StringAttr(self._strings.read(producer))
        block = Block()
        globals = self._reader(self._section(Section.GLOBAL))
        for _ in range(globals.count("globals", 6 if self._version >= GLOBAL_FLAGS else 4)):
            block.append(self._global(globals))
        functions = self._reader(self._sections[Section.FUNC])
        for _ in range(functions.count("functions", 5)):
            block.append(self._function(functions))
        module = ModuleOp((), (), attributes, [Region([block])])
        module.location = functions.location(0)
        return module

    def _global(self, reader: Reader) -> Operation:
        location = reader.location()
        attributes: dict[str, Attribute] = {"sym_name": StringAttr(reader.name("a global"))}
        type = self._types.read(reader)
        attributes["value"] = self._constants.read(reader, type)
        alignment = to_signed(reader.varint(), 64)
        attributes["alignment"] = IntegerAttr(alignment, I64)
        visibility = SymbolVisibility.PUBLIC
        if self._version >= GLOBAL_FLAGS:
            visibility = self._visibility(reader)
            if reader.varint():
                attributes["constant"] = UNIT
        attributes["symbol_visibility"] = visibility
        return GlobalOp((), (), attributes, (), location)

    def _visibility(self, reader: Reader) -> SymbolVisibility:
        at = reader.at
        number = reader.varint()
        visibility = VISIBILITIES.get(number)
        if visibility is None:
            reader.fail(f"expected a visibility of 0 or 1, found {number}", at)
        return visibility

    def _function(self, reader: Reader) -> Operation:
        at = reader.at
        name = reader.name("a function")
        signature = self._signature(reader)
        flags = self._flags(reader, name)
        locations = self._locations(reader)
        location = reader.location(at) if locations is None else locations.next(reader, at)
        attributes: dict[str, Attribute] = {
            "sym_name": StringAttr(name),
            "function_type": TypeAttr(signature),
        }
        has_attributes = self._version >= ARGUMENT_ATTRIBUTES
        if flags & FunctionFlag.HINTS or has_attributes:
            hints = self._hints(reader)
            # Empty hints are equivalent to absent ones.
            if hints.entries.entries:
                attributes["optimization_hints"] = hints
        if has_attributes and (each := self._argument_attributes(reader, signature)):
            attributes["arg_attrs"] = ArrayAttr(each)
        if flags & FunctionFlag.PRIVATE:
            attributes["sym_visibility"] = StringAttr("private")
        size = reader.count(f"bytes in the body of '{name}'")
        body = self._reader(reader.part(size, f"body of '{name}'"))
        block = Block(signature.inputs, [location] * len(signature.inputs))
        self._body_reader(body, locations).body(block)
        return EntryOp((), (), attributes, [Region([block])], location)

    def _signature(self, reader: Reader) -> FunctionType:
        at = reader.at
        type = self._types.read(reader)
        if not isinstance(type, FunctionType):
            reader.fail(f"expected the type of a function, found '{type}'", at)
        return type

    def _flags(self, reader: Reader, name: str) -> int:
        at = reader.at
        flags = reader.byte()
        known = FunctionFlag.PRIVATE | FunctionFlag.KERNEL
        if self._version < ARGUMENT_ATTRIBUTES:
            known |= FunctionFlag.HINTS
        if flags & ~known:
            reader.fail(f"expected the flags of a function, 0 to {known}, found {flags}", at)
        if not flags & FunctionFlag.KERNEL:
            reader.fail(f"expected '{name}' to be a kernel, found a device function", at)
        return flags

    def _locations(self, reader: Reader) -> Locations | None:
        at = reader.at
        number = reader.varint()
        if number == 0:
            return None
        if self._debug is None:
            reader.fail(f"expected a Debug section with locations {number}, found none", at)
        return self._debug.function(number, reader, at)

    def _hints(self, reader: Reader) -> OptimizationHintsAttr:
        at = reader.at
        hints = reader.attribute()
        if not isinstance(hints, OptimizationHintsAttr):
            reader.fail("expected optimization hints, found another attribute", at)
        return hints

    def _argument_attributes(
        self, reader: Reader, signature: FunctionType
    ) -> tuple[DictionaryAttr, ...]:
        """Read the attributes of each argument; empty if no argument has any."""
        at = reader.at
        array = reader.attribute()
        if not isinstance(array, ArrayAttr):
            reader.fail("expected an array of argument attributes, found another attribute", at)
        each = tuple(one for one in array.elements if isinstance(one, DictionaryAttr))
        if len(each) != len(array.elements):
            reader.fail("expected dictionaries as attributes of arguments, found another", at)
        if len(each) not in (0, len(signature.inputs)):
            count = len(signature.inputs)
            reader.fail(f"expected attributes of {count} arguments, found {len(each)}", at)
        return each if any(one.entries for one in each) else ()
