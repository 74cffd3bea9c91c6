"""Collections of patterns: functions, and declared renamings that are compiled to patterns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from tilewright.conversion.cuda_tile_to_nv_tileaa.attributes import NO_NAMES, convert_attribute
from tilewright.ir.conversion import transfer_pattern
from tilewright.ir.conversion_pattern import ConversionPattern

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.ir.conversion import Patterns
    from tilewright.ir.operation import Operation
    from tilewright.ir.type_converter import TypeConverter
    from tilewright.ir.values import Value


class Renaming:
    """A one-to-one lowering from one operation class to another with the same operands.

    `names` maps the attributes with different names.
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
        """The source operation class."""
        return (self.old,)


class PatternSet:
    """An ordered collection of patterns."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: list[ConversionPattern | Renaming] = []

    def add(self, *entries: ConversionPattern | Renaming) -> None:
        """Append patterns."""
        self._entries += entries

    def rename(self, pairs: Mapping[type[Operation], type[Operation]]) -> None:
        """Append renamings of operations whose attribute names are the same."""
        self.add(*[Renaming(old, new) for old, new in pairs.items()])

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[ConversionPattern | Renaming]:
        return iter(self._entries)

    def roots(self) -> list[type[Operation]]:
        """Return the source operation classes of the patterns, in order."""
        return [root for entry in self._entries for root in entry.roots]

    def compiled(self) -> Patterns:
        """Return all patterns; compiled renamings come last, as a fallback."""
        written = [entry for entry in self._entries if isinstance(entry, ConversionPattern)]
        declared = [_compiled(entry) for entry in self._entries if isinstance(entry, Renaming)]
        return (*written, *declared)


def _compiled(entry: Renaming) -> ConversionPattern:
    kind, names = entry.new, entry.names
    defaults = default_attributes(kind)
    segmented = kind.schema.has_segments

    def make(op: Operation, operands: Sequence[Value], types: TypeConverter) -> Operation | None:
        results = result_types(op, types)
        if results is None:
            return None
        attributes = defaults.copy()
        for name, value in op.attributes.items():
            attributes[names.get(name, name)] = convert_attribute(name, value)
        segments = op.schema.group_sizes(op) if segmented else None
        return kind(operands, results, attributes, (), op.location, (), segments)

    return transfer_pattern((entry.old,), make, f"{entry.old.name} to {kind.name}")


def result_types(op: Operation, types: TypeConverter) -> Sequence[Type] | None:
    """Return the converted result types, or `None` if one cannot be converted."""
    results = op.results
    if len(results) == 1:
        return types.convert(results[0].type)
    return types.convert_all([result.type for result in results])


@cache
def default_attributes(kind: type[Operation]) -> dict[str, Attribute]:
    """Return the default attributes of an operation class; callers must copy the dictionary."""
    return {
        field.spelling: field.kind.wrap(field.default)
        for field in kind.schema.attributes
        if not field.optional and field.default is not None
    }
