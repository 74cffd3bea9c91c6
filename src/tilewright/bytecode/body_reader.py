"""Reads the bodies of functions: operations, blocks and regions, by the format of each."""

from __future__ import annotations

from typing import Final

from tilewright.bytecode.attribute_reader import Reader, field_reader
from tilewright.bytecode.debug_info import Locations
from tilewright.bytecode.op_format import OpFormat, default_of
from tilewright.bytecode.opcodes import OP_NAMES
from tilewright.bytecode.versions import Version, spell
from tilewright.dialects.cuda_tile import CUDA_TILE
from tilewright.ir.attributes import Attribute, Type
from tilewright.ir.declare import Arity
from tilewright.ir.operation import Block, Operation, Region
from tilewright.ir.values import Value
from tilewright.support.location import ByteLoc, Location

MAX_REGION_NESTING: Final = 128

IN_SECTIONS: Final = frozenset({"cuda_tile.module", "cuda_tile.entry", "cuda_tile.global"})
"""The operations that have an opcode, but stand in sections of their own."""


class OpDecoder(OpFormat):
    """An operation's format, ready for reading."""

    __slots__ = (
        "absent_sizes",
        "defaults",
        "fields",
        "groups",
        "late_types",
        "operand_count",
        "result_count",
    )

    def __init__(self, kind: type[Operation], version: Version) -> None:
        super().__init__(kind, version)
        self.fields = [
            (field.spelling, self.mask(field), field_reader(field.kind))
            for field in self.attributes
        ]
        self.defaults: dict[str, Attribute] = {}
        for field in self.absent_attributes:
            default = default_of(field)
            if default is not None:
                self.defaults[field.spelling] = default
        self.groups = [(field.arity, self.mask(field)) for field in self.operands]
        self.absent_sizes = (0,) * len(self.absent_operands)
        self.operand_count = self.operand_limits[0]
        self.result_count = self.result_limits[0]
        late = (field.constraint.only for field in self.absent_results)
        self.late_types = [type for type in late if type is not None]


class Decoders(dict[int, OpDecoder]):
    """The decoders of a version by opcode, each made when a file first needs it."""

    __slots__ = ("version",)

    def __init__(self, version: Version) -> None:
        super().__init__()
        self.version = version

    def make(self, user: Reader) -> OpDecoder:
        """The decoder of the opcode at a cursor, if it is one that was not used before."""
        at = user.at
        opcode = user.varint()
        if opcode in self:
            return self[opcode]
        name = OP_NAMES.get(opcode)
        if name is None or name in IN_SECTIONS:
            what = "" if name is None else f" ('{name}')"
            user.fail(f"expected the opcode of an operation, found 0x{opcode:x}{what}", at)
        kind = CUDA_TILE.ops[name]
        if kind.since is not None and kind.since > self.version:
            user.fail(
                f"expected an operation of bytecode {spell(self.version)}, found '{name}', "
                f"which came with {spell(kind.since)}",
                at,
            )
        made = self[opcode] = OpDecoder(kind, self.version)
        return made


_decoders: dict[Version, Decoders] = {}


class BodyReader(Reader):
    """Reads the body of one function; values are numbered in the order of their definition."""

    __slots__ = ("_decoders", "_depth", "_locations", "_values")

    def __init__(self, part: Reader, locations: Locations | None) -> None:
        """Operations without debug information have their place in the file as location."""
        super().__init__(part, part.strings, part.types, part.constants)
        self._locations = locations
        version = part.types.version
        self._decoders = _decoders.setdefault(version, Decoders(version))
        self._values: list[Value] = []
        self._depth = 0

    def body(self, block: Block) -> None:
        """Read operations to the end, into a block with the function's arguments."""
        self._values += block.args
        while self.at < self.end:
            block.append(self.operation())

    def operation(self) -> Operation:
        """Read one operation and all inside it."""
        # Nearly all numbers take one byte, and are read here instead of by `varint`.
        data, start = self.data, self.at
        decoder = self._decoders.get(data[start])
        if decoder is None:
            decoder = self._decoders.make(self)
        else:
            self.at = start + 1
        if self._locations is None:
            location = ByteLoc(self.file, self.base + start)
        else:
            location = self._locations.next(self, start)
        count = decoder.result_count
        if decoder.counts_results:
            count = self.limited_count("results", decoder.result_limits)
        types = self.value_types(count)
        flags = self.varint() if decoder.has_flags else 0
        attributes = decoder.defaults.copy()
        for spelling, mask, read in decoder.fields:
            if not mask or flags & mask:
                attributes[spelling] = read(self, types)
        segments = None
        if decoder.has_groups:
            operands, segments = self.operand_groups(decoder, flags)
        elif decoder.counts_operands:
            operands = self.operands(self.limited_count("operands", decoder.operand_limits))
        else:
            operands = self.operands(decoder.operand_count)
        regions = self.regions(decoder, location) if decoder.region_count else ()
        if decoder.late_types:
            types += decoder.late_types
        op = decoder.kind(operands, types, attributes, regions, location, (), segments)
        # A result that this version does not know has no number.
        self._values += op.results[:count] if decoder.late_types else op.results
        return op

    def value_types(self, count: int) -> list[Type]:
        """So many types by number."""
        short, data, at = self.types.short, self.data, self.at
        found: list[Type] = []
        for _ in range(count):
            type = short.get(data[at])
            if type is None:
                self.at = at
                type = self.types.read(self)
                at = self.at
            else:
                at += 1
            found.append(type)
        self.at = at
        return found

    def limited_count(self, what: str, limits: tuple[int, int]) -> int:
        """How many of something there are, within the limits of the operation."""
        at = self.at
        count = self.data[at]
        if count < 0x80 and count < self.end - at:
            self.at = at + 1
        else:
            count = self.count(what)
        least, most = limits
        if not least <= count <= most:
            expected = f"at least {least}" if count < least else f"at most {most}"
            self.fail(f"expected {expected} {what}, found {count}", at)
        return count

    def operands(self, count: int) -> list[Value]:
        """So many values by number."""
        values, data, at = self._values, self.data, self.at
        found: list[Value] = []
        for _ in range(count):
            index = data[at]
            if index < 0x80:
                at += 1
            else:
                self.at = at
                index = self.varint()
                at = self.at
            if index >= len(values):
                self.fail(f"expected a value below {len(values)}, found number {index}", at)
            found.append(values[index])
        self.at = at
        return found

    def operand_groups(self, decoder: OpDecoder, flags: int) -> tuple[list[Value], tuple[int, ...]]:
        """The operands of an operation with several groups of variable size, and the sizes."""
        operands: list[Value] = []
        sizes: list[int] = []
        for arity, mask in decoder.groups:
            if arity is Arity.VARIADIC:
                size = self.count("operands")
            else:
                size = int(not mask or flags & mask != 0)
            if size:
                operands += self.operands(size)
            sizes.append(size)
        return operands, (*sizes, *decoder.absent_sizes)

    def regions(self, decoder: OpDecoder, location: Location) -> list[Region]:
        """The regions of an operation; their arguments have its location."""
        at = self.at
        count = self.count("regions")
        if count != decoder.region_count:
            self.fail(f"expected {decoder.region_count} regions, found {count}", at)
        if self._depth == MAX_REGION_NESTING:
            self.fail(f"expected regions nested at most {self._depth} deep, found more", at)
        self._depth += 1
        regions: list[Region] = []
        for _ in range(count):
            # No comprehension: each would be one more frame for every level of nesting.
            region = Region()
            for _ in range(self.count("blocks", 2)):
                region.append(self.block(location))
            regions.append(region)
        self._depth -= 1
        return regions

    def block(self, location: Location) -> Block:
        """A block; what it defines cannot be seen outside of it."""
        known = len(self._values)
        types = self.value_types(self.count("block arguments"))
        block = Block(types, [location] * len(types))
        self._values += block.args
        for _ in range(self.count("operations")):
            block.append(self.operation())
        if block.terminator is None:
            found = "an empty block" if block.last is None else f"'{block.last.name}'"
            self.fail(f"expected a terminator at the end of a block, found {found}")
        del self._values[known:]
        return block
