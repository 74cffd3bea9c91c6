"""An index of one text: where values, blocks, symbols and aliases are defined and used.

The parser records definitions and scopes. Uses need no record: a token that starts with `%`, `^`,
`@`, `!` or `#` is a use of what its name means in the scope around it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from copy import copy
from typing import TYPE_CHECKING, TypeVar

from tilewright.ir.attributes import StringAttr
from tilewright.ir.operation import Operation, UnregisteredOp
from tilewright.support.location import TextLoc, UnstatedLoc
from tilewright.text.definitions import alias_definitions
from tilewright.text.lexer import unescape
from tilewright.text.operations import find_operation
from tilewright.text.recovery import RecoveringNames, RecoveringParser, recover
from tilewright.text.scopes import Labels

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.ir.declare import RegionField
    from tilewright.ir.dialect import Context
    from tilewright.ir.operation import Block, Region
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Diagnostic
    from tilewright.support.location import Location
    from tilewright.text.parser import Argument


class OpRecord:
    """The tokens of one operation, which may be invalid."""

    __slots__ = ("end", "kind", "name", "parent", "start", "symbol", "symbol_token")

    def __init__(self, start: int, name: int, parent: OpRecord | None) -> None:
        self.start = start
        self.name = name
        """The token of the operation name."""
        self.end = start
        """The token after the last one."""
        self.parent = parent
        """The operation around this one."""
        self.kind: type[Operation] | None = None
        """The operation class; None if it is unknown."""
        self.symbol: str | None = None
        self.symbol_token = -1


class ValueRecord:
    """The definition of a name: one value, or several results of an operation."""

    __slots__ = ("op", "token", "types")

    def __init__(self, token: int, types: Sequence[Type], op: OpRecord | None) -> None:
        self.token = token
        self.types = types
        """The types of the values; none if the definition is invalid."""
        self.op = op
        """The operation with this result, or with this argument of a region."""


class Scope:
    """A region, or the whole text: the names that are defined in it."""

    __slots__ = (
        "dialects",
        "end",
        "is_isolated",
        "labels",
        "op",
        "parent",
        "start",
        "symbols",
        "values",
    )

    def __init__(
        self, start: int, parent: Scope | None, op: OpRecord | None, is_isolated: bool
    ) -> None:
        self.start = start
        """The token of the opening brace."""
        self.end = start
        """The token after the closing brace."""
        self.parent = parent
        self.op = op
        self.is_isolated = is_isolated
        self.dialects: tuple[str, ...] = ()
        """The dialects of operations without a prefix."""
        self.values: dict[str, ValueRecord] = {}
        self.labels: dict[str, int] = {}
        self.symbols: dict[str, OpRecord] = {}

    def around(self) -> Iterator[Scope]:
        """This scope and those around it, the innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def visible(self) -> Iterator[Scope]:
        """The scopes whose values are visible here, the innermost first."""
        for scope in self.around():
            yield scope
            if scope.is_isolated:
                return


class Index:
    """What a text defines, where, and which tokens mean it."""

    def __init__(self, parser: _IndexingParser) -> None:
        self._parser = parser
        self.tokens = parser.tokens
        self.scopes = parser.scopes
        self.operations = sorted(parser.records, key=lambda record: record.start)
        self._scope_starts = [scope.start for scope in self.scopes]
        self._op_starts = [record.start for record in self.operations]
        self._values = parser.definitions
        self._symbols = {r.symbol_token: r for r in self.operations if r.symbol_token >= 0}
        self._op_names = {record.name: record for record in self.operations}
        self.aliases = alias_definitions(self.tokens)
        """The tokens of alias definitions by name."""

    def token_at(self, offset: int) -> int | None:
        """Return the token that contains a character, or ends there; None in between."""
        offsets = self._parser.positions.offsets()
        at = bisect_right(offsets, offset) - 1
        # Where two tokens touch, the name is meant rather than the punctuation after it.
        for token in (at, at - 1):
            if token >= 0 and self.tokens[token] and offset <= self.range(token)[1]:
                text = self.tokens[token]
                if text[0].isalnum() or text[0] in "%^@!#_" or token != at:
                    return token
        return at if at >= 0 and offset < self.range(at)[1] else None

    def next_token(self, offset: int) -> int:
        """Return the first token that starts at a character or after it."""
        return bisect_right(self._parser.positions.offsets(), offset - 1)

    def range(self, token: int) -> tuple[int, int]:
        """Return the character offsets of the start and the end of a token."""
        start = self._parser.positions.offset(token)
        return start, start + len(self.tokens[token])

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the character offsets of the tokens from `start` to before `end`."""
        return self.range(start)[0], self.range(max(start, end - 1))[1]

    def location_range(self, location: Location) -> tuple[int, int] | None:
        """Return the character offsets of a location; None if it is not in this text."""
        stated = self._parser.stated.get(id(location))
        if stated is not None:
            return self.range(stated[1])
        if isinstance(location, UnstatedLoc):
            location = location.text_location
        if not isinstance(location, TextLoc):
            return None
        if location.positions is self._parser.positions:
            return self.range(location.position)
        offset = location.positions.offset(location.position)
        return offset, offset

    def scope_at(self, token: int) -> Scope:
        """Return the innermost scope around a token."""
        scope = self.scopes[bisect_right(self._scope_starts, token) - 1]
        while token >= scope.end and scope.parent is not None:
            scope = scope.parent
        return scope

    def operation_at(self, token: int) -> OpRecord | None:
        """Return the innermost operation that has a token."""
        at = bisect_right(self._op_starts, token) - 1
        record = self.operations[at] if at >= 0 else None
        while record is not None and token >= record.end:
            record = record.parent
        return record

    def operation_named_at(self, token: int) -> OpRecord | None:
        """Return the operation whose name is at a token."""
        return self._op_names.get(token)

    def value_at(self, token: int) -> tuple[ValueRecord, int] | None:
        """Return the definition of the value at a token, and the number of the result."""
        name, _, number = self.tokens[token].partition("#")
        record = self._values.get(token)
        if record is None:
            for scope in self.scope_at(token).visible():
                record = scope.values.get(name)
                if record is not None:
                    break
        return None if record is None else (record, int(number or 0))

    def symbol_at(self, token: int) -> OpRecord | None:
        """Return the operation that defines the symbol at a token, `@a` or `@a::@b`."""
        known = self._symbols.get(token)
        if known is not None:
            return known
        tokens, first = self.tokens, token
        while first > 1 and tokens[first - 1] == "::" and tokens[first - 2][:1] == "@":
            first -= 2
        for scope in self.scope_at(token).around():
            record = scope.symbols.get(symbol_name(tokens[first]))
            for at in range(first + 2, token + 1, 2):
                record = None if record is None else self._member(record, symbol_name(tokens[at]))
            if record is not None:
                return record
        return None

    def _member(self, table: OpRecord, name: str) -> OpRecord | None:
        for scope in self.scopes:
            if scope.op is table and name in scope.symbols:
                return scope.symbols[name]
        return None

    def definition(self, token: int) -> int | None:
        """Return the token that defines what a token means."""
        text = self.tokens[token]
        match text[:1]:
            case "%":
                value = self.value_at(token)
                return None if value is None else value[0].token
            case "^":
                return self.scope_at(token).labels.get(text)
            case "@":
                symbol = self.symbol_at(token)
                return None if symbol is None else symbol.symbol_token
            case "!" | "#":
                return self.aliases.get(text)
            case _:
                # In the generic form, the name of a symbol is a string.
                return token if token in self._symbols else None

    def references(self, definition: int) -> list[int]:
        """Return the tokens that mean what a token defines, its definition included."""
        if definition in self._symbols:
            name = self._symbols[definition].symbol
            same = [
                at
                for at, text in enumerate(self.tokens)
                if at == definition or (text[:1] == "@" and symbol_name(text) == name)
            ]
        else:
            name = self.tokens[definition]
            same = [at for at, text in enumerate(self.tokens) if text.partition("#")[0] == name]
            if name[0] == "#":
                same = [at for at, text in enumerate(self.tokens) if text == name]
        return [at for at in same if self.definition(at) == definition]

    def alias_value(self, name: str) -> Attribute | None:
        """Return the attribute or type that an alias stands for."""
        return self._parser.aliases.parsed(name)

    def alias_text(self, name: str) -> str:
        """Return the text of the definition of an alias."""
        start = self.aliases[name]
        following = [at for at in self.aliases.values() if at > start]
        following += [record.start for record in self.operations if record.start > start]
        end = min(following, default=self.next_token(len(self._parser.positions.source.text)))
        return self._parser.source_text(start, end)


def symbol_name(token: str) -> str:
    """Return the name of a symbol, `@name` or `@"name"`."""
    name = token[1:]
    return (unescape(name) or "") if name[:1] == '"' else name


IndexResult = tuple[Index, "Operation | None", "list[Diagnostic]"]


def index_text(text: str, context: Context, name: str, default_dialect: str | None) -> IndexResult:
    """Parse a program; return its index, and its module or every error."""
    parser = _IndexingParser(text, context, name, default_dialect)
    module, errors = recover(parser)
    parser.finish()
    return Index(parser), module, errors


LocationT = TypeVar("LocationT", bound="Location")


class _IndexingParser(RecoveringParser):
    """Records the operations, the scopes and the definitions of a text."""

    def __init__(self, text: str, context: Context, name: str, default_dialect: str | None) -> None:
        super().__init__(text, context, name, default_dialect)
        self.scope = Scope(-1, None, None, is_isolated=True)
        self.scope.dialects = self.default_dialects
        self.scopes = [self.scope]
        self.records: list[OpRecord] = []
        self.record: OpRecord | None = None
        """The operation that is being parsed."""
        self.definitions: dict[int, ValueRecord] = {}
        """The definitions of values by the token of the name."""
        self.stated: dict[int, tuple[Location, int]] = {}
        """Locations that the text states, by identity, with the token that has each."""
        self.names = _IndexingNames(self)

    def finish(self) -> None:
        """End the scope of the whole text."""
        self.scopes[0].end = len(self.tokens)

    def operation(self) -> Operation:
        outer, start = self.record, self.at
        record = OpRecord(start, self.operation_name(start), outer)
        token, dialects = self.tokens[record.name], self.default_dialects
        self.records.append(record)
        self.record = record
        try:
            op = super().operation()
            record.kind = type(op)
            if isinstance(op, UnregisteredOp):
                record.kind = self._kind(token, dialects)
            self._record_symbol(op, record)
            op.location = self.own_location(op.location, record.name)
            return op
        finally:
            record.end = self.at
            self.record = outer

    def _kind(self, token: str, dialects: tuple[str, ...]) -> type[Operation] | None:
        """Return the class of an operation that could not be parsed."""
        if token[:1] == '"':
            return self.context.op(token.strip('"'))
        self.use_dialects(dialects)
        return find_operation(self, token)

    def skip(self, start: int) -> Operation:
        name = self.operation_name(start)
        for at in range(start, name):
            token = self.tokens[at]
            if token[:1] == "%" and token not in self.scope.values:
                self.record_value(at, ())
        return super().skip(start)

    def own_location(self, location: LocationT, token: int) -> LocationT:
        """Return a location that no other operation has, and record the token that has it.

        Errors carry the locations that the text states, as `loc("kernel.py":1:2)`, and many
        operations may share one.
        """
        if isinstance(location, TextLoc | UnstatedLoc):
            return location
        own = copy(location)
        self.stated[id(own)] = own, token
        return own

    def _record_symbol(self, op: Operation, record: OpRecord) -> None:
        name = op.attributes.get("sym_name")
        if not isinstance(name, StringAttr):
            return
        for at in range(record.name + 1, record.end if record.end > record.name else self.at):
            token = self.tokens[at]
            is_string = token[:1] == '"' and unescape(token) == name.value
            if is_string or (token[:1] == "@" and symbol_name(token) == name.value):
                record.symbol, record.symbol_token = name.value, at
                self.scope.symbols.setdefault(name.value, record)
                return

    def region(
        self,
        arguments: Sequence[Argument] = (),
        *,
        owner: type[Operation],
        field: RegionField | None = None,
    ) -> Region:
        outer, start = self.scope, self.at
        scope = self.scope = Scope(start, outer, self.record, owner.is_isolated)
        inner = owner.default_dialect
        scope.dialects = ("builtin",) if inner is None else (inner, "builtin")
        self.scopes.append(scope)
        try:
            region = super().region(arguments, owner=owner, field=field)
            scope.end = self.at
            return region
        finally:
            if scope.end == start:
                # The rest of an invalid region is a part of it, too.
                closed = self.closing(start) if self.tokens[start] == "{" else self.at
                scope.end = closed if closed >= 0 else len(self.tokens)
            self.scope = outer

    def argument(self, dialect: str | None = None) -> Argument:
        argument = super().argument(dialect)
        argument.location = self.own_location(argument.location, argument.ref)
        return argument

    def new_labels(self) -> Labels:
        return _IndexingLabels(self)

    def record_value(self, token: int, types: Sequence[Type]) -> None:
        """Record the definition of a name in the current scope."""
        record = ValueRecord(token, types, self.record)
        self.scope.values[self.tokens[token]] = self.definitions[token] = record


class _IndexingNames(RecoveringNames):
    """Records the definitions of values."""

    __slots__ = ("_indexing",)

    def __init__(self, parser: _IndexingParser) -> None:
        super().__init__(parser)
        self._indexing = parser

    def define(self, ref: int, value: Value) -> None:
        super().define(ref, value)
        self._indexing.record_value(ref, [value.type])

    def define_result(self, op: Operation, ref: int) -> None:
        super().define_result(op, ref)
        self._indexing.record_value(ref, [op.results[0].type])

    def define_results(self, op: Operation, start: int, names: list[tuple[int, int]]) -> None:
        super().define_results(op, start, names)
        at = 0
        for ref, count in names:
            types = [result.type for result in op.results[at : at + count]]
            self._indexing.record_value(ref, types)
            at += count


class _IndexingLabels(Labels):
    """Records the definitions of blocks."""

    __slots__ = ("_indexing",)

    def __init__(self, parser: _IndexingParser) -> None:
        super().__init__(parser)
        self._indexing = parser

    def define(self) -> Block:
        at = self._indexing.at
        block = super().define()
        self._indexing.scope.labels[self._indexing.tokens[at]] = at
        return block
