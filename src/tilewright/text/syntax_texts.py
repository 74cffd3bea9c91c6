"""Text of operands, types and attributes in custom forms, and presence of optional fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from tilewright.ir.attribute_kinds import (
    ArrayKind,
    AttributeKind,
    BoolKind,
    EnumKind,
    InstanceKind,
    IntegerArrayKind,
    IntegerKind,
    StringKind,
    SymbolKind,
    TypeKind,
)
from tilewright.ir.declare import Arity, AttributeField, OperandField, RegionField, ResultField
from tilewright.text.attribute_printer import array_text, quoted, symbol_text

if TYPE_CHECKING:
    from tilewright.ir.declare import Schema
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.text.printer import Printer
    from tilewright.text.syntax import Field

Step = Callable[["Printer", Any], None]
"""Prints a part of an operation."""
Text = Callable[["Printer", Any], str]
"""Returns the text of a part of an operation, or of an attribute."""
Test = Callable[[Any], object]
"""Returns a true value if an optional group is present."""
Values = Callable[[Any], "tuple[Value, ...]"]


def presence(schema: Schema, field: Field) -> Test:
    """Return the predicate that a field is present, as the anchor of an optional group."""
    match field:
        case AttributeField(spelling=spelling, optional=True):
            return lambda op: spelling in op.attributes
        case AttributeField(spelling=spelling, default=None):
            return lambda op: True
        case AttributeField(spelling=spelling):
            default = field.kind.wrap(field.default)
            return lambda op: op.attributes.get(spelling, default) is not default
        case RegionField(position=position):
            return lambda op: bool(op.regions[position].blocks)
        case OperandField(position=position) if schema.has_segments:
            return lambda op: op.segments[position]
        case _:
            values = values_getter(schema, field)
            return lambda op: bool(values(op))


def values_getter(schema: Schema, field: Field) -> Values:
    """Return a function that gets the operands or results of a field."""
    position = field.position
    if isinstance(field, ResultField):
        if not schema.variable_results:
            return lambda op: op.results[position : position + 1]
        return lambda op: schema.result_group(op, position)
    assert isinstance(field, OperandField)
    if schema.has_segments:
        return _segment_getter(position)
    after = len(schema.operands) - 1 - position
    if any(other.arity is not Arity.ONE for other in schema.operands[:position]):
        return lambda op: op.operands[len(op.operands) - after - 1 : len(op.operands) - after]
    if field.arity is Arity.ONE:
        return lambda op: op.operands[position : position + 1]
    return lambda op: op.operands[position : len(op.operands) - after]


def _segment_getter(position: int) -> Values:
    def values(op: Operation) -> tuple[Value, ...]:
        sizes = op.segments
        assert sizes is not None
        start = sum(sizes[:position])
        return op.operands[start : start + sizes[position]]

    return values


def _is_single(schema: Schema, field: Field) -> bool:
    """Return whether the index of the value of a field is always the position of the field."""
    fields = schema.results if isinstance(field, ResultField) else schema.operands
    return all(other.arity is Arity.ONE for other in fields[: field.position + 1])


def single_operand(schema: Schema, field: Field) -> bool:
    """Return whether a field is a single operand whose index is the position of the field."""
    return isinstance(field, OperandField) and _is_single(schema, field)


def when_text(schema: Schema, anchor: Field, then: Text) -> Text:
    """Return a text function that gives an empty text if the anchor is absent."""
    match anchor:
        case AttributeField(spelling=spelling, optional=True):
            return lambda printer, op: then(printer, op) if spelling in op.attributes else ""
        case AttributeField(spelling=spelling) if anchor.default is not None:
            default = anchor.kind.wrap(anchor.default)

            def text(printer: Printer, op: Operation) -> str:
                stored = op.attributes.get(spelling, default)
                return "" if stored is default else then(printer, op)

            return text
        case _:
            test = presence(schema, anchor)
            return lambda printer, op: then(printer, op) if test(op) else ""


def operands_text(operands: list[tuple[str, int]]) -> Text:
    """Return a text function for operands by index, each with its own text in front."""
    match operands:
        case [(a, i)]:
            return lambda printer, op: a + printer.names[op.operands[i]]
        case [(a, i), (b, j)]:

            def two(printer: Printer, op: Operation) -> str:
                names, values = printer.names, op.operands
                return f"{a}{names[values[i]]}{b}{names[values[j]]}"

            return two
        case _:

            def any_number(printer: Printer, op: Operation) -> str:
                names, values = printer.names, op.operands
                return "".join([f"{text}{names[values[index]]}" for text, index in operands])

            return any_number


def values_text(schema: Schema, field: Field, prefix: str) -> Text:
    """Return a text function for the comma-separated operands of a field."""
    values = values_getter(schema, field)
    return lambda printer, op: prefix + ", ".join([printer.names[value] for value in values(op)])


def types_text(schema: Schema, field: Field, dialect: str, prefix: str) -> Text:
    """Return a text function for the types of a field; types of `dialect` omit its prefix."""
    if not _is_single(schema, field):
        values = values_getter(schema, field)

        def types(printer: Printer, op: Operation) -> str:
            texts = printer.type_texts[dialect]
            return prefix + ", ".join([texts[value.type] for value in values(op)])

        return types
    at = field.position
    if isinstance(field, ResultField):
        return lambda printer, op: prefix + printer.type_texts[dialect][op.results[at].type]
    return lambda printer, op: prefix + printer.type_texts[dialect][op.operands[at].type]


def attribute_text(field: AttributeField[Any], dialect: str, prefix: str) -> Text:
    """Return a text function for an attribute as its kind spells it, or for its default."""
    spelling, kind = field.spelling, field.kind
    default = None if field.default is None else kind.wrap(field.default)
    if isinstance(kind, EnumKind):
        return lambda printer, op: prefix + printer.keywords[op.attributes.get(spelling, default)]
    spell = _spelling_of_kind(kind, dialect)
    if spelling == "sym_name" and isinstance(kind, StringKind):
        spell = _symbol_name

    def text(printer: Printer, op: Operation) -> str:
        attribute = op.attributes.get(spelling, default)
        return prefix if attribute is None else prefix + spell(printer, attribute)

    return text


def _spelling_of_kind(kind: AttributeKind[Any], dialect: str) -> Text:
    if isinstance(kind, TypeKind):
        return lambda printer, attribute: printer.type_texts[dialect][attribute.type]
    if isinstance(kind, InstanceKind) and kind.kind.mnemonic:
        return lambda printer, attribute: printer.parameters(attribute)
    for known, spell in _SPELLINGS.items():
        if isinstance(kind, known):
            return spell
    return lambda printer, attribute: printer.attribute(attribute)


def _symbol_name(printer: Printer, attribute: Any) -> str:
    return symbol_text([attribute.value])


_SPELLINGS: Final[dict[type[AttributeKind[Any]], Text]] = {
    StringKind: lambda printer, attribute: quoted(attribute.value),
    SymbolKind: lambda printer, attribute: symbol_text(attribute.path),
    IntegerKind: lambda printer, attribute: str(attribute.value),
    BoolKind: lambda printer, attribute: "true" if attribute.value else "false",
    IntegerArrayKind: lambda printer, attribute: f"[{array_text(attribute)}]",
    ArrayKind: lambda printer, attribute: f"[{printer.elements(attribute)}]",
}
