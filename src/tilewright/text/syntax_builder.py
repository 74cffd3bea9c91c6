"""From what the custom form of an operation said to the operation itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tilewright.ir.attributes import Attribute, Type
from tilewright.ir.declare import Arity, AttributeField, OperandField, ResultField
from tilewright.ir.operation import Region
from tilewright.ir.traits import SameType
from tilewright.support.diagnostics import fail

if TYPE_CHECKING:
    from tilewright.ir.declare import Schema
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.text.parser import Parser
    from tilewright.text.syntax import ParseState


def build(parser: Parser, state: ParseState) -> Operation:
    """Make the operation: infer the types that the text left out, then resolve the operands."""
    kind = state.kind
    schema = kind.schema
    same = [trait.fields for trait in kind.traits if isinstance(trait, SameType)]
    _infer(schema, state, same)
    infer = getattr(kind, "infer_types", None)
    if infer is not None:
        infer(state)
        _infer(schema, state, same)
    operands, sizes = _operands(parser, state, schema)
    return kind(
        operands,
        _result_types(state, schema),
        _attributes(state, schema),
        [state.regions.get(field.name) or Region() for field in schema.regions],
        state.location,
        (),
        tuple(sizes) if schema.has_segments else None,
    )


def _infer(schema: Schema, state: ParseState, same: list[tuple[str, ...]]) -> None:
    """Fill in types that there is only one choice for."""
    for field in schema.operands:
        if field.name not in state.operand_types:
            type = _only_type(field, state, same)
            if type is not None:
                count = len(state.operands.get(field.name, ()))
                state.operand_types[field.name] = [type] * count
    for field in schema.results:
        if field.name not in state.result_types and field.arity is Arity.ONE:
            type = _only_type(field, state, same)
            if type is not None:
                state.result_types[field.name] = [type]


def _only_type(
    field: OperandField[Any] | ResultField[Any], state: ParseState, same: list[tuple[str, ...]]
) -> Type | None:
    if field.constraint.only is not None:
        return field.constraint.only
    for names in same:
        if field.name not in names:
            continue
        for name in names:
            types = state.operand_types.get(name) or state.result_types.get(name)
            if types:
                return types[0]
    return None


def _operands(parser: Parser, state: ParseState, schema: Schema) -> tuple[list[Value], list[int]]:
    values: list[Value] = []
    sizes: list[int] = []
    for field in schema.operands:
        references = state.operands.get(field.name, [])
        types = state.operand_types.get(field.name, [])
        if len(references) != len(types):
            what = f"{len(references)} types for '{field.name}', got {len(types)}"
            fail(f"'{state.kind.name}' op expected {what}", state.location)
        for reference, type in zip(references, types, strict=True):
            values.append(parser.resolve(reference, type))
        sizes.append(len(references))
    return values, sizes


def _result_types(state: ParseState, schema: Schema) -> list[Type]:
    types: list[Type] = []
    for field in schema.results:
        found = state.result_types.get(field.name)
        if found is None and field.arity is Arity.ONE:
            message = f"'{state.kind.name}' op cannot infer the type of result '{field.name}'"
            fail(message, state.location)
        types += found or ()
    return types


def _attributes(state: ParseState, schema: Schema) -> dict[str, Attribute]:
    """The declared attributes in order, defaults included, and then all others."""
    given = state.attributes
    attributes: dict[str, Attribute] = {}
    for field in schema.attributes:
        stored = _given(given, field)
        if stored is not None:
            attributes[field.spelling] = field.kind.coerce(stored)
        elif not field.optional and field.default is not None:
            attributes[field.spelling] = field.kind.wrap(field.default)
    attributes.update(given)
    return attributes


def _given(given: dict[str, Attribute], field: AttributeField[Any]) -> Attribute | None:
    stored = given.pop(field.spelling, None)
    return stored if stored is not None else given.pop(field.name, None)
