"""Describe the token under the cursor as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.driver.lsp.documentation import attribute_page, operation_page
from tilewright.driver.lsp.words import BUILTIN_TYPES, enums
from tilewright.driver.registry import context
from tilewright.ir.attributes import LocationAttr

if TYPE_CHECKING:
    from tilewright.driver.lsp.analysis import Range
    from tilewright.ir.attributes import Attribute
    from tilewright.text.index import Index


def hover(index: Index, text: str, offset: int) -> tuple[str, Range] | None:
    """Return the description of the token at an offset, and the range of the token."""
    token = index.token_at(offset)
    if token is None:
        return None
    page = _page(index, text, token)
    return None if page is None else (page, index.range(token))


def _page(index: Index, text: str, token: int) -> str | None:
    word = index.tokens[token]
    named = index.operation_named_at(token)
    if named is not None:
        return operation_page(named.kind) if named.kind is not None else None
    match word[:1]:
        case "%":
            return _value(index, text, token)
        case "^" | "@":
            return _definition(index, text, token)
        case "!" | "#":
            return _alias(index, word) if word in index.aliases else _declared(word[1:], word)
        case _:
            return _word(index, token, word)


def _value(index: Index, text: str, token: int) -> str | None:
    value = index.value_at(token)
    if value is None:
        return None
    record, number = value
    types = record.types[number : number + 1] if "#" in index.tokens[token] else record.types
    shown = ", ".join(map(str, types)) or "?"
    kind = record.op.kind if record.op is not None else None
    is_result = record.op is not None and record.token < record.op.name
    what = "result" if is_result else "argument"
    of = f" of `{kind.name}`" if kind is not None else ""
    line = _line(index, text, record.token)
    return f"```mlir\n{index.tokens[token]} : {shown}\n```\n\n{what}{of}, defined in line {line}"


def _definition(index: Index, text: str, token: int) -> str | None:
    """Show the line that defines a block or a symbol."""
    at = index.definition(token)
    if at is None:
        return None
    start = text.rfind("\n", 0, index.range(at)[0]) + 1
    line = text[start:].partition("\n")[0].strip().removesuffix("{").rstrip()
    return f"```mlir\n{line}\n```\n\ndefined in line {_line(index, text, at)}"


def _alias(index: Index, name: str) -> str:
    value = index.alias_value(name)
    page = f"```mlir\n{index.alias_text(name)}\n```"
    if isinstance(value, LocationAttr):
        target = str(value.location)
        return f"{page}\n\n{target}" if target else page
    return page if value is None else f"{page}\n\n{_kind_page(value)}"


def _kind_page(value: Attribute) -> str:
    return attribute_page(type(value))


def _declared(name: str, shown: str) -> str | None:
    dialect = context().dialect(name.partition(".")[0])
    if dialect is None:
        return None
    kind = dialect.types.get(name) or dialect.attributes.get(name)
    return None if kind is None else attribute_page(kind, shown)


def _word(index: Index, token: int, word: str) -> str | None:
    """Describe a bare word: a type, or a member of an enumeration."""
    record = index.operation_at(token)
    kind = record.kind if record is not None else None
    for dialect in [] if kind is None else [kind.name.partition(".")[0]]:
        known = context().dialect(dialect)
        type = known.types.get(f"{dialect}.{word}") if known is not None else None
        if type is not None:
            return attribute_page(type, word)
    for enum in [] if kind is None else enums(kind):
        if enum.from_keyword(word) is not None:
            return attribute_page(enum, f"{enum.mnemonic or enum.__name__}: {word}")
    builtin = BUILTIN_TYPES.get(word)
    return None if builtin is None else attribute_page(builtin, word)


def _line(index: Index, text: str, token: int) -> int:
    return text.count("\n", 0, index.range(token)[0]) + 1
