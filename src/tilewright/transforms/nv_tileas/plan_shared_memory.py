"""Shared-memory planning: the scratch buffer of each operation, and barriers between reuses.

An operation writes its scratch buffer, waits at a barrier, and reads. After that barrier all
earlier reads are complete, so only the buffer that was used last may still be read. Operations
alternate between two buffers; where both may still be read, in a loop for instance, a barrier
precedes the write. If the GPU has space for one buffer only, a barrier precedes every write.
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
    """Assign a scratch buffer to every operation that goes through shared memory."""

    name = "plan-shared-memory"

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            plan(function)


def plan(function: FuncOp) -> None:
    """Assign the scratch buffers of all operations of a function."""
    needs = {op: bytes for op in function.walk() if (bytes := scratch_bytes(op))}
    if not needs:
        return
    alignment = max(map(scratch_alignment, needs))
    size = -(-max(needs.values()) // alignment) * alignment
    planner = _Planner(needs, _buffers(function, needs, size))
    planner.block(function.body.block, frozenset())
    for op, assigned in planner.assigned.items():
        op.attributes[SCRATCH_OFFSET] = IntegerAttr(assigned.buffer * size, I64)
        if assigned.waits:
            create_op(BarrierOp, location=op.location).insert_before(op)
    count = 1 + max(assigned.buffer for assigned in planner.assigned.values())
    function.attributes[SCRATCH_BYTES] = IntegerAttr(count * size, I64)
    if alignment > LINE:
        function.attributes[SCRATCH_ALIGNMENT] = IntegerAttr(alignment, I64)


def _buffers(function: FuncOp, needs: dict[Operation, int], size: int) -> frozenset[int]:
    """The buffers that fit into shared memory."""
    arch = target_of(function)
    if arch is None or 2 * size <= arch.static_shared:
        return BOTH
    if size <= arch.static_shared:
        return ONE
    op = max(needs, key=needs.__getitem__)
    what = f"'{op.name}' through {needs[op]} bytes of shared memory on {arch.name}"
    raise Unsupported(f"{what}, where a block has {arch.static_shared}", op.location)


class Assigned(NamedTuple):
    """The scratch buffer of an operation, and whether a barrier precedes its write."""

    buffer: int
    waits: bool


class _Planner:
    """Dataflow over a function: the buffers that threads may still be reading."""

    __slots__ = ("_buffers", "_needs", "assigned")

    def __init__(self, needs: dict[Operation, int], buffers: frozenset[int]) -> None:
        self._needs = needs
        self._buffers = buffers
        self.assigned: dict[Operation, Assigned] = {}

    def block(self, block: Block, read: frozenset[int]) -> frozenset[int]:
        """Assign buffers in a block and its regions; returns those that may be read after it."""
        for op in block:
            if isinstance(op, BarrierOp):
                read = NONE
            elif op in self._needs:
                read = self._use(op, read)
            elif op.regions:
                read = self._inside(op, read)
        return read

    def _use(self, op: Operation, read: frozenset[int]) -> frozenset[int]:
        free = self._buffers - read
        buffer = min(free) if free else 0
        self.assigned[op] = Assigned(buffer, waits=not free)
        return frozenset((buffer,))

    def _inside(self, op: Operation, read: frozenset[int]) -> frozenset[int]:
        """Iterate to a fixed point: regions may run any number of times, or not at all."""
        before: frozenset[int] | None = None
        while read != before:
            before = read
            for region in op.regions:
                for block in region.blocks:
                    read |= self.block(block, before)
        return read
