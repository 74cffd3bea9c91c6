"""Plans shared memory: who goes through which part of it, and where threads must wait.

An operation writes its scratch memory, waits for all threads, and reads. Two areas are used in
turn: before an area is written again, all threads have passed the wait of a use of the other one,
so all of them are done with reading it. Where that does not hold a barrier is put in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.scratch import scratch_bytes
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.sync import BarrierOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.builder import create_op
from tilewright.ir.passes import Pass
from tilewright.ir.types import I64

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation
    from tilewright.support.diagnostics import Sink

SCRATCH: Final = "scratch"
TOTAL: Final = "nv_tileas.scratch_bytes"
"""The attribute of a function that says how much shared memory its operations go through."""
ALIGNMENT: Final = 128


class PlanScratch(Pass):
    """Give every operation that goes through shared memory its part of it."""

    name = "plan-shared-memory"

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            plan(function)


def plan(function: FuncOp) -> None:
    """Place the scratch memory of all operations of a function."""
    needs = {op: bytes for op in function.walk() if (bytes := scratch_bytes(op))}
    if not needs:
        return
    area = -(-max(needs.values()) // ALIGNMENT) * ALIGNMENT
    _Turns(needs, area).block(function.body.block)
    areas = 1 if len(needs) == 1 else 2
    function.attributes[TOTAL] = IntegerAttr(areas * area, I64)


class _Turns:
    """Walks a function in the order of its execution and hands out the areas in turn."""

    __slots__ = ("_area", "_needs", "_next")

    def __init__(self, needs: dict[Operation, int], area: int) -> None:
        self._needs = needs
        self._area = area
        self._next = 0

    def block(self, block: Block) -> None:
        """Hand out areas to a block and all inside it."""
        for op in list(block):
            if op in self._needs:
                op.attributes[SCRATCH] = IntegerAttr(self._next * self._area, I64)
                self._next ^= 1
            elif op.regions:
                self._around(op)

    def _around(self, op: Operation) -> None:
        """Regions may run any number of times, or not at all: a barrier makes all ends alike.

        Behind a barrier of its own no area is being read, so either may be next.
        """
        if not any(inner in self._needs for inner in op.walk() if inner is not op):
            return
        for region in op.regions:
            for block in region.blocks:
                self._next = 0
                self.block(block)
                end = block.terminator
                if end is not None:
                    create_op(BarrierOp, location=op.location).insert_before(end)
        self._next = 0
