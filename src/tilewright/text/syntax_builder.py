"""Build operations from the parse state of their custom form."""

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
    """The declaration of an operand or a result: arity, unique type, fields of the same type."""

    __slots__ = ("is_one", "name", "only", "partners")

    def __init__(
        self, field: OperandField[Any] | ResultField[Any], same: list[tuple[str, ...]]
    ) -> None:
        self.name = field.name
        self.is_one = field.arity is Arity.ONE
        self.only = field.constraint.only
        groups = [names for names in same if field.name in names]
        self.partners = [name for names in groups for name in names if name != field.name]
        """The fields that have the same type by a `SameType` trait."""

    def infer(self, state: ParseState) -> Type | None:
        """Infer the type from the constraint or from a field of the same type, or return `None`."""
        if self.only is not None:
            return self.only
        for name in self.partners:
            types = state.operand_types.get(name) or state.result_types.get(name)
            if types:
                return types[0]
        return None


class OpBuilder:
    """Builds operations of one class: infers types, resolves operands, adds default attributes."""

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
        """Build the operation."""
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
        """Infer the types that the `infer_types` of the operation may depend on."""
        for field in self._operands:
            if field.name not in state.operand_types and (type := field.infer(state)) is not None:
                state.operand_types[field.name] = [type] * len(state.operands.get(field.name, ()))
        for field in self._results:
            if field.name not in state.result_types and field.is_one:
                type = field.infer(state)
                if type is not None:
                    state.result_types[field.name] = [type]

    def _resolved(self, parser: Parser, state: ParseState) -> tuple[list[Value], list[int]]:
        """Resolve the operands; return them, and the number of operands of each field."""
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
        """Return the declared attributes in order, with defaults, then the discardable ones."""
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
    """The declaration of an attribute: names, default value, coercion."""

    __slots__ = ("coerce", "default", "name", "spelling")

    def __init__(self, field: AttributeField[Any]) -> None:
        self.name = field.name
        self.spelling = field.spelling
        has_default = not field.optional and field.default is not None
        self.default: Attribute | None = field.kind.wrap(field.default) if has_default else None
        """The value if the text does not spell the attribute."""
        kind: AttributeKind[Any] = field.kind
        self.coerce = kind.coerce if isinstance(kind, EnumKind) else None
        """The conversion of the parsed attribute, for enumerations only."""
