"""What a use of an operation is made of: its element types, and each attribute beside them.

Two uses are alike if they have the same features. A feature is a tuple: the operation, the types
of its elements, and one attribute, optional operand or property of a view with its value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tilewright.dialects.cuda_tile.structure import EntryOp, GlobalOp
from tilewright.dialects.cuda_tile.types import PtrType, TensorViewType, TileType, ViewType
from tilewright.ir.attribute_kinds import BoolKind, EnumKind, UnitKind
from tilewright.ir.attributes import Attribute, Type
from tilewright.ir.constraints import ANY_TYPE
from tilewright.ir.declare import Arity
from tilewright.ir.operation import Operation
from tilewright.ir.values import Value

Feature = tuple[str, tuple[str, ...], str, str]


def short_name(op: Operation | type[Operation]) -> str:
    """The name of an operation without that of the dialect."""
    return op.name.removeprefix("cuda_tile.")


def features(op: Operation) -> Iterator[Feature]:
    """The features of an operation."""
    types = tuple(_signature(op))
    name = short_name(op)
    yield name, types, "", ""
    for what, value in _aspects(op):
        yield name, types, what, value
    for what, value in _passengers(op):
        yield name, (), what, value


def _signature(op: Operation) -> Iterator[str]:
    """The elements of the operands and results that are always there."""
    schema = op.schema
    for field in (*schema.operands, *schema.results):
        if field.arity is Arity.ONE:
            for value in schema.values(op, field.name):
                yield from _words(value.type)


def _words(type: Type) -> Iterator[str]:
    if isinstance(type, TileType):
        element = type.element
        yield element.spell() if isinstance(element, PtrType) else str(element)
    elif isinstance(type, ViewType):
        yield type.noun
        yield str(type.tensor_view.element)
    elif isinstance(type, TensorViewType):
        yield f"tensor of {type.element}"


def _aspects(op: Operation) -> Iterator[tuple[str, str]]:
    schema = op.schema
    for field in schema.attributes:
        if isinstance(field.kind, EnumKind | UnitKind | BoolKind):
            yield field.name, str(field.__get__(op, type(op)))
    for field in (*schema.operands, *schema.results):
        values = schema.values(op, field.name)
        if field.arity is Arity.OPTIONAL:
            yield field.name, "given" if values else "absent"
        elif field.arity is Arity.VARIADIC and field.constraint is not ANY_TYPE:
            yield from ((field.name, word) for word in _distinct(values))
    for value in (*op.operands, *op.results):
        if isinstance(value.type, ViewType):
            padding = value.type.padding
            yield "padding_value", "none" if padding is None else padding.keyword
    yield from _others(op.attributes)


def _passengers(op: Operation) -> Iterator[tuple[str, str]]:
    """The elements of values that are handed through, whatever they are, and of parameters."""
    schema = op.schema
    for field in (*schema.operands, *schema.results):
        if field.arity is Arity.VARIADIC and field.constraint is ANY_TYPE:
            for word in _distinct(schema.values(op, field.name)):
                yield field.name, word
    if isinstance(op, EntryOp):
        yield from (("parameter", word) for word in _distinct(op.arguments))
    if isinstance(op, GlobalOp):
        yield from (("value", word) for word in _words(op.value.type))


def _distinct(values: Sequence[Value]) -> set[str]:
    return {word for value in values for word in _words(value.type)}


def _others(attributes: dict[str, Attribute]) -> Iterator[tuple[str, str]]:
    predicate = attributes.get("predicate")
    if predicate is not None:
        yield "predicate", predicate.mnemonic
    inbounds = attributes.get("inbounds")
    if inbounds is not None:
        yield "inbounds", "true" if "true" in str(inbounds) else "false"
