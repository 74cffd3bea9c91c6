"""Values that a body yields at its single exit, for each of its former exits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.control_flow import (
    BreakOp,
    ContinueOp,
    ForOp,
    IfOp,
    LoopOp,
    RegionTerminatorOp,
    ReturnOp,
    YieldOp,
)
from tilewright.dialects.cuda_tile.conversion import IntToPtrOp, TruncIOp
from tilewright.dialects.cuda_tile.core import ConstantOp
from tilewright.dialects.cuda_tile.memory import MakeTokenOp
from tilewright.dialects.cuda_tile.simplify.constants import splat
from tilewright.dialects.cuda_tile.types import PtrType, TileType, TokenType
from tilewright.ir.types import I1, I4, I8, I64

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

FLAG: Final = TileType((), I1)


def flag(value: bool, build: Builder) -> Value:
    """A constant condition."""
    return build.create(ConstantOp, value=splat(value, FLAG), types=[FLAG]).result


def unused(type: Type, build: Builder) -> Value:
    """A value that is never read."""
    if isinstance(type, TokenType):
        return build.create(MakeTokenOp).results[0]
    assert isinstance(type, TileType)
    if isinstance(type.element, PtrType):
        address = unused(TileType(type.shape, I64), build)
        return build.create(IntToPtrOp, source=address, types=[type]).result
    if type.element is I4:
        byte = unused(TileType(type.shape, I8), build)
        return build.create(TruncIOp, source=byte, types=[type]).result
    return build.create(ConstantOp, value=splat(0, type), types=[type]).result


class Frame:
    """The body of an entry, which passes nothing on."""

    types: Sequence[Type] = ()
    """The types of what the body passes on."""
    there: Sequence[Value] = ()
    """Values that exist in all of the body."""

    def passed(self, last: RegionTerminatorOp, build: Builder) -> list[Value]:
        """The values that the body yields when it exits by `last`."""
        return []

    def unused(self, types: Sequence[Type], build: Builder) -> list[Value]:
        """Values that are never read: existing ones of those types, or new ones."""
        return [self._unused(type, build) for type in types]

    def _unused(self, type: Type, build: Builder) -> Value:
        there = (value for value in self.there if value.type is type)
        return next(there, None) or unused(type, build)


class IterationFrame(Frame):
    """A body that is left by `continue` alone."""

    def __init__(self, loop: ForOp | LoopOp) -> None:
        self.types = [value.type for value in loop.init_values]
        self.there = loop.carried

    def passed(self, last: RegionTerminatorOp, build: Builder) -> list[Value]:
        return list(last.operands)


class LoopFrame(Frame):
    """The body of a loop: whether to stop, the results, whether to return, what to go on with."""

    def __init__(self, loop: LoopOp, jumps: Sequence[RegionTerminatorOp]) -> None:
        self.loop = loop
        self.there = loop.carried
        self.jumps = jumps
        self.breaks = any(isinstance(jump, BreakOp) for jump in jumps)
        self.returns = [jump for jump in jumps if isinstance(jump, ReturnOp)]
        # Nothing runs after a loop that only returns, so its results are never read.
        is_left = self.breaks or not self.returns
        self.own = [result.type for result in loop.results] if is_left else []
        self.has_return_flag = self.breaks and bool(self.returns)
        """Whether a last result is the flag that the kernel returned."""
        self.result_types = [*self.own, FLAG] if self.has_return_flag else self.own
        self.types = [FLAG, *self.result_types, *[value.type for value in loop.init_values]]

    def divided(self, values: list[Value]) -> tuple[list[Value], list[Value]]:
        """The results, and the initial values of the next iteration."""
        middle = len(self.result_types)
        return values[:middle], values[middle:]

    def left(self, last: RegionTerminatorOp, build: Builder) -> list[Value]:
        """The results when the loop exits by `last`."""
        returned = [flag(isinstance(last, ReturnOp), build)] if self.has_return_flag else []
        if isinstance(last, BreakOp):
            return [*last.operands, *returned]
        return [*self.unused(self.own, build), *returned]

    def passed(self, last: RegionTerminatorOp, build: Builder) -> list[Value]:
        if isinstance(last, ContinueOp):
            blank = self.unused(self.result_types, build)
            return [flag(False, build), *blank, *last.operands]
        return [flag(True, build), *self.left(last, build), *self.there]


class BranchFrame(Frame):
    """Branches that may go on or leave: whether they left, what they pass on then, the results."""

    def __init__(self, outer: Frame, op: IfOp) -> None:
        self.outer = outer
        self.there = outer.there
        self.own = [result.type for result in op.results]
        self.types = [FLAG, *outer.types, *self.own]

    def passed(self, last: RegionTerminatorOp, build: Builder) -> list[Value]:
        if isinstance(last, YieldOp):
            return [flag(False, build), *self.unused(self.outer.types, build), *last.operands]
        own = self.unused(self.own, build)
        return [flag(True, build), *self.outer.passed(last, build), *own]

    def results_of(self, op: Operation) -> Sequence[Value]:
        """The results that the `if` had before."""
        return op.results[len(op.results) - len(self.own) :]

    def outer_of(self, op: Operation) -> Sequence[Value]:
        """The yielded values if it exited."""
        return op.results[1 : 1 + len(self.outer.types)]
