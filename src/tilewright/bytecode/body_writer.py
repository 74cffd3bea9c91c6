"""Write function bodies: operations, blocks and regions."""

from __future__ import annotations

from typing import Any

from tilewright.bytecode.attribute_writer import Pools, Writer, field_writer
from tilewright.bytecode.body_reader import IN_SECTIONS
from tilewright.bytecode.op_format import OpFormat, default_of
from tilewright.bytecode.opcodes import OPCODES
from tilewright.bytecode.versions import Version
from tilewright.ir.attribute_kinds import UnitKind
from tilewright.ir.attributes import Attribute
from tilewright.ir.declare import Arity, AttributeField
from tilewright.ir.operation import Block, Operation
from tilewright.ir.values import Value
from tilewright.support.diagnostics import InvalidValue
from tilewright.support.location import Location


class OpEncoder(OpFormat):
    """The format of an operation, prepared for writing."""

    __slots__ = ("fields", "groups", "opcode", "optional")

    def __init__(self, kind: type[Operation], version: Version) -> None:
        super().__init__(kind, version)
        self.opcode = OPCODES[kind.name]
        self.optional = [
            (field.spelling, self.mask(field)) for field in self.attributes if self.mask(field)
        ]
        self.fields = [
            (field, self.mask(field), field_writer(field.kind))
            for field in self.attributes
            if not isinstance(field.kind, UnitKind)
        ]
        self.groups = [(field.arity, self.mask(field)) for field in self.operands]


_encoders: dict[tuple[type[Operation], Version], OpEncoder] = {}


def encoder(kind: type[Operation], version: Version) -> OpEncoder:
    """Return the encoder of an operation; raises `InvalidValue` if it has no encoding."""
    cached = _encoders.get((kind, version))
    if cached is not None:
        return cached
    if kind.name not in OPCODES or kind.name in IN_SECTIONS:
        raise InvalidValue("has no form in the bytecode of a function")
    made = _encoders[kind, version] = OpEncoder(kind, version)
    return made


class BodyWriter(Writer):
    """Writes the body of one function; raises `InvalidValue` for unencodable entities."""

    __slots__ = ("_values", "locations", "op")

    def __init__(self, pools: Pools, function: Operation) -> None:
        super().__init__(pools)
        self.op = function
        """The current operation, for error locations."""
        self.locations: list[Location] = [function.location]
        self._values: dict[Value, int] = {}

    def body(self, block: Block) -> None:
        """Write all operations of a function."""
        self.number(block.args)
        for op in block:
            self.operation(op)

    def number(self, values: tuple[Value, ...]) -> None:
        """Assign the next indices to values."""
        known = self._values
        for value in values:
            known[value] = len(known)

    def operation(self, op: Operation) -> None:
        """Write one operation with its regions."""
        self.op = op
        version = self.pools.version
        format = _encoders.get((op.__class__, version)) or encoder(op.__class__, version)
        self.varint(format.opcode)
        self.locations.append(op.location)
        results = op.results
        if format.absent_results:
            results = results[: -len(format.absent_results)]
        if format.counts_results:
            self.varint(len(results))
        types = self.pools.types
        for result in results:
            self.varint(types.index(result.type))
        if format.has_flags:
            self.varint(self.flags(format, op))
        for field, mask, write in format.fields:
            stored = op.attributes.get(field.spelling)
            if stored is not None or not mask:
                write(self, _accepted(field, stored))
        if format.has_groups:
            self.operand_groups(format, op)
        else:
            if format.counts_operands:
                self.varint(len(op.operands))
            self.operands(op.operands)
        if format.region_count:
            self.regions(op)
        self.number(results)

    def flags(self, format: OpEncoder, op: Operation) -> int:
        """Return the presence bits of optional members."""
        flags = 0
        for spelling, mask in format.optional:
            if spelling in op.attributes:
                flags |= mask
        if format.has_groups:
            for (_, mask), size in zip(format.groups, op.segments or (), strict=False):
                flags |= mask if size else 0
        return flags

    def operands(self, operands: tuple[Value, ...]) -> None:
        """Write value indices."""
        known = self._values
        for value in operands:
            number = known.get(value)
            if number is None:
                raise InvalidValue("uses a value that is not defined before it")
            self.varint(number)

    def operand_groups(self, format: OpEncoder, op: Operation) -> None:
        """Write the operands of an op with several variadic groups."""
        start = 0
        for (arity, _), size in zip(format.groups, op.segments or (), strict=False):
            if arity is Arity.VARIADIC:
                self.varint(size)
            self.operands(op.operands[start : start + size])
            start += size

    def regions(self, op: Operation) -> None:
        """Write the regions of an operation."""
        self.varint(len(op.regions))
        for region in op.regions:
            self.varint(len(region.blocks))
            for block in region.blocks:
                self.block(block)

    def block(self, block: Block) -> None:
        """Write a block; the indices of its values are reused after it."""
        known = len(self._values)
        self.varint(len(block.args))
        for argument in block.args:
            self.varint(self.pools.types.index(argument.type))
        self.number(block.args)
        ops = list(block)
        self.varint(len(ops))
        for op in ops:
            self.operation(op)
        while len(self._values) > known:
            self._values.popitem()


def _accepted(field: AttributeField[Any], stored: Attribute | None) -> Attribute:
    """Return the attribute if it has the declared kind, otherwise the default."""
    if stored is None:
        stored = default_of(field)
    if stored is None:
        raise InvalidValue(f"needs attribute '{field.spelling}'")
    if not field.kind.accepts(stored):
        raise InvalidValue(f"expected attribute '{field.spelling}' to be {field.kind.description}")
    return stored
