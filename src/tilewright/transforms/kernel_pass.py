"""Passes over the kernels that allow what they do."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.ir.passes import Pass

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.requests import Change
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink


class KernelPass(Pass):
    """A pass without which programs fit the GPU, too: what is asked of a kernel may forbid it."""

    change: ClassVar[Change]

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            if function.allows(self.change):
                self.run_on(function, sink)

    def run_on(self, function: FuncOp, sink: Sink) -> None:
        """Change what is inside of a function."""
        raise NotImplementedError
