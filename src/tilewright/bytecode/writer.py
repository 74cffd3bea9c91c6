"""Writes Tile IR bytecode: the container and the outer structure of the module."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from tilewright.bytecode.attribute_writer import Pools, Writer
from tilewright.bytecode.body_writer import BodyWriter
from tilewright.bytecode.debug_info import DebugPool
from tilewright.bytecode.opcodes import ALIGNED, ALIGNMENT, MAGIC, FunctionFlag, Section
from tilewright.bytecode.varint import Buffer
from tilewright.bytecode.versions import (
    ARGUMENT_ATTRIBUTES,
    GLOBAL_FLAGS,
    NEWEST,
    PRODUCER,
    Version,
    check_supported,
)
from tilewright.dialects.cuda_tile.attributes import OptimizationHintsAttr
from tilewright.dialects.cuda_tile.structure import EntryOp, GlobalOp
from tilewright.dialects.cuda_tile.versions import version_problems
from tilewright.ir.attributes import ArrayAttr, StringAttr
from tilewright.support.bits import to_unsigned
from tilewright.support.diagnostics import InvalidValue, UserError

if TYPE_CHECKING:
    from tilewright.dialects.cuda_tile.structure import ModuleOp
    from tilewright.ir.operation import Operation


def write_bytecode(module: ModuleOp, version: Version = NEWEST) -> bytes:
    """Encode a module; raises a `UserError` for what the version cannot hold.

    The same module always gives the same bytes. The name of the module, attributes that the
    operations do not declare, and, in versions that know none, the producer are not stored.
    """
    check_supported(version, module.location)
    return _ModuleWriter(module, version).file()


class _ModuleWriter:
    """Makes the sections of a file."""

    __slots__ = ("_debug", "_file", "_module", "_pools")

    def __init__(self, module: ModuleOp, version: Version) -> None:
        self._module = module
        self._pools = Pools(version)
        self._debug = DebugPool(self._pools.strings, version)
        self._file = Buffer()
        self._file.out += MAGIC + bytes([*version, 0, 0])

    def file(self) -> bytes:
        """The whole file, its sections in the order of NVIDIA's public writer."""
        pools, debug = self._pools, self._debug
        members = list(self._module.members())
        globals = [op for op in members if isinstance(op, GlobalOp)]
        entries = [op for op in members if isinstance(op, EntryOp)]
        for op in members:
            if not isinstance(op, EntryOp | GlobalOp):
                _refuse(op, "has no form in the bytecode of a module")
        # The producer of a module is left out where a version has none: members alone count.
        newer = [problem for op in members for problem in version_problems(op, pools.version)]
        if newer:
            raise UserError(newer)
        if globals:
            self._section(Section.GLOBAL, self._globals(globals))
        self._section(Section.FUNC, self._functions(entries))
        if pools.constants.records:
            self._section(Section.CONSTANT, pools.constants.table(8))
        if debug.records:
            self._section(Section.DEBUG, debug.table(4))
        self._section(Section.TYPE, pools.types.table(4))
        producer = self._module.producer
        if producer is not None and pools.version >= PRODUCER:
            name = Writer(pools)
            name.string(producer)
            self._section(Section.PRODUCER, name)
        self._section(Section.STRING, pools.strings.table(4))
        self._file.out.append(Section.END)
        return bytes(self._file.out)

    def _section(self, section: int, contents: Buffer) -> None:
        file = self._file
        alignment = ALIGNMENT.get(section)
        file.out.append(section if alignment is None else section | ALIGNED)
        file.varint(len(contents.out))
        if alignment is not None:
            file.varint(alignment)
            file.align(alignment)
        file.out += contents.out

    def _globals(self, globals: list[GlobalOp]) -> Buffer:
        section = Writer(self._pools)
        section.varint(len(globals))
        for op in globals:
            try:
                self._global(section, op)
            except InvalidValue as problem:
                _refuse(op, str(problem))
        return section

    def _global(self, section: Writer, op: GlobalOp) -> None:
        section.string(op.sym_name)
        section.varint(self._pools.types.index(op.value.type))
        section.constant(op.value)
        section.varint(to_unsigned(op.alignment, 64))
        if self._pools.version >= GLOBAL_FLAGS:
            section.varint(op.symbol_visibility.value)
            section.varint(op.constant)

    def _functions(self, entries: list[EntryOp]) -> Buffer:
        section = Writer(self._pools)
        section.varint(len(entries))
        for op in entries:
            body = BodyWriter(self._pools, op)
            try:
                self._function(section, op, body)
            except InvalidValue as problem:
                _refuse(body.op, str(problem))
        section.align(8)
        return section

    def _function(self, section: Writer, op: EntryOp, body: BodyWriter) -> None:
        section.string(op.sym_name)
        section.varint(self._pools.types.index(op.function_type))
        body.body(op.body.block)
        has_attributes = self._pools.version >= ARGUMENT_ATTRIBUTES
        flags = FunctionFlag.KERNEL
        if op.hints is not None and not has_attributes:
            flags |= FunctionFlag.HINTS
        if op.attributes.get("sym_visibility") is StringAttr("private"):
            flags |= FunctionFlag.PRIVATE
        section.out.append(flags)
        section.varint(self._debug.function(body.locations))
        if op.hints is not None or has_attributes:
            section.attribute(op.hints or OptimizationHintsAttr({}))
        if has_attributes:
            section.attribute(ArrayAttr(op.arg_attrs or ()))
        section.varint(len(body.out))
        section.out += body.out


def _refuse(op: Operation, problem: str) -> NoReturn:
    raise UserError([op.error(problem)])
