"""Custom assembly directives of memory operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tilewright.dialects.nv_tileaa.attributes import MemScope, MemSemantic
from tilewright.dialects.nv_tileaa.types import TiledViewType
from tilewright.text.syntax import Directive

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.text.parser import Parser
    from tilewright.text.printer import Printer
    from tilewright.text.syntax import ParseState


def _parse_ordering(parser: Parser, state: ParseState, semantic: str, scope: str) -> None:
    """Parse `weak` or `acquire gpu`."""
    state.attributes["mem_semantic"] = parser.member(MemSemantic)
    member = MemScope.from_keyword(parser.peek())
    if member is not None:
        parser.next()
        state.attributes["mem_scope"] = member


def _print_ordering(printer: Printer, op: Any, semantic: str, scope: str) -> None:
    members = (getattr(op, semantic), getattr(op, scope))
    printer.emit(" ".join([member.keyword for member in members if member is not None]))


ORDERING: Final = Directive(_parse_ordering, _print_ordering)
"""`custom<Ordering>($semantic, $scope)`."""


def _parse_indexed(parser: Parser, state: ParseState, view: str, indices: str) -> None:
    """Parse the index types and the view type: `i32, i32 of !nv_tileaa.tiled_view<...>`."""
    types: list[Type] = []
    while True:
        types.append(parser.type())
        if not parser.accept(","):
            break
    if parser.accept("of"):
        state.operand_types[indices] = types
        at = parser.at
        types = [parser.type()]
        if not isinstance(types[0], TiledViewType):
            parser.error(f"expected a tiled_view, got '{types[0]}'", at)
    state.operand_types[view] = types[:1]


def _print_indexed(printer: Printer, op: Any, view: str, indices: str) -> None:
    types = ", ".join([printer.type(value.type) for value in getattr(op, indices)])
    printer.emit(f"{types} of {printer.type(getattr(op, view).type)}")


INDEXED: Final = Directive(_parse_indexed, _print_indexed)
"""`custom<Indexed>($view, $indices)`: the types of the indices and of the view."""
