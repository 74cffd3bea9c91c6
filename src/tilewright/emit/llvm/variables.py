"""Variables for a debugger: parameters, and the values of the program that have names.

Each is kept in memory of the thread, where a debugger finds it whatever the code does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.emit.llvm.debug_info import value_bytes
from tilewright.ir.types import I1, I8, VectorType
from tilewright.support.location import NameLoc

if TYPE_CHECKING:
    from tilewright.dialects.llvm.functions import FuncOp
    from tilewright.emit.llvm.debug_info import DebugInfo
    from tilewright.emit.llvm.function import Emit, Find, FunctionWriter
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.location import Location

BUDGET: Final = 8192
"""Bytes of a thread for variables: a GPU sets them aside for every thread that it can run."""


class Variables:
    """The variables of one function, which `writer` writes."""

    __slots__ = ("_debug", "_function", "_left", "_owners", "_start", "_writer")

    def __init__(self, writer: FunctionWriter, debug: DebugInfo, function: FuncOp) -> None:
        self._writer = writer
        self._debug = debug
        self._function = function
        self._left = BUDGET
        self._start: list[str] = []
        self._owners = _owners(function)

    def write(self, find: Find) -> None:
        """Emit the function, with a store after each operation that defines a variable."""
        writer, function = self._writer, self._function

        def lookup(op: Operation) -> Emit:
            emit = find(op)

            def emit_and_store(writer: FunctionWriter, op: Operation) -> None:
                emit(writer, op)
                self._keep_result(op)

            return emit_and_store

        writer.write(function, lookup)
        body = writer.lines
        writer.lines = []
        writer.tail = self._debug.tail(function.location)
        for number, argument in enumerate(function.arguments):
            named = argument.location
            name = named.name if isinstance(named, NameLoc) else f"arg{number}"
            self._keep(argument, name, function.location, number + 1)
        writer.lines = [body[0], *self._start, *writer.lines, *body[1:]]

    def _keep_result(self, op: Operation) -> None:
        name = self._owners.get(op)
        # Accumulator registers between wgmmas are not separate values.
        if name is not None and op.results[0] not in self._writer.lanes:
            self._keep(op.results[0], name, op.location)

    def _keep(self, value: Value, name: str, location: Location, argument: int = 0) -> None:
        """Allocate a stack slot at the start of the function, and store a value in it."""
        size = value_bytes(value.type)
        if size is None or size > self._left:
            return
        self._left -= size
        writer, debug = self._writer, self._debug
        stored, slot = _in_memory(value.type), f"%d{len(self._start)}"
        variable = debug.variable(name, value.type, location, argument)
        node = debug.location_node(location)
        self._start += [
            f"  {slot} = alloca {writer.types[stored]}, align {_alignment(size)}",
            f"    #dbg_declare(ptr {slot}, !{variable}, !DIExpression(), !{node})",
        ]
        text = writer.typed(value)
        if stored is not value.type:
            wide = writer.temporary(f"zext {text} to {writer.types[stored]}")
            text = f"{writer.types[stored]} {wide}"
        writer.line(f"store {text}, ptr {slot}, align {_alignment(size)}")


def _owners(function: FuncOp) -> dict[Operation, str]:
    """Map the last defining operation of each named value to its name."""
    definitions: dict[str, Operation] = {}
    for op in function.walk():
        if isinstance(op.location, NameLoc) and len(op.results) == 1:
            definitions[op.location.names[0]] = op
    return {op: name for name, op in definitions.items()}


def _in_memory(type: Type) -> Type:
    """The in-memory type of a value: i1 takes a byte."""
    if type is I1:
        return I8
    if isinstance(type, VectorType) and type.element is I1:
        return VectorType(type.shape, I8)
    return type


def _alignment(size: int) -> int:
    return min(size & -size, 16)
