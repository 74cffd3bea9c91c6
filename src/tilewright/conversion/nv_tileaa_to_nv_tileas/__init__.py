"""Layout assignment: `nv_tileaa` to `nv_tileas`, whose tiles carry layouts.

`layout_constraints` collects the layouts that the operations of a kernel prefer, `layout_solver`
assigns a layout to each class of tiles, and `patterns` apply the assignment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.remarks import report_dots
from tilewright.analysis.targets import target_of
from tilewright.conversion.nv_tileaa_to_nv_tileas.coalescing import vectorization_remarks
from tilewright.conversion.nv_tileaa_to_nv_tileas.layout_constraints import collect_constraints
from tilewright.conversion.nv_tileaa_to_nv_tileas.layout_solver import solve_layouts
from tilewright.conversion.nv_tileaa_to_nv_tileas.patterns import (
    TARGET,
    layout_patterns,
    layout_types,
)
from tilewright.dialects.nv_tileaa.attributes import KernelSpecAttr
from tilewright.dialects.nv_tileaa.requests import NUM_CTAS
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.ir.conversion import Conversion, convert_all
from tilewright.ir.passes import Pass
from tilewright.schedule.warp_counts import threads_of
from tilewright.support.diagnostics import UserError
from tilewright.support.remark_catalogue import CLUSTER_REFUSED
from tilewright.support.remarks import Remark
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from tilewright.conversion.nv_tileaa_to_nv_tileas.layout_solver import LayoutAssignment
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink


class ConvertTileAAToTileAS(Pass):
    """Assign a layout to every tile of a kernel, and an instruction to every dot."""

    name = "convert-tileaa-to-tileas"
    is_required = True

    def run(self, op: Operation, sink: Sink) -> None:
        kernels = [each for each in op.walk() if isinstance(each, FuncOp) and each.is_kernel]
        assignments = [_assign_layouts(kernel) for kernel in kernels]
        pairs = list(zip(kernels, assignments, strict=True))
        remarks: list[Remark] = []
        if sink.wants_remarks:
            for kernel, assignment in pairs:
                accesses, warps = assignment.accesses, assignment.warps
                remarks += vectorization_remarks(kernel, accesses, warps, self.name)
        conversions = [
            Conversion(kernel, TARGET, layout_patterns(assignment), layout_types(assignment))
            for kernel, assignment in pairs
        ]
        if convert_all(conversions, sink):
            for kernel, assignment in pairs:
                self._record_launch(kernel, assignment.warps, sink)
                report_dots(kernel, sink, self.name)
            for remark in remarks:
                sink.remark(remark)

    def _record_launch(self, kernel: FuncOp, warps: int, sink: Sink) -> None:
        """Set the launch configuration that the kernel has from here on."""
        spec, asked = kernel.kernel_spec, kernel.asks(NUM_CTAS) or 1
        assert spec is not None
        ctas = spec.num_ctas if kernel.is_distributed else None
        if asked > 1 and ctas is None and not kernel.has_refused(NUM_CTAS):
            text, reason = f"num_ctas {asked} is not used", "each CTA computes tiles of its own"
            kernel.refuse(NUM_CTAS, reason)
            if sink.wants_remarks:
                by, name, location = self.name, kernel.sym_name, kernel.location
                sink.remark(Remark(CLUSTER_REFUSED, text, by, name, location, reason))
        kernel.kernel_spec = KernelSpecAttr(ctas, warps, spec.occupancy)
        kernel.planned = False


def _assign_layouts(kernel: FuncOp) -> LayoutAssignment:
    """Choose the layouts of the tiles of a kernel; changes nothing."""
    arch = target_of(kernel)
    if arch is None:
        raise UserError([kernel.error("expected a module with a target specification")])
    return solve_layouts(collect_constraints(kernel, arch, threads_of(kernel) // WARP_SIZE))
