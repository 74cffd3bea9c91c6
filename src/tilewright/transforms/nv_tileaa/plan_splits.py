"""The splits of tiles of every kernel, as attributes of the operations that seed them.

`choose_splits` has the rules; the pass `tile` applies what they choose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa.splits import SplitForm
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.ir.passes import Pass, option, statistic
from tilewright.transforms.nv_tileaa.choose_splits import choose_splits

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink

ALL: Final = "+".join(form.value for form in SplitForm)


def _forms(text: str) -> str:
    known = [form.value for form in SplitForm]
    if not set(text.split("+")) <= {*known}:
        raise ValueError(f"expected some of {'+'.join(known)}")
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
        wanted = [form for form in SplitForm if form.value in self.forms.split("+")]
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            self.copies.add(sink, choose_splits(function, wanted, sink))
