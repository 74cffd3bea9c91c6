"""Dialects, and the context that finds them by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from types import ModuleType

from tilewright.ir.attributes import Attribute, EnumAttr, Parametric, Type
from tilewright.ir.operation import Operation


class Dialect:
    """A namespace of operations, types and attributes, found by their names."""

    __slots__ = ("_alias", "attributes", "name", "ops", "types")

    def __init__(
        self,
        name: str,
        *modules: ModuleType,
        alias: Callable[[Attribute], str | None] | None = None,
        spellings: Mapping[str, type[Operation]] | None = None,
    ) -> None:
        """Collect whatever the modules define; `spellings` are other names of operations."""
        self.name = name
        self.ops: dict[str, type[Operation]] = {}
        self.types: dict[str, type[Type]] = {}
        self.attributes: dict[str, type[Parametric] | type[EnumAttr]] = {}
        self._alias = alias
        for module in modules:
            self._collect(vars(module).values())
        self.ops.update(spellings or {})

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


class Context:
    """Finds dialects by name, importing them when they are first asked for."""

    __slots__ = ("_found", "_places", "allow_unregistered")

    def __init__(self, places: Mapping[str, str], allow_unregistered: bool = False) -> None:
        """`places` maps a dialect's name to "module:OBJECT"."""
        self._places = places
        self._found: dict[str, Dialect] = {}
        self.allow_unregistered = allow_unregistered

    def dialect(self, name: str) -> Dialect | None:
        """The dialect of this name, or nothing."""
        found = self._found.get(name)
        if found is None and (place := self._places.get(name)) is not None:
            module, _, attribute = place.partition(":")
            found = self._found[name] = getattr(import_module(module), attribute)
        return found

    def op(self, name: str) -> type[Operation] | None:
        """The operation class of a full name, or nothing."""
        dialect = self.dialect(name.partition(".")[0])
        return dialect.ops.get(name) if dialect is not None else None
