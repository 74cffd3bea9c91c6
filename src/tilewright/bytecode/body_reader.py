"""Read function bodies: operations, blocks and regions."""

from __future__ import annotations

from typing import Final

from tilewright.bytecode.attribute_reader import Reader, field_reader
from tilewright.bytecode.debug_info import Locations
from tilewright.bytecode.op_format import OpFormat, default_of
from tilewright.bytecode.opcodes import FOREIGN_CALL, OP_NAMES
from tilewright.bytecode.versions import Version, spell
from tilewright.dialects.cuda_tile import CUDA_TILE
from tilewright.ir.attributes import Attribute, Type
from tilewright.ir.declare import Arity
from tilewright.ir.operation import Block, Operation, Region
from tilewright.ir.values import Value
from tilewright.support.diagnostics import Unsupported
from tilewright.support.location import ByteLoc, Location

MAX_REGION_NESTING: Final = 128

IN_SECTIONS: Final = frozenset({"cuda_tile.module", "cuda_tile.entry", "cuda_tile.global"})
"""Operations that have an opcode, but are encoded in their own sections."""


class OpDecoder(OpFormat):
    """The format of an operation, prepared for reading."""

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
    """The decoders of a version by opcode, created on first use."""

    __slots__ = ("version",)

    def __init__(self, version: Version) -> None:
        super().__init__()
        self.version = version

    def make(self, user: Reader) -> OpDecoder:
        """Create the decoder of the opcode at a cursor."""
        at = user.at
        opcode = user.varint()
        if opcode in self:
            return self[opcode]
        if opcode == FOREIGN_CALL:
            raise Unsupported(f"call of foreign function '{_callee(user)}'", user.location(at))
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


def _callee(call: Reader) -> str:
    """Read a foreign call up to the name of its function: result types and flags precede it."""
    for _ in range(call.count("results")):
        call.types.read(call)
    call.varint()
    return call.strings.read(call)


_decoders: dict[Version, Decoders] = {}


class BodyReader(Reader):
    """Reads the body of one function; values are numbered in definition order."""

    __slots__ = ("_decoders", "_locations", "_nesting", "_values")

    def __init__(self, part: Reader, locations: Locations | None) -> None:
        """Operations without debug information get their byte offset as location."""
        super().__init__(part, part.strings, part.types, part.constants)
        self._locations = locations
        version = part.types.version
        self._decoders = _decoders.setdefault(version, Decoders(version))
        self._values: list[Value] = []
        self._nesting = 0

    def body(self, block: Block) -> None:
        """Read all operations into the entry block of the function."""
        self._values += block.args
        while self.at < self.end:
            block.append(self.operation())

    def operation(self) -> Operation:
        """Read one operation with its regions."""
        # Most numbers take one byte; this fast path avoids calls of `varint`.
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
        # A result that is newer than this version has no index.
        self._values += op.results[:count] if decoder.late_types else op.results
        return op

    def value_types(self, count: int) -> list[Type]:
        """Read `count` type indices."""
        short, data, at = self.types.short, self.data, self.at
        types: list[Type] = []
        for _ in range(count):
            type = short.get(data[at])
            if type is None:
                self.at = at
                type = self.types.read(self)
                at = self.at
            else:
                at += 1
            types.append(type)
        self.at = at
        return types

    def limited_count(self, what: str, limits: tuple[int, int]) -> int:
        """Read a count and check it against the limits of the operation."""
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
        """Read `count` value indices."""
        values, data, at = self._values, self.data, self.at
        operands: list[Value] = []
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
            operands.append(values[index])
        self.at = at
        return operands

    def operand_groups(self, decoder: OpDecoder, flags: int) -> tuple[list[Value], tuple[int, ...]]:
        """Read the operands of an op with several variadic groups, and their sizes."""
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
        """Read the regions of an operation; block arguments get its location."""
        at = self.at
        count = self.count("regions")
        if count != decoder.region_count:
            self.fail(f"expected {decoder.region_count} regions, found {count}", at)
        if self._nesting == MAX_REGION_NESTING:
            self.fail(f"expected regions nested at most {self._nesting} deep, found more", at)
        self._nesting += 1
        regions: list[Region] = []
        for _ in range(count):
            # A comprehension would add a frame per nesting level.
            region = Region()
            for _ in range(self.count("blocks", 2)):
                region.append(self.block(location))
            regions.append(region)
        self._nesting -= 1
        return regions

    def block(self, location: Location) -> Block:
        """Read a block; its values go out of scope at its end."""
        known = len(self._values)
        types = self.value_types(self.count("block arguments"))
        block = Block(types, [location] * len(types))
        self._values += block.args
        for _ in range(self.count("operations")):
            block.append(self.operation())
        if block.terminator is None:
            actual = "an empty block" if block.last is None else f"'{block.last.name}'"
            self.fail(f"expected a terminator at the end of a block, found {actual}")
        del self._values[known:]
        return block
