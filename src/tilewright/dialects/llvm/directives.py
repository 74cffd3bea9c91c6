"""Custom assembly directives of the LLVM dialect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from tilewright.ir.attribute_kinds import EnumKind
from tilewright.ir.attributes import DenseArrayAttr, IntegerAttr
from tilewright.ir.declare import AttributeField
from tilewright.ir.types import I32
from tilewright.text.attribute_printer import quoted
from tilewright.text.syntax import Directive

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, EnumAttr, Type
    from tilewright.ir.operation import Operation
    from tilewright.text.parser import Parser
    from tilewright.text.printer import Printer
    from tilewright.text.syntax import ParseState

DYNAMIC_INDEX: Final = -(1 << 31)
"""Placeholder of an operand in the list of constant indices."""

NO_WRAP: Final = {"inbounds": 3, "nusw": 2, "nuw": 4}
"""The no-wrap flags of a GEP; `inbounds` includes `nusw`."""


def read_functional_type(parser: Parser) -> tuple[list[Type], list[Type]]:
    """Parse `(types) -> type` or `(types) -> (types)`."""
    inputs = parser.listed(parser.type, "(", ")")
    parser.expect("->")
    if parser.peek() == "(":
        return inputs, parser.listed(parser.type, "(", ")")
    return inputs, [parser.type()]


def _parse_functional_type(parser: Parser, state: ParseState, *names: str) -> None:
    """Parse the types of all operand fields in order, and of the result field."""
    *operands, result = names
    at = parser.at
    inputs, state.result_types[result] = read_functional_type(parser)
    expected = sum([len(state.operands.get(name, ())) for name in operands])
    if len(inputs) != expected:
        parser.error(f"expected {expected} operand types, got {len(inputs)}", at)
    for name in operands:
        count = len(state.operands.get(name, ()))
        state.operand_types[name], inputs = inputs[:count], inputs[count:]


def _print_functional_type(printer: Printer, op: Operation, *names: str) -> None:
    *operands, result = names
    values = [value for name in operands for value in op.schema.values(op, name)]
    results = tuple([value.type for value in op.schema.values(op, result)])
    printer.emit(printer.signature([value.type for value in values], results))


def _enum_of(kind: type[Operation], name: str) -> type[EnumAttr]:
    field = kind.schema.by_name[name]
    assert isinstance(field, AttributeField)
    assert isinstance(field.kind, EnumKind)
    enum: type[EnumAttr] = field.kind.enum
    return enum


def _parse_predicate(parser: Parser, state: ParseState, name: str) -> None:
    """Parse a quoted comparison predicate such as `"slt"`."""
    enum = _enum_of(state.kind, name)
    at = parser.at
    word = parser.string()
    members = {_spelled(member): member for member in enum}
    if word not in members:
        parser.error(f"expected one of {', '.join(members)}, got '{word}'", at)
    state.attributes[name] = members[word]


def _print_predicate(printer: Printer, op: Operation, name: str) -> None:
    printer.emit(quoted(_spelled(getattr(op, name))))


def _spelled(predicate: EnumAttr) -> str:
    # MLIR's own spelling: its C++ could not call an enumerator `false`.
    word = predicate.keyword
    return f"_{word}" if word in ("false", "true") else word


def _parse_no_wrap(parser: Parser, state: ParseState, name: str) -> None:
    """Parse no-wrap flags separated by `|`."""
    bits = 0
    while parser.peek() in NO_WRAP:
        bits |= NO_WRAP[parser.next()]
        if not parser.accept("|"):
            break
    state.attributes[name] = IntegerAttr(bits, I32)


def no_wrap_keywords(bits: int) -> list[str]:
    """Return the keywords of no-wrap flags, without those that others imply."""
    keywords: list[str] = []
    for keyword, mask in NO_WRAP.items():
        if bits & mask == mask:
            keywords.append(keyword)
            bits &= ~mask
    return keywords


def _print_no_wrap(printer: Printer, op: Operation, name: str) -> None:
    keywords = no_wrap_keywords(getattr(op, name))
    if keywords:
        printer.emit("|".join(keywords))


def _parse_indices(parser: Parser, state: ParseState, dynamic: str, constant: str) -> None:
    """Parse mixed dynamic and constant indices such as `%i, 3`."""
    references: list[int] = []
    numbers: list[int] = []

    def index() -> None:
        if parser.peek().startswith("%"):
            references.append(parser.operand())
            numbers.append(DYNAMIC_INDEX)
        else:
            numbers.append(parser.integer())

    parser.listed(index)
    state.operands[dynamic] = references
    spelling = _spelling(state.kind, constant)
    state.attributes[spelling] = DenseArrayAttr(I32, tuple(numbers))


def _spelling(kind: type[Operation], name: str) -> str:
    field = kind.schema.by_name[name]
    assert isinstance(field, AttributeField)
    return field.spelling


def _print_indices(printer: Printer, op: Operation, dynamic: str, constant: str) -> None:
    values = iter(op.schema.values(op, dynamic))
    texts = [
        printer.value(next(values)) if number == DYNAMIC_INDEX else str(number)
        for number in getattr(op, constant)
    ]
    printer.emit(", ".join(texts))


def _parse_value(parser: Parser, state: ParseState, name: str) -> None:
    """Parse any attribute; a number has the type after it, or i64 or f64."""
    attribute: Attribute = parser.attribute()
    state.attributes[name] = attribute


def _print_value(printer: Printer, op: Operation, name: str) -> None:
    printer.emit(printer.attribute(op.attributes[name]))


DIRECTIVES: Final[Mapping[str, Directive]] = {
    "FunctionalType": Directive(_parse_functional_type, _print_functional_type),
    "Indices": Directive(_parse_indices, _print_indices),
    "NoWrap": Directive(_parse_no_wrap, _print_no_wrap),
    "Predicate": Directive(_parse_predicate, _print_predicate),
    "Value": Directive(_parse_value, _print_value),
}
