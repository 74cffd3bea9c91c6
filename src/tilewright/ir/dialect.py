"""Dialects, and the context that finds them by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from tilewright.ir.attributes import Attribute, EnumAttr, Parametric, Type
from tilewright.ir.operation import Operation

if TYPE_CHECKING:
    from tilewright.ir.builder import Builder
    from tilewright.ir.rules import Folds, Materialize, Rules
    from tilewright.support.diagnostics import Diagnostic

AttributeCheck: TypeAlias = Callable[[Operation], Iterable["str | Diagnostic"]]


class Dialect:
    """A namespace of operations, types and attributes, found by their names.

    An operation never names what simplifies it. The dialect names the module that does,
    `simplifier`, which is imported on first use and defines what it has of `RULES`, `FOLDS` and
    `materialize`; `ir.rules` says what these are.
    """

    __slots__ = (
        "_alias",
        "_simplifier",
        "attributes",
        "name",
        "ops",
        "type_spellings",
        "types",
    )

    loaded: ClassVar[dict[str, Dialect]] = {}
    """All dialects created so far, to look up the dialect of an attribute."""
    attribute_checks: ClassVar[dict[str, AttributeCheck]] = {}
    """The discardable attributes that the verifier checks on the operations that have them."""

    def __init__(
        self,
        name: str,
        *modules: ModuleType,
        alias: Callable[[Attribute], str | None] | None = None,
        spellings: Mapping[str, type[Operation]] | None = None,
        type_spellings: Mapping[str, type[Type]] | None = None,
        simplifier: str | None = None,
        attribute_checks: Mapping[str, AttributeCheck] | None = None,
    ) -> None:
        """Collect whatever the modules define.

        `spellings` are other names of operations, `type_spellings` other words for types where
        the prefix of the dialect may be left out. `attribute_checks` verify discardable attributes
        of the dialect, by name.
        """
        self.name = name
        self.loaded[name] = self
        self.ops: dict[str, type[Operation]] = {}
        self.types: dict[str, type[Type]] = {}
        self.type_spellings = type_spellings or {}
        self.attributes: dict[str, type[Parametric] | type[EnumAttr]] = {}
        self._alias = alias
        self._simplifier: str | ModuleType | None = simplifier
        for module in modules:
            self._collect(vars(module).values())
        self.ops.update(spellings or {})
        self.attribute_checks.update(attribute_checks or {})

    @staticmethod
    def of(kind: type[Operation]) -> Dialect | None:
        """The dialect of an operation class."""
        return Dialect.beside(kind, kind.name)

    @staticmethod
    def beside(kind: type, mnemonic: str) -> Dialect | None:
        """The dialect of a class by its full name; the module `dialect` beside it has it.

        A pass that only makes operations need not have imported it.
        """
        name = mnemonic.partition(".")[0]
        if name not in Dialect.loaded:
            package = kind.__module__.rpartition(".")[0]
            if package and find_spec(f"{package}.dialect") is not None:
                import_module(f"{package}.dialect")
        return Dialect.loaded.get(name)

    def _collect(self, members: Iterable[object]) -> None:
        prefix = f"{self.name}."
        for member in members:
            if not isinstance(member, type):
                continue
            if issubclass(member, Operation):
                if member.name.startswith(prefix):
                    self.ops[member.name] = member
            elif issubclass(member, Attribute) and member.mnemonic.startswith(prefix):
                self._collect_attribute(member)

    def _collect_attribute(self, member: type[Attribute]) -> None:
        if issubclass(member, Type):
            self.types[member.mnemonic] = member
        elif issubclass(member, Parametric | EnumAttr):
            self.attributes[member.mnemonic] = member

    def alias(self, attribute: Attribute) -> str | None:
        """The alias under which the printer should introduce an attribute, if it should."""
        return self._alias(attribute) if self._alias is not None else None

    def _simplification(self, what: str) -> Any:
        if isinstance(self._simplifier, str):
            self._simplifier = import_module(self._simplifier)
        return getattr(self._simplifier, what, None)

    @property
    def rules(self) -> Rules:
        """The canonicalization patterns of this dialect."""
        return self._simplification("RULES") or ()

    @property
    def folds(self) -> Folds:
        """The constant folders of the operations."""
        return self._simplification("FOLDS") or {}

    def materialize(self, value: Attribute, type: Type, build: Builder) -> Operation | None:
        """Materialize a constant, if the dialect has a constant operation for this type."""
        create: Materialize | None = self._simplification("materialize")
        return None if create is None else create(value, type, build)


class Context:
    """Looks dialects up by name and imports them on first use."""

    __slots__ = ("_dialects", "_registry", "allow_unregistered", "op_readers", "types_by_text")

    def __init__(self, registry: Mapping[str, str], allow_unregistered: bool = False) -> None:
        """`registry` maps the name of a dialect to "module:OBJECT"."""
        self._registry = registry
        self._dialects: dict[str, Dialect] = {}
        self.allow_unregistered = allow_unregistered
        self.types_by_text: dict[tuple[str | None, str], Type] = {}
        """Parsed types, by the dialect that needed no prefix and the text."""
        self.op_readers: dict[tuple[str, ...], dict[str, Any]] = {}
        """Operation parsers, by the dialects that need no prefix and the name in the text."""

    def dialect(self, name: str) -> Dialect | None:
        """The dialect of this name, or `None`."""
        dialect = self._dialects.get(name)
        if dialect is None and (entry := self._registry.get(name)) is not None:
            module, _, attribute = entry.partition(":")
            dialect = self._dialects[name] = getattr(import_module(module), attribute)
        return dialect

    def op(self, name: str) -> type[Operation] | None:
        """The operation class of a full name, or `None`."""
        dialect = self.dialect(name.partition(".")[0])
        return dialect.ops.get(name) if dialect is not None else None
