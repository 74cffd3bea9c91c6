"""The hint `num_ctas`: the CTAs of a cluster share the tiles of a kernel.

A cluster runs one program. Bit by bit of the rank of a CTA, the tiles of the kernel are halved
along a dimension, and each CTA computes its half of what is stored; tiles that are not halved are
loaded and computed by all of them. The CTAs exchange nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa.requests import NUM_CTAS
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.ir.passes import Pass

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink


class DistributeOverCluster(Pass):
    """Let the CTAs of a cluster share the tiles of a kernel, as its hint asks."""

    name = "distribute-over-cluster"

    def run(self, op: Operation, sink: Sink) -> None:
        for kernel in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            if (kernel.asks(NUM_CTAS) or 1) > 1 and not kernel.is_distributed:
                # Few kernels have the hint.
                from tilewright.transforms.nv_tileaa.cluster_distribution import (  # noqa: PLC0415
                    distribute,
                )

                distribute(kernel, sink, self.name)
