"""Finds ordinary accesses to global memory that nothing orders; an optional check.

Within a cluster the clocks of the checker say what is ordered. Between clusters, and by flags in
global memory, it is enough that both sides made a strong access since: what these say to each
other is not followed. So a report is true, but not every race is found. The last writer and the
last reader of a place are known, copies of the engine are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tilewright.ptxsim.lanes import WARP
from tilewright.ptxsim.memory import GLOBAL_WINDOW, Kind, Place
from tilewright.ptxsim.scalar_types import Array

if TYPE_CHECKING:
    from collections.abc import Hashable

    from tilewright.ptxsim.checker import Checker
    from tilewright.ptxsim.lanes import Lanes
    from tilewright.ptxsim.syntax import Instruction
    from tilewright.ptxsim.wave import Wave

_WORD: Final = 2


class _Labels:
    """For each grain who was last there (a warp plus one), when, and with which instruction."""

    def __init__(self, grains: int) -> None:
        self.warp: Array = np.zeros(grains, np.int32)
        self.time: Array = np.zeros(grains, np.int32)
        self.event: Array = np.zeros(grains, np.int64)
        self.site: Array = np.zeros(grains, np.int32)

    def repeat(self, factor: int) -> None:
        """Make every grain several smaller ones."""
        self.warp, self.time = np.repeat(self.warp, factor), np.repeat(self.time, factor)
        self.event, self.site = np.repeat(self.event, factor), np.repeat(self.site, factor)

    def extend(self, grains: int) -> None:
        """Have more grains: memory has grown."""
        more = (0, grains)
        self.warp, self.time = np.pad(self.warp, more), np.pad(self.time, more)
        self.event, self.site = np.pad(self.event, more), np.pad(self.site, more)


class GlobalRaces:
    """Watches the global memory of one wave."""

    def __init__(self, wave: Wave, checker: Checker) -> None:
        self.wave = wave
        self.checker = checker
        self.clocks = checker.clocks
        self.shift = _WORD
        grains = wave.memory.device.arena.size >> _WORD
        self.writes, self.reads = _Labels(grains), _Labels(grains)
        # Strong accesses so far; the last one of each warp, and of each cluster.
        self.events = 1
        warps = len(self.clocks.own)
        self.last_of_warp: Array = np.zeros(warps, np.int64)
        self.last_of_cluster: Array = np.zeros(warps // self.clocks.cluster_warps, np.int64)

    def synchronise(self, threads: Array, kind: str, key: Hashable, site: Instruction) -> None:
        """Ordering events, which the clocks know already."""

    def access(
        self,
        lanes: Lanes,
        place: Place,
        size: int,
        kind: Kind,
        site: Instruction,
        values: Array | None = None,
    ) -> None:
        """Lanes touch `size` bytes at each index of the place."""
        if place.arena is not self.wave.memory.device.arena:
            return
        threads = lanes.threads if place.mask is None else lanes.threads[place.mask]
        if self.checker.site(site).strong or kind is Kind.ATOMIC:
            self._note_strong(threads // WARP)
            return
        if len(threads) != len(place.index):
            threads = np.broadcast_to(threads[:1], len(place.index))
        grains, who = self._grains(place.index, size, threads)
        if kind is Kind.READ:
            self._require(self.writes, grains, who, site, "load", "write")
            self._note(self.reads, grains, who, site)
        elif kind is Kind.WRITE:
            self._write(grains, who, site, values)

    def _write(self, grains: Array, who: Array, site: Instruction, values: Array | None) -> None:
        fresh = None
        if values is not None:
            # Stores of what is there already are harmless.
            fresh = np.ascontiguousarray(values).view(np.uint8).reshape(-1, 1 << self.shift)
            fresh = np.tile(fresh, (len(grains) // len(fresh), 1))
            there = self.wave.memory.device.arena.bytes.reshape(-1, fresh.shape[1])[grains]
            new = np.logical_or.reduce(there != fresh, axis=1)
            grains, who, fresh = grains[new], who[new], fresh[new]
        self._require(self.writes, grains, who, site, "store", "write")
        self._require(self.reads, grains, who, site, "store", "read")
        self._note(self.writes, grains, who, site)
        self._require_alone(grains, who, site, fresh)

    def _require_alone(
        self, grains: Array, who: Array, site: Instruction, fresh: Array | None
    ) -> None:
        """Warps that store to one place at once must store the same."""
        met = self.writes.warp[grains] != who // WARP + 1
        if not met.any():
            return
        if fresh is not None:
            _, place = np.unique(grains, return_inverse=True)
            winners = np.zeros((int(place.max()) + 1, fresh.shape[1]), np.uint8)
            winners[place] = fresh
            met &= np.logical_or.reduce(winners[place] != fresh, axis=1)
        if met.any():
            self._report(self.writes, grains, who, met, site, "store", "write")

    def _grains(self, index: Array, size: int, threads: Array) -> tuple[Array, Array]:
        wanted = min(_WORD, size.bit_length() - 1)
        if wanted < self.shift:
            for labels in (self.writes, self.reads):
                labels.repeat(1 << (self.shift - wanted))
            self.shift = wanted
        missing = (self.wave.memory.device.arena.size >> self.shift) - len(self.writes.warp)
        if missing > 0:
            for labels in (self.writes, self.reads):
                labels.extend(missing)
        count = size >> self.shift
        first = index >> self.shift
        if count == 1:
            return first, threads
        return (first[:, None] + np.arange(count)).reshape(-1), np.repeat(threads, count)

    def _note_strong(self, warps: Array) -> None:
        self.events += 1
        self.last_of_warp[warps] = self.events
        self.last_of_cluster[warps // self.clocks.cluster_warps] = self.events

    def _note(self, labels: _Labels, grains: Array, who: Array, site: Instruction) -> None:
        warps = who // WARP
        labels.warp[grains] = warps + 1
        labels.time[grains] = self.clocks.now(warps)
        labels.event[grains] = self.events
        labels.site[grains] = self.checker.site(site).number

    def _require(
        self, labels: _Labels, grains: Array, who: Array, site: Instruction, what: str, before: str
    ) -> None:
        warps, others = who // WARP, labels.warp[grains] - 1
        doubtful = (others >= 0) & (others != warps)
        if not doubtful.any():
            return
        grains, who = grains[doubtful], who[doubtful]
        bad = ~self._ordered(labels, grains, warps[doubtful], others[doubtful])
        if bad.any():
            self._report(labels, grains, who, bad, site, what, before)

    def _ordered(self, labels: _Labels, grains: Array, warps: Array, others: Array) -> Array:
        clocks, events = self.clocks, labels.event[grains]
        cluster, other = warps // clocks.cluster_warps, others // clocks.cluster_warps
        flags = (self.last_of_warp[warps] > events) & (self.last_of_warp[others] > events)
        near = flags | (clocks.table[warps, clocks.own[others]] >= labels.time[grains])
        far = (self.last_of_cluster[cluster] > events) & (self.last_of_cluster[other] > events)
        return np.where(cluster == other, near, far)

    def _report(
        self, labels: _Labels, grains: Array, who: Array, bad: Array, site: Instruction,
        what: str, before: str,
    ) -> None:  # fmt: skip
        at = int(np.argmax(bad))
        grain = int(grains[at])
        other = self.checker.site_numbered(int(labels.site[grain]))
        by = self.wave.geometry.describe((int(labels.warp[grain]) - 1) * WARP)
        note = f"the other is {other.opcode} at {other.location}, by the warp of {by}"
        address = GLOBAL_WINDOW + (grain << self.shift)
        gist = f"race in global memory at address 0x{address:x}"
        text = f"{gist}: nothing orders this {what} after a {before}"
        self.wave.violation(text, site, int(who[at]), note)
