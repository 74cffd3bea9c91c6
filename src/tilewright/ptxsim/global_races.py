"""Race detection for ordinary accesses to global memory; an optional check.

Within a cluster the checker's vector clocks determine happens-before. Between clusters, and through
flags in global memory, accesses count as ordered if both sides made a strong access in between;
release and acquire are not tracked. So there are no false reports, but races may be missed. Only
the last writer and the last reader of an address are tracked, and no bulk copies. The check
`global-blocks` leaves out accesses in an order that are of one CTA: a compiler that has several
warps compute the same value, and one of them store it, lets the others load memory that it
overwrites.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tilewright.ptxsim.lanes import WARP
from tilewright.ptxsim.memory import GLOBAL_WINDOW, Kind, ResolvedAddress
from tilewright.ptxsim.scalar_types import Array
from tilewright.support.diagnostics import note

if TYPE_CHECKING:
    from collections.abc import Hashable

    from tilewright.ptxsim.checker import Checker
    from tilewright.ptxsim.lanes import Lanes
    from tilewright.ptxsim.syntax import Instruction
    from tilewright.ptxsim.wave import Wave

_WORD: Final = 2


class _Labels:
    """The last access of each grain: its warp plus one, its time and its instruction."""

    def __init__(self, grains: int) -> None:
        self.warp: Array = np.zeros(grains, np.int32)
        self.time: Array = np.zeros(grains, np.int32)
        self.event: Array = np.zeros(grains, np.int64)
        self.site: Array = np.zeros(grains, np.int32)

    def repeat(self, count: int) -> None:
        """Split every grain into several smaller ones."""
        self.warp, self.time = np.repeat(self.warp, count), np.repeat(self.time, count)
        self.event, self.site = np.repeat(self.event, count), np.repeat(self.site, count)

    def extend(self, grains: int) -> None:
        """Add grains after memory has grown."""
        more = (0, grains)
        self.warp, self.time = np.pad(self.warp, more), np.pad(self.time, more)
        self.event, self.site = np.pad(self.event, more), np.pad(self.site, more)


class GlobalRaces:
    """Detects races in the global memory of one wave."""

    def __init__(self, wave: Wave, checker: Checker) -> None:
        self.wave = wave
        self.checker = checker
        self.clocks = checker.clocks
        self.within_ctas = wave.checks_for("global")
        self.shift = _WORD
        grains = wave.memory.device.arena.size >> _WORD
        self.writes, self.reads = _Labels(grains), _Labels(grains)
        # Strong accesses so far; the last one of each warp, and of each cluster.
        self.events = 1
        warps = len(self.clocks.own)
        self.last_of_warp: Array = np.zeros(warps, np.int64)
        self.last_of_cluster: Array = np.zeros(warps // self.clocks.cluster_warps, np.int64)

    def synchronise(self, threads: Array, kind: str, key: Hashable, site: Instruction) -> None:
        """Ignore ordering events, which the clocks track already."""

    def access(
        self,
        lanes: Lanes,
        resolved: ResolvedAddress,
        size: int,
        kind: Kind,
        site: Instruction,
        values: Array | None = None,
    ) -> None:
        """Check and record accesses of `size` bytes at each resolved index."""
        if resolved.arena is not self.wave.memory.device.arena:
            return
        threads = lanes.threads if resolved.mask is None else lanes.threads[resolved.mask]
        if self.checker.site(site).strong or kind is Kind.ATOMIC:
            self._note_strong(threads // WARP)
            return
        if len(threads) != len(resolved.index):
            threads = np.broadcast_to(threads[:1], len(resolved.index))
        grains, threads = self._grains(resolved.index, size, threads)
        if kind is Kind.READ:
            self._require(self.writes, grains, threads, site, "load", "write")
            self._note(self.reads, grains, threads, site)
        elif kind is Kind.WRITE:
            self._write(grains, threads, site, values)

    def _write(
        self, grains: Array, threads: Array, site: Instruction, values: Array | None
    ) -> None:
        stored = None
        if values is not None:
            # Stores that do not change memory do not race.
            stored = np.ascontiguousarray(values).view(np.uint8).reshape(-1, 1 << self.shift)
            stored = np.tile(stored, (len(grains) // len(stored), 1))
            current = self.wave.memory.device.arena.bytes.reshape(-1, stored.shape[1])[grains]
            new = np.logical_or.reduce(current != stored, axis=1)
            grains, threads, stored = grains[new], threads[new], stored[new]
        self._require(self.writes, grains, threads, site, "store", "write")
        self._require(self.reads, grains, threads, site, "store", "read")
        self._note(self.writes, grains, threads, site)
        self._require_no_conflict(grains, threads, site, stored)

    def _require_no_conflict(
        self, grains: Array, threads: Array, site: Instruction, stored: Array | None
    ) -> None:
        """Report simultaneous stores of different values to one address by several warps."""
        conflicts = self.writes.warp[grains] != threads // WARP + 1
        if not conflicts.any():
            return
        if stored is not None:
            _, slot = np.unique(grains, return_inverse=True)
            winners = np.zeros((int(slot.max()) + 1, stored.shape[1]), np.uint8)
            winners[slot] = stored
            conflicts &= np.logical_or.reduce(winners[slot] != stored, axis=1)
        if conflicts.any():
            self._report(self.writes, grains, threads, conflicts, site, "store", "write")

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

    def _note(self, labels: _Labels, grains: Array, threads: Array, site: Instruction) -> None:
        warps = threads // WARP
        labels.warp[grains] = warps + 1
        labels.time[grains] = self.clocks.now(warps)
        labels.event[grains] = self.events
        labels.site[grains] = self.checker.site(site).number

    def _require(
        self,
        labels: _Labels,
        grains: Array,
        threads: Array,
        site: Instruction,
        access: str,
        before: str,
    ) -> None:
        warps, others = threads // WARP, labels.warp[grains] - 1
        doubtful = (others >= 0) & (others != warps)
        if not self.within_ctas:
            own = self.clocks.warps_per_cta
            doubtful &= others // own != warps // own
        if not doubtful.any():
            return
        grains, threads = grains[doubtful], threads[doubtful]
        bad = ~self._ordered(labels, grains, warps[doubtful], others[doubtful])
        if bad.any():
            self._report(labels, grains, threads, bad, site, access, before)

    def _ordered(self, labels: _Labels, grains: Array, warps: Array, others: Array) -> Array:
        clocks, events = self.clocks, labels.event[grains]
        cluster, other = warps // clocks.cluster_warps, others // clocks.cluster_warps
        flags = (self.last_of_warp[warps] > events) & (self.last_of_warp[others] > events)
        near = flags | (clocks.table[warps, clocks.own[others]] >= labels.time[grains])
        far = (self.last_of_cluster[cluster] > events) & (self.last_of_cluster[other] > events)
        return np.where(cluster == other, near, far)

    def _report(
        self, labels: _Labels, grains: Array, threads: Array, bad: Array, site: Instruction,
        access: str, before: str,
    ) -> None:  # fmt: skip
        at = int(np.argmax(bad))
        grain = int(grains[at])
        other = self.checker.site_numbered(int(labels.site[grain]))
        by = self.wave.geometry.describe((int(labels.warp[grain]) - 1) * WARP)
        earlier = note(f"the other is {other.opcode}, by the warp of {by}", other.location)
        address = GLOBAL_WINDOW + (grain << self.shift)
        gist = f"race in global memory at address 0x{address:x}"
        text = f"{gist}: nothing orders this {access} after a {before}"
        self.wave.violation(text, site, int(threads[at]), earlier)
