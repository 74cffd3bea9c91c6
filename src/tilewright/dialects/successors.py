"""Parsing, printing and checks of successors: `^bb1(%a, %b : i32, f32)`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from tilewright.dialects.elements import listed, types_of
from tilewright.ir.attributes import DenseArrayAttr
from tilewright.ir.operation import Operation
from tilewright.ir.types import I1, I32

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute
    from tilewright.ir.operation import Block
    from tilewright.ir.values import Value
    from tilewright.support.location import Location
    from tilewright.text.parser import Parser
    from tilewright.text.printer import Printer

OpT = TypeVar("OpT", bound=Operation)
_WEIGHTS = "branch_weights"


def read_target(parser: Parser) -> tuple[Block, list[Value]]:
    """Parse a label and the operands of its block."""
    block = parser.successor()
    if not parser.accept("("):
        return block, []
    at = parser.at
    references = parser.operand_list()
    types = parser.listed(parser.type) if parser.accept(":") else []
    if len(references) != len(types):
        parser.error(f"expected {len(references)} types, got {len(types)}", at)
    parser.expect(")")
    values = [parser.resolve(ref, type) for ref, type in zip(references, types, strict=True)]
    return block, values


def target_text(printer: Printer, block: Block, values: Sequence[Value]) -> str:
    """Print a successor."""
    name = printer.block_name(block)
    if not values:
        return name
    types = ", ".join([printer.type(value.type) for value in values])
    return f"{name}({', '.join(map(printer.value, values))} : {types})"


def read_conditional(kind: type[OpT], parser: Parser, location: Location) -> OpT:
    """Parse a conditional branch: `%c weights([9, 1]), ^bb1(%a : i32), ^bb2 {...}`."""
    condition = parser.resolve(parser.operand(), I1)
    attributes: dict[str, Attribute] = {}
    if parser.accept("weights"):
        parser.expect("(")
        weights = parser.listed(parser.integer, "[", "]")
        attributes[_WEIGHTS] = DenseArrayAttr(I32, tuple(weights))
        parser.expect(")")
    parser.expect(",")
    yes, yes_values = read_target(parser)
    parser.expect(",")
    no, no_values = read_target(parser)
    attributes |= parser.optional_attr_dict()
    operands = [condition, *yes_values, *no_values]
    sizes = (1, len(yes_values), len(no_values))
    return kind(operands, (), attributes, (), location, [yes, no], sizes)


def print_conditional(
    op: Operation,
    weights: Sequence[int] | None,
    passed: Iterable[Sequence[Value]],
    printer: Printer,
) -> None:
    """Print a conditional branch."""
    weights_text = "" if weights is None else f" weights([{', '.join(map(str, weights))}])"
    edges = zip(op.successors, passed, strict=False)
    yes, no = (target_text(printer, *edge) for edge in edges)
    printer.emit(f" {printer.value(op.operands[0])}{weights_text}, {yes}, {no}")
    printer.emit(printer.attr_dict(op, (_WEIGHTS,)))


def target_problems(block: Block, values: Sequence[Value]) -> Iterator[str]:
    """Check the operands that a branch passes to a block."""
    expected, actual = types_of(block.args), types_of(values)
    if actual != expected:
        yield f"expected values of types {listed(expected)} for the target, got {listed(actual)}"


def count_problems(expected: int, successors: Sequence[Block]) -> Iterator[str]:
    """Check the number of successors."""
    if len(successors) != expected:
        yield f"expected {expected} successors, got {len(successors)}"
