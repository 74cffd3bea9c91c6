"""`cp.async.bulk`: copies and reductions of contiguous bytes by the copy engine."""

from __future__ import annotations

from typing import Final

import numpy as np

from tilewright.ptxsim.addresses import check_chunks, global_span, in_cta, shared_span
from tilewright.ptxsim.async_engine import AsyncEngine, BulkCopy, BulkGroups
from tilewright.ptxsim.bulk_targets import Arrivals, note_bulk_write, ranks_of
from tilewright.ptxsim.checker import BULK
from tilewright.ptxsim.instructions.data_movement import CACHE_HINTS
from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.memory import Kind, Space
from tilewright.ptxsim.operation import Operation
from tilewright.ptxsim.pending_stores import PendingStores
from tilewright.ptxsim.proxies import GenericWrites
from tilewright.ptxsim.reductions import OPERATIONS, Reduction, reduction
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, Array
from tilewright.ptxsim.traffic import BULK_READS, BULK_WRITES

_U16: Final = SCALAR_TYPES["u16"]
_U32: Final = SCALAR_TYPES["u32"]
_GRAIN: Final = 16


class _Transfer:
    """One decoded bulk copy."""

    def __init__(self, op: Operation) -> None:
        spaces = [each for each in op.modifiers if each == "global" or each.startswith("shared")]
        if len(spaces) != 2:
            op.fail("expected two state spaces")
        self.to_global, self.from_global = spaces[0] == "global", spaces[1] == "global"
        op.ignore("global", "shared::cta", "shared::cluster", "noftz", *CACHE_HINTS)
        self.multicast = op.flag("multicast::cluster")
        self.grouped = op.flag("bulk_group")
        op.ignore("mbarrier::complete_tx::bytes")
        self.reduce: Reduction | None = None
        if op.name == "cp.reduce.async.bulk":
            name = op.choice(*OPERATIONS) or op.fail("expected an operation")
            self.reduce = reduction(name, op.type().name)
        self.target, self.source = op.address(0), op.address(1)
        self.size = op.read(2, _U32)
        self.arrivals = None if self.grouped else Arrivals(op, 3)
        mask = 4 if self.multicast else None
        self.mask = None if mask is None else op.read(mask, _U16)
        self.site = op.site
        op.needs(GenericWrites)
        op.needs(PendingStores)

    def run(self, lanes: Lanes) -> None:
        columns = [lanes.spread(each(lanes)) for each in (self.target, self.source, self.size)]
        masks = None if self.mask is None else lanes.spread(self.mask(lanes))
        for at in range(lanes.count):
            lane = lanes.take(np.arange(lanes.count) == at)
            target, source, size = (int(column[at]) for column in columns)
            if size % _GRAIN:
                text = f"expected a size that {_GRAIN} divides, got {size}"
                lanes.wave.violation(text, self.site, int(lane.threads[0]))
            self._issue(lane, target, source, size, None if masks is None else int(masks[at]))

    def _issue(self, lane: Lanes, target: int, source: int, size: int, mask: int | None) -> None:
        from_ = self._source(lane, source, size)
        targets = self._targets(lane, target, size, mask)
        memory, thread = lane.wave.memory, int(lane.threads[0])
        if self.to_global:
            written = np.array([start for _, start in targets])
            lane.wave.traffic.copy_bulk(BULK_WRITES, written, size, self.site)
        else:
            lane.wave.traffic.count("shared", BULK_WRITES, len(targets) * size)
        pending = None
        if self.arrivals is not None:
            pending = self.arrivals.expect(lane, mask)
            for (_, start), each in zip(targets, pending.objects, strict=True):
                note_bulk_write(lane, start, size, each, self.site)

        read_bytes: list[Array] = []

        def read() -> None:
            read_bytes.append(from_[0][from_[1] : from_[1] + size].copy())

        def work() -> None:
            for bytes, start in targets:
                old = bytes[start : start + size]
                old[...] = read_bytes[0] if self.reduce is None else self.reduce(old, read_bytes[0])
            memory.wave.progress += 1
            if pending is not None:
                pending.complete(size)

        starts = np.array([start for _, start in targets] if self._is_store else [], np.int64)
        stored = lane.wave.state(PendingStores).start(starts, size, thread, self.site)
        job = lane.wave.state(AsyncEngine).submit(work, read)
        if pending is None:
            lane.wave.state(BulkGroups).add(thread, BulkCopy(job, stored), self.site)

    @property
    def _is_store(self) -> bool:
        """Whether nothing else may access its destination until it is complete."""
        return self.to_global and self.reduce is None

    def _source(self, lane: Lanes, address: int, size: int) -> tuple[Array, int]:
        wave, thread, site = lane.wave, int(lane.threads[0]), self.site
        memory = wave.memory
        if self.from_global:
            arena = memory.device.arena
            start = global_span(lane, address, size, _GRAIN, site, Kind.ASYNC_READ)
        else:
            arena = memory.shared
            kind = Kind.ASYNC_READ
            start = shared_span(lane, Space.SHARED, address, size, _GRAIN, site, kind)
            check_chunks(lane, np.arange(start, start + size, _GRAIN), _GRAIN, site, kind)
            if wave.checker is not None:
                wave.checker.bulk_read(thread, start, size, site)
        if self.from_global:
            wave.traffic.copy_bulk(BULK_READS, np.array([start]), size, site)
        else:
            wave.traffic.count("shared", BULK_READS, size)
        chunks = np.arange(start, start + size, _GRAIN)
        wave.state(GenericWrites).require_visible(arena, chunks, _GRAIN, thread, site)
        return arena.bytes, start

    def _targets(
        self, lane: Lanes, address: int, size: int, mask: int | None
    ) -> list[tuple[Array, int]]:
        memory, site, kind = lane.wave.memory, self.site, Kind.ASYNC_WRITE
        if self.to_global:
            start = global_span(lane, address, size, _GRAIN, site, kind)
            return [(memory.device.arena.bytes, start)]
        start = shared_span(lane, Space.CLUSTER, address, size, _GRAIN, site, kind)
        if mask is None:
            return [(memory.shared.bytes, start)]
        ranks = ranks_of(lane, mask, site)
        return [(memory.shared.bytes, in_cta(lane, start, rank)) for rank in ranks]


@instruction("cp.async.bulk", "cp.reduce.async.bulk")
def copy(op: Operation) -> Run:
    """`cp.async.bulk [to], [from], size`, with an mbarrier or in a bulk group."""
    return _Transfer(op).run


@instruction("cp.async.bulk.prefetch")
def prefetch(op: Operation) -> Run:
    """A cache hint, which has no effect here."""
    op.rest()
    op.ignore_operands()
    return lambda lanes: None


@instruction("cp.async.bulk.commit_group")
def commit(op: Operation) -> Run:
    """`cp.async.bulk.commit_group`."""

    def run(lanes: Lanes) -> None:
        lanes.wave.state(BulkGroups).commit(lanes.threads)
        if lanes.wave.checker is not None:
            lanes.wave.checker.commit(BULK, lanes.threads)

    return run


@instruction("cp.async.bulk.wait_group")
def wait(op: Operation) -> Run:
    """`cp.async.bulk.wait_group n`: at most n groups are pending; with `.read`, read still."""
    read = op.flag("read")
    pending = op.constant(0)

    def run(lanes: Lanes) -> None:
        lanes.wave.state(BulkGroups).wait(lanes.threads, pending, read=read)
        if lanes.wave.checker is not None:
            lanes.wave.checker.wait(BULK, lanes.threads, pending)

    return run
