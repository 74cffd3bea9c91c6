"""Plans shared memory: who goes through which part of it, and where threads must wait.

An operation writes its scratch memory, waits for all threads, and reads. Behind that wait all
earlier reads are over, so only the area that was used last may still be being read. Two areas are
used in turn; where both may be in use, in a loop for instance, a barrier comes first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

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
AREAS: Final = frozenset((0, 1))
NONE: Final = frozenset[int]()


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
    turns = _Turns(needs)
    turns.block(function.body.block, frozenset())
    area = -(-max(needs.values()) // ALIGNMENT) * ALIGNMENT
    for op, turn in turns.decided.items():
        op.attributes[SCRATCH] = IntegerAttr(turn.area * area, I64)
        if turn.waits:
            create_op(BarrierOp, location=op.location).insert_before(op)
    count = 1 + max(turn.area for turn in turns.decided.values())
    function.attributes[TOTAL] = IntegerAttr(count * area, I64)


class Turn(NamedTuple):
    """The area that an operation goes through, and whether threads wait before it."""

    area: int
    waits: bool


class _Turns:
    """Follows a function and keeps track of the areas that threads may still be reading."""

    __slots__ = ("_needs", "decided")

    def __init__(self, needs: dict[Operation, int]) -> None:
        self._needs = needs
        self.decided: dict[Operation, Turn] = {}

    def block(self, block: Block, read: frozenset[int]) -> frozenset[int]:
        """Decide for a block and all inside it; gives what is being read behind it."""
        for op in block:
            if isinstance(op, BarrierOp):
                read = NONE
            elif op in self._needs:
                read = self._use(op, read)
            elif op.regions:
                read = self._inside(op, read)
        return read

    def _use(self, op: Operation, read: frozenset[int]) -> frozenset[int]:
        free = AREAS - read
        area = min(free) if free else 0
        self.decided[op] = Turn(area, waits=not free)
        return frozenset((area,))

    def _inside(self, op: Operation, read: frozenset[int]) -> frozenset[int]:
        """Regions may run any number of times, each behind the others, or not at all."""
        before: frozenset[int] | None = None
        while read != before:
            before = read
            for region in op.regions:
                for block in region.blocks:
                    read |= self.block(block, before)
        return read
