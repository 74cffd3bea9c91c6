"""Adaptors: read-only views of an operation with its converted operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn, TypeVar, cast

from tilewright.ir.declare import Arity
from tilewright.ir.operation import Block, Operation, UnregisteredOp
from tilewright.ir.value_mapping import flatten
from tilewright.ir.values import Value
from tilewright.support.diagnostics import InternalError

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.value_mapping import Bound

OpT = TypeVar("OpT", bound=Operation)


class Pack(Value):
    """Stands where one value is expected for one that was converted to several, or to none.

    It cannot be used as an operand; `ConversionBuilder.values` gives what it stands for.
    """

    __slots__ = ("values",)

    def __init__(self, type: Type, values: tuple[Value, ...]) -> None:
        self.type = type
        self.index = 0
        self.values = values

    @property
    def users(self) -> NoReturn:  # pyrefly: ignore[bad-override]
        """Reject: a pack is never an operand of an operation."""
        count = len(self.values)
        raise InternalError(f"a '{self.type}' that was converted to {count} values is used as one")


def adapted(op: OpT, bounds: Sequence[Bound], successors: tuple[Block, ...]) -> OpT:
    """A view of `op`. It belongs to no block, uses nothing, and may only be read.

    Several values for one operand join its group if the group may have any size; elsewhere a
    `Pack` stands for them.
    """
    view: OpT = object.__new__(type(op))
    operands, segments = bounds, op.segments
    if tuple in map(type, bounds):
        operands, segments = _spread(op, bounds)
    view.operands = cast("tuple[Value, ...]", tuple(operands))
    view.segments = segments
    view.successors = successors
    view.results = op.results
    view.attributes = op.attributes
    view.regions = op.regions
    view.location = op.location
    view.parent = view.prev = view.next = None
    if isinstance(op, UnregisteredOp):
        cast("UnregisteredOp", view).op_name = op.op_name
    return view


def _spread(op: Operation, bounds: Sequence[Bound]) -> tuple[list[Value], tuple[int, ...]]:
    operands: list[Value] = []
    segments: list[int] = []
    schema, start = op.schema, 0
    for field, size in zip(schema.operands, schema.group_sizes(op), strict=True):
        group = bounds[start : start + size]
        if field.arity is not Arity.VARIADIC:
            old = op.operands[start : start + size]
            group = [_packed(value, bound) for value, bound in zip(old, group, strict=True)]
        operands += flatten(group)
        segments.append(len(operands) - sum(segments))
        start += size
    return operands + flatten(bounds[start:]), tuple(segments)


def _packed(old: Value, bound: Bound) -> Value:
    return Pack(old.type, bound) if isinstance(bound, tuple) else bound
