"""The plan of a kernel: how many warps a block has, and how many blocks an SM.

It is chosen once tiles are split over loops and CTAs and short loops are unrolled, from the largest
tile and those that are live together (`schedule.launch_shape`). Tiles that exceed the registers of
the chosen warps are cut afterwards, by `slice-tiles`. Later passes read the plan from the
`kernel_spec`, and some choose blocks on an SM where it has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa.attributes import KernelSpecAttr
from tilewright.dialects.nv_tileaa.requests import OCCUPANCY
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.ir.passes import Pass
from tilewright.schedule.launch_shape import choose_launch, relaxed_blocks
from tilewright.support.remark_catalogue import OCCUPANCY_RELAXED, WARPS
from tilewright.support.remarks import Remark

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.schedule.launch_shape import LaunchShape
    from tilewright.support.diagnostics import Sink


class PlanKernel(Pass):
    """Choose the warps of a block and the blocks on an SM.

    The number of warps is that for the largest tile, unless tiles that are live together, or the
    operands and accumulators of dots, need another one. What the kernel asks for is followed, but
    for an occupancy that leaves no registers for the accumulators of dots. What its `kernel_spec`
    has is kept.
    """

    name = "plan-kernel"
    is_required = True

    def run(self, op: Operation, sink: Sink) -> None:
        for kernel in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            spec = kernel.kernel_spec
            if spec is None:
                continue
            launch = choose_launch(kernel)
            remarks = [*_warps_remarks(kernel, launch), *_relax(kernel, launch)]
            kernel.kernel_spec = KernelSpecAttr(spec.num_ctas, launch.warps, launch.blocks)
            kernel.planned = True
            if sink.wants_remarks:
                for remark in remarks:
                    sink.remark(remark)


def _relax(kernel: FuncOp, launch: LaunchShape) -> list[Remark]:
    """Refuse an occupancy that is not met; the remark on it."""
    spec, asked = kernel.kernel_spec, kernel.asks(OCCUPANCY)
    if asked is None or launch.blocks in (None, asked) or (spec and spec.occupancy):
        return []
    needed = relaxed_blocks(kernel, launch.warps).registers
    reason = f"a thread needs {needed} registers"
    kernel.refuse(OCCUPANCY, reason)
    details = {"Asked": asked, "Occupancy": launch.blocks, "Registers": needed}
    return [
        Remark(
            OCCUPANCY_RELAXED,
            f"Occupancy {asked} relaxed to {launch.blocks}",
            PlanKernel.name,
            kernel.sym_name,
            kernel.location,
            reason,
            tuple((key, str(value)) for key, value in details.items()),
        )
    ]


def _warps_remarks(kernel: FuncOp, launch: LaunchShape) -> list[Remark]:
    """The remark on a number of warps that is not that for the largest tile."""
    if not launch.reason:
        return []
    text, by = f"{launch.warps} warps", PlanKernel.name
    return [Remark(WARPS, text, by, kernel.sym_name, kernel.location, launch.reason)]
