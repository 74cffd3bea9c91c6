"""What the producer of a pipeline computes: the control flow and scalars that its copies depend on.

The producer repeats the loops and branches around the pipelined loops, with the operations that
compute their bounds, their conditions and the indices of the copied tiles. Among these may be loads
of scalars, if no token orders them with other accesses. Everything else, above all the tiles, is
left to the consumers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.slices import closure
from tilewright.dialects.nv_tileaa.program import GetCtaRankOp
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

    __slots__ = ("_function", "_loops", "enclosing", "problem", "values")

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
        self.enclosing: set[Operation] = set()
        """The loops and branches around the pipelined loops."""
        self.problem: str | None = None
        """Why there can be no producer; None if there can."""
        needed: list[Value] = []
        for loop in loops:
            needed += [*self._enclose(loop), *loop.operands[:3]]
        for load in loads:
            needed += [load.view, *load.indices]
        self.values = set(closure(dict.fromkeys([*needed, *views]), self._sources))
        """The values that the producer computes."""

    def needs(self, op: Operation) -> bool:
        """Whether the producer executes an operation."""
        return any(result in self.values for result in op.results)

    def _enclose(self, loop: ForOp) -> Iterable[Value]:
        """The bounds and conditions of what is around a loop."""
        for outer in loop.ancestors():
            if outer is self._function or outer in self.enclosing:
                return
            if not isinstance(outer, ForOp | IfOp):
                self.problem = f"a pipelined loop inside of '{outer.name}'"
                return
            if outer in self._loops:
                self.problem = "a pipelined loop inside of another"
                return
            yield from outer.operands[:3]
            self.enclosing.add(outer)

    def _sources(self, value: Value) -> Sequence[Value]:
        """What a value is computed from; nothing more once there is a problem."""
        if self.problem is not None:
            return ()
        if isinstance(value, BlockArgument):
            return self._argument_sources(value)
        op = value.defining_op()
        assert op is not None
        if op in self.enclosing:
            is_loop = isinstance(op, ForOp)
            return [op.carried[value.index]] if is_loop else _yielded(op, value.index)
        if op.regions or not (is_effect_free(op) or is_index_load(op)):
            self.problem = f"the copies depend on '{op.name}'"
        elif any(maybe_layout_of(result) is not None for result in op.results):
            self.problem = f"the copies depend on a tile, of '{op.name}'"
        return op.operands

    def _argument_sources(self, argument: BlockArgument) -> Sequence[Value]:
        owner = argument.owner.parent_op
        if owner is self._function:
            return ()
        if not isinstance(owner, ForOp) or (argument.index and owner in self._loops):
            self.problem = "the copies depend on a value that their loop carries"
            return ()
        number = argument.index - 1
        return [owner.init_args[number], *_yielded(owner, number)] if argument.index else ()


def _yielded(op: Operation, number: int) -> list[Value]:
    """What the branches or the body of an operation yield for one of its results."""
    ends = [region.block.last for region in op.regions if region.blocks]
    return [end.operands[number] for end in ends if end is not None]


def multicast_problem(function: FuncOp, loops: Collection[ForOp]) -> str | None:
    """Why the CTAs of a cluster cannot share the stages of pipelined loops; None if they can.

    CTAs that multicast to each other fill the same stages in the same order.
    """
    # Without copies, the slice is what bounds and conditions depend on.
    control = ProducerSlice(function, loops, ()).values
    if any(value.defined_by(GetCtaRankOp) is not None for value in control):
        return "the iterations of a pipelined loop depend on the rank of the CTA"
    return None
