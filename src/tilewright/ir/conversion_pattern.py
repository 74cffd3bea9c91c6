"""Conversion patterns: what becomes of operations of certain classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from tilewright.ir.operation import Operation
from tilewright.ir.values import Value

if TYPE_CHECKING:
    from tilewright.ir.conversion_builder import ConversionBuilder
    from tilewright.ir.type_converter import TypeConverter

Result: TypeAlias = Operation | Value | Sequence[Value | Sequence[Value]] | None
"""What a pattern gives back: what stands for the results of the operation.

One value for each result, or several (or none) where its type is converted to several; or the
operation that has them as results. `()` for an operation without results. `None`: it does not
apply."""

Transfer: TypeAlias = "Callable[[Any, Sequence[Any], TypeConverter], Operation | None]"
"""Makes the one operation that stands for another, from that one and its converted operands.

It is legal, has the location of the old one, and is in no block yet. `None`: it takes more."""


class ConversionPattern:
    """A way to convert operations of the classes `roots`; see `conversion.converts`."""

    __slots__ = ("apply", "name", "roots", "transfer")

    def __init__(
        self,
        roots: tuple[type[Operation], ...],
        apply: Callable[[Any, Any, ConversionBuilder], Result],
        name: str,
        transfer: Transfer | None = None,
    ) -> None:
        self.roots = roots
        self.apply = apply
        self.name = name
        self.transfer = transfer
        """A shorter way that does the same, where there is one."""

    def __repr__(self) -> str:
        return f"<conversion {self.name}>"
