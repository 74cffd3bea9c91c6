"""Custom assembly directives of memory operations: orderings, atomics and tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tilewright.dialects.cuda_tile.enums import AtomicMode, MemoryOrdering, MemoryScope
from tilewright.dialects.cuda_tile.tile_types import TileType
from tilewright.ir.declare import AttributeField
from tilewright.text.syntax import Directive

if TYPE_CHECKING:
    from tilewright.ir.attributes import EnumAttr
    from tilewright.ir.operation import Operation
    from tilewright.text.parser import Parser
    from tilewright.text.printer import Printer
    from tilewright.text.syntax import ParseState

ELIDED: Final = frozenset(
    {
        "addr_space",
        "align",
        "failure_ordering",
        "kind",
        "mode",
        "operandSegmentSizes",
        "optimization_hints",
        "ordering",
        "success_ordering",
        "token",
    }
)
"""The attributes that style "tileiras" elides from the dictionaries of token-ordered operations.

Those that an operation does not declare are fields before the dictionary: `align = <16 : i32>`.
Ordering and scope are in no dictionary in any style.
"""

_TILE: Final = ("tile", "!cuda_tile.tile")


def _put(state: ParseState, name: str, member: EnumAttr) -> None:
    field = state.kind.schema.by_name[name]
    assert isinstance(field, AttributeField)
    state.attributes[field.spelling] = member


def _parse_member(parser: Parser, kind: type[EnumAttr]) -> EnumAttr:
    member = kind.from_keyword(parser.peek())
    if member is None:
        parser.unexpected(f"one of {', '.join(each.keyword for each in kind)}")
    parser.next()
    return member


def _parse_ordering(parser: Parser, state: ParseState, ordering: str, scope: str) -> None:
    """Parse `weak` or `acquire device`."""
    _put(state, ordering, _parse_member(parser, MemoryOrdering))
    member = MemoryScope.from_keyword(parser.peek())
    if member is not None:
        parser.next()
        _put(state, scope, member)


def _print_ordering(printer: Printer, op: Any, ordering: str, scope: str) -> None:
    members: list[EnumAttr | None] = [getattr(op, ordering), getattr(op, scope)]
    style = printer.style.value
    printer.emit(" ".join([member.keyword_in(style) for member in members if member is not None]))


def parse_attributes(parser: Parser, state: ParseState) -> None:
    """Parse an optional attribute dictionary."""
    at = parser.at
    for name, attribute in parser.optional_attr_dict().items():
        if name in state.attributes:
            parser.error(f"attribute '{name}' occurs more than once", at)
        state.attributes[name] = attribute


def _parse_fields(parser: Parser, state: ParseState) -> None:
    """Parse `align = <16 : i32> kind = <"add">`: attributes that no dictionary has."""
    while parser.peek() in ELIDED and parser.tokens[parser.at + 1 : parser.at + 3] == ["=", "<"]:
        name = parser.next()
        parser.expect("=")
        parser.expect("<")
        state.attributes[name] = parser.attribute()
        parser.expect(">")


def _print_fields(printer: Printer, op: Operation) -> frozenset[str]:
    """Print the fields of style "tileiras", and return the attributes that the dictionary elides.

    A field `token` is only read after the operand of that name.
    """
    inherent = frozenset(op.schema.inherent)
    if printer.style.value != "tileiras":
        return inherent
    elided = ELIDED if getattr(op, "token", None) is not None else ELIDED - {"token"}
    for name in sorted(elided.intersection(op.attributes) - inherent):
        printer.emit(f" {name} = <{printer.attribute(op.attributes[name])}>")
    return inherent | elided


def _parse_dictionary(parser: Parser, state: ParseState) -> None:
    _parse_fields(parser, state)
    parse_attributes(parser, state)


def _print_dictionary(printer: Printer, op: Operation) -> None:
    printer.emit(printer.attr_dict(op, _print_fields(printer, op)))


def _parse_keyword_attributes(parser: Parser, state: ParseState) -> None:
    _parse_fields(parser, state)
    if parser.accept("attributes"):
        parse_attributes(parser, state)


def _print_keyword_attributes(printer: Printer, op: Operation) -> None:
    printer.emit(printer.attr_dict(op, _print_fields(printer, op), keyword=True))


def _parse_atomic_operands(
    parser: Parser, state: ParseState, pointers: str, mode: str, arg: str
) -> None:
    """Parse `%pointers, add, %values`, or `add %pointers, %values`."""
    mode_first = not parser.peek().startswith("%")
    if mode_first:
        _put(state, mode, _parse_member(parser, AtomicMode))
    state.operands[pointers] = [parser.operand()]
    parser.expect(",")
    if not mode_first:
        _put(state, mode, _parse_member(parser, AtomicMode))
        parser.expect(",")
    state.operands[arg] = [parser.operand()]


def _print_atomic_operands(printer: Printer, op: Any, *fields: str) -> None:
    style = printer.style.value
    mode, pointers, arg = op.mode.keyword_in(style), *map(printer.value, (op.pointers, op.arg))
    if style == "tileiras":
        printer.emit(f"{mode} {pointers}, {arg}")
    else:
        printer.emit(f"{pointers}, {mode}, {arg}")


def _parse_pointer_type(parser: Parser, state: ParseState, pointers: str) -> None:
    """Parse `tile<4xptr<f32>>`, or `tile<4xptr>` with the pointee of the definition."""
    tokens, at = parser.tokens, parser.at
    has_extents = tokens[at + 1] == "<" and tokens[at + 2].endswith("x")
    if tokens[at + 1 : at + 4 + has_extents][-2:] != ["ptr", ">"]:
        state.operand_types[pointers] = [parser.type("cuda_tile")]
        return
    parser.at += 2
    shape = parser.extents()
    parser.at += 2
    (reference,) = state.operands[pointers]
    type = parser.lookup(reference).type
    if tokens[at] not in _TILE or not isinstance(type, TileType) or type.shape != shape:
        parser.error(f"expected '{type}' as the definition has", at)
    state.operand_types[pointers] = [type]


def _print_pointer_type(printer: Printer, op: Any, pointers: str) -> None:
    printer.emit(printer.type(op.pointers.type, op))


def _parse_tokens(parser: Parser, state: ParseState, tokens: str) -> None:
    """Parse `%a, %b`, optionally in brackets."""
    bracketed = parser.accept("[")
    state.operands[tokens] = parser.operand_list()
    if bracketed:
        parser.expect("]")


def _print_tokens(printer: Printer, op: Operation, tokens: str) -> None:
    printer.emit(", ".join(map(printer.value, op.operands)))


MEMORY: Final = {
    "AtomicOperands": Directive(_parse_atomic_operands, _print_atomic_operands),
    "Attributes": Directive(_parse_dictionary, _print_dictionary),
    "KeywordAttributes": Directive(_parse_keyword_attributes, _print_keyword_attributes),
    "Ordering": Directive(_parse_ordering, _print_ordering),
    "PointerType": Directive(_parse_pointer_type, _print_pointer_type),
    "Tokens": Directive(_parse_tokens, _print_tokens),
}
