"""Traits: properties of all operations of a class, and their verification."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING, Final

from tilewright.support.diagnostics import note

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.tiling import Way
    from tilewright.support.diagnostics import Diagnostic


class Effects(Enum):
    """The side effects of an operation."""

    PURE = "pure"
    """Nothing, and it may run where it did not before: hoist, merge, delete at will."""
    NONE = "no memory effect"
    """Nothing, but it must not run where it did not before (division)."""
    RECURSIVE = "those of its regions"
    READ = "reads memory"
    WRITE = "writes memory"
    UNKNOWN = "unknown"
    """Anything: never deleted, never merged."""


class Trait:
    """A named property; subclasses with parameters check the operation."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def verify(self, op: Operation) -> Iterable[str]:
        """Verify the types and attributes of an operation with this trait."""
        return ()

    def verify_context(self, op: Operation) -> Iterable[str | Diagnostic]:
        """Verify its regions and its parent."""
        return ()

    def ways(self, op: Operation) -> Iterable[Way]:
        """The ways to cut an operation with this trait into parts."""
        return ()

    def __repr__(self) -> str:
        return self.name


TERMINATOR: Final = Trait("terminator")
ISOLATED: Final = Trait("isolated from above")
SYMBOL: Final = Trait("symbol")
NO_TERMINATOR: Final = Trait("no terminator")
GRAPH_REGION: Final = Trait("graph region")
COMMUTATIVE: Final = Trait("commutative")
CONSTANT_LIKE: Final = Trait("constant-like")
SPLAT_LIKE: Final = Trait("splat-like")
"""Every element of the only result is the only operand."""


class _Elementwise(Trait):
    """Each result element depends only on the operand elements at the same index."""

    __slots__ = ()

    def ways(self, op: Operation) -> Iterable[Way]:
        # Programs that are only read and printed need none.
        from tilewright.ir.tiling import alike  # noqa: PLC0415

        return alike(op)


ELEMENTWISE: Final = _Elementwise("elementwise")


class _SymbolTable(Trait):
    """The symbols directly inside have distinct names, which C and PTX can hold."""

    __slots__ = ()

    def verify_context(self, op: Operation) -> Iterable[str | Diagnostic]:
        seen: dict[object, Operation] = {}
        for inner in op.members():
            name = inner.attributes.get("sym_name")
            if name is None:
                continue
            text = getattr(name, "value", name)
            if name in seen:
                earlier = note(f"'{text}' is defined here first", seen[name].location)
                yield inner.error(f"redefinition of symbol '{text}'", earlier)
            elif isinstance(text, str) and "\0" in text:
                yield inner.error(f"expected a symbol name without NUL characters, got '{text}'")
            seen.setdefault(name, inner)


SYMBOL_TABLE: Final = _SymbolTable("symbol table")


class SameType(Trait):
    """The named fields all have one type; results among them can be inferred."""

    __slots__ = ("fields",)

    def __init__(self, *fields: str) -> None:
        super().__init__(f"same type: {', '.join(fields)}")
        self.fields = fields

    def verify(self, op: Operation) -> Iterable[str]:
        types = {value.type for field in self.fields for value in op.schema.values(op, field)}
        if len(types) > 1:
            yield f"expected {_listed(self.fields)} to have the same type"


class HasParent(Trait):
    """The operation stands directly inside one of the named operations."""

    __slots__ = ("parents",)

    def __init__(self, *parents: str) -> None:
        super().__init__(f"has parent: {', '.join(parents)}")
        self.parents = parents

    def verify_context(self, op: Operation) -> Iterable[str]:
        parent = op.parent_op
        if parent is None or parent.name not in self.parents:
            actual = "no parent" if parent is None else f"'{parent.name}'"
            expected = _listed([f"'{name}'" for name in self.parents], "or")
            yield f"expected parent op {expected}, got {actual}"


def _listed(names: Iterable[str], word: str = "and") -> str:
    *most, last = names
    return f"{', '.join(most)} {word} {last}" if most else last
