"""The hint `occupancy`, lowered where the registers of an SM do not suffice for it.

The occupancy limits the registers of a thread. Where the accumulators of dots do not fit, ptxas
would spill them, or reject `wgmma` altogether; a hint must not break a program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa.attributes import KernelSpecAttr
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.requests import OCCUPANCY
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.ir.passes import Pass
from tilewright.plans.warps import live_accumulator_words, threads_of
from tilewright.support.remark_catalogue import OCCUPANCY_RELAXED
from tilewright.support.remarks import Remark
from tilewright.target.arch import registers_per_thread

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink

OTHER_REGISTERS: Final = 32
"""Of a thread, beside accumulators, at the least: a hint is met where ptxas can just manage."""


class RelaxOccupancy(Pass):
    """Choose the occupancy that a kernel asks for, or less: its accumulators fit into registers."""

    name = "relax-occupancy"
    is_required = True

    def run(self, op: Operation, sink: Sink) -> None:
        for kernel in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            spec, asked = kernel.kernel_spec, kernel.asks(OCCUPANCY)
            if spec is None or asked is None:
                continue
            threads, needed = threads_of(kernel), _needed_registers(kernel)
            occupancy = asked
            while occupancy > 1 and registers_per_thread(threads * occupancy) < needed:
                occupancy -= 1
            kernel.kernel_spec = KernelSpecAttr(spec.num_ctas, spec.num_warps, occupancy)
            if occupancy == asked:
                continue
            remark = _remark(kernel, asked, occupancy, needed)
            kernel.refuse(OCCUPANCY, remark.reason)
            if sink.wants_remarks:
                sink.remark(remark)


def _needed_registers(kernel: FuncOp) -> int:
    """The registers of a thread for accumulators that are live together, and for the rest."""
    words = live_accumulator_words(op for op in kernel.walk() if isinstance(op, DotOp))
    return words // threads_of(kernel) + OTHER_REGISTERS if words else 0


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
