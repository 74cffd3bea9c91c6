"""The grammar of `syntax` strings, which declare the custom assembly format of an operation.

The directives are those of MLIR's declarative assembly formats, with the same spacing rules:

    `literal`               a keyword or one punctuation mark
    `` ` ` `` and `` `` ``  a space, and the omission of the default space
    $field                  comma-separated operands, an attribute as its kind spells it, a region
    type($field)            the comma-separated types of operands or results
    attr-dict               the attributes that no other element spells; with the keyword
                            `attributes` in front for `attr-dict-with-keyword`
    ( ... $field^ ... )?    an optional group, present if its anchor is: an existing operand or
                            region, an attribute other than the default; otherwise the second
                            group of `( ... $field^ ... ) : ( ... )?`
    oilist(`a` ... | ...)   clauses in any order, each present if one of its fields is
    custom<Name>(...)       a pair of functions from the operation's `directives`

A unit attribute as the anchor of a group has no text of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, cast

from tilewright.ir.attribute_kinds import UnitKind
from tilewright.ir.declare import AttributeField
from tilewright.support.diagnostics import InternalError

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.ir.declare import OperandField, RegionField, ResultField, Schema
    from tilewright.ir.operation import Operation, Region
    from tilewright.support.location import Location

    Field = OperandField[Any] | ResultField[Any] | AttributeField[Any] | RegionField


class ParseState:
    """The parsed operands, types, attributes and regions of one operation in its custom form.

    They are keyed by field name; operands are references as returned by `Parser.operand`.
    """

    __slots__ = (
        "attributes",
        "kind",
        "location",
        "operand_types",
        "operands",
        "regions",
        "result_types",
    )

    def __init__(self, kind: type[Operation], location: Location) -> None:
        self.kind = kind
        self.location = location
        self.operands: dict[str, list[int]] = {}
        self.operand_types: dict[str, list[Type]] = {}
        self.result_types: dict[str, list[Type]] = {}
        self.attributes: dict[str, Attribute] = {}
        """Attributes by field name or IR name, including discardable ones."""
        self.regions: dict[str, Region] = {}


class Directive:
    """The parser and printer of a `custom<Name>(...)` element.

    `parse(parser, state, *arguments)` and `print(printer, op, *arguments)` take the arguments of
    the element as field names, for `$field` as for `type($field)`. The printer emits the space in
    front, unless the directive makes no call to `emit`; emitting an empty text counts as a call.
    """

    __slots__ = ("parse", "print")

    def __init__(self, parse: Callable[..., None], print: Callable[..., None]) -> None:
        self.parse = parse
        self.print = print


class Element:
    """Base of the elements of a syntax."""

    __slots__ = ()


class Literal(Element):
    """A keyword or a punctuation mark."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Space(Element):
    """An explicit space, or the omission of the default one."""

    __slots__ = ("wanted",)

    def __init__(self, wanted: bool) -> None:
        self.wanted = wanted


class Variable(Element):
    """`$field`."""

    __slots__ = ("field",)

    def __init__(self, field: Field) -> None:
        self.field = field


class TypeOf(Element):
    """`type($field)`."""

    __slots__ = ("field",)

    def __init__(self, field: Field) -> None:
        self.field = field


class AttrDict(Element):
    """`attr-dict`, or `attr-dict-with-keyword`."""

    __slots__ = ("keyword",)

    def __init__(self, keyword: bool) -> None:
        self.keyword = keyword


class Group(Element):
    """An optional group with its anchor, and the elements used if the anchor is absent."""

    __slots__ = ("anchor", "otherwise", "then")

    def __init__(self, then: list[Element], anchor: Field, otherwise: list[Element]) -> None:
        self.then = then
        self.anchor = anchor
        self.otherwise = otherwise


class AnyOrder(Element):
    """`oilist(...)`: clauses in any order, each starting with a literal."""

    __slots__ = ("clauses",)

    def __init__(self, clauses: list[list[Element]]) -> None:
        self.clauses = clauses


class Custom(Element):
    """`custom<Name>(...)`: a directive and the fields that are its arguments."""

    __slots__ = ("directive", "fields")

    def __init__(self, directive: Directive, fields: list[Field]) -> None:
        self.directive = directive
        self.fields = fields

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments of the directive's parser and printer: the names of the fields."""
        return tuple([field.name for field in self.fields])


_TOKENS: Final = re.compile(r"`[^`]*`|\$?[\w-]+|\S")


class _SyntaxReader:
    __slots__ = ("_anchor", "_at", "_kind", "_tokens")

    def __init__(self, kind: type[Operation]) -> None:
        self._kind = kind
        self._tokens: list[str] = [*_TOKENS.findall(kind.syntax or ""), ""]
        self._at = 0
        self._anchor: Field | None = None

    def wrong(self, message: str) -> InternalError:
        """Return an error about the declaration of the operation."""
        return InternalError(f"syntax of '{self._kind.name}': {message}")

    def accept(self, token: str) -> bool:
        """Consume a token if it is next."""
        if self._tokens[self._at] != token:
            return False
        self._at += 1
        return True

    def expect(self, token: str) -> None:
        """Consume a token, or raise an error if it is not next."""
        if not self.accept(token):
            raise self.wrong(f"expected {token!r}, got {self._tokens[self._at]!r}")

    def next(self) -> str:
        """Consume and return the next token."""
        token = self._tokens[self._at]
        self._at += 1
        return token

    def elements(self, *ends: str) -> list[Element]:
        """Parse elements up to one of the end tokens, which is not consumed."""
        elements: list[Element] = []
        while self._tokens[self._at] not in ends:
            elements.append(self.element())
        return elements

    def element(self) -> Element:
        """Parse one element and its `^` anchor."""
        token = self.next()
        if token.startswith("`"):
            inner = token[1:-1]
            return Literal(inner) if inner.strip() else Space(bool(inner))
        if token.startswith("$"):
            return self.anchored(Variable(self.field(token)))
        if token == "(":
            return self.group()
        return self.directive(token)

    def anchored(self, element: Variable | TypeOf) -> Element:
        """Record the field of an element as the anchor if `^` follows."""
        if self.accept("^"):
            self._anchor = element.field
        return element

    def directive(self, token: str) -> Element:
        """Parse an element that starts with a keyword."""
        match token:
            case "attr-dict" | "attr-dict-with-keyword":
                return AttrDict(token != "attr-dict")
            case "type":
                return self.anchored(TypeOf(self.type_argument()))
            case "oilist":
                return self.any_order()
            case "custom":
                return self.custom()
            case _:
                raise self.wrong(f"expected an element, got {token!r}")

    def type_argument(self) -> Field:
        """Parse `($field)`."""
        self.expect("(")
        field = self.field(self.next())
        self.expect(")")
        return field

    def field(self, token: str) -> Field:
        """Look up the field of a `$name`."""
        schema: Schema = self._kind.schema
        field = schema.by_name.get(token[1:])
        if not token.startswith("$") or field is None:
            raise self.wrong(f"expected a field, got {token!r}")
        return cast("Field", field)

    def group(self) -> Group:
        """Parse the rest of `( ... ) : ( ... )?`."""
        outer, self._anchor = self._anchor, None
        then = self.elements(")", "")
        self.expect(")")
        otherwise: list[Element] = []
        if self.accept(":"):
            self.expect("(")
            otherwise = self.elements(")", "")
            self.expect(")")
        self.expect("?")
        anchor, self._anchor = self._anchor, outer
        if anchor is None:
            raise self.wrong("an optional group needs an anchor")
        return Group(then, anchor, otherwise)

    def any_order(self) -> AnyOrder:
        """Parse the rest of `oilist( ... | ... )`."""
        self.expect("(")
        clauses = [self.elements("|", ")", "")]
        while self.accept("|"):
            clauses.append(self.elements("|", ")", ""))
        self.expect(")")
        if not all(clause and isinstance(clause[0], Literal) for clause in clauses):
            raise self.wrong("a clause of an oilist starts with a literal")
        return AnyOrder(clauses)

    def custom(self) -> Custom:
        """Parse the rest of `custom<Name>(...)` and its optional `^` anchor."""
        self.expect("<")
        name = self.next()
        self.expect(">")
        directive = getattr(self._kind, "directives", {}).get(name)
        if not isinstance(directive, Directive):
            raise self.wrong(f"no directive {name!r}")
        self.expect("(")
        fields: list[Field] = []
        while not self.accept(")"):
            token = self.next()
            fields.append(self.type_argument() if token == "type" else self.field(token))
            self.accept(",")
        if self.accept("^"):
            self._anchor = fields[0]
        return Custom(directive, fields)


def is_flag(field: Field) -> bool:
    """Return whether the field is a unit attribute, which has no text of its own."""
    return isinstance(field, AttributeField) and isinstance(field.kind, UnitKind)


def read_syntax(kind: type[Operation]) -> list[Element]:
    """Parse the syntax string of an operation."""
    reader = _SyntaxReader(kind)
    return reader.elements("")


def spelled_fields(elements: list[Element]) -> set[Field]:
    """Return the fields whose values an element spells."""
    fields: set[Field] = set()
    for element in elements:
        match element:
            case Variable():
                fields.add(element.field)
            case Custom():
                fields.update(element.fields)
            case Group():
                fields |= spelled_fields(element.then) | spelled_fields(element.otherwise)
            case AnyOrder():
                fields.update(*map(spelled_fields, element.clauses))
            case _:
                pass
    return fields


def typed_fields(elements: list[Element]) -> set[str]:
    """Return the names of the fields whose types an element spells, or may spell."""
    names: set[str] = set()
    for element in elements:
        match element:
            case TypeOf(field=field):
                names.add(field.name)
            case Custom(fields=fields):
                names.update([field.name for field in fields])
            case Group():
                names |= typed_fields(element.then) | typed_fields(element.otherwise)
            case AnyOrder():
                names.update(*map(typed_fields, element.clauses))
            case _:
                pass
    return names
