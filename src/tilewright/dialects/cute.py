"""The attributes of the cute dialect: layouts, shapes and strides, as nested tuples of `N@dim`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, NoReturn, Self, TypeAlias

from tilewright.ir.attributes import Parametric
from tilewright.ir.dialect import Dialect

if TYPE_CHECKING:
    from tilewright.text.attribute_printer import AttributePrinter
    from tilewright.text.parser import Parser


class Leaf(Parametric):
    """`16@1`: an integer along a dimension, or a plain integer without one."""

    __slots__ = ("value", "dim")  # noqa: RUF023 - the order of the parameters

    value: int
    dim: int | None

    def __new__(cls, value: int, dim: int | None = None) -> Self:
        return cls.unique(value, dim)

    def __str__(self) -> str:
        return str(self.value) if self.dim is None else f"{self.value}@{self.dim}"


Tree: TypeAlias = Leaf | tuple["Tree", ...]
"""A leaf, or a tuple of trees: an `IntTuple`."""


class CuteAttr(Parametric):
    """Base of the three attributes, each of one tree."""

    __slots__ = ()

    tree: Tree

    def __new__(cls, tree: Tree) -> Self:
        return cls.unique(tree)

    def print(self, printer: AttributePrinter) -> str:
        """The text after the mnemonic."""
        return f"<{spell(self.tree)}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form; an error names the malformed parameter."""
        parser.expect("<")
        tree = _TreeParser(parser, cls.mnemonic).tree(())
        parser.expect(">")
        return cls(tree)


class LayoutAttr(CuteAttr):
    """`#cute.layout<(1@0, 16@1)>`."""

    __slots__ = ("tree",)
    mnemonic = "cute.layout"


class ShapeAttr(CuteAttr):
    """`#cute.shape<(128@0, 64@1)>`."""

    __slots__ = ("tree",)
    mnemonic = "cute.shape"


class StrideAttr(CuteAttr):
    """`#cute.stride<(1@0, 128@1)>`."""

    __slots__ = ("tree",)
    mnemonic = "cute.stride"


def spell(tree: Tree) -> str:
    """The text of a tree."""
    return str(tree) if isinstance(tree, Leaf) else f"({', '.join(map(spell, tree))})"


class _TreeParser:
    """Parse one tree; `path` is the path to the current parameter, for diagnostics."""

    __slots__ = ("_mnemonic", "_parser")

    def __init__(self, parser: Parser, mnemonic: str) -> None:
        self._parser = parser
        self._mnemonic = mnemonic

    def tree(self, path: tuple[int, ...]) -> Tree:
        parser = self._parser
        if not parser.accept("("):
            return self.leaf(path)
        parser.enter()
        items = [self.tree((*path, 0))]
        while parser.accept(","):
            items.append(self.tree((*path, len(items))))
        if not parser.accept(")"):
            self.malformed(path, f"expected ',' or ')', got '{parser.peek()}'")
        parser.leave()
        return tuple(items)

    def leaf(self, path: tuple[int, ...]) -> Leaf:
        value = self.number(path, "a number or a tuple")
        if not self._parser.accept("@"):
            return Leaf(value)
        return Leaf(value, self.number(path, "a dimension after '@'"))

    def number(self, path: tuple[int, ...], expected: str) -> int:
        token = self._parser.peek()
        if not token.isdecimal():
            self.malformed(path, f"expected {expected}, got '{token}'")
        self._parser.next()
        return int(token)

    def malformed(self, path: tuple[int, ...], problem: str) -> NoReturn:
        indices = "".join(f"[{index}]" for index in path)
        self._parser.error(
            f"malformed parameter{indices and ' ' + indices} of #{self._mnemonic}: {problem}"
        )


CUTE: Final = Dialect("cute", sys.modules[__name__])
