"""The base of all operations of the NVVM dialect, and the custom parts of their syntax."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Final

from tilewright.dialects.llvm.directives import DIRECTIVES as LLVM_DIRECTIVES
from tilewright.ir.attribute_kinds import EnumKind
from tilewright.ir.declare import AttributeField
from tilewright.ir.operation import Operation
from tilewright.text.syntax import Directive

if TYPE_CHECKING:
    from tilewright.ir.attributes import EnumAttr
    from tilewright.text.parser import Parser
    from tilewright.text.printer import Printer
    from tilewright.text.syntax import ParseState


def _parse_bracketed(parser: Parser, state: ParseState, name: str) -> None:
    """Parse `<keyword>` or `#nvvm.attribute<keyword>`."""
    field = state.kind.schema.by_name[name]
    assert isinstance(field, AttributeField)
    assert isinstance(field.kind, EnumKind)
    enum: type[EnumAttr] = field.kind.enum
    at = parser.at
    if parser.accept("<"):
        state.attributes[field.spelling] = parser.member(enum)
        parser.expect(">")
        return
    attribute = parser.attribute()
    if not isinstance(attribute, enum):
        parser.error(f"expected '<' or '#{enum.mnemonic}'", at)
    state.attributes[field.spelling] = attribute


def _print_bracketed(printer: Printer, op: Operation, name: str) -> None:
    member: EnumAttr = getattr(op, name)
    printer.emit(f"<{member.keyword}>")


DIRECTIVES: Final[Mapping[str, Directive]] = {
    **LLVM_DIRECTIVES,
    "Bracketed": Directive(_parse_bracketed, _print_bracketed),
}


class NvvmOp(Operation):
    """An operation of the NVVM dialect."""

    directives: ClassVar[Mapping[str, Directive]] = DIRECTIVES
