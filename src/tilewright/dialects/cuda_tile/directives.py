"""The custom parts of operation syntax, by the name that `custom<...>` uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.attributes import (
    AssumePredicate,
    BoundedAttr,
    DivByAttr,
    SameElementsAttr,
)
from tilewright.dialects.cuda_tile.literals import literal_problem, parse_literal, print_elements
from tilewright.dialects.cuda_tile.types import ELEMENT_SINCE, TileType
from tilewright.ir.attributes import DenseElementsAttr
from tilewright.ir.types import I4
from tilewright.text.syntax import Directive

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.text.parser import Parser
    from tilewright.text.printer import Printer
    from tilewright.text.syntax import ParseState


def _parse_dense(parser: Parser, state: ParseState, value: str, result: str = "") -> None:
    """`<i32: [1, 2]> : tile<2xi32>`; the type is also that of a result, where there is one."""
    parser.expect("<")
    at = parser.at
    element = parser.type()
    if element not in ELEMENT_SINCE or element is I4:
        parser.error(f"expected an element type that constants may have, got '{element}'", at)
    parser.expect(":")
    literal = parse_literal(parser, element)
    parser.expect(">")
    parser.expect(":")
    at = parser.at
    type = parser.type("cuda_tile")
    if not isinstance(type, TileType):
        parser.error(f"expected a tile, got '{type}'", at)
    if type.element is not element:
        parser.error(f"expected a tile of '{element}', got '{type}'", at)
    problem = literal_problem(literal, type)
    if problem is not None:
        parser.error(problem, at)
    state.attributes[value] = DenseElementsAttr(literal.data, type)
    if result:
        state.result_types[result] = [type]


def _print_dense(printer: Printer, op: Operation, value: str, result: str = "") -> None:
    constant = op.attributes[value]
    assert isinstance(constant, DenseElementsAttr)
    type = constant.type
    assert isinstance(type, TileType)
    text = print_elements(constant)
    printer.emit(f"<{type.element}: {text}> : {printer.type(type, op)}")


_PREDICATES: Final[dict[str, type[AssumePredicate]]] = {
    kind.spelling: kind for kind in (DivByAttr, SameElementsAttr, BoundedAttr)
}


def _parse_predicate(parser: Parser, state: ParseState, predicate: str) -> None:
    """`div_by<16>` or `#cuda_tile.div_by<16>`."""
    at = parser.at
    kind = _PREDICATES.get(parser.peek())
    if kind is not None:
        parser.next()
        found = kind.parse(parser)
    else:
        found = parser.attribute()
    if not isinstance(found, AssumePredicate):
        parser.error(f"expected one of {', '.join(_PREDICATES)}", at)
    state.attributes[predicate] = found


def _print_predicate(printer: Printer, op: Operation, predicate: str) -> None:
    found = op.attributes[predicate]
    assert isinstance(found, AssumePredicate)
    printer.emit(f"{found.spelling}{found.print(printer)}")


DIRECTIVES: Final[Mapping[str, Directive]] = {
    "AssumePredicate": Directive(_parse_predicate, _print_predicate),
    "DenseElements": Directive(_parse_dense, _print_dense),
}
