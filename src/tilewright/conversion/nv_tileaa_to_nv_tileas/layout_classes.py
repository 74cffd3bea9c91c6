"""Layout classes: tiles that share a layout, since element-wise ops or control flow connect them.

Rematerializable tiles belong to no class: they are recomputed in each layout that is required.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.elementwise import is_elementwise, is_tile
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.nv_tileaa import matrix, shape
from tilewright.dialects.scf import ConditionOp, ForOp, IfOp, WhileOp, YieldOp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

SOURCES: Final = (ConstantOp, shape.SplatOp, shape.MakeRangeOp)
"""Ops whose results are free to compute in any layout."""
REARRANGEMENTS: Final = (shape.ViewOp, shape.ExpandDimsOp, shape.BroadcastOp, shape.PermuteOp)


class LayoutClasses:
    """A union-find structure over the tiles of a function: each class gets one layout."""

    __slots__ = ("_parent", "_rematerializable")

    def __init__(self, function: Operation) -> None:
        self._parent: dict[Value, Value] = {}
        self._rematerializable: dict[Value, bool] = {}
        for op in function.walk():
            for group in _groups(op):
                self._join(group)

    def leaders(self) -> Iterator[Value]:
        """One tile of each class, which represents it."""
        return (value for value in self._parent if self._parent[value] is value)

    def of(self, value: Value) -> Value:
        """The leader of the class of a tile."""
        parent = self._parent
        while parent[value] is not value:
            parent[value] = value = parent[parent[value]]
        return value

    def is_rematerializable(self, value: Value) -> bool:
        """Whether a tile is recomputed in each layout that is required.

        Constants, splats and ranges are, and the results of element-wise and shape operations whose
        operands all are.
        """
        known = self._rematerializable.get(value)
        if known is None:
            known = self._rematerializable[value] = self._can_rematerialize(value)
        return known

    def _can_rematerialize(self, value: Value) -> bool:
        op = value.defining_op()
        if op is None or op.regions or len(op.results) != 1:
            return False
        if isinstance(op, SOURCES):
            return True
        if not (is_elementwise(op) or isinstance(op, REARRANGEMENTS)):
            return False
        return all(self.is_rematerializable(each) for each in op.operands if is_tile(each))

    def _join(self, values: Iterable[Value]) -> None:
        first: Value | None = None
        for value in values:
            if not is_tile(value) or self.is_rematerializable(value):
                continue
            self._parent.setdefault(value, value)
            if first is None:
                first = value
            else:
                self._parent[self.of(value)] = self.of(first)


def _groups(op: Operation) -> Iterator[Iterable[Value]]:
    """Groups of values of an operation that share a layout; every result is in one."""
    match op:
        case ForOp():
            end = op.body.block.terminator
            assert end is not None
            yield from zip(op.init_args, op.carried, end.operands, op.results, strict=True)
        case WhileOp():
            condition, end = op.before.block.terminator, op.after.block.terminator
            assert isinstance(condition, ConditionOp)
            assert isinstance(end, YieldOp)
            yield from zip(op.init_args, op.before.block.args, end.values, strict=True)
            yield from zip(condition.values, op.after.block.args, op.results, strict=True)
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
