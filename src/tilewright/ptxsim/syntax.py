"""PTX syntax tree: functions, variables, instructions, operands, scopes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from tilewright.support.location import (
    CallSiteLoc,
    FileLoc,
    Location,
    Positions,
    TextLoc,
    fuse,
)


@dataclass(frozen=True, slots=True)
class Name:
    """A register, variable, function or label; the scope of the instruction says which."""

    text: str


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer literal, signed as written."""

    value: int


@dataclass(frozen=True, slots=True)
class Float:
    """A floating-point literal as the bits of an IEEE number of 32 or 64 bits."""

    bits: int
    width: int


@dataclass(frozen=True, slots=True)
class SymbolOffset:
    """`name + number` outside of brackets, as in `mov.u64 %rd1, table+8`."""

    name: str
    offset: int


@dataclass(frozen=True, slots=True)
class Vector:
    """`{a, b, …}`."""

    elements: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Address:
    """`[base + offset]`, or `[base, coordinates]` of a tensor access, where `rest` is not empty."""

    base: Name | Integer
    offset: int
    rest: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """`a|b`: two results, of which the second is a predicate."""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class Not:
    """`!p`."""

    operand: Operand


@dataclass(frozen=True, slots=True)
class Arguments:
    """`(a, b, …)` of a call."""

    elements: tuple[Operand, ...]


Operand = Name | Integer | Float | SymbolOffset | Vector | Address | Pair | Not | Arguments

DISCARD: Final = "_"
"""The name of a result that is not wanted."""


@dataclass(frozen=True, eq=False, slots=True)
class RegisterDeclaration:
    """`.reg .b32 %r`; two registers are the same only if their declarations are one object."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Relocation:
    """An address to be stored in an initialiser."""

    offset: int
    symbol: str
    addend: int
    width: int


@dataclass(eq=False, slots=True)
class Variable:
    """A variable or parameter: its space, type, alignment, size in bytes, initial contents."""

    space: str
    name: str
    type: str
    alignment: int
    size: int
    location: Location
    external: bool = False
    contents: bytes = b""
    relocations: tuple[Relocation, ...] = ()


@dataclass(frozen=True, slots=True)
class Label:
    """A label in a function's body: the index of the next instruction."""

    index: int


@dataclass(frozen=True, slots=True)
class NameTable:
    """`.branchtargets` or `.calltargets`: the names that an indirect jump or call may reach."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prototype:
    """`.callprototype`: the parameters of a function known only by its address."""

    returns: tuple[Variable, ...]
    parameters: tuple[Variable, ...]


Declared = RegisterDeclaration | Variable | Label | NameTable | Prototype

_DIGITS: Final = "0123456789"


class Scope:
    """The names that a `{ … }` declares; `%r<10>` declares ten at once."""

    __slots__ = ("_banks", "names", "parent")

    def __init__(self, parent: Scope | None) -> None:
        self.parent = parent
        self.names: dict[str, Declared] = {}
        self._banks: dict[str, tuple[str, int]] = {}

    def declare_bank(self, prefix: str, type: str, count: int) -> None:
        """Declare the registers `prefix0` to `prefix<count - 1>`."""
        self._banks[prefix] = (type, count)

    def find(self, name: str) -> Declared | None:
        """Look up a name, inner scopes first."""
        scope: Scope | None = self
        while scope is not None:
            declared = scope.names.get(name)
            if declared is None and scope._banks:  # noqa: SLF001 - of the same class
                declared = scope._numbered(name)  # noqa: SLF001
            if declared is not None:
                return declared
            scope = scope.parent
        return None

    def _numbered(self, name: str) -> RegisterDeclaration | None:
        # The number of a register has no leading zeros: `%r01` is register 1 of the bank `%r0`.
        digits = name[len(name.rstrip(_DIGITS)) :]
        number = digits.lstrip("0") or digits[:1]
        bank = self._banks.get(name[: len(name) - len(number)])
        if not number or bank is None or int(number) >= bank[1]:
            return None
        declared = RegisterDeclaration(name, bank[0])
        self.names[name] = declared
        return declared


@dataclass(frozen=True, slots=True)
class SourceLine:
    """The source line of a `.loc` directive."""

    file: str
    line: int
    column: int
    caller: SourceLine | None = None
    """Of inlined code, the line of the call."""

    @property
    def call_count(self) -> int:
        """The number of calls that were inlined."""
        count, caller = 0, self.caller
        while caller is not None:
            count, caller = count + 1, caller.caller
        return count

    @property
    def location(self) -> Location:
        """The location in the source, of inlined code with its calls."""
        callee = FileLoc(self.file, self.line, self.column)
        return callee if self.caller is None else CallSiteLoc(callee, self.caller.location)

    def __str__(self) -> str:
        return str(self.location)


@dataclass(eq=False, slots=True)
class Instruction:
    """One instruction: the dotted opcode, its guard, its operands, and its location."""

    opcode: str
    guard: Name | None
    guard_negated: bool
    operands: tuple[Operand, ...]
    scope: Scope
    positions: Positions
    position: int
    source_line: SourceLine | None

    @property
    def text_location(self) -> TextLoc:
        """The location in the PTX text."""
        return TextLoc(self.positions, self.position)

    @property
    def location(self) -> Location:
        """The location in the PTX text, fused with that of the source line if it is known."""
        location, line = self.text_location, self.source_line
        return location if line is None else fuse(location, line.location)

    @property
    def origin(self) -> str:
        """The source line, as the end of a sentence; empty if unknown."""
        return "" if self.source_line is None else f", source line {self.source_line}"


@dataclass(eq=False, slots=True)
class Function:
    """An entry or a device function; without a body it is only declared."""

    name: str
    is_entry: bool
    returns: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    scope: Scope
    location: Location
    directives: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    body: list[Instruction] | None = None
    variables: list[Variable] = field(default_factory=list[Variable])


@dataclass(eq=False, slots=True)
class PtxModule:
    """A whole PTX text."""

    version: tuple[int, int]
    target: tuple[str, ...]
    scope: Scope
    variables: list[Variable]
    functions: dict[str, Function]

    def entries(self) -> Iterator[Function]:
        """The kernels of the module."""
        return (function for function in self.functions.values() if function.is_entry)
