"""Compile syntax strings to parsers, on first use of an operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tilewright.ir.attributes import UNIT
from tilewright.ir.declare import Arity, AttributeField, OperandField, RegionField, ResultField
from tilewright.ir.operation import Region
from tilewright.ir.traits import SameType
from tilewright.support.diagnostics import InternalError
from tilewright.text.syntax import (
    AnyOrder,
    AttrDict,
    Custom,
    Element,
    Group,
    Literal,
    ParseState,
    Space,
    TypeOf,
    Variable,
    is_flag,
    read_syntax,
    typed_fields,
)
from tilewright.text.syntax_builder import OpBuilder
from tilewright.text.syntax_kinds import kind_reader, kind_starts

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.support.location import Location
    from tilewright.text.parser import Parser
    from tilewright.text.syntax import Field

Step = Callable[["Parser", ParseState], None]
Test = Callable[["Parser"], bool]
Form = Callable[["Parser", "Location"], "Operation"]

_forms: dict[type[Operation], Form | None] = {}


def parser_of(kind: type[Operation]) -> Form | None:
    """Return the parser of an operation after its name, or `None` if it has no custom form."""
    if kind not in _forms:
        _forms[kind] = _make_form(kind)
    return _forms[kind]


def _make_form(kind: type[Operation]) -> Form | None:
    by_hand = getattr(kind, "parse", None)
    if by_hand is not None:
        return by_hand
    if kind.syntax is None:
        return None
    run = _Compiler(kind).sequence(read_syntax(kind))
    build = OpBuilder(kind).build

    def form(parser: Parser, location: Location) -> Operation:
        state = ParseState(kind, location)
        run(parser, state)
        return build(parser, state)

    return form


class _Compiler:
    """Compiles format elements to parser steps."""

    __slots__ = ("_dialect", "_kind", "_spelled")

    def __init__(self, kind: type[Operation]) -> None:
        self._kind = kind
        self._spelled = typed_fields(read_syntax(kind))
        """The fields whose types the text may spell."""
        self._dialect = kind.name.partition(".")[0] if kind.elides_type_prefix else None

    def sequence(self, elements: Sequence[Element], *first: Step) -> Step:
        """Compile a sequence of elements to one step, which runs `first` before them."""
        items: list[_Item] = [("", "", step) for step in first]
        for element in elements:
            match element:
                case Literal(text=text):
                    items.append((text, "", None))
                case Variable(field=OperandField(name=name, arity=Arity.ONE)):
                    items.append(("", name, None))
                case AttrDict(keyword=keyword):
                    items.append(("attributes" if keyword else "{", "", _attr_dict(keyword)))
                case Group(then=[Literal(text=text), *_], otherwise=[]):
                    items.append((text, "", self.group(element)))
                case Space():
                    pass
                case _:
                    step = self.step(element)
                    items += [] if step is None else [("", "", step)]
        return _run(items)

    def step(self, element: Element) -> Step | None:
        """Compile one element to a step."""
        match element:
            case Variable(field=field):
                return self.variable(field)
            case TypeOf(field=field):
                return self.types(field)
            case Group():
                return self.choice(element)
            case AnyOrder():
                return self.any_order(element)
            case Custom():
                run, names = element.directive.parse, element.arguments
                return lambda parser, state: run(parser, state, *names)
            case _:
                raise AssertionError(element)

    def variable(self, field: Field) -> Step | None:
        """Compile `$field` to a step, or to `None` for a unit attribute."""
        match field:
            case OperandField():
                return _operands(field)
            case AttributeField() if is_flag(field):
                return None
            case AttributeField():
                return _attribute(field, self._dialect)
            case RegionField():
                return _region(field)
            case _:
                raise self.wrong(f"'{field.name}' cannot be a variable")

    def types(self, field: Field) -> Step:
        """Compile `type($field)` to a step."""
        name, dialect = field.name, self._dialect
        assert isinstance(field, (OperandField, ResultField))
        is_operand = isinstance(field, OperandField)
        if field.arity is not Arity.VARIADIC:
            return _single_type(field, dialect, self.followers(field))

        def step(parser: Parser, state: ParseState) -> None:
            types = state.operand_types if is_operand else state.result_types
            # Without operands there are no types, even if a type follows in the text.
            if is_operand and state.operands.get(name) == []:
                types[name] = []
            else:
                types[name] = parser.listed(lambda: parser.type(dialect))

        return step

    def followers(self, field: Field) -> tuple[list[str], list[str]]:
        """Return the operands and results whose unspelled type is that of the field."""
        traits = [trait for trait in self._kind.traits if isinstance(trait, SameType)]
        same = {name for trait in traits if field.name in trait.fields for name in trait.fields}
        schema = self._kind.schema
        operands, results = (
            [f.name for f in fields if f.arity is Arity.ONE and f.name in same - self._spelled]
            for fields in (schema.operands, schema.results)
        )
        return operands, results

    def group(self, group: Group) -> Step:
        """Compile the elements of an optional group whose anchor is present."""
        flags = [_flag(group.anchor)] if is_flag(group.anchor) else []
        return self.sequence(group.then, *flags)

    def choice(self, group: Group) -> Step:
        """Compile an optional group, whose presence is decided by its first element."""
        test = self.test(next(e for e in group.then if not isinstance(e, Space)))
        then, otherwise = self.group(group), self.sequence(group.otherwise)
        return lambda parser, state: (then if test(parser) else otherwise)(parser, state)

    def test(self, element: Element) -> Test:
        """Return a predicate that is true if an element is next in the text."""
        match element:
            case Literal(text=text):
                return lambda parser: parser.tokens[parser.at] == text
            case Variable(field=OperandField()):
                return lambda parser: parser.tokens[parser.at].startswith("%")
            case Variable(field=RegionField()):
                return lambda parser: parser.tokens[parser.at] == "{"
            case Variable(field=AttributeField() as field):
                starts = kind_starts(field)
                return lambda parser: starts(parser.tokens[parser.at])
            case _:
                raise self.wrong("an optional group starts with a literal or a variable")

    def any_order(self, oilist: AnyOrder) -> Step:
        """Compile clauses that are selected by their first literal, each at most once."""
        clauses: dict[str, Step] = {}
        for clause in oilist.clauses:
            first = clause[0]
            assert isinstance(first, Literal)
            flags = [e.field for e in clause if isinstance(e, Variable) and is_flag(e.field)]
            clauses[first.text] = self.sequence(clause, *map(_flag, flags))

        def step(parser: Parser, state: ParseState) -> None:
            seen: set[str] = set()
            while (word := parser.tokens[parser.at]) in clauses:
                if word in seen:
                    parser.error(f"'{word}' clause can appear at most once")
                seen.add(word)
                clauses[word](parser, state)

        return step

    def wrong(self, message: str) -> InternalError:
        """Return an error about the declaration of the operation."""
        return InternalError(f"syntax of '{self._kind.name}': {message}")


_Item = tuple[str, str, Step | None]
"""A literal, the field name of a single operand, or a step for any other element. A step with a
literal runs only if the literal is the next token."""


def _run(items: list[_Item]) -> Step:
    """Return a step for a sequence; literals and operands are parsed inline to avoid calls."""

    def run(parser: Parser, state: ParseState) -> None:
        tokens, at = parser.tokens, parser.at
        for literal, operand, step in items:
            token = tokens[at]
            if step is not None:
                if token == literal or not literal:
                    parser.at = at
                    step(parser, state)
                    at = parser.at
                continue
            if operand:
                if token[:1] != "%":
                    parser.at = at
                    parser.unexpected("an SSA value")
                state.operands[operand] = [at]
            elif token != literal:
                parser.at = at
                parser.missing(literal)
            at += 1
        parser.at = at

    return run


def _operands(field: OperandField[Any]) -> Step:
    name = field.name
    is_variadic = field.arity is Arity.VARIADIC

    def step(parser: Parser, state: ParseState) -> None:
        if is_variadic:
            state.operands[name] = parser.operand_list()
        else:
            there = parser.tokens[parser.at].startswith("%")
            state.operands[name] = [parser.operand()] if there else []

    return step


def _single_type(field: Field, dialect: str | None, followers: tuple[list[str], list[str]]) -> Step:
    """Return a step that parses one type, which is also that of the followers."""
    name = field.name
    operands, results = followers
    (operands if isinstance(field, OperandField) else results).append(name)
    if not operands and len(results) == 1:

        def result_type(parser: Parser, state: ParseState) -> None:
            state.result_types[name] = [parser.type(dialect)]

        return result_type

    def step(parser: Parser, state: ParseState) -> None:
        types = [parser.type(dialect)]
        for operand in operands:
            state.operand_types[operand] = types
        for result in results:
            state.result_types[result] = types

    return step


def _attribute(field: AttributeField[Any], dialect: str | None) -> Step:
    spelling, read = field.spelling, kind_reader(field, dialect)

    def step(parser: Parser, state: ParseState) -> None:
        state.attributes[spelling] = read(parser)

    return step


def _flag(field: Field) -> Step:
    assert isinstance(field, AttributeField)
    spelling = field.spelling

    def step(parser: Parser, state: ParseState) -> None:
        state.attributes[spelling] = UNIT

    return step


def _region(field: RegionField) -> Step:
    def step(parser: Parser, state: ParseState) -> None:
        if not field.min_blocks and parser.tokens[parser.at] != "{":
            state.regions[field.name] = Region()
        else:
            state.regions[field.name] = parser.region(owner=state.kind, field=field)

    return step


def _attr_dict(keyword: bool) -> Step:
    def step(parser: Parser, state: ParseState) -> None:
        if keyword:
            parser.expect("attributes")
        at = parser.at
        for name, attribute in parser.attr_dict().items():
            if name in state.attributes:
                parser.error(f"attribute '{name}' occurs more than once", at)
            state.attributes[name] = attribute

    return step
