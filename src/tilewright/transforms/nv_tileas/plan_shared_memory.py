"""Plans shared memory: who goes through which part of it, and where threads must wait.

An operation writes its scratch memory, waits for all threads, and reads. Behind that wait all
earlier reads are over, so only the area that was used last may still be being read. Two areas are
used in turn; where both may be in use, in a loop for instance, a barrier comes first. So it does
everywhere where the GPU has room for one area alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.targets import target_of
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.attribute_names import (
    SCRATCH_ALIGNMENT,
    SCRATCH_BYTES,
    SCRATCH_OFFSET,
)
from tilewright.dialects.nv_tileas.sync import BarrierOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.builder import create_op
from tilewright.ir.passes import Pass
from tilewright.ir.types import I64
from tilewright.layout.bank_conflicts import LINE
from tilewright.plans.scratch import scratch_alignment, scratch_bytes
from tilewright.support.diagnostics import Unsupported

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation
    from tilewright.support.diagnostics import Sink

BOTH: Final = frozenset((0, 1))
ONE: Final = frozenset((0,))
NONE: Final = frozenset[int]()


class PlanSharedMemory(Pass):
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
    alignment = max(map(scratch_alignment, needs))
    area = -(-max(needs.values()) // alignment) * alignment
    turns = _Turns(needs, _areas(function, needs, area))
    turns.block(function.body.block, frozenset())
    for op, turn in turns.decided.items():
        op.attributes[SCRATCH_OFFSET] = IntegerAttr(turn.area * area, I64)
        if turn.waits:
            create_op(BarrierOp, location=op.location).insert_before(op)
    count = 1 + max(turn.area for turn in turns.decided.values())
    function.attributes[SCRATCH_BYTES] = IntegerAttr(count * area, I64)
    if alignment > LINE:
        function.attributes[SCRATCH_ALIGNMENT] = IntegerAttr(alignment, I64)


def _areas(function: FuncOp, needs: dict[Operation, int], area: int) -> frozenset[int]:
    """The areas that there is room for."""
    arch = target_of(function)
    if arch is None or 2 * area <= arch.static_shared:
        return BOTH
    if area <= arch.static_shared:
        return ONE
    op = max(needs, key=needs.__getitem__)
    what = f"'{op.name}' through {needs[op]} bytes of shared memory on {arch.name}"
    raise Unsupported(f"{what}, where a block has {arch.static_shared}", op.location)


class Turn(NamedTuple):
    """The area that an operation goes through, and whether threads wait before it."""

    area: int
    waits: bool


class _Turns:
    """Follows a function and keeps track of the areas that threads may still be reading."""

    __slots__ = ("_areas", "_needs", "decided")

    def __init__(self, needs: dict[Operation, int], areas: frozenset[int]) -> None:
        self._needs = needs
        self._areas = areas
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
        free = self._areas - read
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
