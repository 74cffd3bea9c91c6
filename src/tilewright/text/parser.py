"""The parser of MLIR text: operands, operations, blocks, regions, and whole programs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from tilewright.ir.operation import Block, Operation, Region
from tilewright.ir.types import FLOATS
from tilewright.support.collector import CollectorPause
from tilewright.support.diagnostics import Unsupported
from tilewright.support.location import UNKNOWN, Location, TextLoc, UnstatedLoc
from tilewright.support.stack import DeepRecursion
from tilewright.text.attribute_parser import read_attribute, read_entries, read_member
from tilewright.text.cursor import Cursor
from tilewright.text.definitions import Aliases
from tilewright.text.literals import read_element, read_elements
from tilewright.text.locations import read_parenthesised, read_trailing
from tilewright.text.operations import OpReader, find_reader, implicit_terminator
from tilewright.text.scopes import Labels, Names
from tilewright.text.syntax_kinds import read_integer
from tilewright.text.type_parser import read_type

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, DenseElementsAttr, Type
    from tilewright.ir.declare import RegionField
    from tilewright.ir.dialect import Context
    from tilewright.ir.types import IntegerType
    from tilewright.ir.values import Value
    from tilewright.text.attribute_parser import EnumT

    # `Parser.type` hides the builtin of this name in the annotations of the class.
    OpClass: TypeAlias = type[Operation]
    EnumClass: TypeAlias = type[EnumT]

_MAX_SHARED: Final = 4096
"""The size limit of the caches shared between texts."""


class Argument:
    """A block argument `%x: type`, with optional attributes and location."""

    __slots__ = ("attributes", "location", "ref", "type")

    def __init__(
        self,
        ref: int,
        type: Type,
        location: Location,
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        self.ref = ref
        """The token of the name."""
        self.type = type
        self.location = location
        self.attributes = attributes or {}


class Parser(Cursor):
    """Parses one text, and raises the first error as a `UserError`."""

    def __init__(
        self,
        text: str,
        context: Context,
        name: str = "<stdin>",
        default_dialect: str | None = None,
    ) -> None:
        super().__init__(text, name)
        self.context = context
        self.aliases = Aliases(self)
        self.names = Names(self)
        self.labels = Labels(self)
        self.open_braces: list[int] = []
        """The braces of the regions around the current token."""
        defaults = ("builtin",) if default_dialect is None else ("builtin", default_dialect)
        self.default_dialects: tuple[str, ...] = defaults
        """The dialects of operations without a prefix, in the order of lookup."""
        self._readers: dict[str, OpReader] = context.op_readers.setdefault(defaults, {})
        self._types: defaultdict[str | None, dict[str, Type]] = defaultdict(dict)

    def operand(self) -> int:
        """Parse an operand; return a reference that is resolved once its type is known."""
        at = self.at
        token = self.tokens[at]
        if token[:1] != "%" or token == "%":
            self.unexpected("an SSA value")
        self.at = at + 1
        return at

    def operand_list(self) -> list[int]:
        """Parse a possibly empty list of operands."""
        tokens, at = self.tokens, self.at
        refs: list[int] = []
        if tokens[at][:1] != "%":
            return refs
        refs.append(self.operand())
        while tokens[self.at] == ",":
            self.at += 1
            refs.append(self.operand())
        return refs

    def resolve(self, ref: int, type: Type) -> Value:
        """Return the value of a name, of the given type; it may be a forward reference."""
        value = self.names.values.get(self.tokens[ref])
        if value is not None and value.type is type:
            return value
        return self.names.resolve(ref, type)

    def lookup(self, ref: int) -> Value:
        """Return the value of a name that must be defined already."""
        return self.names.lookup(ref)

    def define(self, ref: int, value: Value) -> None:
        """Bind a name to a value."""
        self.names.define(ref, value)

    def type(self, dialect: str | None = None) -> Type:
        """Parse a type; types of `dialect` may be written without `!dialect.`."""
        tokens, at = self.tokens, self.at
        # Most types have been parsed before and are looked up by their tokens. A type ends after
        # its angle brackets; the shortest and most frequent forms are tried first.
        if tokens[at + 1] != "<":
            end = at + 1
            key = tokens[at]
        elif tokens[at + 3] == ">":
            end = at + 4
            key = f"{tokens[at]} < {tokens[at + 2]} >"
        elif tokens[at + 4] == ">":
            end = at + 5
            key = f"{tokens[at]} < {tokens[at + 2]} {tokens[at + 3]} >"
        else:
            end = self.closing(at + 1)
            key = " ".join(tokens[at:end]) if end > 0 else ""
        known = self._types[dialect].get(key)
        if known is not None:
            self.at = end
            return known
        return self._new_type(dialect, key, end)

    def _new_type(self, dialect: str | None, key: str, end: int) -> Type:
        """Parse a type that is new in this text, or look it up in the cache shared by texts."""
        shared = self.context.types_by_text
        type = shared.get((dialect, key))
        if type is not None:
            self.at = end
        else:
            self.enter()
            type = read_type(self, dialect)
            self.leave()
        if self.at == end:
            self._types[dialect][key] = type
            # Aliases may be defined differently in the next text.
            if "!" not in key and "#" not in key:
                if len(shared) == _MAX_SHARED:
                    shared.clear()
                shared[dialect, key] = type
        return type

    def shaped(self, dialect: str | None = None) -> tuple[tuple[int, ...], Type]:
        """Parse a shape and an element type: `4x8xf32`, `f32`."""
        token = self.tokens[self.at]
        if token[:2] == "0x" and token[2:] in FLOATS:
            self.at += 1
            return (0,), FLOATS[token[2:]]
        return self.extents(), self.type(dialect)

    def attribute(self, type: Type | None = None) -> Attribute:
        """Parse an attribute; `type` is that of a number without a type suffix."""
        return read_attribute(self, type)

    def member(self, kind: EnumClass[EnumT]) -> EnumT:
        """Parse the keyword of a member of an enumeration."""
        return read_member(self, kind)

    def element(self, type: Type) -> int:
        """Parse a number of an integer or float type; return its bit pattern."""
        return read_element(self, type)

    def integer_of(self, type: IntegerType) -> int:
        """Parse an integer that fits its type; `true` or `false` for i1."""
        return read_integer(self, type)

    def elements(self, type: Type) -> DenseElementsAttr:
        """Parse the elements of a shaped type, as inside `dense<...>`."""
        return read_elements(self, type)

    def attr_dict(self) -> dict[str, Attribute]:
        """Parse an attribute dictionary `{...}`."""
        return read_entries(self)

    def optional_attr_dict(self) -> dict[str, Attribute]:
        """Parse an optional attribute dictionary `{...}`."""
        return read_entries(self) if self.tokens[self.at] == "{" else {}

    def optional_location(self) -> Location | None:
        """Parse an optional trailing `loc(...)`."""
        return read_parenthesised(self) if self.tokens[self.at] == "loc" else None

    def argument(self, dialect: str | None = None) -> Argument:
        """Parse a block argument `%x: type` with optional attributes and location."""
        ref = self.operand()
        self.expect(":")
        type = self.type(dialect)
        attributes = self.optional_attr_dict()
        location = self.optional_location() or self.location(ref)
        return Argument(ref, type, location, attributes)

    def named_argument(self, ref: int, type: Type) -> Argument:
        """Return an argument whose name and type are separate in the text."""
        return Argument(ref, type, self.location(ref))

    def successor(self) -> Block:
        """Parse a successor `^label`; the block may be defined later."""
        return self.labels.use()

    def region(
        self,
        arguments: Sequence[Argument] = (),
        *,
        owner: OpClass,
        field: RegionField | None = None,
    ) -> Region:
        """Parse `{ ... }`, a region of an operation of the class `owner`.

        `arguments` are those of the entry block. With `field`, an omitted block or terminator
        that the declaration requires is added.
        """
        self.enter()
        self.open_braces.append(self.at)
        self.expect("{")
        outer_dialects = self.default_dialects
        inner = owner.default_dialect
        self.use_dialects(("builtin",) if inner is None else (inner, "builtin"))
        scope = self.names.open(owner.is_isolated)
        labels, self.labels = self.labels, self.new_labels()
        region = self._blocks(arguments)
        if field is not None:
            self._complete(region, field)
        self.labels.close()
        self.labels = labels
        self.names.close(scope)
        self.use_dialects(outer_dialects)
        self.expect("}")
        self.open_braces.pop()
        self.leave()
        return region

    def new_labels(self) -> Labels:
        """Return the labels of a region that starts."""
        return Labels(self)

    def use_dialects(self, dialects: tuple[str, ...]) -> None:
        """Set the dialects of operations without a prefix."""
        self.default_dialects = dialects
        self._readers = self.context.op_readers.setdefault(dialects, {})

    def _blocks(self, arguments: Sequence[Argument]) -> Region:
        region = Region()
        token = self.tokens[self.at]
        if arguments or (token != "}" and token[:1] != "^"):
            # The entry block may have a label even if its arguments are outside of the region.
            entry = self._labelled() if token[:1] == "^" else Block()
            region.append(entry)
            self._add_arguments(entry, arguments)
            self._operations(entry)
        while self.tokens[self.at][:1] == "^":
            block = self.labels.define()
            region.append(block)
            if self.peek() == "(":
                self._add_arguments(block, self.listed(self.argument, "(", ")"))
            self.expect(":")
            self._operations(block)
        return region

    def _labelled(self) -> Block:
        """Parse `^label:`."""
        block = self.labels.define()
        self.expect(":")
        return block

    def _add_arguments(self, block: Block, arguments: Sequence[Argument]) -> None:
        for argument in arguments:
            value = block.add_argument(argument.type, argument.location)
            self.names.define(argument.ref, value)

    def _operations(self, block: Block) -> None:
        tokens, append, operation = self.tokens, block.append, self.operation
        while (token := tokens[self.at]) != "}" and token[:1] != "^":
            append(operation())

    def _complete(self, region: Region, field: RegionField) -> None:
        if not region.blocks and (field.min_blocks or field.max_blocks == 1):
            region.append(Block())
        if field.terminator is not None:
            for block in region.blocks:
                implicit_terminator(self, field.terminator, block)

    def operation(self) -> Operation:
        """Parse an operation, with the names of its results and its location."""
        tokens, start = self.tokens, self.at
        named: list[tuple[int, int]] | None = None
        if tokens[start][:1] == "%":
            if tokens[start + 1] == "=":
                self.at = start + 2
            else:
                named = self._result_names()
        at = self.at
        read = self._readers.get(tokens[at])
        if read is None:
            read = self._new_reader(tokens[at])
        self.at = at + 1
        text_location = TextLoc(self.positions, at)
        op = read(self, text_location)
        if tokens[self.at] == "loc":
            stated = read_trailing(self)
            op.location = UnstatedLoc(text_location) if stated is UNKNOWN else stated
        if named is not None:
            self.names.define_results(op, start, named)
        elif at != start:
            self.names.define_result(op, start)
        return op

    def _new_reader(self, token: str) -> OpReader:
        read = find_reader(self, token)
        if len(self._readers) == _MAX_SHARED:
            self._readers.clear()
        self._readers[token] = read
        return read

    def _result_names(self) -> list[tuple[int, int]]:
        """Parse `%a, %b:2 =`; return the names and the number of results of each."""

        def name() -> tuple[int, int]:
            ref = self.operand()
            if not self.accept(":"):
                return ref, 1
            at = self.at
            count = self.integer()
            if count < 1:
                self.error("expected a positive number of results", at)
            return ref, count

        names = self.listed(name)
        self.expect("=")
        return names

    def alias_definition(self) -> None:
        """Parse `#name = attribute` or `!name = type`."""
        self.aliases.define()

    def program(self) -> list[Operation]:
        """Parse a whole text: alias definitions and operations."""
        tokens = self.tokens
        ops: list[Operation] = []
        while token := tokens[self.at]:
            if token[:1] in "#!" and tokens[self.at + 1] == "=":
                self.alias_definition()
            elif token == "{-#":
                raise Unsupported("resources in the text ('{-# ... #-}')", self.location())
            else:
                ops.append(self.operation())
        self.names.finish()
        return ops


def parse_text(
    text: str, context: Context, name: str = "<stdin>", default_dialect: str | None = None
) -> Operation:
    """Parse a program; return its module, or wrap other operations in a builtin module.

    Top-level operations of `default_dialect` may be written without its prefix.
    """
    return parse_with(Parser(text, context, name, default_dialect))


def parse_with(parser: Parser) -> Operation:
    """Parse the text of a parser as `parse_text` does."""
    with CollectorPause(), DeepRecursion():
        ops = parser.program()
    if len(ops) == 1 and ops[0].name in ("builtin.module", "cuda_tile.module"):
        return ops[0]
    block = Block()
    for op in ops:
        block.append(op)
    module = parser.context.op("builtin.module")
    assert module is not None
    return module(regions=[Region([block])], location=parser.location(0))


def parse_type(text: str, context: Context, dialect: str | None = None) -> Type:
    """Parse a text that is one type."""
    parser = Parser(text, context)
    with DeepRecursion():
        type = parser.type(dialect)
    if parser.peek():
        parser.unexpected("end of input")
    return type


def parse_attribute(text: str, context: Context) -> Attribute:
    """Parse a text that is one attribute."""
    parser = Parser(text, context)
    with DeepRecursion():
        attribute = parser.attribute()
    if parser.peek():
        parser.unexpected("end of input")
    return attribute
