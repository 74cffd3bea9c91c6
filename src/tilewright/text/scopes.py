"""Scopes of SSA values and block labels, including forward references."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.ir.operation import Block
from tilewright.ir.values import Value
from tilewright.support.diagnostics import note

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.text.parser import Parser


class Forward(Value):
    """A placeholder for a value that is used before its definition."""

    __slots__ = ("ref",)

    def __init__(self, type: Type, ref: int) -> None:
        super().__init__(type, 0)
        self.ref = ref
        """The token of the first use."""


Scope = tuple[dict[str, Value], dict[str, Forward], int]


class Names:
    """The values in scope.

    A name is `%x`, or `%x#1` for a result other than the first. Uses may precede the
    definition in the text; the verifier checks dominance.
    """

    __slots__ = ("_parser", "forward", "values")

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self.values: dict[str, Value] = {}
        """Defined values by name, in the order of definition."""
        self.forward: dict[str, Forward] = {}
        """Forward references that are not resolved yet."""

    def open(self, isolated: bool) -> Scope:
        """Enter a region; names from outside are not visible in an isolated one."""
        scope = self.values, self.forward, len(self.values)
        if isolated:
            self.values = {}
            self.forward = {}
        return scope

    def close(self, scope: Scope) -> None:
        """Leave a region, and drop the names defined in it."""
        values, forward, count = scope
        if self.values is not values:
            self.finish()
        self.values = values
        self.forward = forward
        # Costs what the region defined, not what is visible.
        for _ in range(len(values) - count):
            values.popitem()

    def finish(self) -> None:
        """Report forward references without a definition."""
        for forward in self.forward.values():
            self._undefined(forward.ref)

    def _undefined(self, ref: int) -> None:
        self._parser.error(f"use of undefined value '{self._parser.tokens[ref]}'", ref)

    def define(self, ref: int, value: Value) -> None:
        """Bind the name at a token to a value."""
        name = self._parser.tokens[ref]
        if "#" in name:
            self._parser.error(f"expected a name to define, got '{name}'", ref)
        self._define(name, ref, value)

    def _define(self, name: str, ref: int, value: Value) -> None:
        values = self.values
        if name in values:
            before = note("defined here before", values[name].location)
            self._parser.error(f"redefinition of value '{name}'", ref, before)
        values[name] = value
        if self.forward:
            self._settle(name, value)

    def _settle(self, name: str, value: Value) -> None:
        """Replace the forward reference of a name by its value."""
        forward = self.forward.pop(name, None)
        if forward is None:
            return
        if forward.type is not value.type:
            self._mismatch(forward.ref, forward.type, value)
        forward.replace_all_uses_with(value)

    def define_result(self, op: Operation, ref: int) -> None:
        """Name the only result of an operation."""
        if len(op.results) != 1:
            self._miscounted(op, ref, 1)
        name = self._parser.tokens[ref]
        if name in self.values or self.forward or "#" in name:
            self.define(ref, op.results[0])
        else:
            self.values[name] = op.results[0]

    def define_results(self, op: Operation, start: int, names: list[tuple[int, int]]) -> None:
        """Name the results of an operation; each name covers a number of results."""
        results = op.results
        named_count = sum(count for _, count in names)
        if named_count != len(results):
            self._miscounted(op, start, named_count)
        at = 0
        for ref, count in names:
            self.define(ref, results[at])
            name = self._parser.tokens[ref]
            for number in range(1, count):
                self._define(f"{name}#{number}", ref, results[at + number])
            at += count

    def _miscounted(self, op: Operation, at: int, named: int) -> None:
        message = f"'{op.name}' has {len(op.results)} results, but {named} are named"
        self._parser.error(message, at)

    def resolve(self, ref: int, type: Type) -> Value:
        """Return the value of a name, or a forward reference; report a type mismatch."""
        name = self._name(ref)
        value = self.values.get(name) or self.forward.get(name)
        if value is None:
            value = self.forward[name] = Forward(type, ref)
        elif value.type is not type:
            self._mismatch(ref, type, value)
        return value

    def lookup(self, ref: int) -> Value:
        """Return the value of a name that must be defined already."""
        value = self.values.get(self._name(ref))
        if value is None:
            self._undefined(ref)
            raise AssertionError
        return value

    def _name(self, ref: int) -> str:
        return self._parser.tokens[ref].removesuffix("#0")

    def _mismatch(self, ref: int, type: Type, value: Value) -> None:
        parser = self._parser
        name = parser.tokens[ref]
        if isinstance(value, Forward):
            other = note(f"used as {value.type} before", parser.location(value.ref))
            parser.error(f"value '{name}' is used as {type}", ref, other)
        other = note("defined here", value.location)
        parser.error(f"value '{name}' has type {value.type}, but is used as {type}", ref, other)


class Labels:
    """The blocks of one region by their labels."""

    __slots__ = ("_blocks", "_forward", "_parser")

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._blocks: dict[str, Block] = {}
        self._forward: dict[str, int] = {}
        """The first use of each label that is not defined yet."""

    def use(self) -> Block:
        """Parse the use of a label; return its block, which may be defined later."""
        parser = self._parser
        start = parser.at
        name = self._take()
        block = self._blocks.get(name)
        if block is None:
            block = self._blocks[name] = Block()
            self._forward[name] = start
        parser.at = start + 1
        return block

    def define(self) -> Block:
        """Parse the label of a block definition; return the block."""
        name = self._take()
        block = self._blocks.get(name)
        if block is None:
            block = self._blocks[name] = Block()
        elif self._forward.pop(name, None) is None:
            self._parser.error(f"redefinition of block '{name}'", self._parser.at - 1)
        return block

    def _take(self) -> str:
        parser = self._parser
        name = parser.peek()
        if name[:1] != "^" or name == "^":
            parser.unexpected("a block label")
        parser.at += 1
        return name

    def close(self) -> None:
        """Report labels without a definition."""
        for name, at in self._forward.items():
            self._parser.error(f"reference to undefined block '{name}'", at)
