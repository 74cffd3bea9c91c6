"""Emit the body of a function: names, blocks, phis and instructions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from tilewright.dialects.llvm.constants import (
    AddressOfOp,
    ConstantOp,
    PoisonOp,
    UndefOp,
    ZeroOp,
)
from tilewright.dialects.llvm.control_flow import Branch
from tilewright.emit.llvm.constants import constant_text, symbol
from tilewright.ir.operation import Operation
from tilewright.support.diagnostics import InternalError, Unsupported

if TYPE_CHECKING:
    from tilewright.dialects.llvm.functions import FuncOp
    from tilewright.emit.llvm.debug_info import DebugInfo
    from tilewright.emit.llvm.types import TypeTexts
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Block
    from tilewright.ir.values import Value
    from tilewright.target.arch import Arch

Emit: TypeAlias = "Callable[[FunctionWriter, Any], None]"
"""Emits the instructions of an operation."""

Find: TypeAlias = "Callable[[Operation], Emit]"
"""Looks up the emitter of an operation, which the target supports."""

Inline: TypeAlias = "Callable[[Any, TypeTexts], str]"
"""Prints an operation as a constant at its uses."""

INLINE: Final[Mapping[type[Operation], Inline]] = {
    ConstantOp: lambda op, types: constant_text(op.value, op.results[0].type, types),
    ZeroOp: lambda op, types: "zeroinitializer",
    UndefOp: lambda op, types: "undef",
    PoisonOp: lambda op, types: "poison",
    AddressOfOp: lambda op, types: symbol(op.symbol),
}


class FunctionWriter:
    """The lines of one function, and the state of their emission."""

    __slots__ = (
        "_count",
        "_debug",
        "_incoming",
        "_labels",
        "_trampolines",
        "arch",
        "lanes",
        "lines",
        "module",
        "names",
        "tail",
        "types",
    )

    def __init__(self, module: ModuleState, arch: Arch) -> None:
        self.module = module
        self.arch = arch
        self.types = module.types
        self.names: dict[Value, str] = {}
        """The name of each value: a register or a constant."""
        self.lanes: dict[Value, list[str]] = {}
        """Registers of vectors that were built from scalars, so that they need no extraction."""
        self.lines: list[str] = []
        self.tail = ""
        """The `!dbg` suffix of the current instruction."""
        self._debug: DebugInfo | None = module.debug if module.line_info else None
        self._labels: dict[Block, str] = {}
        self._incoming: dict[Block, list[tuple[str, Sequence[Value]]]] = {}
        self._trampolines: dict[tuple[Block, int], str] = {}
        self._count = 0

    def write(self, function: FuncOp, find: Find) -> None:
        """Emit all blocks."""
        blocks = function.body.blocks
        self._name(blocks)
        if blocks[0] in self._incoming:
            raise Unsupported("a branch to the first block of a function", function.location)
        # Constants have no line: they are printed at their uses.
        emitters: dict[type[Operation], Emit | None] = dict.fromkeys(INLINE)
        for index, block in enumerate(blocks):
            self.lines.append(f"{self._labels[block]}:")
            if index:
                self._phis(block)
            self._operations(block, find, emitters)
            if self._trampolines:
                self._write_trampolines(block)

    def _operations(
        self, block: Block, find: Find, emitters: dict[type[Operation], Emit | None]
    ) -> None:
        debug = self._debug
        op = block.first
        while op is not None:
            kind = op.__class__
            if kind in emitters:
                emit = emitters[kind]
            else:
                emit = emitters[kind] = find(op)
            if emit is not None:
                if debug is not None:
                    self.tail = debug.tail(op.location)
                emit(self, op)
            op = op.next

    def _name(self, blocks: list[Block]) -> None:
        """Name all values and blocks in advance."""
        names, types = self.names, self.types
        number = 0
        for index, block in enumerate(blocks):
            self._labels[block] = f"b{index}"
            for argument in block.args:
                names[argument] = f"%a{number}"
                number += 1
            op = block.first
            while op is not None:
                inline = INLINE.get(op.__class__)
                for result in op.results:
                    names[result] = f"%v{number}" if inline is None else inline(op, types)
                    number += 1
                op = op.next
        for block in blocks:
            self._enter_edges(block)

    def _enter_edges(self, block: Block) -> None:
        """Record the incoming edges of each block and their values.

        A phi has one value per predecessor. If a terminator has two edges to one block, the second
        gets a trampoline block.
        """
        last = block.last
        if not isinstance(last, Branch):
            return
        label = self._labels[block]
        seen: set[Block] = set()
        for index, (target, values) in enumerate(last.edges()):
            source = label
            if target in seen and values:
                source = self._trampolines[block, index] = f"{label}.{index}"
            elif target in seen:
                continue
            seen.add(target)
            self._incoming.setdefault(target, []).append((source, values))

    def _phis(self, block: Block) -> None:
        names = self.names
        edges = self._incoming.get(block, [])
        for argument in block.args:
            if not edges:
                raise InternalError("a block with arguments that nothing reaches")
            index = argument.index
            sources = ", ".join(
                [f"[ {names[values[index]]}, %{label} ]" for label, values in edges]
            )
            self.lines.append(f"  {names[argument]} = phi {self.types[argument.type]} {sources}")

    def _write_trampolines(self, block: Block) -> None:
        last = block.last
        for index, target in enumerate(last.successors if last is not None else ()):
            label = self._trampolines.get((block, index))
            if label is not None:
                self.lines += [f"{label}:", f"  br label %{self._labels[target]}{self.tail}"]

    def target(self, op: Operation, index: int) -> str:
        """Print the target of a branch: `label %b1`."""
        assert op.parent is not None
        detour = self._trampolines.get((op.parent, index))
        return f"label %{detour or self._labels[op.successors[index]]}"

    def typed(self, value: Value) -> str:
        """`i32 %v1`."""
        return f"{self.types[value.type]} {self.names[value]}"

    def all_typed(self, values: Sequence[Value]) -> list[str]:
        """`i32 %v1` for each."""
        types, names = self.types, self.names
        return [f"{types[value.type]} {names[value]}" for value in values]

    def line(self, text: str) -> None:
        """Emit an instruction without a result."""
        self.lines.append(f"  {text}{self.tail}")

    def bind(self, value: Value, text: str) -> None:
        """Emit an instruction that defines a value of the program."""
        self.lines.append(f"  {self.names[value]} = {text}{self.tail}")

    def temporary(self, text: str) -> str:
        """Emit an instruction that defines a temporary; return its name."""
        self._count += 1
        name = f"%t{self._count}"
        self.lines.append(f"  {name} = {text}{self.tail}")
        return name

    def call(self, op: Operation, name: str, arguments: Sequence[str], before: str = "") -> None:
        """Emit a call that defines the result of an operation. `before` are attributes."""
        inside = ", ".join(arguments)
        results = op.results
        if results:
            type = self.types[results[0].type]
            self.bind(results[0], f"call {before}{type} @{name}({inside})")
        else:
            self.line(f"call {before}void @{name}({inside})")

    def int_of(self, value: Value, type: Type) -> str:
        """Zero-extend or truncate an integer to a type, if needed; return its name."""
        if value.type is type:
            return self.names[value]
        return self.temporary(f"zext {self.typed(value)} to {self.types[type]}")


class ModuleState:
    """State that the functions of a module share while they are emitted."""

    __slots__ = ("called", "debug", "line_info", "types", "unproven")

    def __init__(self, types: TypeTexts, debug: DebugInfo, line_info: bool) -> None:
        self.types = types
        self.debug = debug
        self.line_info = line_info
        self.called: set[str] = set()
        """The names of called functions."""
        self.unproven: list[str] = []
        """Constructs that LLVM is not known to accept."""
