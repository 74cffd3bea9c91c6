"""Shared-memory destinations of bulk copies, and the mbarriers that they complete on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tilewright.ptxsim.addresses import in_cta, shared_index
from tilewright.ptxsim.mbarriers import SIZE, Mbarrier, Mbarriers
from tilewright.ptxsim.memory import Kind, Space
from tilewright.ptxsim.proxies import GenericWrites

if TYPE_CHECKING:
    from tilewright.ptxsim.lanes import Lanes
    from tilewright.ptxsim.operation import Operation
    from tilewright.ptxsim.scalar_types import Array
    from tilewright.ptxsim.syntax import Instruction


class Pending:
    """The mbarriers that a copy signals when it completes."""

    def __init__(
        self, state: Mbarriers, objects: list[Mbarrier], thread: int, site: Instruction
    ) -> None:
        self.state = state
        self.objects = objects
        self._thread = thread
        self._site = site
        checker = state.wave.checker
        self._known: Array | None = None
        if checker is not None:
            self._known = checker.snapshot(np.array([thread]))

    def complete(self, size: int) -> None:
        """Complete `size` bytes on each of the mbarriers."""
        for mbarrier in self.objects:
            self.state.release(mbarrier, self._known)
            self.state.complete_tx(mbarrier, size, self._thread, self._site)


class Arrivals:
    """The operand `[mbarrier]` of a copy."""

    def __init__(self, op: Operation, operand: int) -> None:
        self.address = op.address(operand)
        self.site = op.site

    def expect(self, lane: Lanes, mask: int | None) -> Pending:
        """Find the mbarriers of a copy issued by one lane, in the CTAs of a multicast mask."""
        address, site = self.address(lane), self.site
        index = int(shared_index(lane, Space.CLUSTER, address, SIZE, site, Kind.ATOMIC)[0])
        state, thread = lane.wave.state(Mbarriers), int(lane.threads[0])
        indices = [index]
        if mask is not None:
            indices = [in_cta(lane, index, rank) for rank in ranks_of(lane, mask, site)]
        objects = [state.find(each, thread, site) for each in indices]
        return Pending(state, objects, thread, site)


def ranks_of(lane: Lanes, mask: int, site: Instruction) -> list[int]:
    """The ranks of the CTAs in a multicast mask."""
    size = lane.wave.launch.cluster_size
    if mask >> size or not mask:
        text = f"expected a mask of CTAs in a cluster of {size}, got 0x{mask:x}"
        lane.wave.violation(text, site, int(lane.threads[0]))
    return [rank for rank in range(size) if mask >> rank & 1]


def note_bulk_write(
    lane: Lanes, start: int, size: int, mbarrier: Mbarrier, site: Instruction
) -> None:
    """Check and record a write to shared memory through the async proxy."""
    wave = lane.wave
    chunks, thread = np.arange(start, start + size, 16), int(lane.threads[0])
    wave.state(GenericWrites).require_overwritable(wave.memory.shared, chunks, 16, thread, site)
    note_shared_write(lane, start, size, mbarrier, site)


def note_shared_write(
    lane: Lanes, start: int, size: int, mbarrier: Mbarrier, site: Instruction
) -> None:
    """Record the write to shared memory of a copy that completes on an mbarrier."""
    wave = lane.wave
    thread = int(lane.threads[0])
    if wave.checker is not None:
        wave.checker.bulk_write(thread, start, size, mbarrier.actor, mbarrier.time, site)
    shared = wave.memory.shared
    shared.shadow[start : start + size] = 3
    wave.state(GenericWrites).replace(shared, np.arange(start, start + size, 16), 16)
