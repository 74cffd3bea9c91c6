"""Where bulk copies go in shared memory, and the mbarriers that they tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tilewright.ptxsim.mbarriers import SIZE, Mbarrier, Mbarriers
from tilewright.ptxsim.memory import Kind, Space
from tilewright.ptxsim.places import in_cta, shared_index
from tilewright.ptxsim.proxies import GenericWrites

if TYPE_CHECKING:
    from tilewright.ptxsim.lanes import Lanes
    from tilewright.ptxsim.operation import Operation
    from tilewright.ptxsim.scalar_types import Array
    from tilewright.ptxsim.syntax import Instruction


class Pending:
    """The mbarriers that one copy tells when it is done."""

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
        """Bytes have come, as many for each of the mbarriers."""
        for found in self.objects:
            self.state.release(found, self._known)
            self.state.complete_tx(found, size, self._thread, self._site)


class Arrivals:
    """The operand `[mbarrier]` of a copy."""

    def __init__(self, op: Operation, which: int) -> None:
        self.address = op.address(which)
        self.site = op.site

    def expect(self, lane: Lanes, mask: int | None) -> Pending:
        """The mbarriers of a copy that one lane issues, in the CTAs of a mask."""
        address, site = self.address(lane), self.site
        place = int(shared_index(lane, Space.CLUSTER, address, SIZE, site, Kind.ATOMIC)[0])
        state, thread = lane.wave.state(Mbarriers), int(lane.threads[0])
        places = [place]
        if mask is not None:
            places = [in_cta(lane, place, rank) for rank in ranks_of(lane, mask, site)]
        objects = [state.find(each, thread, site) for each in places]
        return Pending(state, objects, thread, site)


def ranks_of(lane: Lanes, mask: int, site: Instruction) -> list[int]:
    """The CTAs of the cluster that a mask names."""
    size = lane.wave.launch.cluster_size
    if mask >> size or not mask:
        text = f"expected a mask of CTAs in a cluster of {size}, got 0x{mask:x}"
        lane.wave.violation(text, site, int(lane.threads[0]))
    return [rank for rank in range(size) if mask >> rank & 1]


def note_shared_write(
    lane: Lanes, start: int, size: int, found: Mbarrier, site: Instruction
) -> None:
    """A copy that an mbarrier counts will write some bytes of shared memory."""
    wave = lane.wave
    thread = int(lane.threads[0])
    if wave.checker is not None:
        wave.checker.bulk_write(thread, start, size, found.actor, found.time, site)
    shared = wave.memory.shared
    shared.shadow[start : start + size] = 3
    wave.state(GenericWrites).replace(shared, np.arange(start, start + size, 16), 16)
