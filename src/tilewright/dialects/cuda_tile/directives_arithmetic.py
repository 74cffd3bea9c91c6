"""The custom syntax of arithmetic: rounding modes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.enums import Rounding
from tilewright.ir.declare import AttributeField
from tilewright.text.syntax import Directive

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.text.parser import Parser
    from tilewright.text.printer import Printer
    from tilewright.text.syntax import ParseState


def _parse_rounding(parser: Parser, state: ParseState, name: str) -> None:
    """`rounding<zero>`, or nothing for the mode that the operation has by default."""
    if not parser.accept("rounding"):
        state.attributes[name] = _default(state.kind, name)
        return
    parser.expect("<")
    at = parser.at
    keyword = parser.keyword()
    mode = Rounding.from_keyword(keyword)
    if mode is None:
        expected = ", ".join(rounding.keyword for rounding in Rounding)
        parser.error(f"expected rounding mode to be one of {expected}, got '{keyword}'", at)
    parser.expect(">")
    state.attributes[name] = mode


def _print_rounding(printer: Printer, op: Operation, name: str) -> None:
    default = _default(type(op), name)
    mode = getattr(op, name)
    if mode is not default:
        printer.emit(f"rounding<{mode.keyword}>")


def _default(kind: type[Operation], name: str) -> Rounding:
    field = kind.schema.by_name[name]
    assert isinstance(field, AttributeField)
    assert isinstance(field.default, Rounding)
    return field.default


ARITHMETIC: Final = {"Rounding": Directive(_parse_rounding, _print_rounding)}
