"""`cp.async.bulk.tensor`: copies of tensor boxes (TMA)."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from tilewright.ptxsim.addresses import (
    check_chunks,
    global_span,
    in_cta,
    shared_address,
    shared_span,
)
from tilewright.ptxsim.async_engine import AsyncEngine, BulkCopy, BulkGroups
from tilewright.ptxsim.bulk_targets import Arrivals, note_bulk_write, ranks_of
from tilewright.ptxsim.instructions.data_movement import CACHE_HINTS
from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.map_proxy import MapProxy
from tilewright.ptxsim.memory import GLOBAL_WINDOW, Kind, ResolvedAddress, Space
from tilewright.ptxsim.operation import Operation, Read
from tilewright.ptxsim.pending_stores import PendingStores
from tilewright.ptxsim.proxies import GenericWrites
from tilewright.ptxsim.reductions import OPERATIONS, reduction
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, Array
from tilewright.ptxsim.syntax import Address
from tilewright.ptxsim.tensor_map import SIZE, Box, TensorMap, box_at, decode, swizzled
from tilewright.ptxsim.traffic import BULK_READS, BULK_WRITES

_U16: Final = SCALAR_TYPES["u16"]
_S32: Final = SCALAR_TYPES["s32"]
_RANK: Final = re.compile(r"([1-5])d")
_ALIGNMENT: Final = 128


class _Form:
    """The map and the coordinates: `[map, {x, y}]`."""

    def __init__(self, op: Operation, operand_index: int) -> None:
        rank = next((_RANK.fullmatch(each) for each in op.modifiers if _RANK.fullmatch(each)), None)
        if rank is None:
            op.fail("expected the number of dimensions")
        if any(each.startswith(("im2col", "tile::")) for each in op.modifiers):
            op.unsupported("only tile mode")
        op.ignore(rank[0], "tile", "global", "shared::cta", "shared::cluster", *CACHE_HINTS)
        operand = op.operand(operand_index)
        if not isinstance(operand, Address) or len(operand.rest) != 1:
            op.fail("expected a tensor map and coordinates")
        self.map: Read = op.address(operand)
        self.coordinates = op.reads(operand.rest[0], _S32)
        self.rank = int(rank[1])
        if len(self.coordinates) != self.rank:
            op.fail(f"expected {self.rank} coordinates, got {len(self.coordinates)}")
        self.site = op.site
        op.needs(GenericWrites)
        op.needs(MapProxy)
        op.needs(PendingStores)

    def box(self, lane: Lanes, *, stores: bool) -> Box:
        """The box of one lane's copy."""
        at = tuple(int(each(lane)[0]) for each in self.coordinates)
        map = self._decode(lane, int(self.map(lane)[0]))
        thread = int(lane.threads[0])
        if (at[0] * map.unit) % 16:
            text = f"misaligned box: expected 16 to divide {at[0]} elements of {map.unit} bytes"
            lane.wave.violation(text, self.site, thread)
        if stores and min(at) < 0:
            text = f"out-of-bounds box: a store may not begin at {at}"
            lane.wave.violation(text, self.site, thread)
        return box_at(map, at)

    def _decode(self, lane: Lanes, address: int) -> TensorMap:
        wave, site, thread = lane.wave, self.site, int(lane.threads[0])
        memory = wave.memory
        resolved = memory.resolve(lane, Space.GENERIC, np.array([address]), 64, site, Kind.READ)
        if not isinstance(resolved, ResolvedAddress) or resolved.arena is not memory.device.arena:
            text = "expected a tensor map in global or constant memory or in a parameter"
            wave.violation(text, site, thread)
        start = int(resolved.index[0])
        if wave.checks:
            memory.check(lane, resolved, SIZE, site, Kind.READ)
        wave.state(MapProxy).require_visible(start, thread, site)
        try:
            map = decode(resolved.arena.bytes[start : start + SIZE].tobytes())
        except ValueError as error:
            wave.violation(f"invalid tensor map at address 0x{address:x}: {error}", site, thread)
        if map.rank != self.rank:
            text = f"expected a tensor map of {self.rank} dimensions, got {map.rank}"
            wave.violation(text, site, thread)
        return map


def _check_rows(lane: Lanes, box: Box, spans: Array, size: int, kind: Kind, form: _Form) -> int:
    """Check the in-bounds rows; return the tensor's start in the arena."""
    wave, site = lane.wave, form.site
    memory = wave.memory
    base = box.map.address - GLOBAL_WINDOW
    if not len(spans) or size <= 0:
        return base
    arena = memory.device.arena
    first, last = int(spans.min()), int(spans.max())
    for start in (first, last):
        global_span(lane, box.map.address + start, size, 1, site, kind)
    if wave.checks:
        lanes_per_row = Lanes(wave, lane.frame, np.repeat(lane.threads, len(spans)))
        memory.check(lanes_per_row, ResolvedAddress(arena, spans + base, None), size, site, kind)
    return base


class _Load:
    """A decoded copy from global to shared memory."""

    def __init__(self, op: Operation) -> None:
        self.form = _Form(op, 1)
        op.ignore("mbarrier::complete_tx::bytes")
        self.target = op.address(0)
        self.arrivals = Arrivals(op, 2)
        multicast = op.flag("multicast::cluster")
        self.mask = op.read(3, _U16) if multicast else None

    def run(self, lanes: Lanes) -> None:
        for at in range(lanes.count):
            self._issue(lanes.take(np.arange(lanes.count) == at))

    def _issue(self, lane: Lanes) -> None:
        wave, site = lane.wave, self.form.site
        memory, thread = wave.memory, int(lane.threads[0])
        box = self.form.box(lane, stores=False)
        map = box.map
        size = box.high - box.low
        base = _check_rows(lane, box, box.spans(), size, Kind.ASYNC_READ, self.form)
        chunks = (box.spans()[:, None] + base + np.arange(0, size, 16)).reshape(-1)
        writes = wave.state(GenericWrites)
        writes.require_visible(memory.device.arena, chunks, 16, thread, site)
        wave.state(PendingStores).require_complete(chunks >> 4, thread, site)
        address = int(self.target(lane)[0])
        start = shared_span(
            lane, Space.CLUSTER, address, map.footprint, _ALIGNMENT, site, Kind.ASYNC_WRITE
        )
        wave.traffic.copy_bulk(BULK_READS, box.spans() + base, size, site)
        mask = None if self.mask is None else int(self.mask(lane)[0])
        ranks = None if mask is None else ranks_of(lane, mask, site)
        starts = [start] if ranks is None else [in_cta(lane, start, rank) for rank in ranks]
        wave.traffic.count("shared", BULK_WRITES, len(starts) * map.box_bytes)
        pending = self.arrivals.expect(lane, mask)
        for each, mbarrier in zip(starts, pending.objects, strict=True):
            note_bulk_write(lane, each, map.footprint, mbarrier, site)
        offsets = swizzled(map, shared_address(lane, start)) - shared_address(lane, start)

        def work() -> None:
            data = box.gather(memory.device.arena.bytes, base).reshape(-1, 16)
            shared = memory.shared.bytes.reshape(-1, 16)
            for each in starts:
                shared[(offsets + each) >> 4] = data
            wave.progress += 1
            pending.complete(map.box_bytes)

        wave.state(AsyncEngine).submit(work)


class _Store:
    """A decoded copy from shared to global memory, or a reduction."""

    def __init__(self, op: Operation) -> None:
        self.form = _Form(op, 0)
        op.ignore("bulk_group")
        self.operation: str | None = None
        if op.name.startswith("cp.reduce"):
            self.operation = op.choice(*OPERATIONS) or op.fail("expected an operation")
        self.source = op.address(1)

    def run(self, lanes: Lanes) -> None:
        for at in range(lanes.count):
            self._issue(lanes.take(np.arange(lanes.count) == at))

    def _issue(self, lane: Lanes) -> None:
        wave, site = lane.wave, self.form.site
        memory, thread = wave.memory, int(lane.threads[0])
        box = self.form.box(lane, stores=True)
        map = box.map
        address = int(self.source(lane)[0])
        start = shared_span(
            lane, Space.SHARED, address, map.footprint, _ALIGNMENT, site, Kind.ASYNC_READ
        )
        if wave.checker is not None:
            wave.checker.bulk_read(thread, start, map.footprint, site)
        chunks = np.arange(start, start + map.footprint, 16)
        wave.state(GenericWrites).require_visible(memory.shared, chunks, 16, thread, site)
        base = _check_rows(lane, box, box.spans(), box.stored, Kind.ASYNC_WRITE, self.form)
        wave.traffic.count("shared", BULK_READS, map.box_bytes)
        wave.traffic.copy_bulk(BULK_WRITES, box.spans() + base, box.stored, site)
        chunk_indices = (
            swizzled(map, shared_address(lane, start)) - shared_address(lane, start)
        ) + start
        check_chunks(lane, chunk_indices, 16, site, Kind.ASYNC_READ)
        reduce = None
        if self.operation is not None:
            reduce = reduction(self.operation, map.type.removesuffix(".ftz"))

        source: list[Array] = []

        def read() -> None:
            rows = memory.shared.bytes.reshape(-1, 16)[chunk_indices >> 4].reshape(map.rows, -1)
            source.append(rows.copy())

        def work() -> None:
            offsets, data = box.scatter(source[0])
            arena = memory.device.arena
            if reduce is not None:
                data = reduce(arena.bytes[offsets + base], data).reshape(offsets.shape)
            arena.bytes[offsets + base] = data
            arena.shadow[offsets + base] = 3
            wave.progress += 1

        # Reductions are atomic, in any order.
        starts = box.spans() + base if reduce is None else box.spans()[:0]
        stored = wave.state(PendingStores).start(starts, box.stored, thread, site)
        job = wave.state(AsyncEngine).submit(work, read)
        wave.state(BulkGroups).add(thread, BulkCopy(job, stored), site)


@instruction("cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor")
def copy(op: Operation) -> Run:
    """`cp.async.bulk.tensor.2d [to], [map, {x, y}], [mbarrier]`, and shared to global."""
    spaces = [each for each in op.modifiers if each == "global" or each.startswith("shared")]
    if not spaces:
        op.fail("expected two state spaces")
    return _Store(op).run if spaces[0] == "global" else _Load(op).run


@instruction("cp.async.bulk.prefetch.tensor")
def prefetch(op: Operation) -> Run:
    """A cache hint, which has no effect here."""
    op.rest()
    op.ignore_operands()
    return lambda lanes: None
