"""Strategies: edits of a program, each at many targets."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from tilewright.driver.reduction.values import dead_operations, remove_newly_dead

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation

T = TypeVar("T")


class Strategy(Generic[T]):
    """One kind of edit. A program and its clones have the same targets, in the same order."""

    name = ""

    def targets(self, module: Operation) -> Sequence[T]:
        """List where the edit may be made."""
        raise NotImplementedError

    def edit(self, target: T, module: Operation) -> None:
        """Edit the program at a target; other edits may have removed it."""
        raise NotImplementedError

    def edit_all(self, targets: Sequence[T], module: Operation) -> None:
        """Edit the program at several targets."""
        for target in targets:
            self.edit(target, module)

    def count(self, module: Operation) -> int:
        """The number of targets."""
        return len(self.targets(module))

    def apply(self, module: Operation, chosen: Collection[int], *, cleanup: bool) -> bool:
        """Edit a program at the targets of these numbers, the last one first.

        With `cleanup`, operations that this makes dead are removed, too; returns whether any are.
        """
        targets = self.targets(module)
        dead_before = dead_operations(module)
        self.edit_all([targets[number] for number in sorted(chosen, reverse=True)], module)
        return cleanup and remove_newly_dead(module, dead_before)
