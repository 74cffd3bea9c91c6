"""Conversion patterns: what becomes of operations of certain classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from tilewright.ir.operation import Operation
from tilewright.ir.rules import ByRoot
from tilewright.ir.values import Value

if TYPE_CHECKING:
    from tilewright.ir.conversion_builder import ConversionBuilder
    from tilewright.ir.legality import ConversionTarget
    from tilewright.ir.type_converter import TypeConverter

Result: TypeAlias = Operation | Value | Sequence[Value | Sequence[Value]] | None
"""The result of a pattern: the replacements of the results of the operation.

One value for each result, or several (or none) where its type is converted to several; or the
operation that has them as results. `()` for an operation without results. `None`: it does not
apply."""

Made: TypeAlias = "Operation | tuple[Operation, ...] | None"
"""Operations in order, in no block yet, the last of which has the results; `None`: none will do."""

Transfer: TypeAlias = "Callable[[Any, Sequence[Any], TypeConverter], Made]"
"""Makes the operation that stands for another, from that one and its converted operands."""


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


class PatternFinder(ByRoot[ConversionPattern]):
    """Patterns by the operations that they match; reusable between conversions."""

    __slots__ = ("_shortcuts", "_target")

    def __init__(self, patterns: Iterable[ConversionPattern]) -> None:
        super().__init__(patterns)
        self._target: ConversionTarget | None = None
        self._shortcuts: dict[type[Operation], Transfer] = {}

    def shortcuts(self, target: ConversionTarget) -> dict[type[Operation], Transfer]:
        """Cache of the operations that the target always calls illegal."""
        if target is not self._target:
            self._target = target
            self._shortcuts = {}
        return self._shortcuts
