"""The documentation of operations, types and attributes as Markdown, from their declarations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from inspect import cleandoc
from typing import TYPE_CHECKING

from tilewright.ir.attributes import EnumAttr
from tilewright.ir.declare import Arity
from tilewright.text.syntax import (
    AnyOrder,
    AttrDict,
    Custom,
    Element,
    Group,
    Literal,
    TypeOf,
    Variable,
    is_flag,
    read_syntax,
)

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute
    from tilewright.ir.declare import AttributeField, OperandField, ResultField
    from tilewright.ir.operation import Operation

_ARITIES = {Arity.ONE: "", Arity.OPTIONAL: " (optional)", Arity.VARIADIC: " (any number)"}


def operation_page(kind: type[Operation]) -> str:
    """Document an operation: what it does, its text form, operands, attributes and results."""
    schema = kind.schema
    parts = [f"**`{kind.name}`**", doc_text(kind)]
    if kind.syntax is not None:
        parts.append(f"```mlir\n{text_form(kind)}\n```")
    parts += _listed("Operands", map(_value_row, schema.operands))
    parts += _listed("Attributes", map(_attribute_row, schema.attributes))
    parts += _listed("Results", map(_value_row, schema.results))
    if kind.since is not None:
        parts.append("Since Tile IR {}.{}.".format(*kind.since))
    return "\n\n".join(parts)


def text_form(kind: type[Operation]) -> str:
    """Write the declared format of an operation for readers: optional parts in brackets."""
    short = kind.name.partition(".")[2] if kind.elides_type_prefix else kind.name
    return f"{short} {_form(read_syntax(kind))}".rstrip()


def attribute_page(kind: type[Attribute], name: str = "") -> str:
    """Document a type, an attribute or an enumeration with its words."""
    parts = [f"**`{name or kind.mnemonic or kind.__name__}`**", doc_text(kind)]
    if issubclass(kind, EnumAttr):
        words = ", ".join(f"`{member.keyword}`" for member in kind)
        parts.append(f"One of {words}.")
    return "\n\n".join(parts)


def summary(kind: type) -> str:
    """Return the first paragraph of the documentation."""
    return " ".join(doc_text(kind).partition("\n\n")[0].split())


def doc_text(kind: type) -> str:
    """Return the documentation of a declaration."""
    return cleandoc(kind.__doc__ or "")


def _listed(title: str, rows: Iterable[str]) -> list[str]:
    lines = list(rows)
    return [f"{title}:\n" + "\n".join(lines)] if lines else []


def _value_row(field: OperandField[object] | ResultField[object]) -> str:
    return f"- `{field.name}`: {field.constraint.description}{_ARITIES[field.arity]}"


def _attribute_row(field: AttributeField[object]) -> str:
    text = f"- `{field.spelling}`: {field.kind.description}"
    if field.optional:
        return f"{text} (optional)"
    default = field.default
    if default is None:
        return text
    shown = default.keyword if isinstance(default, EnumAttr) else str(default)
    return f"{text} (default: `{shown}`)"


def _form(elements: Iterable[Element]) -> str:
    """Write a declared format for readers: optional parts in brackets."""
    text = " ".join(_form_parts(elements))
    return re.sub(r"(?<=[(\[<]) | (?=[,)\]>])|(?<=\w) (?=<)", "", text)


def _form_parts(elements: Iterable[Element]) -> Iterator[str]:
    for element in elements:
        match element:
            case Literal(text=text):
                yield text
            case Variable(field=field) if not is_flag(field):
                yield f"${field.name}"
            case TypeOf(field=field):
                yield f"type(${field.name})"
            case AttrDict():
                yield "attr-dict"
            case Custom(fields=fields):
                yield ", ".join(f"${field.name}" for field in fields)
            case Group(then=then, otherwise=[]):
                yield f"[{_form(then)}]"
            case Group(then=then, otherwise=otherwise):
                yield f"({_form(then)} | {_form(otherwise)})"
            case AnyOrder(clauses=clauses):
                yield f"[{' | '.join(map(_form, clauses))}]*"
            case _:
                pass
