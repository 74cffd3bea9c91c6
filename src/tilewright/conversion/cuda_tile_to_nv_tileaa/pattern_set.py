"""Patterns as they are collected: written ones, and declared ones that are yet to be compiled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tilewright.conversion.cuda_tile_to_nv_tileaa.attributes import NO_NAMES, convert_attribute
from tilewright.ir.conversion_builder import ConversionPattern

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute
    from tilewright.ir.conversion import Patterns
    from tilewright.ir.conversion_builder import ConversionBuilder, Result
    from tilewright.ir.operation import Operation


class Renaming:
    """Declares that operations of one class become those of another, operand by operand.

    `names` has the attributes that are called otherwise.
    """

    __slots__ = ("names", "new", "old")

    def __init__(
        self,
        old: type[Operation],
        new: type[Operation],
        names: Mapping[str, str] = NO_NAMES,
    ) -> None:
        self.old = old
        self.new = new
        self.names = names

    @property
    def roots(self) -> tuple[type[Operation], ...]:
        """The class that this is about."""
        return (self.old,)


class PatternSet:
    """An ordered collection of patterns."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: list[ConversionPattern | Renaming] = []

    def add(self, *entries: ConversionPattern | Renaming) -> None:
        """Put patterns behind those that are there."""
        self._entries += entries

    def rename(self, pairs: Mapping[type[Operation], type[Operation]]) -> None:
        """Declare several operations that become others with attributes of the same names."""
        self.add(*[Renaming(old, new) for old, new in pairs.items()])

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[ConversionPattern | Renaming]:
        return iter(self._entries)

    def roots(self) -> list[type[Operation]]:
        """The classes of operations that the patterns take, in order."""
        return [root for entry in self._entries for root in entry.roots]

    def compiled(self) -> Patterns:
        """All patterns, the declared ones compiled."""
        return tuple([_compiled(entry) for entry in self._entries])


def _compiled(entry: ConversionPattern | Renaming) -> ConversionPattern:
    if isinstance(entry, ConversionPattern):
        return entry
    kind, names = entry.new, entry.names
    defaults = default_attributes(kind)
    segmented = kind.schema.has_segments

    def apply(op: Operation, new: Operation, build: ConversionBuilder) -> Result:
        results = op.results
        if len(results) == 1:
            types = build.types.convert(results[0].type)
        else:
            types = build.types.convert_all([result.type for result in results])
        if types is None:
            return build.reject("expected result types that can be converted")
        attributes = defaults.copy()
        for name, value in op.attributes.items():
            attributes[names.get(name, name)] = convert_attribute(name, value)
        segments = new.schema.group_sizes(new) if segmented else None
        made = kind(new.operands, types, attributes, (), op.location, (), segments)
        return build.insert(made)

    return ConversionPattern((entry.old,), apply, f"{entry.old.name} to {kind.name}")


def default_attributes(kind: type[Operation]) -> dict[str, Attribute]:
    """The attributes that every operation of a class has, unless it says otherwise."""
    return {
        field.spelling: field.kind.wrap(field.default)
        for field in kind.schema.attributes
        if not field.optional and field.default is not None
    }
