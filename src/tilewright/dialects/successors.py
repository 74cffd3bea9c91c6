"""Where branches go, in text and in checks: `^bb1(%a, %b : i32, f32)`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tilewright.dialects.elements import listed, types_of

if TYPE_CHECKING:
    from tilewright.ir.operation import Block
    from tilewright.ir.values import Value
    from tilewright.text.parser import Parser
    from tilewright.text.printer import Printer


def read_target(parser: Parser) -> tuple[Block, list[Value]]:
    """Take a label and the values for the arguments of its block."""
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
    """What `read_target` reads."""
    name = printer.block_name(block)
    if not values:
        return name
    types = ", ".join([printer.type(value.type) for value in values])
    return f"{name}({', '.join(map(printer.value, values))} : {types})"


def target_problems(block: Block, values: Sequence[Value]) -> Iterator[str]:
    """What is wrong with the values that a branch passes to a block."""
    expected, found = types_of(block.args), types_of(values)
    if found != expected:
        yield f"expected values of types {listed(expected)} for the target, got {listed(found)}"


def count_problems(expected: int, successors: Sequence[Block]) -> Iterator[str]:
    """What is wrong with the number of places that a branch may go to."""
    if len(successors) != expected:
        yield f"expected {expected} successors, got {len(successors)}"
