"""Custom assembly directives that dialects share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import types_of
from tilewright.ir.attributes import DenseArrayAttr
from tilewright.ir.types import DYNAMIC, I64, INDEX
from tilewright.text.syntax import Directive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.text.parser import Parser
    from tilewright.text.printer import Printer
    from tilewright.text.syntax import ParseState


def _parse_function(parser: Parser, state: ParseState, operands: str, results: str) -> None:
    """Parse `(A, B) -> C`: the types of an operand group and of a result group."""
    state.operand_types[operands] = parser.listed(parser.type, "(", ")")
    parser.expect("->")
    one = parser.peek() != "("
    state.result_types[results] = [parser.type()] if one else parser.listed(parser.type, "(", ")")


def _print_function(printer: Printer, op: Operation, operands: str, results: str) -> None:
    inputs = types_of(op.schema.values(op, operands))
    outputs = types_of(op.schema.values(op, results))
    printer.emit(printer.signature(inputs, outputs))


FUNCTION_TYPE: Final = Directive(_parse_function, _print_function)
"""`custom<FunctionType>(type($operands), type($results))`."""


def _parse_indices(parser: Parser, state: ParseState, dynamic: str, static: str) -> None:
    """Parse `[%i, 4, %j]`; the static list has `DYNAMIC` for values."""
    operands: list[int] = []
    numbers: list[int] = []

    def item() -> None:
        if parser.peek().startswith("%"):
            operands.append(parser.operand())
            numbers.append(DYNAMIC)
        else:
            numbers.append(parser.integer())

    parser.listed(item, "[", "]")
    state.operands[dynamic] = operands
    state.operand_types[dynamic] = [INDEX] * len(operands)
    state.attributes[static] = DenseArrayAttr(I64, tuple(numbers))


def _print_indices(printer: Printer, op: Operation, dynamic: str, static: str) -> None:
    numbers: tuple[int, ...] = getattr(op, static)
    values = iter(op.schema.values(op, dynamic))
    texts = [printer.value(next(values)) if n == DYNAMIC else str(n) for n in numbers]
    printer.emit(f"[{', '.join(texts)}]")


INDICES: Final = Directive(_parse_indices, _print_indices)
"""`custom<Indices>($dynamic, $static)`: a mixed list of integers and values."""


def index_problems(name: str, static: Sequence[int], dynamic: Sequence[Value]) -> Iterator[str]:
    """Check a mixed list of integers and values."""
    wanted = static.count(DYNAMIC)
    if wanted != len(dynamic):
        yield f"expected {wanted} dynamic {name}, got {len(dynamic)}"


def mixed(static: Sequence[int], dynamic: Sequence[Value]) -> list[int | Value]:
    """Merge static integers and dynamic values into one list."""
    values = iter(dynamic)
    return [next(values) if number == DYNAMIC else number for number in static]


def read_parameters(
    parser: Parser,
    readers: Mapping[str, Callable[[], object]],
    defaults: Mapping[str, object] | None = None,
) -> dict[str, object]:
    """Parse `<name = value, ...>` in any order; parameters with a default are optional."""
    values: dict[str, object] = {}

    def entry() -> None:
        at = parser.at
        name = parser.keyword()
        if name not in readers or name in values:
            left = ", ".join(key for key in readers if key not in values)
            parser.error(f"expected one of {left}, got '{name}'", at)
        parser.expect("=")
        values[name] = readers[name]()

    start = parser.at
    parser.listed(entry, "<", ">")
    missing = [name for name in readers if name not in values and name not in (defaults or {})]
    if missing:
        parser.error(f"expected the parameter '{missing[0]}'", start)
    return {**(defaults or {}), **values}
