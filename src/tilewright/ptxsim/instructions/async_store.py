"""`st.async` and `red.async`: stores to another CTA of the cluster, completed on an mbarrier."""

from __future__ import annotations

from typing import Final

import numpy as np

from tilewright.ptxsim.addresses import shared_span
from tilewright.ptxsim.async_engine import AsyncEngine
from tilewright.ptxsim.bulk_targets import Arrivals, note_shared_write
from tilewright.ptxsim.instructions.data_movement import SCOPES, bits_of, gather_columns
from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.memory import Kind, Space
from tilewright.ptxsim.operation import Operation
from tilewright.ptxsim.proxies import GenericWrites
from tilewright.ptxsim.reductions import OPERATIONS, reduction
from tilewright.ptxsim.scalar_types import Array
from tilewright.ptxsim.traffic import ASYNC_WRITES

_VECTORS: Final = {"v2": 2, "v4": 4}


class _Store:
    """One decoded instruction."""

    def __init__(self, op: Operation) -> None:
        op.ignore("weak", "relaxed", "shared::cluster", "mbarrier::complete_tx::bytes", *SCOPES)
        operation = op.choice(*OPERATIONS) if op.name == "red.async" else None
        vector = op.choice(*_VECTORS)
        type = op.type()
        self.type = bits_of(type)
        self.reduce = None if operation is None else reduction(operation, type.name)
        self.address, self.values = op.address(0), op.reads(1, self.type)
        if len(self.values) != (_VECTORS[vector] if vector else 1):
            op.fail(f"expected one value per vector element, got {len(self.values)}")
        self.arrivals = Arrivals(op, 2)
        self.site = op.site
        op.needs(GenericWrites)

    def run(self, lanes: Lanes) -> None:
        rows = gather_columns(lanes, self.values, self.type).view(np.uint8)
        addresses = lanes.spread(self.address(lanes))
        for at in range(lanes.count):
            self._issue(lanes.take(np.arange(lanes.count) == at), int(addresses[at]), rows[at])

    def _issue(self, lane: Lanes, address: int, data: Array) -> None:
        wave, site, size = lane.wave, self.site, len(data)
        kind = Kind.ASYNC_WRITE
        start = shared_span(lane, Space.CLUSTER, address, size, size, site, kind)
        wave.traffic.count("shared", ASYNC_WRITES, size)
        pending = self.arrivals.expect(lane, None)
        if self.reduce is None:
            note_shared_write(lane, start, size, pending.objects[0], site)

        def work() -> None:
            old = wave.memory.shared.bytes[start : start + size]
            old[...] = data if self.reduce is None else self.reduce(old, data)
            wave.progress += 1
            pending.complete(size)

        wave.state(AsyncEngine).submit(work)


@instruction("st.async", "red.async")
def store(op: Operation) -> Run:
    """`st.async [a], b, [mbarrier]`."""
    return _Store(op).run
