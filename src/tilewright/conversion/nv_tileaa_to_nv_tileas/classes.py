"""Values that share a layout: what element-wise operations and control flow connect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.nv_tileaa import matrix, memory, misc, shape
from tilewright.dialects.nv_tileaa.constraints import ELEMENTWISE
from tilewright.dialects.scf import ConditionOp, ForOp, IfOp, WhileOp, YieldOp
from tilewright.ir.types import TensorType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

SOURCES: Final = (ConstantOp, shape.SplatOp, shape.MakeRangeOp)
"""What costs nothing in any layout."""
REARRANGEMENTS: Final = (shape.ViewOp, shape.ExpandDimsOp, shape.BroadcastOp, shape.PermuteOp)
_UNIFORM: Final = (memory.AddPtrOp, misc.AssumeOp)
"""What has one layout for all its tiles, besides the element-wise operations."""
_STANDARD: Final = frozenset(("arith", "math"))


def is_tile(value: Value) -> bool:
    """Whether a value is spread over threads."""
    return isinstance(value.type, TensorType)


def is_elementwise(op: Operation) -> bool:
    """Whether all tiles of an operation have one layout, whichever it is."""
    if op.dialect in _STANDARD:
        return True
    return ELEMENTWISE in op.traits or isinstance(op, _UNIFORM)


class Classes:
    """The classes of the tiles of a function: each has one layout.

    Tiles that can be made again in any layout belong to no class.
    """

    __slots__ = ("_flexible", "_parent", "members")

    def __init__(self, function: Operation) -> None:
        self._parent: dict[Value, Value] = {}
        self._flexible: dict[Value, bool] = {}
        for op in function.walk():
            for group in _groups(op):
                self._join(group)
        self.members: dict[Value, list[Value]] = {}
        """The tiles of each class, by the one that stands for it."""
        for value in self._parent:
            self.members.setdefault(self.of(value), []).append(value)

    def of(self, value: Value) -> Value:
        """The tile that stands for the class of a tile."""
        parent = self._parent
        while parent[value] is not value:
            parent[value] = value = parent[parent[value]]
        return value

    def is_flexible(self, value: Value) -> bool:
        """Whether a tile is made again wherever and however it is needed.

        Sources are, and what element-wise operations and other shapes make of them alone.
        """
        known = self._flexible.get(value)
        if known is None:
            known = self._flexible[value] = self._found_flexible(value)
        return known

    def _found_flexible(self, value: Value) -> bool:
        op = value.defining_op()
        if op is None or op.regions:
            return False
        if isinstance(op, SOURCES):
            return True
        if not (is_elementwise(op) or isinstance(op, REARRANGEMENTS)):
            return False
        return all(self.is_flexible(each) for each in op.operands if is_tile(each))

    def _join(self, values: Iterable[Value]) -> None:
        first: Value | None = None
        for value in values:
            if not is_tile(value) or self.is_flexible(value):
                continue
            self._parent.setdefault(value, value)
            if first is None:
                first = value
            else:
                self._parent[self.of(value)] = self.of(first)


def _groups(op: Operation) -> Iterator[Iterable[Value]]:
    """The values of an operation that share a layout, group by group; every result is in one."""
    match op:
        case ForOp():
            end = op.body.block.terminator
            assert end is not None
            yield from zip(op.init_args, op.carried, end.operands, op.results, strict=True)
        case WhileOp():
            asked, again = op.before.block.terminator, op.after.block.terminator
            assert isinstance(asked, ConditionOp)
            assert isinstance(again, YieldOp)
            yield from zip(op.init_args, op.before.block.args, again.values, strict=True)
            yield from zip(asked.values, op.after.block.args, op.results, strict=True)
        case IfOp():
            yield from _branches(op)
        case matrix.DotOp():
            yield (op.c, op.result)
        case _ if is_elementwise(op):
            yield (*op.operands, *op.results)
        case _:
            yield from ((result,) for result in op.results)


def _branches(op: IfOp) -> Iterator[Iterable[Value]]:
    ends = [region.block.terminator for region in op.regions if region.blocks]
    for number, result in enumerate(op.results):
        yield (result, *(end.operands[number] for end in ends if end is not None))
