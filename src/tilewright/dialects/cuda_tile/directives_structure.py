"""Custom assembly directives of operations with regions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tilewright.dialects.cuda_tile.attributes import OptimizationHintsAttr
from tilewright.dialects.cuda_tile.enums import SymbolVisibility
from tilewright.ir.attributes import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    TypeAttr,
)
from tilewright.ir.declare import RegionField
from tilewright.ir.types import I1, I32, FunctionType
from tilewright.text.syntax import Directive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation, Region
    from tilewright.ir.values import Value
    from tilewright.text.parser import Argument, Parser
    from tilewright.text.printer import Printer
    from tilewright.text.syntax import ParseState

DIALECT: Final = "cuda_tile"


def _parse_types(parser: Parser) -> list[Type]:
    return parser.listed(lambda: parser.type(DIALECT))


def _print_types(printer: Printer, op: Operation, values: tuple[Value, ...]) -> str:
    return ", ".join([printer.type(value.type, op) for value in values])


def _parse_region(
    parser: Parser, state: ParseState, name: str, arguments: Sequence[Argument] = ()
) -> None:
    field = state.kind.schema.by_name[name]
    assert isinstance(field, RegionField)
    state.regions[name] = parser.region(arguments, owner=state.kind, field=field)


def _print_region(printer: Printer, op: Operation, name: str, label: str) -> None:
    """Print a region without entry arguments; style "tileiras" prints label and terminator."""
    region: Region = getattr(op, name)
    field = op.schema.by_name[name]
    assert isinstance(field, RegionField)
    if printer.style.value == "tileiras":
        printer.region(region, print_entry_args=False, label=label)
        return
    last = region.block.last
    is_implied = last is not None and last.name == field.terminator and not last.operands
    printer.region(region, print_entry_args=False, print_terminators=not is_implied)


def _parse_visibility(parser: Parser, state: ParseState, visibility: str) -> None:
    """Parse an optional `public` or `private`."""
    member = SymbolVisibility.from_keyword(parser.peek())
    if member is not None:
        parser.next()
        state.attributes[visibility] = member


def _print_visibility(printer: Printer, op: Any, visibility: str) -> None:
    member: SymbolVisibility = getattr(op, visibility)
    # NVIDIA's printer emits a space before an elided keyword, and two after one that is printed.
    printer.emit("" if member is SymbolVisibility.PUBLIC else f"{member.keyword} ")


def _parse_kernel(
    parser: Parser, state: ParseState, signature: str, arg_attrs: str, hints: str, body: str
) -> None:
    """Parse `(%a: tile<i32>, ...) optimization_hints=<...> { ... }`."""
    arguments = parser.listed(lambda: parser.argument(DIALECT), "(", ")")
    results: list[Type] = []
    if parser.accept("->"):
        results = _parse_result_types(parser)
    inputs = tuple(argument.type for argument in arguments)
    state.attributes[signature] = TypeAttr(FunctionType(inputs, tuple(results)))
    if any(argument.attributes for argument in arguments):
        each = tuple(DictionaryAttr(argument.attributes) for argument in arguments)
        state.attributes[arg_attrs] = ArrayAttr(each)
    if parser.accept("optimization_hints"):
        parser.expect("=")
        parsed = parser.invalid(OptimizationHintsAttr.parse, parser, at=parser.at)
        # Empty hints are equivalent to none, and not printed.
        if parsed.entries.entries:
            state.attributes[hints] = parsed
    _parse_region(parser, state, body, arguments)


def _parse_result_types(parser: Parser) -> list[Type]:
    if parser.peek() == "(":
        return parser.listed(lambda: parser.type(DIALECT), "(", ")")
    return [parser.type(DIALECT)]


def _print_kernel(
    printer: Printer, op: Any, signature: str, arg_attrs: str, hints: str, body: str
) -> None:
    block = op.body.blocks[0] if op.body.blocks else None
    arguments = block.args if block is not None else ()
    attributes: tuple[DictionaryAttr, ...] = op.arg_attrs or (DictionaryAttr({}),) * len(arguments)
    texts = [
        f"{printer.value(argument)}: {printer.type(argument.type, op)}{_entries(printer, entry)}"
        for argument, entry in zip(arguments, attributes, strict=True)
    ]
    printer.emit(f"({', '.join(texts)})")
    if op.function_type.results:
        results = [printer.type(type, op) for type in op.function_type.results]
        text = ", ".join(results)
        printer.emit(f" -> {text if len(results) == 1 else f'({text})'}")
    if op.hints is not None and op.hints.entries.entries:
        printer.emit(f" optimization_hints={op.hints.print(printer)}")
    printer.emit(" ")
    printer.region(op.body, print_entry_args=False)


def _entries(printer: Printer, entry: DictionaryAttr) -> str:
    return f" {{{printer.entries(entry.entries)}}}" if entry.entries else ""


_WRITTEN_BRANCH: Final = RegionField(1, 1, "cuda_tile.yield")
"""A branch in the text has a block, although the region may be empty."""


def _parse_branch(parser: Parser, state: ParseState, region: str) -> None:
    state.regions[region] = parser.region(owner=state.kind, field=_WRITTEN_BRANCH)


def _print_branch(printer: Printer, op: Operation, region: str) -> None:
    _print_region(printer, op, region, region.removesuffix("_region"))


def _parse_assignments(parser: Parser) -> tuple[list[int], list[int]]:
    """Parse `(%inner = %outer, ...)`: block arguments and initial values."""
    inner: list[int] = []
    outer: list[int] = []

    def assignment() -> None:
        inner.append(parser.operand())
        parser.expect("=")
        outer.append(parser.operand())

    parser.listed(assignment, "(", ")")
    return inner, outer


def _print_assignments(printer: Printer, inner: tuple[Value, ...], outer: tuple[Value, ...]) -> str:
    pairs = zip(inner, outer, strict=True)
    return ", ".join([f"{printer.value(a)} = {printer.value(b)}" for a, b in pairs])


def _parse_counted_loop(
    parser: Parser,
    state: ParseState,
    lower: str,
    upper: str,
    step: str,
    initial: str,
    outputs: str,
    body: str,
) -> None:
    """Parse `%i in (%lower to %upper, step %step) : type iter_values(...) -> (types) { ... }`."""
    counter = parser.operand()
    parser.expect("in")
    parser.expect("(")
    state.operands[lower] = [parser.operand()]
    parser.expect("to")
    state.operands[upper] = [parser.operand()]
    parser.expect(",")
    parser.expect("step")
    state.operands[step] = [parser.operand()]
    parser.expect(")")
    parser.expect(":")
    type = parser.type(DIALECT)
    for name in (lower, upper, step):
        state.operand_types[name] = [type]
    names, types = [counter], [type]
    if parser.accept("iter_values"):
        start = parser.at
        inner, state.operands[initial] = _parse_assignments(parser)
        parser.expect("->")
        carried = parser.listed(lambda: parser.type(DIALECT), "(", ")")
        _check_counts(parser, inner, carried, start)
        state.operand_types[initial] = state.result_types[outputs] = carried
        names += inner
        types += carried
    _parse_region(parser, state, body, _arguments(parser, names, types))


def _check_counts(parser: Parser, names: list[int], types: list[Type], at: int) -> None:
    if len(names) != len(types):
        parser.error(f"expected {len(names)} types of loop-carried values, got {len(types)}", at)


def _arguments(parser: Parser, names: list[int], types: list[Type]) -> list[Argument]:
    pairs = zip(names, types, strict=True)
    return [parser.named_argument(name, type) for name, type in pairs]


def _print_counted_loop(printer: Printer, op: Any, *fields: str) -> None:
    bounds = [printer.value(value) for value in op.operands[:3]]
    counter, *carried = op.body.block.args
    printer.emit(
        f"{printer.value(counter)} in ({bounds[0]} to {bounds[1]}, step {bounds[2]}) : "
        f"{printer.type(counter.type, op)} "
    )
    if op.init_values:
        pairs = _print_assignments(printer, tuple(carried), op.init_values)
        printer.emit(f"iter_values({pairs}) -> ({_print_types(printer, op, op.init_values)}) ")
    _print_region(printer, op, "body", "body")


def _parse_endless_loop(
    parser: Parser, state: ParseState, initial: str, outputs: str, body: str
) -> None:
    """Parse `iter_values(...) : types -> types { ... }`, or `: types { ... }` for results only."""
    names: list[int] = []
    types: list[Type] = []
    if parser.accept("iter_values"):
        start = parser.at
        names, state.operands[initial] = _parse_assignments(parser)
        parser.expect(":")
        types = _parse_types(parser)
        _check_counts(parser, names, types, start)
        state.operand_types[initial] = types
        if parser.accept("->"):
            state.result_types[outputs] = _parse_types(parser)
    elif parser.accept(":"):
        state.result_types[outputs] = _parse_types(parser)
    _parse_region(parser, state, body, _arguments(parser, names, types))


def _print_endless_loop(printer: Printer, op: Any, initial: str, outputs: str, body: str) -> None:
    if op.init_values:
        pairs = _print_assignments(printer, op.carried, op.init_values)
        printer.emit(f"iter_values({pairs}) : {_print_types(printer, op, op.init_values)} ")
    if op.results:
        printer.emit("-> " if op.init_values else ": ")
        printer.emit(f"{_print_types(printer, op, op.results)} ")
    _print_region(printer, op, body, "body")


def _parse_combination(parser: Parser, state: ParseState, dim: str, *others: str) -> None:
    """Parse `dim=0 reverse=false identities=[...]`, or the same in the dictionary before it, where
    the dimension may be called `axis`."""
    given = state.attributes
    if "axis" in given:
        given[dim] = given.pop("axis")
    if parser.accept("dim"):
        parser.expect("=")
        given[dim] = IntegerAttr(parser.integer(), I32)
    for name in others:
        if parser.accept(name):
            parser.expect("=")
            given[name] = parser.attribute()
    if "reverse" in others:
        given.setdefault("reverse", IntegerAttr(0, I1))
    # Every scan that does not say otherwise is inclusive, and public scans have no such attribute.
    if given.get("inclusive") is IntegerAttr(1, I1):
        del given["inclusive"]


def _print_combination(printer: Printer, op: Any, dim: str, *others: str) -> None:
    printer.emit(f"dim={op.dim}")
    for name in others:
        if name in op.attributes:
            printer.emit(f" {name}={printer.attribute(op.attributes[name])}")


def _parse_argument_region(parser: Parser, state: ParseState, body: str) -> None:
    """Parse `(%a: type, ...) { ... }`; a block label may declare the arguments instead.

    Identities that the text leaves out are those of the operation that the body consists of.
    """
    arguments: list[Argument] = []
    if parser.peek() == "(":
        arguments = parser.listed(lambda: parser.argument(DIALECT), "(", ")")
    _parse_region(parser, state, body, arguments)
    if "identities" not in state.attributes:
        # Public text always has them.
        from tilewright.dialects.cuda_tile.identities import identity_of  # noqa: PLC0415

        identity = identity_of(state.regions[body])
        if identity is not None:
            state.attributes["identities"] = ArrayAttr((identity,))


def _print_argument_region(printer: Printer, op: Any, body: str) -> None:
    arguments = op.body.block.args
    texts = [f"{printer.value(value)}: {printer.type(value.type, op)}" for value in arguments]
    printer.newline()
    printer.emit(f"({', '.join(texts)}) ")
    label = "body" if printer.style.value == "tileiras" else None
    printer.region(op.body, print_entry_args=False, label=label)


STRUCTURE: Final = {
    "ArgumentRegion": Directive(_parse_argument_region, _print_argument_region),
    "Branch": Directive(_parse_branch, _print_branch),
    "Combination": Directive(_parse_combination, _print_combination),
    "CountedLoop": Directive(_parse_counted_loop, _print_counted_loop),
    "EndlessLoop": Directive(_parse_endless_loop, _print_endless_loop),
    "Kernel": Directive(_parse_kernel, _print_kernel),
    "SymbolVisibility": Directive(_parse_visibility, _print_visibility),
}
