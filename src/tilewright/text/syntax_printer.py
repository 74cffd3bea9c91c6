"""Compile syntax strings to printers, on first use of an operation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tilewright.ir.declare import AttributeField, RegionField
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
    is_flag,
    read_syntax,
    spelled_fields,
)
from tilewright.text.syntax_texts import (
    Step,
    Test,
    Text,
    attribute_text,
    operands_text,
    presence,
    single_operand,
    types_text,
    values_text,
    when_text,
)

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.text.printer import Printer

_forms: dict[type[Operation], Step | None] = {}


def printer_of(kind: type[Operation]) -> Step | None:
    """Return the printer of an operation after its name, or `None` if it has no custom form."""
    if kind not in _forms:
        _forms[kind] = _make_form(kind)
    return _forms[kind]


def _make_form(kind: type[Operation]) -> Step | None:
    by_hand: Any = getattr(kind, "print", None)
    if by_hand is not None:
        return lambda printer, op: op.print(printer)
    if kind.syntax is None:
        return None
    return _Compiler(kind).compile().as_step()


class _Parts:
    """A sequence of functions, some of which return text and some of which print."""

    __slots__ = ("_steps", "_texts")

    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._texts: list[Text] = []
        """The text functions since the last step."""

    def add_text(self, text: Text) -> None:
        """Append a function that returns text."""
        self._texts.append(text)

    def add_step(self, step: Step) -> None:
        """Append a function that prints."""
        self._print_texts()
        self._steps.append(step)

    def _print_texts(self) -> None:
        if self._texts:
            self._steps.append(_printing(self._texts))
            self._texts = []

    def as_text(self) -> Text | None:
        """Return one function for all text, or `None` if there are steps that print."""
        return None if self._steps else _joined(self._texts)

    def as_step(self) -> Step:
        """Return one function that prints everything."""
        self._print_texts()
        return _run(self._steps)


def _run(steps: list[Step]) -> Step:
    if len(steps) == 1:
        return steps[0]

    def run(printer: Printer, op: Operation) -> None:
        for step in steps:
            step(printer, op)

    return run


class _Compiler:
    """Compiles format elements to printer functions, with the spacing rules of MLIR.

    Spacing depends on the preceding element of the format, not on its printed text: an absent
    optional group counts as well.
    """

    __slots__ = (
        "_after_mark", "_dialect", "_elements", "_kind",
        "_operands", "_parts", "_pending", "_space",
    )  # fmt: skip

    def __init__(self, kind: type[Operation]) -> None:
        self._kind = kind
        self._dialect = kind.name.partition(".")[0] if kind.elides_type_prefix else ""
        self._elements = read_syntax(kind)
        self._parts = _Parts()
        self._operands: list[tuple[str, int]] = []
        """Consecutive single operands with the text in front of each, printed by one function."""
        self._pending = ""
        """Text to print before the next element."""
        self._space = True
        self._after_mark = False

    def compile(self) -> _Parts:
        """Compile the whole syntax."""
        return self.sequence(self._elements)

    def sequence(self, elements: list[Element]) -> _Parts:
        """Compile a nested sequence of elements."""
        outer, self._parts = self._parts, _Parts()
        for element in elements:
            self.element(element)
        self.flush()
        parts, self._parts = self._parts, outer
        return parts

    def flush(self) -> None:
        """Add pending operands and text to the parts."""
        if self._operands:
            self._parts.add_text(operands_text(self._operands))
            self._operands = []
        if self._pending:
            self._parts.add_text(_constant(self._pending))
            self._pending = ""

    def element(self, element: Element) -> None:
        """Compile one element."""
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
            case Variable() if is_flag(element.field):
                pass
            case _:
                self.value(element)

    def literal(self, text: str) -> None:
        """Add a keyword or a punctuation mark, with the spacing of its neighbours."""
        if self._space and self.wants_space_before(text):
            self._pending += " "
        self._pending += text
        self._space = len(text) != 1 or text not in "<({["
        self._after_mark = not (text[0].isalpha() or text[0] == "_")

    def wants_space_before(self, text: str) -> bool:
        """Return whether a literal may have a space in front."""
        if len(text) != 1 and text != "->":
            return True
        return text[0] not in (">)}]," if self._after_mark else "<>(){}[],")

    def group(self, group: Group) -> None:
        """Compile an optional group, which is printed if its anchor is present."""
        self.flush()
        then = self.sequence(group.then)
        text = then.as_text()
        if text is not None and not group.otherwise:
            self._parts.add_text(when_text(self._kind.schema, group.anchor, text))
            return
        test = presence(self._kind.schema, group.anchor)
        self.add_choice(test, then, self.sequence(group.otherwise))

    def any_order(self, oilist: AnyOrder) -> None:
        """Compile clauses, each of which is printed if one of its fields is present, in order."""
        self.flush()
        schema = self._kind.schema
        for clause in oilist.clauses:
            tests = [presence(schema, field) for field in spelled_fields(clause)]
            self.add_choice(_any(tests), self.sequence(clause), _Parts())

    def add_choice(self, test: Test, then: _Parts, otherwise: _Parts) -> None:
        """Add a choice of two sequences by a predicate."""
        text, other = then.as_text(), otherwise.as_text()
        if text is not None and other is not None:
            self._parts.add_text(_text_choice(test, text, other))
        else:
            self._parts.add_step(_step_choice(test, then.as_step(), otherwise.as_step()))

    def attr_dict(self, keyword: bool) -> None:
        """Add the dictionary of the attributes that no other element spells."""
        self.flush()
        fields = spelled_fields(self._elements)
        spelled = {field.spelling for field in fields if isinstance(field, AttributeField)}
        self._parts.add_text(_attr_dict(frozenset(spelled), keyword))
        self._after_mark = False

    def value(self, element: Element) -> None:
        """Add a value element, with a space in front unless a mark or the syntax forbids it."""
        spaced = self._space or not self._after_mark
        self._space, self._after_mark = True, False
        if isinstance(element, Custom):
            self.flush()
            self._parts.add_step(_custom(element, spaced))
            return
        self._pending += " " if spaced else ""
        schema = self._kind.schema
        match element:
            case Variable(field=RegionField() as field):
                self.flush()
                self._parts.add_step(_region(field))
            case Variable(field=AttributeField() as field):
                self.text(attribute_text(field, self._dialect, self.taken()))
            case Variable(field=field) if single_operand(schema, field):
                self._operands.append((self.taken(), field.position))
            case Variable(field=field):
                self.text(values_text(schema, field, self.taken()))
            case TypeOf(field=field):
                self.text(types_text(schema, field, self._dialect, self.taken()))
            case _:
                raise AssertionError(element)

    def taken(self) -> str:
        """Return and clear the pending text."""
        text, self._pending = self._pending, ""
        return text

    def text(self, text: Text) -> None:
        """Add a text function."""
        self.flush()
        self._parts.add_text(text)


def _constant(text: str) -> Text:
    return lambda printer, op: text


def _printing(texts: list[Text]) -> Step:
    """Print texts by one call; small counts are unrolled for speed."""
    match texts:
        case [a, b]:
            return lambda printer, op: printer.emit(a(printer, op) + b(printer, op))
        case [a, b, c]:
            return lambda p, op: p.emit(f"{a(p, op)}{b(p, op)}{c(p, op)}")
        case [a, b, c, d]:
            return lambda p, op: p.emit(f"{a(p, op)}{b(p, op)}{c(p, op)}{d(p, op)}")
        case _:
            text = _joined(texts)
            return lambda printer, op: printer.emit(text(printer, op))


def _joined(texts: list[Text]) -> Text:
    match texts:
        case []:
            return _constant("")
        case [text]:
            return text
        case [a, b]:
            return lambda printer, op: a(printer, op) + b(printer, op)
        case [a, b, c]:
            return lambda p, op: f"{a(p, op)}{b(p, op)}{c(p, op)}"
        case _:
            return lambda printer, op: "".join([text(printer, op) for text in texts])


def _text_choice(test: Test, then: Text, otherwise: Text) -> Text:
    return lambda printer, op: (then if test(op) else otherwise)(printer, op)


def _step_choice(test: Test, then: Step, otherwise: Step) -> Step:
    return lambda printer, op: (then if test(op) else otherwise)(printer, op)


def _any(tests: list[Test]) -> Test:
    if len(tests) == 1:
        return tests[0]
    return lambda op: any([test(op) for test in tests])


def _attr_dict(spelled: frozenset[str], keyword: bool) -> Text:
    def text(printer: Printer, op: Operation) -> str:
        if spelled.issuperset(op.attributes):
            return ""
        return printer.attr_dict(op, spelled, keyword=keyword)

    return text


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
