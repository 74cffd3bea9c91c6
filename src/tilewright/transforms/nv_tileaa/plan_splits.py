"""The splits of tiles of every kernel, as attributes of the operations that seed them.

One rule after the other chooses, each on the tiles that earlier splits leave; the pass `tile`
applies what they choose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa.attributes import TARGET_SPEC_NAME
from tilewright.dialects.nv_tileaa.splits import (
    SPLIT,
    SPLIT_SEED,
    Split,
    SplitForm,
    set_splits,
    splits_of,
)
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.operation import Block, Region
from tilewright.ir.passes import Pass, option, statistic
from tilewright.ir.types import I64
from tilewright.transforms.nv_tileaa.cluster_choice import choose_cluster
from tilewright.transforms.nv_tileaa.dot_parts import (
    choose_columns,
    choose_first_parts,
    choose_k_parts,
)
from tilewright.transforms.tile.apply import apply_splits

if TYPE_CHECKING:
    from collections.abc import Callable

    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink

ORIGIN: Final = "nv_tileaa.origin"
"""On the seeds of splits in a copy of a kernel: the number of the operation in the kernel."""
ALL: Final = "+".join(form.value for form in SplitForm)


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


RULES: Final[dict[SplitForm, Callable[[Trial, Sink], None]]] = {
    SplitForm.FIRST: choose_first_parts,
    SplitForm.CTA: choose_cluster,
    SplitForm.LOOP: choose_columns,
    SplitForm.K_LOOP: choose_k_parts,
}
"""What chooses the splits of each form, in the order in which they are applied."""


def _forms(text: str) -> str:
    if not set(text.split("+")) <= {*ALL.split("+")}:
        raise ValueError(f"expected some of {ALL}")
    return text


class PlanSplits(Pass):
    """Choose into which parts the tiles of every kernel are split, and write it into the program.

    What nothing observes is left out (`first`), the CTAs of a cluster share tiles (`cta`),
    accumulators that exceed the registers are split along N (`loop`), and iterations over K become
    shorter (`k_loop`). A kernel that has splits keeps them.
    """

    name = "plan-splits"
    forms: str = option(default=ALL, doc="the forms that are chosen", parse=_forms)
    copies = statistic("copies of kernels, to choose a split on what earlier ones leave")

    def run(self, op: Operation, sink: Sink) -> None:
        wanted = [form for form in RULES if form.value in self.forms.split("+")]
        for kernel in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            trial = Trial(kernel)
            has_splits = any(SPLIT in each.attributes for each in kernel.walk())
            for form in () if has_splits else wanted:
                if kernel.allows(form.change):
                    RULES[form](trial, sink)
            self.copies.add(sink, trial.copies)
