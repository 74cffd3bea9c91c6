"""The custom syntax of arithmetic: rounding modes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from tilewright.dialects.cuda_tile.enums import Rounding
from tilewright.text.syntax import Directive

if TYPE_CHECKING:
    from tilewright.ir.declare import AttributeField
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
    mode = op.attributes.get(name)
    is_default = mode is None or mode is _default(type(op), name)
    # NVIDIA's printer leaves the mode out, but not the space in front of it; so do we.
    printer.emit("" if is_default else f"rounding<{cast('Rounding', mode).keyword}>")


def _default(kind: type[Operation], name: str) -> Rounding:
    return cast("AttributeField[Rounding]", kind.schema.by_name[name]).default


ARITHMETIC: Final = {"Rounding": Directive(_parse_rounding, _print_rounding)}
