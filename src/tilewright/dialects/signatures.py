"""Function signatures in text: arguments, results, and their attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from tilewright.dialects.elements import listed, types_of
from tilewright.ir.attributes import ArrayAttr, Attribute, DictionaryAttr
from tilewright.ir.types import FunctionType

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import BlockArgument
    from tilewright.text.parser import Argument, Parser
    from tilewright.text.printer import Printer

T = TypeVar("T")
Typed = tuple["Type", dict[str, Attribute]]
"""A type, and the attributes after it."""


class Signature:
    """`(%a: i32 {x}, ...) -> (i32 {y}, ...)`; a declaration has types only."""

    __slots__ = ("arg_attrs", "arguments", "res_attrs", "type")

    def __init__(
        self, inputs: list[Typed], results: list[Typed], arguments: list[Argument]
    ) -> None:
        self.type = FunctionType(
            tuple([type for type, _ in inputs]), tuple([type for type, _ in results])
        )
        self.arguments = arguments
        self.arg_attrs = collected([attributes for _, attributes in inputs])
        self.res_attrs = collected([attributes for _, attributes in results])

    def attributes(self) -> dict[str, Attribute]:
        """The attributes of arguments and results, if any."""
        attributes = {"arg_attrs": self.arg_attrs, "res_attrs": self.res_attrs}
        return {name: array for name, array in attributes.items() if array is not None}


def collected(each: Sequence[dict[str, Attribute]]) -> ArrayAttr | None:
    """An array of dictionaries, or `None` if all are empty."""
    return ArrayAttr(tuple([DictionaryAttr(one) for one in each])) if any(each) else None


def read_signature(parser: Parser) -> Signature:
    """Parse a signature; either all arguments have names or none has."""
    arguments: list[Argument] = []
    if parser.tokens[parser.at + 1].startswith("%"):
        arguments = parser.listed(parser.argument, "(", ")")
        inputs = [(argument.type, argument.attributes) for argument in arguments]
    else:
        inputs = parser.listed(lambda: _typed(parser), "(", ")")
    results: list[Typed] = []
    if parser.accept("->"):
        in_parentheses = parser.peek() == "("
        results = (
            parser.listed(lambda: _typed(parser), "(", ")")
            if in_parentheses
            else [(parser.type(), {})]
        )
    return Signature(inputs, results, arguments)


def _typed(parser: Parser) -> Typed:
    return parser.type(), parser.optional_attr_dict()


def signature_text(
    printer: Printer,
    type: FunctionType,
    arguments: Sequence[BlockArgument] | None,
    arg_attrs: tuple[Attribute, ...] | None,
    res_attrs: tuple[Attribute, ...] | None,
) -> str:
    """Print a signature; without arguments, their types."""
    if arguments is None:
        inputs = _texts(printer, type.inputs, arg_attrs, lambda one: printer.type(one))
    else:
        inputs = attributed(printer, arguments, arg_attrs)
    text = f"({', '.join(inputs)})"
    if not type.results:
        return text
    results = _texts(printer, type.results, res_attrs, lambda one: printer.type(one))
    plain = len(results) == 1 and not res_attrs and not isinstance(type.results[0], FunctionType)
    return f"{text} -> {results[0]}" if plain else f"{text} -> ({', '.join(results)})"


def attributed(
    printer: Printer, arguments: Sequence[BlockArgument], attributes: tuple[Attribute, ...] | None
) -> list[str]:
    """`%a: i32 {x}` for each argument, with its location after it if locations are printed."""

    def text(argument: BlockArgument) -> str:
        return f"{printer.value(argument)}: {printer.type(argument.type)}"

    heads = _texts(printer, arguments, attributes, text)
    return [
        head + printer.argument(argument).removeprefix(text(argument))
        for head, argument in zip(heads, arguments, strict=True)
    ]


def _texts(
    printer: Printer,
    items: Sequence[T],
    attributes: tuple[Attribute, ...] | None,
    text: Callable[[T], str],
) -> list[str]:
    if attributes is None:
        return [text(item) for item in items]
    pairs = zip(items, attributes, strict=True)
    return [text(item) + _entries(printer, each) for item, each in pairs]


def _entries(printer: Printer, attributes: Attribute) -> str:
    assert isinstance(attributes, DictionaryAttr)
    return f" {{{printer.entries(attributes.entries)}}}" if attributes.entries else ""


def signature_problems(
    type: Type, arg_attrs: tuple[Attribute, ...] | None, res_attrs: tuple[Attribute, ...] | None
) -> Iterator[str]:
    """Check the type of a function and the attributes of its arguments and results."""
    if not isinstance(type, FunctionType):
        yield f"expected a function type, got '{type}'"
        return
    for name, attributes, count in (
        ("argument", arg_attrs, len(type.inputs)),
        ("result", res_attrs, len(type.results)),
    ):
        if attributes is None:
            continue
        if len(attributes) != count:
            yield f"expected attributes for {count} {name}s, got {len(attributes)}"
        elif not all(isinstance(each, DictionaryAttr) for each in attributes):
            yield f"expected dictionaries as attributes of {name}s"


def entry_problems(expected: tuple[Type, ...], arguments: Sequence[BlockArgument]) -> Iterator[str]:
    """Check the entry block arguments of a function."""
    actual = types_of(arguments)
    if actual != expected:
        yield f"expected block arguments of types {listed(expected)}, got {listed(actual)}"
