"""A parser that goes on after an error, to report those of the rest of the text as well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.ir.operation import Operation, UnregisteredOp
from tilewright.support.diagnostics import Diagnostic, UserError
from tilewright.support.location import TextLoc
from tilewright.text.operations import find_operation
from tilewright.text.parser import Parser, parse_with
from tilewright.text.scopes import Labels, Names

if TYPE_CHECKING:
    from tilewright.ir.dialect import Context
    from tilewright.ir.values import Value
    from tilewright.text.scopes import Forward, Scope

_OPENING: Final = frozenset("({[")
_CLOSING: Final = frozenset(")}]")
_INVALID: Final = "tilewright.invalid"
"""The operation that stands for one that could not be parsed."""


def parse_every_error(
    text: str, context: Context, name: str = "<stdin>", default_dialect: str | None = None
) -> Operation:
    """Parse a program as `parse_text` does; raises a `UserError` with every error found."""
    module, errors = recover(RecoveringParser(text, context, name, default_dialect))
    if module is None:
        raise UserError(errors)
    return module


def recover(parser: RecoveringParser) -> tuple[Operation | None, list[Diagnostic]]:
    """Parse the text of a parser; return its module, or None and every error in their order."""
    errors = parser.errors
    module = None
    try:
        module = parse_with(parser)
    except _EndOfText:
        pass
    except UserError as error:
        errors += error.diagnostics
    # An invalid alias has the same error at its definition and at each use.
    distinct = {(_offset(error), error.text): error for error in reversed(errors)}
    return None if errors else module, sorted(distinct.values(), key=_offset)


def _offset(error: Diagnostic) -> int:
    """The character at which an error is."""
    location = error.location
    return location.positions.offset(location.position) if isinstance(location, TextLoc) else 0


class _EndOfText(Exception):
    """There is no operation after the last error."""


class _State(NamedTuple):
    """What an operation changes in the parser until it is parsed."""

    nesting: int
    braces: int
    labels: Labels
    dialects: tuple[str, ...]
    values: dict[str, Value]
    value_count: int
    forward: dict[str, Forward]
    forward_names: frozenset[str]
    undefined: set[str]


class RecoveringParser(Parser):
    """Records an error in an operation, and goes on with the next one in its block.

    The results of such an operation are unknown: errors of their users are not reported.
    """

    def __init__(self, text: str, context: Context, name: str, default_dialect: str | None) -> None:
        super().__init__(text, context, name, default_dialect)
        self.errors: list[Diagnostic] = []
        self.unknown: set[str] = set()
        """The names of values whose definitions could not be parsed."""
        # pyrefly: ignore[bad-override-mutable-attribute]: nothing else assigns it
        self.names: RecoveringNames = RecoveringNames(self)

    def operation(self) -> Operation:
        start, state = self.at, self._state()
        try:
            return super().operation()
        except UserError as error:
            self._restore(state)
            if not self._uses_unknown(start, self.at):
                self.errors += error.diagnostics
            self._parse_body(start, self.at, state)
            return self.skip(start)

    def alias_definition(self) -> None:
        start, state = self.at, self._state()
        try:
            super().alias_definition()
        except UserError as error:
            self._restore(state)
            self.errors += error.diagnostics
            self.at = self._next_definition(start)

    def _next_definition(self, start: int) -> int:
        """The next operation or alias outside of operations; the end of the text if none."""
        tokens, at = self.tokens, start + 2
        while tokens[at] and not (self._starts_alias(at) or self._starts_operation(at)):
            at += 1
        return at

    def _starts_alias(self, at: int) -> bool:
        return self.tokens[at][:1] in ("#", "!") and self.tokens[at + 1] == "="

    def _parse_body(self, start: int, stop: int, state: _State) -> None:
        """Look for errors in the region of an operation that has one before it, at `stop`."""
        tokens = self.tokens
        name = self.operation_name(start)
        kind = find_operation(self, tokens[name])
        brace = self._next_operation(stop, "{") if kind is not None else stop
        if kind is None or tokens[brace] != "{" or brace < stop:
            return
        arguments = {token for token in tokens[name:brace] if token[:1] == "%"}
        self.unknown |= arguments - self.names.values.keys()
        self.names.arguments = arguments
        self.at = brace
        try:
            self.region(owner=kind)
        except UserError as error:
            self._restore(state)
            self.errors += error.diagnostics

    def _state(self) -> _State:
        names = self.names
        return _State(
            self.nesting, len(self.open_braces), self.labels, self.default_dialects,
            names.values, len(names.values), names.forward, frozenset(names.forward), self.unknown,
        )  # fmt: skip

    def _restore(self, state: _State) -> None:
        """Leave the regions that were open at an error."""
        self.nesting = state.nesting
        self.aliases.forget_open()
        del self.open_braces[state.braces :]
        self.labels = state.labels
        self.use_dialects(state.dialects)
        names = self.names
        names.values, names.forward, self.unknown = state.values, state.forward, state.undefined
        while len(names.values) > state.value_count:
            names.values.popitem()
        for name in names.forward.keys() - state.forward_names:
            del names.forward[name]

    def _uses_unknown(self, start: int, stop: int) -> bool:
        """Whether an operation, up to an error in it, uses a value that is unknown."""
        tokens = self.tokens[self.operation_name(start) : stop + 1]
        return any(token.partition("#")[0] in self.unknown for token in tokens if token[:1] == "%")

    def operation_name(self, start: int) -> int:
        """The token after the names of results, `%a, %b:2 =`."""
        tokens, at = self.tokens, start
        while tokens[at][:1] == "%" or (at > start and tokens[at] in (",", ":", "=")):
            at += 2 if tokens[at] == ":" else 1
        return at

    def skip(self, start: int) -> Operation:
        """Continue at the operation after the one at `start`, or at the end of its block."""
        results = self.tokens[start : self.operation_name(start)]
        self.unknown.update(token for token in results if token[:1] == "%")
        at = self._next_operation(start)
        if not self.tokens[at]:
            raise _EndOfText
        self.at = at
        return UnregisteredOp(_INVALID, (), (), {}, (), self.location(start))

    def _next_operation(self, start: int, brace: str = "") -> int:
        """The next operation, the end of the block, or the brace of a region before them."""
        tokens, at, nesting = self.tokens, start + 1, 0
        if tokens[start] in _OPENING:
            nesting = 1
        while tokens[at]:
            if not nesting and (tokens[at] == "}" or self._starts_operation(at)):
                return at
            if tokens[at] == brace and not nesting and self._ends_line(at):
                return at
            if tokens[at] in _OPENING:
                nesting += 1
            elif tokens[at] in _CLOSING:
                nesting = max(0, nesting - 1)
            at += 1
        return at

    def _starts_operation(self, at: int) -> bool:
        """Whether a token is the first of its line, and starts an operation or a block."""
        token = self.tokens[at]
        if token[:1] not in ("%", "^", '"') and find_operation(self, token) is None:
            return False
        source = self.positions.source
        offset = self.positions.offset(at)
        if source.text[source.text.rfind("\n", 0, offset) + 1 : offset].strip():
            return False
        return token[:1] != "%" or self._names_results(at)

    def _ends_line(self, at: int) -> bool:
        """Whether a token is the last of its line, but for a comment."""
        text, after = self.positions.source.text, self.positions.offset(at) + len(self.tokens[at])
        rest = text[after : text.find("\n", after)].strip()
        return not rest or rest.startswith("//")

    def _names_results(self, at: int) -> bool:
        """Whether `%a, %b:2 =` is at a token."""
        tokens = self.tokens
        while tokens[at][:1] == "%":
            at += 3 if tokens[at + 1] == ":" else 1
            if tokens[at] == "=":
                return True
            if tokens[at] != ",":
                return False
            at += 1
        return False


class RecoveringNames(Names):
    """Records every use of an undefined value instead of the first."""

    __slots__ = ("_outside", "_recovering", "arguments")

    def __init__(self, parser: RecoveringParser) -> None:
        super().__init__(parser)
        self._recovering = parser
        self._outside: list[set[str]] = []
        self.arguments: set[str] = set()
        """The names of arguments of the next isolated region that are unknown."""

    def open(self, isolated: bool) -> Scope:
        if isolated:
            self._outside.append(self._recovering.unknown)
            self._recovering.unknown, self.arguments = self.arguments, set()
        return super().open(isolated)

    def close(self, scope: Scope) -> None:
        is_isolated = self.values is not scope[0]
        super().close(scope)
        if is_isolated:
            self._recovering.unknown = self._outside.pop()

    def finish(self) -> None:
        parser = self._recovering
        for forward in self.forward.values():
            name = parser.tokens[forward.ref]
            if name.partition("#")[0] not in parser.unknown:
                location = parser.location(forward.ref)
                parser.errors.append(Diagnostic(f"use of undefined value '{name}'", location))
