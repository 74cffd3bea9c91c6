"""From what the custom form of an operation said to the operation itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tilewright.ir.attribute_kinds import AttributeKind, EnumKind
from tilewright.ir.attributes import Attribute, Type
from tilewright.ir.declare import Arity, AttributeField, OperandField, ResultField
from tilewright.ir.operation import Region
from tilewright.ir.traits import SameType
from tilewright.support.diagnostics import fail
from tilewright.text.syntax import ParseState

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.text.parser import Parser

Infer = Callable[[ParseState], None]


class _ValueField:
    """What is known beforehand of an operand or a result."""

    __slots__ = ("is_one", "name", "only", "partners")

    def __init__(
        self, field: OperandField[Any] | ResultField[Any], same: list[tuple[str, ...]]
    ) -> None:
        self.name = field.name
        self.is_one = field.arity is Arity.ONE
        self.only = field.constraint.only
        groups = [names for names in same if field.name in names]
        self.partners = [name for names in groups for name in names if name != field.name]
        """The fields that have the same type."""

    def infer(self, state: ParseState) -> Type | None:
        """The type that the text left out, where there is only one choice."""
        if self.only is not None:
            return self.only
        for name in self.partners:
            types = state.operand_types.get(name) or state.result_types.get(name)
            if types:
                return types[0]
        return None


class OpBuilder:
    """Makes operations of one class: infers types, resolves operands, fills in defaults."""

    __slots__ = ("_attributes", "_infer", "_kind", "_operands", "_regions", "_results", "_segments")

    def __init__(self, kind: type[Operation]) -> None:
        schema = kind.schema
        same = [trait.fields for trait in kind.traits if isinstance(trait, SameType)]
        self._kind = kind
        self._operands = [_ValueField(field, same) for field in schema.operands]
        self._results = [_ValueField(field, same) for field in schema.results]
        self._attributes = [_DeclaredAttribute(field) for field in schema.attributes]
        self._regions = [field.name for field in schema.regions]
        self._segments = schema.has_segments
        self._infer: Infer | None = getattr(kind, "infer_types", None)

    def build(self, parser: Parser, state: ParseState) -> Operation:
        """Make the operation."""
        if self._infer is not None:
            self._infer_all(state)
            self._infer(state)
        operands, sizes = self._resolved(parser, state)
        return self._kind(
            operands,
            self._result_types(state),
            self._all_attributes(state.attributes) if self._attributes else state.attributes,
            self._all_regions(state) if self._regions else (),
            state.location,
            (),
            tuple(sizes) if self._segments else None,
        )

    def _all_regions(self, state: ParseState) -> list[Region]:
        return [state.regions.get(name) or Region() for name in self._regions]

    def _infer_all(self, state: ParseState) -> None:
        """Fill in what the operation's own inference may want to know."""
        for field in self._operands:
            if field.name not in state.operand_types and (type := field.infer(state)) is not None:
                state.operand_types[field.name] = [type] * len(state.operands.get(field.name, ()))
        for field in self._results:
            if field.name not in state.result_types and field.is_one:
                type = field.infer(state)
                if type is not None:
                    state.result_types[field.name] = [type]

    def _resolved(self, parser: Parser, state: ParseState) -> tuple[list[Value], list[int]]:
        """The operands, and how many each field has."""
        values: list[Value] = []
        sizes: list[int] = []
        given, known = state.operands, state.operand_types
        tokens, named = parser.tokens, parser.names.values
        for field in self._operands:
            references = given.get(field.name, ())
            types = known.get(field.name)
            if types is None:
                inferred = field.infer(state)
                types = () if inferred is None else (inferred,) * len(references)
            if len(references) != len(types):
                what = f"{len(references)} types for '{field.name}', got {len(types)}"
                fail(f"'{self._kind.name}' op expected {what}", state.location)
            for at, type in zip(references, types, strict=True):
                value = named.get(tokens[at])
                if value is None or value.type is not type:
                    value = parser.resolve(at, type)
                values.append(value)
            sizes.append(len(references))
        return values, sizes

    def _result_types(self, state: ParseState) -> list[Type]:
        types: list[Type] = []
        for field in self._results:
            given = state.result_types.get(field.name)
            if given is not None:
                types += given
            elif field.is_one:
                inferred = field.infer(state)
                if inferred is None:
                    gist = f"cannot infer the type of result '{field.name}'"
                    fail(f"'{self._kind.name}' op {gist}", state.location)
                types.append(inferred)
        return types

    def _all_attributes(self, given: dict[str, Attribute]) -> dict[str, Attribute]:
        """The declared attributes in order, defaults included, and then all others."""
        attributes: dict[str, Attribute] = {}
        for field in self._attributes:
            spelling = field.spelling
            stored = given.pop(spelling, None)
            if stored is None and field.name != spelling:
                stored = given.pop(field.name, None)
            if stored is None:
                stored = field.default
            elif field.coerce is not None:
                stored = field.coerce(stored)
            if stored is not None:
                attributes[spelling] = stored
        if given:
            attributes.update(given)
        return attributes


class _DeclaredAttribute:
    """What is known beforehand of an attribute."""

    __slots__ = ("coerce", "default", "name", "spelling")

    def __init__(self, field: AttributeField[Any]) -> None:
        self.name = field.name
        self.spelling = field.spelling
        has_default = not field.optional and field.default is not None
        self.default: Attribute | None = field.kind.wrap(field.default) if has_default else None
        """What the attribute is where the text does not spell it."""
        kind: AttributeKind[Any] = field.kind
        self.coerce = kind.coerce if isinstance(kind, EnumKind) else None
        """Other kinds store what they are given."""
