"""What the producer of a pipeline computes: the control flow and scalars that its copies depend on.

The producer repeats the loops and branches around the pipelined loops, with the operations that
compute their bounds, their conditions and the indices of the copied tiles. Among these may be loads
of scalars, if no token orders them with other accesses. Everything else, above all the tiles, is
left to the consumers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileas.attributes import maybe_layout_of
from tilewright.dialects.scf import ForOp, IfOp
from tilewright.ir.effects import is_effect_free
from tilewright.ir.values import BlockArgument
from tilewright.transforms.nv_tileaa.address_ops import is_index_load

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.dialects.nv_tileas.memory import TiledLoadOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


class ProducerSlice:
    """The part of a function that the producer of pipelined loops executes."""

    __slots__ = ("_function", "_loops", "_pending", "enclosing", "problem", "values")

    def __init__(
        self,
        function: FuncOp,
        loops: Collection[ForOp],
        loads: Iterable[TiledLoadOp],
        views: Sequence[Value] = (),
    ) -> None:
        """The slice for some loads, with views that are created before the agents anyway.

        The loads are in the pipelined loops, or in straight-line code of what is around these.
        """
        self._function, self._loops = function, set(loops)
        self._pending: list[Value] = []
        self.enclosing: set[Operation] = set()
        """The loops and branches around the pipelined loops."""
        self.values: set[Value] = set()
        """The values that the producer computes."""
        self.problem: str | None = None
        """Why there can be no producer; None if there can."""
        for loop in loops:
            self._enclose(loop)
            self._need(*loop.operands[:3])
        for load in loads:
            self._need(load.view, *load.indices)
        self._need(*views)
        while self._pending and self.problem is None:
            self._trace(self._pending.pop())

    def needs(self, op: Operation) -> bool:
        """Whether the producer executes an operation."""
        return any(result in self.values for result in op.results)

    def _enclose(self, loop: ForOp) -> None:
        """Add what is around a loop."""
        for outer in loop.ancestors():
            if outer is self._function or outer in self.enclosing:
                return
            match outer:
                case ForOp() if outer in self._loops:
                    self.problem = "a pipelined loop inside of another"
                    return
                case ForOp():
                    self._need(*outer.operands[:3])
                case IfOp():
                    self._need(outer.condition)
                case _:
                    self.problem = f"a pipelined loop inside of '{outer.name}'"
                    return
            self.enclosing.add(outer)

    def _need(self, *values: Value) -> None:
        for value in values:
            if value not in self.values:
                self.values.add(value)
                self._pending.append(value)

    def _trace(self, value: Value) -> None:
        """Add what a value is computed from."""
        if isinstance(value, BlockArgument):
            self._trace_argument(value)
            return
        op = value.defining_op()
        assert op is not None
        match op:
            case ForOp() if op in self.enclosing:
                self._need_carried(op, value.index)
            case IfOp() if op in self.enclosing:
                for region in op.regions:
                    last = region.block.last if region.blocks else None
                    if last is not None:
                        self._need(last.operands[value.index])
            case _ if op.regions or not (is_effect_free(op) or is_index_load(op)):
                self.problem = f"the copies depend on '{op.name}'"
            case _ if any(maybe_layout_of(result) is not None for result in op.results):
                self.problem = f"the copies depend on a tile, of '{op.name}'"
            case _:
                self._need(*op.operands)

    def _trace_argument(self, argument: BlockArgument) -> None:
        owner = argument.owner.parent_op
        if owner is self._function:
            return
        if not isinstance(owner, ForOp) or (argument.index and owner in self._loops):
            self.problem = "the copies depend on a value that their loop carries"
        elif argument.index:
            self._need_carried(owner, argument.index - 1)

    def _need_carried(self, loop: ForOp, number: int) -> None:
        """Add a value that an enclosing loop carries."""
        last = loop.body.block.last
        assert last is not None
        self._need(loop.init_args[number], loop.carried[number], last.operands[number])
