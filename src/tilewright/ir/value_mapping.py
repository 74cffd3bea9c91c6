"""The value mapping of a conversion, with casts between types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block, Operation
from tilewright.ir.values import Value
from tilewright.support.diagnostics import InternalError

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.type_converter import TypeConverter, Types

OpT = TypeVar("OpT", bound=Operation)

Bound: TypeAlias = Value | tuple[Value, ...]
"""The replacement of a value: one value, or any number of them."""


class Rejected(Exception):
    """A pattern cannot apply, for the reason given."""


class ValueMapping:
    """Maps values of the old program to values of the new one, converting types on demand."""

    __slots__ = ("_answers", "_builder", "_root", "bound", "types")

    def __init__(
        self,
        root: Operation,
        types: TypeConverter,
        made: list[Operation | Block],
    ) -> None:
        self.types = types
        self._root = root
        self.bound: dict[Value, Bound] = {}
        self._builder = _CastBuilder(made)
        self._answers: dict[tuple[object, ...], tuple[Value, ...]] = {}

    def bind(self, old: Value, *new: Value) -> None:
        """Map a value to its replacements."""
        self.bound[old] = new[0] if len(new) == 1 else new

    def old(self, value: Value) -> Bound:
        """The replacement of a value of the old program; itself if defined outside."""
        bound = self.bound.get(value)
        if bound is not None:
            return bound
        block = value.parent_block
        owner = None if block is None else block.parent_op
        if owner is not None and self._root.is_ancestor_of(owner):
            raise InternalError("a value is used before its definition", value.location)
        return value

    def new(self, value: Value) -> Bound:
        """The replacement of a value of the new program, which may have been converted again."""
        return self.bound.get(value, value)

    def adapted(self, values: Sequence[Value], new: bool, builder: Builder) -> list[Bound]:
        """The replacements of the operands of an operation of the new or the old program."""
        mapped, only = self.bound, self.types.only
        bounds: list[Bound] = []
        for value in values:
            bound = mapped.get(value)
            if bound is None:
                bound = value if new else self.old(value)
            # The common case by itself, since conversions spend much of their time here.
            if isinstance(bound, tuple) or bound.type is not only.get(value.type):
                bound = self.converted(value, bound, builder)
            bounds.append(bound)
        return bounds

    def renew(self, value: Value) -> None:
        """Update the replacement of a value after it was converted again."""
        bound = self.bound[value]
        parts = [self.new(part) for part in (bound if isinstance(bound, tuple) else (bound,))]
        self.bind(value, *flatten(parts))

    def converted(self, value: Value, bound: Bound, builder: Builder) -> Bound:
        """`bound`, the replacement of `value`, in its converted types."""
        types = self.types.convert_value(value)
        if types is None:
            raise Rejected(f"cannot convert type '{value.type}'")
        if not isinstance(bound, tuple):
            if len(types) == 1 and types[0] is bound.type:
                return bound
            bound = (bound,)
        elif tuple([part.type for part in bound]) == types:
            return bound
        return self._bridge(types, bound, self.types.to_target, builder)

    def original(self, value: Value, bound: Bound, builder: Builder) -> Value:
        """`bound`, the replacement of `value`, as one value of the original type."""
        if not isinstance(bound, tuple):
            if bound.type is value.type:
                return bound
            bound = (bound,)
        made = self._bridge((value.type,), bound, self.types.to_source, builder)
        assert isinstance(made, Value)
        return made

    def _bridge(
        self,
        types: Types,
        values: tuple[Value, ...],
        materialize: Callable[[Builder, Types, tuple[Value, ...]], tuple[Value, ...] | None],
        builder: Builder,
    ) -> Bound:
        """Values of other types, by a materialisation."""
        point = builder.point
        key = (point.block, types, values)
        # In the middle of a block an earlier answer may stand too far down.
        made = self._answers.get(key) if point.anchor is None else None
        if made is None:
            build = self._builder
            build.point, build.location = point, builder.location
            made = materialize(build, types, values)
            if made is None or tuple([value.type for value in made]) != types:
                given = _listed([value.type for value in values])
                raise Rejected(f"no materialisation from {given} to {_listed(types)}")
            if point.anchor is None:
                self._answers[key] = made
        return made[0] if len(made) == 1 else made

    def forget_casts(self) -> None:
        """Forget cached casts, since some may have been rolled back."""
        self._answers.clear()

    def drop_unused_casts(self) -> None:
        """Erase casts whose users were converted in the end."""
        for op in reversed(self._builder.casts):
            if op.parent is not None and not any(result.users for result in op.results):
                op.erase()


class _CastBuilder(Builder):
    """Builder of materializations: casts between types, which are exempt from legality."""

    __slots__ = ("_made", "casts")

    def __init__(self, made: list[Operation | Block]) -> None:
        super().__init__(InsertPoint(Block()))
        self._made = made
        self.casts: list[Operation] = []

    def insert(self, op: OpT) -> OpT:
        super().insert(op)
        self.casts.append(op)
        self._made.append(op)
        return op


def flatten(bounds: Sequence[Bound]) -> list[Value]:
    """All values, one after the other."""
    flat: list[Value] = []
    for bound in bounds:
        flat += bound if isinstance(bound, tuple) else (bound,)
    return flat


def _listed(types: Sequence[Type]) -> str:
    return f"({', '.join(map(str, types))})" if len(types) != 1 else f"'{types[0]}'"
