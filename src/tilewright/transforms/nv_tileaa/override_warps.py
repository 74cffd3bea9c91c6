"""The number of warps of a block that a forced schedule asks for, instead of the chosen one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa.attributes import KernelSpecAttr
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.ir.passes import Pass, option

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink


class OverrideWarps(Pass):
    """Set the number of warps of every kernel, before any pass depends on it."""

    name = "override-warps"
    is_required = True
    warps: int = option(default=0, doc="the number of warps of a block; 0: as before")

    def run(self, op: Operation, sink: Sink) -> None:
        if not self.warps:
            return
        for kernel in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            spec = kernel.kernel_spec
            if spec is not None:
                kernel.attributes["kernel_spec"] = KernelSpecAttr(
                    spec.num_ctas, self.warps, spec.occupancy
                )
