"""Complete operations, values, symbols, types and keywords at the cursor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.driver.lsp.documentation import summary
from tilewright.driver.lsp.words import BUILTIN_TYPES, OTHER_WORDS, dialects, enums, keywords
from tilewright.driver.registry import context
from tilewright.ir.traits import SYMBOL_TABLE, HasParent

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.text.index import Index, Scope

_WORD: Final = re.compile(r"[%^@!#]?[\w$.]*$", re.ASCII)
_OPERATION_START: Final = re.compile(r"\s*(?:%[\w$.:]+(?:\s*,\s*%[\w$.:]+)*\s*=\s*)?", re.ASCII)


class CompletionKind(Enum):
    """What a completion inserts."""

    OPERATION = "operation"
    VALUE = "value"
    LABEL = "label"
    SYMBOL = "symbol"
    TYPE = "type"
    ATTRIBUTE = "attribute"
    KEYWORD = "keyword"
    ENUM_MEMBER = "enum member"


class Completion(NamedTuple):
    """A text that may stand at the cursor, and what it means."""

    text: str
    kind: CompletionKind
    detail: str = ""


def completions(index: Index, text: str, offset: int) -> tuple[int, list[Completion]]:
    """Return the offset of the word that is completed, and what it may become."""
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    match = _WORD.search(line)
    word = match[0] if match is not None else ""
    before = line[: len(line) - len(word)]
    if "//" in before or before.count('"') % 2:
        return offset, []
    return offset - len(word), list(_candidates(index, offset - len(word), word, before))


def _candidates(index: Index, start: int, word: str, before: str) -> Iterator[Completion]:
    token = index.next_token(start)
    # Before the token at the cursor, which may open or close a scope.
    scope = index.scope_at(token - 1) if token else index.scopes[0]
    if token and index.tokens[token - 1] == "}":
        scope = index.scope_at(token)
    match word[:1]:
        case "%":
            return _values(index, scope, token)
        case "^":
            return (Completion(name, CompletionKind.LABEL) for name in scope.labels)
        case "@":
            return _symbols(scope)
        case "!":
            return _types(index)
        case "#":
            return _attributes(index)
        case _ if _OPERATION_START.fullmatch(before):
            return _operations(scope)
        case _:
            return _inside(index, scope, token)


def _values(index: Index, scope: Scope, token: int) -> Iterator[Completion]:
    """Values that are defined before the operation of a token."""
    current = index.operation_at(max(token - 1, 0))
    for around in scope.visible():
        for name, record in around.values.items():
            is_own_result = record.op is current and around.op is not current
            if record.token < token and not is_own_result:
                for number, type in enumerate(record.types):
                    shown = f"{name}#{number}" if number else name
                    yield Completion(shown, CompletionKind.VALUE, str(type))


def _symbols(scope: Scope) -> Iterator[Completion]:
    for around in scope.around():
        for name, record in around.symbols.items():
            kind = record.kind.name if record.kind is not None else ""
            yield Completion(f"@{name}", CompletionKind.SYMBOL, kind)


def _types(index: Index) -> Iterator[Completion]:
    for name in index.aliases:
        if name[0] == "!":
            yield Completion(name, CompletionKind.TYPE, str(index.alias_value(name) or ""))
    for dialect in dialects():
        for name, kind in dialect.types.items():
            yield Completion(f"!{name}", CompletionKind.TYPE, summary(kind))


def _attributes(index: Index) -> Iterator[Completion]:
    for name in index.aliases:
        if name[0] == "#":
            yield Completion(name, CompletionKind.ATTRIBUTE, index.alias_text(name))
    for dialect in dialects():
        for name, kind in dialect.attributes.items():
            yield Completion(f"#{name}", CompletionKind.ATTRIBUTE, summary(kind))


def _operations(scope: Scope) -> Iterator[Completion]:
    """Operations that are legal in a scope, without the prefixes that it needs not."""
    parent = scope.op.kind if scope.op is not None else None
    is_module = parent is None or SYMBOL_TABLE in parent.traits
    for dialect in dialects():
        if not _is_legal(dialect.name, scope):
            continue
        for name, kind in dialect.ops.items():
            if is_module and "sym_name" not in kind.schema.by_name:
                continue
            if _has_other_parent(kind, parent):
                continue
            shown = name.partition(".")[2] if dialect.name in scope.dialects else name
            yield Completion(shown, CompletionKind.OPERATION, summary(kind))


def _is_legal(dialect: str, scope: Scope) -> bool:
    """Whether operations of a dialect may stand in a scope: Tile IR has its own alone."""
    kinds = [around.op.kind for around in scope.around() if around.op is not None]
    names = {kind.name for kind in kinds if kind is not None}
    if any(name.startswith("cuda_tile.") for name in names):
        return dialect == "cuda_tile"
    return dialect != "cuda_tile" or names <= {"builtin.module"}


def _has_other_parent(kind: type[Operation], parent: type[Operation] | None) -> bool:
    name = parent.name if parent is not None else ""
    return any(isinstance(t, HasParent) and name not in t.parents for t in kind.traits)


def _inside(index: Index, scope: Scope, token: int) -> Iterator[Completion]:
    """The keywords, enumerations, types and values that may stand inside an operation."""
    record = index.operation_at(max(token - 1, 0))
    kind = record.kind if record is not None else None
    if kind is not None:
        for enum in enums(kind):
            for member in enum:
                yield Completion(member.keyword, CompletionKind.ENUM_MEMBER, summary(enum))
        for word in keywords(kind):
            yield Completion(word, CompletionKind.KEYWORD, kind.name)
        if kind.elides_type_prefix:
            dialect = context().dialect(kind.name.partition(".")[0])
            for name, type in dialect.types.items() if dialect is not None else ():
                yield Completion(name.partition(".")[2], CompletionKind.TYPE, summary(type))
    for name, type in BUILTIN_TYPES.items():
        yield Completion(name, CompletionKind.TYPE, summary(type))
    for word in OTHER_WORDS:
        yield Completion(word, CompletionKind.KEYWORD)
    yield from _values(index, scope, token)
