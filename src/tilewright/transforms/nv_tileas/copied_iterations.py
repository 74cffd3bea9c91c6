"""The iterations that a loop copies early, with the indices that their tiles are loaded with.

Indices that the loop loads, such as those of a list of blocks, are loaded an iteration before the
copies that need them, and are carried by the loop: no copy waits for its index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.transforms.nv_tileas.later_iterations import LaterIterations
from tilewright.transforms.nv_tileas.stage_copies import Iteration, StageCopies

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.scf import ForOp
    from tilewright.ir.builder import Builder
    from tilewright.ir.operation import Block
    from tilewright.ir.values import Value


class CopiedIterations:
    """The iterations at a distance from those of a loop, or of several of which `last` is the last.

    At distance 0 they are those of the loop.
    """

    __slots__ = ("_carried", "_copies", "_first", "_following", "_iterations", "initial")

    def __init__(self, copies: StageCopies, first: ForOp, last: ForOp, distance: int) -> None:
        self._copies, self._first = copies, first
        self._iterations = LaterIterations(first, last, distance) if distance else None
        self._following = LaterIterations(first, last, distance + 1) if copies.has_indices else None
        self._carried: Sequence[Value] = ()
        self.initial: Sequence[Value] = ()
        """The indices that the first iteration of the loop copies with."""

    def first(self, build: Builder) -> list[Iteration]:
        """The iterations before the loop copies any, with their indices."""
        start = self._first.lower_bound
        if self._following is None:
            return [] if self._iterations is None else list(self._iterations.first(build, start))
        # All indices are loaded before the first copy, which waits for its own.
        iterations = [
            self._copies.load_indices(build, each) for each in self._following.first(build, start)
        ]
        self.initial = iterations[-1].indices
        return iterations[:-1]

    def prepare(self, build: Builder) -> None:
        """Compute before the loops what is the same for all iterations."""
        for iterations in (self._iterations, self._following):
            if iterations is not None:
                iterations.prepare(build)

    def carry(self, body: Block) -> None:
        """Let a loop carry the indices of an iteration."""
        location = self._first.location
        self._carried = [body.add_argument(value.type, location) for value in self.initial]

    def after(self, build: Builder, counter: Value) -> Iteration:
        """The iteration at the distance from one of the loop."""
        if self._iterations is None:
            return Iteration(counter, None, self._carried)
        return self._iterations.after(build, counter)._replace(indices=self._carried)

    def following(self, build: Builder, counter: Value) -> Iteration | None:
        """The iteration after that one, if its indices are to be loaded."""
        return None if self._following is None else self._following.after(build, counter)

    def load_indices(self, build: Builder, following: Iteration | None) -> Sequence[Value]:
        """Load the indices of the following iteration, which the loop yields."""
        return () if following is None else self._copies.load_indices(build, following).indices
