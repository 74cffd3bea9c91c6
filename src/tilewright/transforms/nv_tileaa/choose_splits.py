"""The choice of splits: one rule after the other, each on the tiles that earlier splits leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa.attributes import TARGET_SPEC_NAME
from tilewright.dialects.nv_tileaa.requests import NUM_CTAS
from tilewright.dialects.nv_tileaa.splits import (
    SPLIT,
    SPLIT_SEED,
    Split,
    SplitForm,
    set_splits,
    splits_of,
)
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.operation import Block, Region
from tilewright.ir.types import I64
from tilewright.transforms.nv_tileaa.dot_parts import choose_columns, choose_first_parts
from tilewright.transforms.nv_tileaa.k_parts import choose_k_parts
from tilewright.transforms.tile.apply import apply_splits

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink

ORIGIN: Final = "nv_tileaa.origin"
"""On the seeds of splits in a copy of a kernel: the number of the operation in the kernel."""


class Trial:
    """A kernel, and a copy on which the splits that are chosen so far are applied.

    Splits are written into the kernel. A copy is made when a rule asks for what they leave.
    """

    __slots__ = ("_copies", "_is_stale", "_kernel", "copies", "program")

    def __init__(self, program: FuncOp) -> None:
        self.program = self._kernel = program
        """The kernel itself, with whole tiles."""
        self.copies = 0
        self._copies: dict[Operation, Operation] = {}
        """What stands in the copy for each operation that may seed a split."""
        self._is_stale = False

    @property
    def kernel(self) -> FuncOp:
        """The kernel as the splits leave it."""
        if self._is_stale:
            self._apply()
        return self._kernel

    def source(self, op: Operation) -> Operation:
        """The operation of the kernel for which one of the copy stands."""
        return next((source for source, copy in self._copies.items() if copy is op), op)

    def current(self, source: Operation) -> Operation:
        """What stands for an operation of the kernel where splits are applied."""
        return source if self.kernel is self.program else self._copies[source]

    def split(self, op: Operation, split: Split) -> None:
        """Choose one more split, seeded by an operation of the kernel or of the copy."""
        source = self.source(op)
        set_splits(source, (*splits_of(source), split))
        self._is_stale = True

    def _apply(self) -> None:
        self._kernel, sources = copy_with_target(self.program), [*self.program.walk()]
        for number, op in enumerate(self._kernel.walk()):
            if SPLIT_SEED in op.traits:
                op.attributes[ORIGIN] = IntegerAttr(number, I64)
        apply_splits(self._kernel)
        self._copies = {
            sources[number.value]: op
            for op in self._kernel.walk()
            if isinstance(number := op.attributes.get(ORIGIN), IntegerAttr)
        }
        self.copies += 1
        self._is_stale = False


def copy_with_target(kernel: FuncOp) -> FuncOp:
    """A copy of a kernel, in a module of its own for the same GPU."""
    copy, block = kernel.clone(), Block()
    block.append(copy)
    for outer in kernel.ancestors():
        if TARGET_SPEC_NAME in outer.attributes:
            outer.like([], []).set_regions([Region([block])])
            break
    return copy


def _choose_cluster(trial: Trial, sink: Sink) -> None:
    if (trial.program.asks(NUM_CTAS) or 1) > 1 and not trial.program.is_distributed:
        # Few kernels have the hint.
        from tilewright.transforms.nv_tileaa.cluster_choice import choose_cluster  # noqa: PLC0415

        choose_cluster(trial, sink)


RULES: Final[dict[SplitForm, Callable[[Trial, Sink], None]]] = {
    SplitForm.FIRST: choose_first_parts,
    SplitForm.CTA: _choose_cluster,
    SplitForm.LOOP: choose_columns,
    SplitForm.K_LOOP: choose_k_parts,
}
"""What chooses the splits of each form, in the order in which they are applied."""


def choose_splits(kernel: FuncOp, wanted: Collection[SplitForm], sink: Sink) -> int:
    """Write splits of some forms into a kernel, if it allows these and has no splits.

    `sink` takes the remarks. Returns how often the kernel was copied.
    """
    trial = Trial(kernel)
    if not any(SPLIT in op.attributes for op in kernel.walk()):
        for form in [each for each in RULES if each in wanted and kernel.allows(each.change)]:
            RULES[form](trial, sink)
    return trial.copies
