"""Symbols: operations that are found by name instead of by value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tilewright.ir.attributes import StringAttr, SymbolRefAttr
from tilewright.ir.traits import SYMBOL_TABLE
from tilewright.support.diagnostics import InternalError

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation

NAME: Final = "sym_name"


def symbol_name(op: Operation) -> str | None:
    """The name that an operation defines, if it is a symbol."""
    name = op.attributes.get(NAME)
    return name.value if isinstance(name, StringAttr) else None


class SymbolTable:
    """The symbols directly inside an operation, by name."""

    __slots__ = ("_symbols", "op")

    def __init__(self, op: Operation) -> None:
        self.op = op
        named = ((symbol_name(inner), inner) for inner in op.members())
        self._symbols = {name: inner for name, inner in named if name is not None}

    def get(self, name: str) -> Operation | None:
        """The symbol of this name, or `None`."""
        return self._symbols.get(name)

    def __contains__(self, name: str) -> bool:
        return name in self._symbols

    def __iter__(self) -> Iterator[Operation]:
        return iter(self._symbols.values())

    def free_name(self, wish: str) -> str:
        """`wish`, or `wish_0`, `wish_1` and so on if that is taken."""
        name, number = wish, 0
        while name in self._symbols:
            name = f"{wish}_{number}"
            number += 1
        return name

    def add(self, op: Operation) -> str:
        """Enter an operation that was put inside; renames it if its name is taken."""
        wish = symbol_name(op)
        if wish is None:
            raise InternalError(f"'{op.name}' is not a symbol", op.location)
        name = self.free_name(wish)
        op.attributes[NAME] = StringAttr(name)
        self._symbols[name] = op
        return name

    def remove(self, op: Operation) -> None:
        """Forget a symbol that leaves."""
        name = symbol_name(op)
        if name is not None and self._symbols.get(name) is op:
            del self._symbols[name]


def nearest_symbol_table(op: Operation) -> Operation | None:
    """The innermost operation around `op`, or itself, that has a symbol table."""
    if SYMBOL_TABLE in op.traits:
        return op
    return next((outer for outer in op.ancestors() if SYMBOL_TABLE in outer.traits), None)


def resolve(reference: SymbolRefAttr, user: Operation) -> Operation | None:
    """The symbol that a reference on `user` means: looked up in every table around it."""
    parent = user.parent_op
    table = nearest_symbol_table(parent) if parent is not None else None
    while table is not None:
        symbol: Operation | None = table
        for name in reference.path:
            symbol = SymbolTable(symbol).get(name) if symbol is not None else None
        if symbol is not None:
            return symbol
        parent = table.parent_op
        table = nearest_symbol_table(parent) if parent is not None else None
    return None
