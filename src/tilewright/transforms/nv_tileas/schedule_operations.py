"""List scheduling: the order of the operations of a block.

Of the operations that nothing precedes any more in the dependence graph, the one with the lowest
priority is issued next. That is its number in program order, and that order stays, unless
`operation_priorities` has a reason.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.aggregate import ReduceOp
from tilewright.dialects.nv_tileas.memory import LoadOp, TiledLoadOp
from tilewright.transforms.kernel_pass import KernelPass
from tilewright.transforms.nv_tileas.dependence_graph import DependenceGraph
from tilewright.transforms.nv_tileas.operation_priorities import priorities

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilewright.support.diagnostics import Sink
    from tilewright.transforms.nv_tileas.operation_priorities import Priority

WITH_REASONS: Final = (LoadOp, TiledLoadOp, ReduceOp)
"""Operations without which a block stays in its order."""


class ScheduleOperations(KernelPass):
    """Issue loads and copies early, and what waits for them and for other warps late."""

    name = "schedule-operations"
    change = Change.REORDER

    def run_on(self, function: FuncOp, sink: Sink) -> None:
        regions = [region for inner in function.walk() for region in inner.regions]
        for block in [block for region in regions for block in region.blocks]:
            if any(isinstance(each, WITH_REASONS) for each in block):
                graph = DependenceGraph(block)
                for number in list_schedule(graph, priorities(graph)):
                    block.append(graph.ops[number].detach())


def list_schedule(graph: DependenceGraph, chosen: Mapping[int, Priority]) -> list[int]:
    """The order in which operations are issued, if some have another priority than their number.

    What an operation needs is at least as urgent.
    """
    priority = [chosen.get(number, (number, 0)) for number in range(len(graph.ops))]
    for number in reversed(range(len(graph.ops))):
        if number in chosen or priority[number] < (number, 0):
            for earlier in graph.predecessors[number]:
                priority[earlier] = min(priority[earlier], priority[number])
    remaining = [len(each) for each in graph.predecessors]
    ready = [(priority[number], number) for number, count in enumerate(remaining) if not count]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        _, number = heapq.heappop(ready)
        order.append(number)
        for later in graph.successors[number]:
            remaining[later] -= 1
            if not remaining[later]:
                heapq.heappush(ready, (priority[later], later))
    return order
