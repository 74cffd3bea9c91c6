"""Allocation of shared memory: the bytes that each operation has for itself while it needs them.

Pipelines, buffers and tiles in shared memory take memory as long as they are live; two that are
never live at the same time may share it. Scratch memory is where nothing is live around its
operation, which writes it, waits at a barrier, and reads. After that barrier all earlier reads are
complete, so only the memory that was accessed last may still be read. Operations alternate between
two scratch areas, so that consecutive ones need no barrier between them. If the GPU has space for
one area only, all have that one. `synchronize` orders what has the same memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.targets import target_of
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.agents import AgentSwitchOp, agent_of
from tilewright.dialects.nv_tileas.attribute_names import (
    SCRATCH_ALIGNMENT,
    SCRATCH_BYTES,
    SCRATCH_OFFSET,
)
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.passes import Pass
from tilewright.ir.types import I64
from tilewright.layout.wgmma import ALIGNMENT
from tilewright.plans.allocations import aligned, allocated_bytes
from tilewright.plans.scratch import scratch_bytes
from tilewright.schedule.shared_lifetimes import find_lifetimes, offsets_of
from tilewright.support.diagnostics import Diagnostic, UserError, note
from tilewright.target.memories import LINE
from tilewright.transforms.nv_tileas.shared_accesses import (
    NONE,
    Access,
    Accesses,
    BlockDataflow,
    Span,
    effects,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilewright.ir.operation import Operation
    from tilewright.schedule.shared_lifetimes import Lifetimes
    from tilewright.support.diagnostics import Sink
    from tilewright.target.arch import Arch


class Allocate(Pass):
    """Assign shared memory to every operation that needs some, in functions without a plan."""

    name = "allocate"
    is_required = True

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            _allocate(function)


def _allocate(function: FuncOp) -> None:
    """Assign the shared memory of all operations of a function."""
    if SCRATCH_BYTES in function.attributes:
        return
    needs = {op: bytes for op in function.walk() if (bytes := scratch_bytes(op))}
    lifetimes = find_lifetimes(function)
    if not needs and not lifetimes:
        return
    allocated = {
        op: Span(start, start + allocated_bytes(op)) for op, start in offsets_of(lifetimes).items()
    }
    areas = _areas(function, needs, lifetimes, allocated)
    alternation = _Alternation(allocated, areas)
    alternation.block(function.body.block, NONE)
    for op, span in alternation.spans.items():
        op.attributes[SCRATCH_OFFSET] = IntegerAttr(span.start, I64)
    size = max(span.end for span in alternation.spans.values())
    function.attributes[SCRATCH_BYTES] = IntegerAttr(size, I64)
    if allocated:
        function.attributes[SCRATCH_ALIGNMENT] = IntegerAttr(ALIGNMENT, I64)


def _areas(
    function: FuncOp,
    needs: Mapping[Operation, int],
    lifetimes: Lifetimes,
    allocated: Mapping[Operation, Span],
) -> dict[Operation, list[Span]]:
    """The scratch areas of each operation, between or above the allocations that are live there.

    Agents run at the same time: each has areas of its own.
    """
    arch = target_of(function)
    if arch is not None:
        _check_allocations(allocated, arch)
    by_agent: dict[AgentSwitchOp | None, list[Operation]] = {}
    for op in needs:
        by_agent.setdefault(agent_of(op), []).append(op)
    areas: dict[Operation, list[Span]] = {}
    taken = 0
    for ops in by_agent.values():
        live = {op: [allocated[other] for other in lifetimes.live_at(op)] for op in ops}
        lines = {op: aligned(needs[op], LINE) for op in ops}
        floors = {op: _gap(live[op], aligned(taken, LINE), lines[op]) for op in ops}
        sizes: dict[int, int] = {}
        for op, floor in floors.items():
            sizes[floor] = max(sizes.get(floor, 0), lines[op])
        for op, floor in floors.items():
            areas[op] = _areas_from(op, floor, needs[op], sizes[floor], live[op], arch)
        taken = max([areas[op][-1].end for op in ops])
    return areas


def _gap(live: Sequence[Span], start: int, size: int) -> int:
    """The lowest offset from `start` on at which `size` bytes are not allocated."""
    for span in sorted(live):
        if span.overlaps(Span(start, start + size)):
            start = aligned(span.end, LINE)
    return start


def _areas_from(
    op: Operation, floor: int, bytes: int, size: int, live: Sequence[Span], arch: Arch | None
) -> list[Span]:
    """Two areas from an offset on, of a size that all operations there share; else one."""
    areas = [Span(floor, floor + size), Span(floor + size, floor + 2 * size)]
    is_free = not any(area.overlaps(other) for area in areas for other in live)
    if is_free and (arch is None or areas[-1].end <= arch.static_shared):
        return areas
    if arch is not None and floor + bytes > arch.static_shared:
        gist = f"'{op.name}' stages {bytes} bytes, and other operations use {floor} meanwhile"
        raise _too_much_shared(op, floor + bytes, arch, gist)
    return [Span(floor, floor + bytes)]


def _check_allocations(allocated: Mapping[Operation, Span], arch: Arch) -> None:
    """Check that the buffers that are live at the same time fit into shared memory."""
    for op, span in allocated.items():
        if span.end > arch.static_shared:
            gist = f"'{op.name}' allocates {span.end - span.start} bytes beside other buffers"
            raise _too_much_shared(op, span.end, arch, gist)


def _too_much_shared(op: Operation, bytes: int, arch: Arch, gist: str) -> UserError:
    """The error of a function without a plan: in the words of ptxas, which tuners look for."""
    function = next(outer for outer in op.ancestors() if isinstance(outer, FuncOp))
    sizes = f"(0x{bytes:x} bytes, 0x{arch.static_shared:x} max)"
    message = f"'@{function.sym_name}' uses too much shared data {sizes}"
    return UserError([Diagnostic(message, op.location, notes=(note(gist, op.location),))])


class _Alternation(BlockDataflow[Accesses]):
    """Chooses an area for each operation of which no access is pending, if there is one."""

    __slots__ = ("_areas", "spans")

    def __init__(
        self, allocated: Mapping[Operation, Span], areas: Mapping[Operation, Sequence[Span]]
    ) -> None:
        self._areas = areas
        self.spans = dict(allocated)
        """The shared memory of each operation that needs some."""

    def visit(self, op: Operation, state: Accesses) -> Accesses:
        if op in self._areas:
            self.spans[op] = self._free_area(op, state)
        elif op.regions:
            return self.inside(op, state)
        return effects(op, self.spans).after(state)

    def joined(self, first: Accesses, second: Accesses) -> Accesses:
        return first.joined(second)

    def _free_area(self, op: Operation, pending: Accesses) -> Span:
        areas = [Access(op, span) for span in self._areas[op]]
        accessed = pending.reads | pending.writes
        free = [area for area in areas if not any(map(area.may_conflict, accessed))]
        return (free or areas)[0].span
