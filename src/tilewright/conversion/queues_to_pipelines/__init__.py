"""Queue lowering: `nv_tileaa` queues to the pipelines of `nv_tileas`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.conversion.queues_to_pipelines.checks import QueueUses, check_queues
from tilewright.conversion.queues_to_pipelines.patterns import queue_conversion
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.ir.conversion import convert_all
from tilewright.ir.passes import Pass

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink


class ConvertQueuesToPipelines(Pass):
    """Replace the queues of kernels by pipelines."""

    name = "convert-queues-to-pipelines"
    is_required = True

    def run(self, op: Operation, sink: Sink) -> None:
        kernels = [each for each in op.walk() if isinstance(each, FuncOp) and each.is_kernel]
        queues = [uses for uses in map(QueueUses, kernels) if uses]
        for uses in queues:
            check_queues(uses)
        if queues:
            convert_all([queue_conversion(uses) for uses in queues], sink)
