"""The hint `occupancy`, lowered where the registers of an SM do not suffice for it.

The occupancy limits the registers of a thread. Where the accumulators of dots do not fit, ptxas
would spill them, or reject `wgmma` altogether; a hint must not break a program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa.attributes import KernelSpecAttr
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.requests import OCCUPANCY
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.ir.passes import Pass
from tilewright.schedule.registers import accumulator_registers, fitting_blocks
from tilewright.schedule.warps import live_accumulator_words, threads_of
from tilewright.support.remark_catalogue import OCCUPANCY_RELAXED
from tilewright.support.remarks import Remark

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink


class RelaxOccupancy(Pass):
    """Choose the occupancy that a kernel asks for, or less: its accumulators fit into registers."""

    name = "relax-occupancy"
    is_required = True

    def run(self, op: Operation, sink: Sink) -> None:
        for kernel in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            spec, asked = kernel.kernel_spec, kernel.asks(OCCUPANCY)
            if spec is None or asked is None:
                continue
            occupancy = relaxed_occupancy(kernel)
            kernel.kernel_spec = KernelSpecAttr(spec.num_ctas, spec.num_warps, occupancy)
            if occupancy is None or occupancy == asked:
                continue
            remark = _remark(kernel, asked, occupancy, _needed_registers(kernel))
            kernel.refuse(OCCUPANCY, remark.reason)
            if sink.wants_remarks:
                sink.remark(remark)


def relaxed_occupancy(kernel: FuncOp) -> int | None:
    """The blocks on an SM: as chosen before, or as asked and as far as registers suffice."""
    spec, asked = kernel.kernel_spec, kernel.asks(OCCUPANCY)
    if spec is None or asked is None:
        return None if spec is None else spec.occupancy
    return fitting_blocks(threads_of(kernel), _needed_registers(kernel), asked)


def _needed_registers(kernel: FuncOp) -> int:
    """The registers of a thread for the accumulators that are live together."""
    words = live_accumulator_words(op for op in kernel.walk() if isinstance(op, DotOp))
    return accumulator_registers(words, threads_of(kernel))


def _remark(kernel: FuncOp, asked: int, occupancy: int, needed: int) -> Remark:
    return Remark(
        OCCUPANCY_RELAXED,
        f"Occupancy {asked} relaxed to {occupancy}",
        RelaxOccupancy.name,
        kernel.sym_name,
        kernel.location,
        f"a thread needs {needed} registers",
        (("Asked", str(asked)), ("Occupancy", str(occupancy)), ("Registers", str(needed))),
    )
