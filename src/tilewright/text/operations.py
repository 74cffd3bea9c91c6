"""Parse operations: look up the parser of an operation name, and parse the generic form."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tilewright.ir.attributes import Attribute, DenseArrayAttr
from tilewright.ir.declare import coerce_inherent
from tilewright.ir.operation import Operation, UnregisteredOp
from tilewright.ir.types import I32
from tilewright.text.attribute_parser import read_entries
from tilewright.text.cursor import LETTERS

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Block, Region
    from tilewright.support.location import Location
    from tilewright.text.parser import Parser

OpReader = Callable[["Parser", "Location"], Operation]

SEGMENTS = "operandSegmentSizes"


def find_reader(parser: Parser, token: str) -> OpReader:
    """Look up the parser of the operation named by `token`, the current one."""
    if token[:1] == '"' and token != '"':
        return _generic_reader(parser)
    if not token and parser.open_braces:
        parser.error("expected '}' to close this '{', got end of input", parser.open_braces[-1])
    if token[:1] not in LETTERS:
        parser.unexpected("an operation")
    kind = find_operation(parser, token)
    if kind is None:
        parser.error(f"unknown operation '{token}'{_similar(parser, token)}")
    # Programs in generic form do not load the assembly format engine.
    from tilewright.text.syntax_parser import parser_of  # noqa: PLC0415

    read = parser_of(kind)
    if read is None:
        parser.error(f"'{kind.name}' has only the generic form")
    return read


def find_operation(parser: Parser, name: str) -> type[Operation] | None:
    """Return the operation class of a name, which may lack the prefix of its dialect."""
    context = parser.context
    if "." in name and (kind := context.op(name)) is not None:
        return kind
    for dialect in parser.default_dialects:
        if (kind := context.op(f"{dialect}.{name}")) is not None:
            return kind
    return None


def _similar(parser: Parser, name: str) -> str:
    """The operation whose name is similar to an unknown one, as the program would write it."""
    # Loaded only to report an error.
    from tilewright.support.suggestions import similar_names  # noqa: PLC0415

    prefix, dot, own = name.rpartition(".")
    prefixes = [prefix] if dot else parser.default_dialects
    dialects = [parser.context.dialect(each) for each in prefixes]
    known = [op for dialect in dialects if dialect is not None for op in dialect.ops]
    names = [op.partition(".")[2] for op in known]
    near = similar_names(own, names)
    return f"; did you mean '{prefix}{dot}{near[0]}'?" if near else ""


def _generic_reader(parser: Parser) -> OpReader:
    start = parser.at
    name = parser.string()
    parser.at = start
    kind = parser.context.op(name)
    if kind is None and not parser.context.allow_unregistered:
        parser.error(f"unknown operation '{name}'{_similar(parser, name)}")

    def read(parser: Parser, location: Location) -> Operation:
        return _read_generic(parser, name, kind, location)

    return read


def _read_generic(
    parser: Parser, name: str, kind: type[Operation] | None, location: Location
) -> Operation:
    start = parser.at - 1
    parser.expect("(")
    refs = parser.operand_list()
    parser.expect(")")
    successors: list[Block] = []
    if parser.peek() == "[":
        successors = parser.listed(parser.successor, "[", "]")
    attributes: dict[str, Attribute] = {}
    if parser.accept("<"):
        attributes = read_entries(parser)
        parser.expect(">")
    owner = kind or UnregisteredOp
    regions: list[Region] = []
    if parser.peek() == "(":
        regions = parser.listed(lambda: parser.region(owner=owner), "(", ")")
    attributes = _merged(parser, attributes)
    operands, results = _signature(parser)
    if len(refs) != len(operands):
        parser.error(f"expected {len(refs)} operand types, got {len(operands)}", start)
    values = [parser.resolve(ref, type) for ref, type in zip(refs, operands, strict=True)]
    if kind is None:
        return UnregisteredOp(name, values, results, attributes, regions, location, successors)
    segments = _segments(parser, kind, attributes, len(refs), start)
    coerce_inherent(kind, attributes)
    return kind(values, results, attributes, regions, location, successors, segments)


def _merged(parser: Parser, properties: dict[str, Attribute]) -> dict[str, Attribute]:
    start = parser.at
    if parser.peek() != "{":
        return properties
    attributes = read_entries(parser)
    repeated = next((name for name in attributes if name in properties), None)
    if repeated is not None:
        parser.error(f"attribute '{repeated}' is also a property", start)
    return properties | attributes


def _signature(parser: Parser) -> tuple[list[Type], list[Type]]:
    """Parse `: (types) -> type` or `: (types) -> (types)`."""
    parser.expect(":")
    operands = parser.listed(parser.type, "(", ")")
    parser.expect("->")
    if parser.peek() == "(":
        return operands, parser.listed(parser.type, "(", ")")
    return operands, [parser.type()]


def _segments(
    parser: Parser, kind: type[Operation], attributes: dict[str, Attribute], count: int, at: int
) -> tuple[int, ...] | None:
    """Return the operand segment sizes, which only the generic form spells as an attribute."""
    schema = kind.schema
    if not schema.has_segments:
        return None
    given = attributes.pop(SEGMENTS, None)
    if not isinstance(given, DenseArrayAttr) or given.element is not I32:
        parser.error(f"'{kind.name}' needs '{SEGMENTS}', an array of i32", at)
    sizes = given.values
    if len(sizes) != len(schema.operands) or min(sizes) < 0 or sum(sizes) != count:
        groups = len(schema.operands)
        parser.error(f"'{SEGMENTS}' must split {count} operands into {groups} groups", at)
    return sizes


def implicit_terminator(parser: Parser, name: str, block: Block) -> None:
    """Add the terminator to a block whose text omits it."""
    if block.last is not None and block.last.is_terminator:
        return
    kind = parser.context.op(name)
    assert kind is not None, name
    block.append(kind(location=parser.location()))
