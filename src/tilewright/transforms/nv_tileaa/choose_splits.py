"""The choice of splits: one rule after the other, each on the tiles that earlier splits leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa.attributes import TARGET_SPEC_NAME, KernelSpecAttr
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

    Splits are written into the kernel. The copy is made when a rule asks for what they leave.
    """

    __slots__ = ("_copied", "_copy", "_is_stale", "_sources", "program")

    def __init__(self, program: FuncOp) -> None:
        self.program = program
        """The kernel itself, with whole tiles."""
        self._copy: FuncOp | None = None
        self._sources: list[Operation] = []
        """The seeds of the kernel, by their number in the copy."""
        self._copied: dict[Operation, Operation] = {}
        """What stands for them in the copy."""
        self._is_stale = False

    @property
    def kernel(self) -> FuncOp:
        """The kernel as the splits leave it."""
        if self._is_stale:
            self._apply()
        return self._copy or self.program

    @property
    def is_split(self) -> bool:
        """Whether a split is chosen."""
        return self._is_stale or self.is_copied

    @property
    def is_copied(self) -> bool:
        """Whether a rule had to look at what splits leave."""
        return self._copy is not None

    def source(self, op: Operation) -> Operation:
        """The operation of the kernel for which one of the copy stands."""
        number = op.attributes.get(ORIGIN)
        return self._sources[number.value] if isinstance(number, IntegerAttr) else op

    def current(self, source: Operation) -> Operation:
        """What stands for an operation of the kernel where splits are applied."""
        if self._is_stale:
            self._apply()
        return self._copied.get(source, source)

    def split(self, op: Operation, split: Split) -> None:
        """Choose one more split, seeded by an operation of the kernel or of the copy."""
        source = self.source(op)
        copy = self._copied.get(source)
        for seed in (source, *([] if copy is None else [copy])):
            set_splits(seed, (*splits_of(seed), split))
        self._is_stale = True

    def set_spec(self, spec: KernelSpecAttr) -> None:
        """Change what else is chosen for the kernel."""
        self.program.kernel_spec = spec
        if self._copy is not None:
            self._copy.kernel_spec = spec

    def _apply(self) -> None:
        if self._copy is None:
            self._copy = copy_with_target(self.program)
            pairs = zip(self.program.walk(), self._copy.walk(), strict=True)
            for source, op in [each for each in pairs if SPLIT_SEED in each[0].traits]:
                op.attributes[ORIGIN] = IntegerAttr(len(self._sources), I64)
                self._sources.append(source)
        apply_splits(self._copy)
        self._copied = {self.source(op): op for op in self._copy.walk() if ORIGIN in op.attributes}
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


def choose_splits(kernel: FuncOp, allowed: Collection[SplitForm], sink: Sink) -> Trial:
    """Write splits of the allowed forms into a kernel, unless it has some.

    `sink` takes the remarks.
    """
    trial = Trial(kernel)
    if not any(SPLIT in op.attributes for op in kernel.walk()):
        for form in [each for each in RULES if each in allowed]:
            RULES[form](trial, sink)
    return trial
