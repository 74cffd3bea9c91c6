"""Syntax strings as printers: each becomes a list of functions on first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from tilewright.ir.attribute_kinds import (
    ArrayKind,
    AttributeKind,
    BoolKind,
    EnumKind,
    InstanceKind,
    IntegerArrayKind,
    IntegerKind,
    StringKind,
    SymbolKind,
    TypeKind,
    UnitKind,
)
from tilewright.ir.attributes import DenseArrayAttr, IntegerAttr
from tilewright.ir.declare import Arity, AttributeField, OperandField, RegionField, ResultField
from tilewright.text.attribute_printer import array_text, quoted, symbol_text
from tilewright.text.syntax import (
    AnyOrder,
    AttrDict,
    Custom,
    Element,
    Group,
    Literal,
    Space,
    TypeOf,
    Variable,
    read_syntax,
    spelled_fields,
)

if TYPE_CHECKING:
    from tilewright.ir.declare import Schema
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.text.printer import Printer
    from tilewright.text.syntax import Field

Step = Callable[["Printer", Any], None]
Text = Callable[["Printer", Any], str]
Values = Callable[[Any], "tuple[Value, ...]"]

_forms: dict[type[Operation], Step | None] = {}


def printer_of(kind: type[Operation]) -> Step | None:
    """The function that prints an operation after its name; nothing if it has no custom form."""
    if kind not in _forms:
        _forms[kind] = _make_form(kind)
    return _forms[kind]


def _make_form(kind: type[Operation]) -> Step | None:
    by_hand = getattr(kind, "print", None)
    if by_hand is not None:
        return lambda printer, op: op.print(printer)
    if kind.syntax is None:
        return None
    return _run(_Compiler(kind).compile())


def _run(steps: list[Step]) -> Step:
    """One function that runs all steps."""
    if len(steps) == 1:
        return steps[0]

    def run(printer: Printer, op: Operation) -> None:
        for step in steps:
            step(printer, op)

    return run


class _Compiler:
    """Turns elements into steps, and decides where spaces stand, as MLIR's generator does.

    Whether there is a space depends on what comes before in the syntax string, not on what an
    operation makes of it: an optional group counts even where it prints nothing.
    """

    __slots__ = ("_after_mark", "_dialect", "_elements", "_kind", "_pending", "_space", "_steps")

    def __init__(self, kind: type[Operation]) -> None:
        self._kind = kind
        self._dialect = kind.name.partition(".")[0] if kind.elides_type_prefix else ""
        self._elements = read_syntax(kind)
        self._steps: list[Step] = []
        self._pending = ""
        """Text that stands in front of whatever comes next."""
        self._space = True
        self._after_mark = False

    def compile(self) -> list[Step]:
        """The steps of the whole syntax."""
        return self.sequence(self._elements)

    def sequence(self, elements: list[Element]) -> list[Step]:
        """The steps of some elements, on their own."""
        outer, self._steps = self._steps, []
        for element in elements:
            self.element(element)
        self.flush()
        steps, self._steps = self._steps, outer
        return steps

    def flush(self) -> None:
        """Print the pending text."""
        if self._pending:
            self._steps.append(_constant(self._pending))
            self._pending = ""

    def element(self, element: Element) -> None:
        """Add one element."""
        match element:
            case Literal(text=text):
                self.literal(text)
            case Space(wanted=wanted):
                self._pending += " " if wanted else ""
                self._space, self._after_mark = False, not wanted
            case Group():
                self.group(element)
            case AnyOrder():
                self.any_order(element)
            case AttrDict(keyword=keyword):
                self.attr_dict(keyword)
            case Variable() if _is_flag(element.field):
                pass
            case _:
                self.value(element)

    def literal(self, text: str) -> None:
        """A keyword or a mark; some marks stand close to their neighbours."""
        if self._space and self.wants_space_before(text):
            self._pending += " "
        self._pending += text
        self._space = len(text) != 1 or text not in "<({["
        self._after_mark = not (text[0].isalpha() or text[0] == "_")

    def wants_space_before(self, text: str) -> bool:
        """Whether a space may stand before this literal."""
        if len(text) != 1 and text != "->":
            return True
        return text[0] not in (">)}]," if self._after_mark else "<>(){}[],")

    def group(self, group: Group) -> None:
        """A group that is printed only if its anchor is there."""
        self.flush()
        is_present = _presence(self._kind.schema, group.anchor)
        then = _run(self.sequence(group.then))
        if not group.otherwise:
            self._steps.append(_when(is_present, then))
            return
        self._steps.append(_either(is_present, then, _run(self.sequence(group.otherwise))))

    def any_order(self, oilist: AnyOrder) -> None:
        """Clauses that are printed if one of their fields is there, in the order given."""
        self.flush()
        schema = self._kind.schema
        for clause in oilist.clauses:
            fields = sorted(spelled_fields(clause), key=lambda field: field.name)
            tests = [_presence(schema, field) for field in fields]
            self._steps.append(_when(_any(tests), _run(self.sequence(clause))))

    def attr_dict(self, keyword: bool) -> None:
        """The attributes that nothing else spells."""
        self.flush()
        fields = spelled_fields(self._elements)
        spelled = {field.spelling for field in fields if isinstance(field, AttributeField)}
        self._steps.append(_attr_dict(frozenset(spelled), keyword))
        self._after_mark = False

    def value(self, element: Element) -> None:
        """An element that always has a space in front, unless a mark or the syntax forbids it."""
        spaced = self._space or not self._after_mark
        self._space, self._after_mark = True, False
        if isinstance(element, Custom):
            self.flush()
            self._steps.append(_custom(element, spaced))
            return
        self._pending += " " if spaced else ""
        match element:
            case Variable(field=RegionField() as field):
                self.flush()
                self._steps.append(_region(field))
            case Variable(field=AttributeField() as field):
                self.text(_attribute(field, self._dialect))
            case Variable(field=field):
                self.text(_values(self._kind.schema, field))
            case TypeOf(field=field):
                self.text(_types(self._kind.schema, field, self._dialect))
            case _:
                raise AssertionError(element)

    def text(self, text: Text) -> None:
        """A piece of text, with what is pending in front of it."""
        prefix, self._pending = self._pending, ""

        def step(printer: Printer, op: Operation) -> None:
            printer.emit(prefix + text(printer, op))

        self._steps.append(step)


def _is_flag(field: Field) -> bool:
    return isinstance(field, AttributeField) and isinstance(field.kind, UnitKind)


def _constant(text: str) -> Step:
    return lambda printer, op: printer.emit(text)


def _when(test: Callable[[Any], bool], then: Step) -> Step:
    def step(printer: Printer, op: Operation) -> None:
        if test(op):
            then(printer, op)

    return step


def _either(test: Callable[[Any], bool], then: Step, otherwise: Step) -> Step:
    def step(printer: Printer, op: Operation) -> None:
        (then if test(op) else otherwise)(printer, op)

    return step


def _any(tests: list[Callable[[Any], bool]]) -> Callable[[Any], bool]:
    if len(tests) == 1:
        return tests[0]
    return lambda op: any(test(op) for test in tests)


def _presence(schema: Schema, field: Field) -> Callable[[Any], bool]:
    """Whether a field counts as there when it anchors a group."""
    match field:
        case AttributeField(spelling=spelling, optional=True):
            return lambda op: spelling in op.attributes
        case AttributeField(spelling=spelling) if field.default is not None:
            default = field.kind.wrap(field.default)
            return lambda op: op.attributes.get(spelling, default) is not default
        case AttributeField():
            return lambda op: True
        case RegionField(position=position):
            return lambda op: bool(op.regions[position].blocks)
        case _:
            values = values_getter(schema, field)
            return lambda op: bool(values(op))


def _attr_dict(spelled: frozenset[str], keyword: bool) -> Step:
    def step(printer: Printer, op: Operation) -> None:
        if op.attributes and not spelled.issuperset(op.attributes):
            printer.emit(printer.attr_dict(op, spelled, keyword=keyword))

    return step


def _custom(element: Custom, spaced: bool) -> Step:
    run, arguments = element.directive.print, element.arguments
    if not spaced:
        return lambda printer, op: run(printer, op, *arguments)

    def step(printer: Printer, op: Operation) -> None:
        out = printer.out
        out.append(" ")
        before = len(out)
        run(printer, op, *arguments)
        if len(out) == before:
            out.pop()

    return step


def _region(field: RegionField) -> Step:
    position, terminator = field.position, field.terminator

    def step(printer: Printer, op: Operation) -> None:
        region = op.regions[position]
        end = region.blocks[0].terminator if terminator and region.blocks else None
        plain = end is not None and not end.operands and not end.attributes and not end.results
        printer.region(region, print_terminators=not plain)

    return step


def values_getter(schema: Schema, field: Field) -> Values:
    """A function that gives the operands or results of a field."""
    position = field.position
    if isinstance(field, ResultField):
        if not schema.variable_results:
            return lambda op: op.results[position : position + 1]
        return lambda op: schema.result_group(op, position)
    assert isinstance(field, OperandField)
    if schema.has_segments:
        return lambda op: schema.operand_group(op, position)
    before = schema.operands[:position]
    after = len(schema.operands) - 1 - position
    if any(other.arity is not Arity.ONE for other in before):
        return lambda op: op.operands[len(op.operands) - after - 1 : len(op.operands) - after]
    if field.arity is Arity.ONE:
        return lambda op: op.operands[position : position + 1]
    return lambda op: op.operands[position : len(op.operands) - after]


def _is_single(schema: Schema, field: Field) -> bool:
    """Whether the value of a field always has the field's own number."""
    fields = schema.results if isinstance(field, ResultField) else schema.operands
    return all(other.arity is Arity.ONE for other in fields[: field.position + 1])


def _values(schema: Schema, field: Field) -> Text:
    if _is_single(schema, field) and not isinstance(field, ResultField):
        position = field.position
        return lambda printer, op: printer.names[op.operands[position]]
    values = values_getter(schema, field)
    return lambda printer, op: ", ".join([printer.names[value] for value in values(op)])


def _types(schema: Schema, field: Field, dialect: str) -> Text:
    if not _is_single(schema, field):
        values = values_getter(schema, field)

        def types(printer: Printer, op: Operation) -> str:
            texts = printer.type_texts[dialect]
            return ", ".join([texts[value.type] for value in values(op)])

        return types
    position = field.position
    if isinstance(field, ResultField):
        return lambda printer, op: printer.type_texts[dialect][op.results[position].type]
    return lambda printer, op: printer.type_texts[dialect][op.operands[position].type]


def _attribute(field: AttributeField[Any], dialect: str) -> Text:
    spelling, kind = field.spelling, field.kind
    spell = _spelling_of_kind(kind, dialect)
    if spelling == "sym_name" and isinstance(kind, StringKind):
        spell = _symbol_name
    default = None if field.default is None else kind.wrap(field.default)

    def text(printer: Printer, op: Operation) -> str:
        attribute = op.attributes.get(spelling, default)
        return "" if attribute is None else spell(printer, attribute)

    return text


Spelling = Callable[["Printer", Any], str]


def _spelling_of_kind(kind: AttributeKind[Any], dialect: str) -> Spelling:
    """How a custom form spells an attribute whose kind is known."""
    if isinstance(kind, TypeKind):
        return lambda printer, attribute: printer.type_texts[dialect][attribute.type]
    if isinstance(kind, InstanceKind) and kind.kind.mnemonic:
        return lambda printer, attribute: printer.parameters(attribute)
    for known, spell in _SPELLINGS.items():
        if isinstance(kind, known):
            return spell
    return lambda printer, attribute: printer.attribute(attribute)


def _symbol_name(printer: Printer, attribute: Any) -> str:
    return symbol_text([attribute.value])


def _integers(printer: Printer, attribute: DenseArrayAttr) -> str:
    return f"[{array_text(attribute)}]"


def _integer(printer: Printer, attribute: IntegerAttr) -> str:
    return str(attribute.value)


def _bool(printer: Printer, attribute: IntegerAttr) -> str:
    return "true" if attribute.value else "false"


_SPELLINGS: Final[dict[type[AttributeKind[Any]], Spelling]] = {
    EnumKind: lambda printer, attribute: attribute.keyword_in(printer.style.value),
    StringKind: lambda printer, attribute: quoted(attribute.value),
    SymbolKind: lambda printer, attribute: symbol_text(attribute.path),
    IntegerKind: _integer,
    BoolKind: _bool,
    IntegerArrayKind: _integers,
    ArrayKind: lambda printer, attribute: f"[{printer.elements(attribute)}]",
}
