"""Forward dataflow over the structured control flow of a function: blocks, loops and branches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import reduce
from typing import TYPE_CHECKING, Generic, TypeVar

from tilewright.dialects.scf import IfOp

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation

State = TypeVar("State")


class BlockDataflow(ABC, Generic[State]):
    """Visits the operations of a function in order, with what is true before each of them."""

    @abstractmethod
    def visit(self, op: Operation, state: State) -> State:
        """The state after an operation; that of one with regions is `inside`."""

    @abstractmethod
    def joined(self, first: State, second: State) -> State:
        """What is true where two paths meet: it only grows."""

    def next_iteration(self, loop: Operation, state: State) -> State:
        """The state at the end of an iteration of a loop, as the next one sees it."""
        return state

    def block(self, block: Block, state: State) -> State:
        """Visit a block and its regions."""
        for op in block:
            state = self.visit(op, state)
        return state

    def inside(self, op: Operation, state: State) -> State:
        """Visit the regions of an operation: loops run any number of times, others at most once."""
        if op.loop_body is not None:
            return self.loop(op, state)
        ends = [self.block(block, state) for region in op.regions for block in region.blocks]
        if not isinstance(op, IfOp) or len(ends) < 2:
            # Some threads, or all of them, may execute no region.
            ends.append(state)
        return reduce(self.joined, ends)

    def loop(self, op: Operation, state: State) -> State:
        """Visit a loop until the state at its start no longer grows."""
        before: State | None = None
        while state != before:
            before = state
            for region in op.regions:
                for block in region.blocks:
                    end = self.next_iteration(op, self.block(block, before))
                    state = self.joined(state, end)
        return state
