"""Custom assembly directives of constants and of the predicates of `assume`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.attributes import (
    AssumePredicate,
    BoundedAttr,
    DivByAttr,
    SameElementsAttr,
)
from tilewright.dialects.cuda_tile.types import ELEMENT_SINCE, TileType
from tilewright.ir.attributes import DenseElementsAttr
from tilewright.ir.types import I4, I64, FloatType, IntegerType
from tilewright.text.syntax import Directive

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.text.parser import Parser
    from tilewright.text.printer import Printer
    from tilewright.text.syntax import ParseState


def _parse_dense(parser: Parser, state: ParseState, value: str, result: str = "") -> None:
    """Parse `<i32: [1, 2]> : tile<2xi32>`; the type is also that of the result, if there is one."""
    start = parser.at
    parser.expect("<")
    at = parser.at
    element = parser.type()
    if element not in ELEMENT_SINCE or element is I4:
        parser.error(f"expected an element type that constants may have, got '{element}'", at)
    parser.expect(":")
    elements = parser.at
    # The type after the elements determines their number.
    parser.at = parser.closing(start)
    if parser.at < 0:
        parser.error("expected '>' to close this '<'", start)
    parser.expect(":")
    at = parser.at
    type = parser.type("cuda_tile")
    if not isinstance(type, TileType) or type.element is not element:
        parser.error(f"expected a tile of '{element}', got '{type}'", at)
    end, parser.at = parser.at, elements
    state.attributes[value] = _parse_elements(parser, type)
    parser.at = end
    if result:
        state.result_types[result] = [type]


def _parse_elements(parser: Parser, type: TileType) -> DenseElementsAttr:
    """Parse the elements up to the closing `>`."""
    start = parser.at
    elements = parser.elements(type)
    parser.expect(">")
    if type.element is I64:
        _check_signed(parser, start)
    assert isinstance(type.element, IntegerType | FloatType)
    width = type.element.width
    if width % 8 and any(pattern >> width for pattern in elements.elements()):
        parser.error(f"expected no bits beyond the {width} of '{type.element}'", start)
    return elements


def _check_signed(parser: Parser, start: int) -> None:
    """Reject unsigned i64 elements, as NVIDIA's tools do; other widths may be unsigned."""
    tokens = parser.tokens
    for at in range(start, parser.at):
        token = tokens[at]
        if len(token) < 18 or not token[0].isdigit() or tokens[at - 1] == "-":
            continue
        if parser.number(token, at) >> 63:
            parser.error("integer out of range for type i64", at)


def _print_dense(printer: Printer, op: Operation, value: str, result: str = "") -> None:
    constant = op.attributes[value]
    assert isinstance(constant, DenseElementsAttr)
    type = constant.type
    assert isinstance(type, TileType)
    printer.emit(f"<{type.element}: {printer.dense(constant)}> : {printer.type(type, op)}")


_PREDICATES: Final[dict[str, type[AssumePredicate]]] = {
    kind.spelling: kind for kind in (DivByAttr, SameElementsAttr, BoundedAttr)
}


def _parse_predicate(parser: Parser, state: ParseState, predicate: str) -> None:
    """Parse `div_by<16>` or `#cuda_tile.div_by<16>`."""
    at = parser.at
    kind = _PREDICATES.get(parser.peek())
    if kind is not None:
        parser.next()
        attribute = parser.invalid(kind.parse, parser, at=at)
    else:
        attribute = parser.attribute()
    if not isinstance(attribute, AssumePredicate):
        parser.error(f"expected one of {', '.join(_PREDICATES)}", at)
    state.attributes[predicate] = attribute


def _print_predicate(printer: Printer, op: Operation, predicate: str) -> None:
    attribute = op.attributes[predicate]
    assert isinstance(attribute, AssumePredicate)
    printer.emit(attribute.spelling + printer.parameters(attribute))


CONSTANTS: Final = {
    "AssumePredicate": Directive(_parse_predicate, _print_predicate),
    "DenseElements": Directive(_parse_dense, _print_dense),
}
