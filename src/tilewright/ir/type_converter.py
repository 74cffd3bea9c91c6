"""Type converters: converted types, and materializations between types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from tilewright.ir.attributes import Type
from tilewright.ir.operation import Operation
from tilewright.ir.values import BlockArgument, Value

if TYPE_CHECKING:
    from tilewright.ir.builder import Builder

TypeT = TypeVar("TypeT", bound=Type)

Converted: TypeAlias = "Type | Sequence[Type] | None"
"""The converted type, or several types (or none) for one; `None`: not handled here."""

Types: TypeAlias = tuple[Type, ...]
Materialize: TypeAlias = (
    "Callable[[Builder, Types, tuple[Value, ...]], Operation | Value | Sequence[Value] | None]"
)
"""Materializes values of the given types at the insertion point; `None`: not handled here."""


class TypeConverter:
    """Converts types by callbacks, the latest that answers first; answers are remembered.

    A type that no callback handles cannot be converted. Materialisations bridge the gap where an
    operation that stays wants a type that another one no longer makes, and the other way round:

    - `source`: from converted values back to one of the original type;
    - `argument`: the same for the arguments of a converted block; `source` is asked next;
    - `target`: from a value of an original type to the converted ones.

    Where the type of the new value depends on more than the type of the old one, such as the layout
    of a tile, a callback that takes the value itself answers; see `add_for_values`.
    """

    __slots__ = (
        "_argument",
        "_callbacks",
        "_memo",
        "_source",
        "_target",
        "_value_callbacks",
        "_value_memo",
        "only",
    )

    def __init__(self) -> None:
        self._callbacks: list[tuple[type[Type], Callable[[Any], Converted]]] = []
        self._memo: dict[Type, Types | None] = {}
        self.only: dict[Type, Type] = {}
        """The single converted type of a type, if it is cached."""
        self._value_callbacks: list[tuple[type[Type], Callable[[Value], Converted]]] = []
        self._value_memo: dict[Value, Types | None] = {}
        self._source: list[Materialize] = []
        self._target: list[Materialize] = []
        self._argument: list[Materialize] = []

    def add(self, kind: type[TypeT], convert: Callable[[TypeT], Converted]) -> None:
        """Let `convert` answer for types of a class, before all that were added earlier."""
        self._callbacks.append((kind, convert))
        self._memo.clear()
        self.only.clear()

    def add_for_values(self, kind: type[Type], convert: Callable[[Value], Converted]) -> None:
        """Let `convert` answer for values whose types are of a class.

        Such a type cannot be converted on its own from here on, only by `convert_value`.
        """
        self._value_callbacks.append((kind, convert))
        self._memo.clear()
        self._value_memo.clear()
        self.only.clear()

    def keep(self, *kinds: type[Type]) -> None:
        """Leave types of these classes as they are."""
        for kind in kinds:
            self.add(kind, _itself)

    def add_source(self, materialize: Materialize) -> None:
        """Let `materialize` make values of an original type, before all added earlier."""
        self._source.append(materialize)

    def add_target(self, materialize: Materialize) -> None:
        """Let `materialize` make values of converted types, before all added earlier."""
        self._target.append(materialize)

    def add_argument(self, materialize: Materialize) -> None:
        """Let `materialize` make an original block argument, before all added earlier."""
        self._argument.append(materialize)

    def convert(self, type: Type) -> Types | None:
        """The converted types of a type, or `None` if it cannot be converted."""
        try:
            return self._memo[type]
        except KeyError:
            converted = self._memo[type] = self._ask(type)
            if converted is not None and len(converted) == 1:
                self.only[type] = converted[0]
            return converted

    def convert_value(self, value: Value) -> Types | None:
        """The converted types of a value, or `None` if it cannot be converted."""
        if not self._value_callbacks:
            return self.convert(value.type)
        try:
            return self._value_memo[value]
        except KeyError:
            converted = self._value_memo[value] = self._ask_for_value(value)
            return converted

    def _ask(self, type: Type) -> Types | None:
        if any(isinstance(type, kind) for kind, _ in self._value_callbacks):
            return None
        for kind, convert in reversed(self._callbacks):
            answer = convert(type) if isinstance(type, kind) else None
            if answer is not None:
                return _as_types(answer)
        return None

    def _ask_for_value(self, value: Value) -> Types | None:
        is_by_value = False
        for kind, convert in reversed(self._value_callbacks):
            if isinstance(value.type, kind):
                is_by_value = True
                answer = convert(value)
                if answer is not None:
                    return _as_types(answer)
        return None if is_by_value else self.convert(value.type)

    def convert_all(self, types: Sequence[Type]) -> list[Type] | None:
        """The converted types of several types, or `None` if one cannot be converted."""
        return _flattened([self.convert(type) for type in types])

    def convert_values(self, values: Sequence[Value]) -> list[Type] | None:
        """The converted types of several values, or `None` if one cannot be converted."""
        return _flattened([self.convert_value(value) for value in values])

    def grouped(
        self, old: Sequence[Value], new: Sequence[Value]
    ) -> Sequence[Value | Sequence[Value]]:
        """New values for each old one: in groups where types are converted to several."""
        sizes = [len(self.convert_value(value) or ()) for value in old]
        if sum(sizes) != len(new):
            return new
        rest = iter(new)
        return [[next(rest) for _ in range(size)] for size in sizes]

    def is_legal_type(self, type: Type) -> bool:
        """Whether a type is converted to itself."""
        return self.convert(type) == (type,)

    def is_legal(self, op: Operation) -> bool:
        """Whether all types of operands, results and block arguments are converted types."""
        values: list[Value] = [*op.operands, *op.results]
        if op.regions:
            blocks = [block for region in op.regions for block in region.blocks]
            values += [argument for block in blocks for argument in block.args]
        only = self.only
        for value in values:
            type = value.type
            # The common case by itself, since every new operation is asked about.
            if only.get(type) is not type and not self.is_legal_type(type):
                return False
        return True

    def to_source(
        self, build: Builder, types: Types, values: tuple[Value, ...]
    ) -> tuple[Value, ...] | None:
        """Materialize a value of an original type from converted ones, if possible."""
        callbacks = self._source
        if values and all(isinstance(value, BlockArgument) for value in values):
            callbacks = self._source + self._argument
        return _first_answer(callbacks, build, types, values)

    def to_target(
        self, build: Builder, types: Types, values: tuple[Value, ...]
    ) -> tuple[Value, ...] | None:
        """Materialize values of converted types from an original one, if possible."""
        return _first_answer(self._target, build, types, values)


def _as_types(answer: Type | Sequence[Type]) -> Types:
    return (answer,) if isinstance(answer, Type) else tuple(answer)


def _flattened(groups: Sequence[Types | None]) -> list[Type] | None:
    flat: list[Type] = []
    for group in groups:
        if group is None:
            return None
        flat += group
    return flat


def _itself(type: Type) -> Type:
    return type


def _first_answer(
    callbacks: list[Materialize], build: Builder, types: Types, values: tuple[Value, ...]
) -> tuple[Value, ...] | None:
    for materialize in reversed(callbacks):
        answer = materialize(build, types, values)
        if answer is not None:
            return _as_values(answer)
    return None


def _as_values(
    answer: Operation | Value | Sequence[Value] | None,
) -> tuple[Value, ...] | None:
    """The values that a materialization created, if any."""
    if isinstance(answer, Operation):
        return answer.results
    if isinstance(answer, Value):
        return (answer,)
    return None if answer is None else tuple(answer)


KEEP_ALL: Final = TypeConverter()
"""Converts every type to itself."""
KEEP_ALL.keep(Type)
