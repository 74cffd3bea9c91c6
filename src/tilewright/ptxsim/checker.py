"""Finds accesses to shared memory that nothing orders."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Final

import numpy as np

from tilewright.ptxsim.clocks import AsyncGroups, Clocks, joined
from tilewright.ptxsim.lanes import WARP
from tilewright.ptxsim.memory import Kind, Place
from tilewright.ptxsim.race_shadow import Shadow
from tilewright.ptxsim.scalar_types import Array
from tilewright.ptxsim.strong_accesses import Strength, StrongAccesses

if TYPE_CHECKING:
    from tilewright.ptxsim.lanes import Lanes
    from tilewright.ptxsim.syntax import Instruction
    from tilewright.ptxsim.wave import Wave

# Groups of asynchronous operations that read shared memory, or write it.
COPY: Final = "cp.async"
BULK: Final = "cp.async.bulk"
WGMMA: Final = "wgmma"


class Checker:
    """Watches one wave: what is ordered before what.

    Warps are the unit of order; the lanes of a warp are told apart where one reads what another
    has written and no `bar.warp.sync` lies in between. Stores of what is there already are
    harmless, and so are strong accesses that meet strong ones.
    """

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self.clocks = Clocks(wave)
        memory = wave.memory
        self.shadow = Shadow(self.clocks, memory.shared.size, memory.shared_stride)
        self.shadow.add_readers(0)
        self.strong = StrongAccesses(self.clocks)
        self._remote_readers: int | None = None
        self._sites: dict[Instruction, Strength] = {}
        self._site_list: list[Instruction] = []
        self._groups: dict[str, AsyncGroups] = {}
        self._group_readers: dict[str, int] = {}
        self._objects: dict[Hashable, Array] = {}

    def site(self, site: Instruction) -> Strength:
        """What is known of an instruction."""
        found = self._sites.get(site)
        if found is None:
            found = self._sites[site] = Strength(len(self._site_list), site.opcode)
            self._site_list.append(site)
        return found

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
        if place.arena is not self.wave.memory.shared:
            return
        threads = lanes.threads if place.mask is None else lanes.threads[place.mask]
        if len(threads) != len(place.index):
            threads = np.broadcast_to(threads[:1], len(place.index))
        accesses = _Accesses(self, threads, place.index, size, site)
        if kind is Kind.ASYNC_READ:
            self._group_read(WGMMA, accesses)
        elif kind is Kind.ASYNC_WRITE:
            self._copy_write(accesses)
        elif kind is Kind.READ:
            self._read(accesses)
        else:
            self._write(accesses, kind, values)

    def _read(self, accesses: _Accesses) -> None:
        accesses.require_after_writes("load")
        info, warps, grains = accesses.info, accesses.warps, accesses.grains
        if info.strong:
            self.strong.hear(accesses.owners, accesses.index, info.acquires)
            return
        now = self.clocks.now(warps)
        self.shadow.note_read(grains, self._readers(grains, warps), now, info.number)

    def _readers(self, grains: Array, warps: Array) -> Array:
        """The places of warps among the readers of the CTAs that own the grains."""
        own = warps % self.clocks.warps_per_cta
        if self.shadow.cluster_size == 1:
            return own
        remote = self.shadow.owners(grains) != warps // self.clocks.warps_per_cta
        if not remote.any():
            return own
        if self._remote_readers is None:
            self._remote_readers = self.shadow.add_readers(0, everybody=True)
        return np.where(remote, self._remote_readers + self.clocks.own[warps], own)

    def _write(self, accesses: _Accesses, kind: Kind, values: Array | None) -> None:
        info, warps, shadow = accesses.info, accesses.warps, self.shadow
        atomic = kind is Kind.ATOMIC
        accesses.strong |= atomic
        accesses.require_after_writes("store", values)
        accesses.require_after_reads(values)
        now, lanes = self.clocks.now(warps), accesses.who % WARP
        column, strong = self.clocks.own[warps], accesses.strong
        met = shadow.note_write(accesses.grains, column, now, lanes, strong, info.number)
        if strong:
            self.strong.tell(accesses.owners, accesses.index, info.releases)
            if atomic:
                self.strong.hear(accesses.owners, accesses.index, info.acquires)
        elif met.any():
            accesses.report_meeting(met, values)

    # Asynchronous accesses.

    def groups(self, kind: str) -> AsyncGroups:
        """The groups of one kind of operation."""
        found = self._groups.get(kind)
        if found is None:
            found = self._groups[kind] = AsyncGroups(self.clocks)
            if kind != COPY:
                self._group_readers[kind] = self.shadow.add_readers(found.first)
        return found

    def commit(self, kind: str, threads: Array) -> None:
        """What the threads have issued becomes a group."""
        self.groups(kind).commit(self.clocks.warps_of(threads))

    def wait(self, kind: str, threads: Array, pending: int) -> None:
        """Threads have waited for all groups but the last ones."""
        self.groups(kind).wait(self.clocks.warps_of(threads), pending)

    def _group_read(self, kind: str, accesses: _Accesses) -> None:
        """Threads let a group of operations read their CTA's shared memory."""
        groups = self.groups(kind)
        accesses.require_after_writes("asynchronous read")
        readers = self._group_readers[kind] + accesses.warps % self.clocks.warps_per_cta
        time = groups.time(accesses.warps)
        self.shadow.note_read(accesses.grains, readers, time, accesses.info.number)

    def _copy_write(self, accesses: _Accesses) -> None:
        """Threads issue `cp.async`."""
        groups = self.groups(COPY)
        accesses.require_after_writes("asynchronous write")
        accesses.require_after_reads()
        warps, lanes = accesses.warps, accesses.who % WARP
        column, time = groups.columns(warps), groups.time(warps)
        grains, number = accesses.grains, accesses.info.number
        self.shadow.note_write(grains, column, time, lanes, False, number)

    def bulk_read(self, thread: int, start: int, size: int, site: Instruction) -> None:
        """A thread lets the copy engine read shared memory, by its index in the arena."""
        self._group_read(BULK, _Accesses.of_one(self, thread, start, size, site))

    def bulk_write(
        self, thread: int, start: int, size: int, column: int, time: int, site: Instruction
    ) -> None:
        """A thread lets the copy engine write shared memory for an actor of the clocks."""
        accesses = _Accesses.of_one(self, thread, start, size, site)
        accesses.require_after_writes("asynchronous write")
        accesses.require_after_reads()
        self.shadow.note_span(accesses.grains, column, time, accesses.info.number)

    # Order.

    def synchronise(self, threads: Array, kind: str, key: Hashable, site: Instruction) -> None:
        """Events that the instructions report to every observer."""
        if kind == "wgmma.commit_group":
            self.commit(WGMMA, threads)
        elif kind == "wgmma.wait_group" and isinstance(key, int):
            self.wait(WGMMA, threads, key)

    def warp_barrier(self, threads: Array) -> None:
        """`bar.warp.sync`: the lanes of each warp have met."""
        warps = self.clocks.warps_of(threads)
        self.clocks.tick(warps)
        self.shadow.warp_sync[warps] = self.clocks.now(warps)

    def meet(self, ctas: Array) -> None:
        """All threads of each of these CTAs have met at a barrier."""
        warps = self.clocks.meet(ctas)
        self.shadow.warp_sync[warps] = self.clocks.now(warps)

    def snapshot(self, threads: Array) -> Array:
        """All that threads of one cluster know, which is now released."""
        return self.clocks.release(self.clocks.warps_of(threads))

    def learn(self, threads: Array, snapshot: Array) -> None:
        """Let threads know a snapshot, also what it says of other lanes of their warps."""
        warps = self.clocks.warps_of(threads)
        self.clocks.acquire(warps, snapshot)
        heard = snapshot[self.clocks.own[warps]] + 1
        self.shadow.warp_sync[warps] = np.maximum(self.shadow.warp_sync[warps], heard)

    def release(self, threads: Array, key: Hashable) -> None:
        """Threads of one cluster arrive at something that others may wait for."""
        self._objects[key] = joined(self._objects.get(key), self.snapshot(threads))

    def acquire(self, threads: Array, key: Hashable) -> None:
        """Threads have waited for all who arrived; the next ones arrive at something new."""
        snapshot = self._objects.pop(key, None)
        if snapshot is not None and len(threads):
            self.learn(threads, snapshot)

    def fence(self, threads: Array) -> None:
        """`fence` and `membar`."""
        warps = self.clocks.warps_of(threads)
        self.strong.fence(warps)
        self.clocks.tick(warps)

    # Objects in memory.

    def open_object(self, thread: int, start: int, size: int, site: Instruction) -> tuple[int, int]:
        """An mbarrier begins to exist; who uses it must know this time of this actor."""
        accesses = _Accesses.of_one(self, thread, start, size, site)
        accesses.require_after_writes("store")
        accesses.require_after_reads()
        self.shadow.close(accesses.grains, accesses.info.number)
        warp = thread // WARP
        column = int(self.clocks.own[warp])
        return column, int(self.clocks.table[warp, column])

    def end_object(self, thread: int, start: int, size: int, site: Instruction) -> None:
        """An mbarrier is memory again."""
        warp = thread // WARP
        column = int(self.clocks.own[warp])
        time = int(self.clocks.table[warp, column])
        self.shadow.note_span(self.shadow.span(start, size), column, time, self.site(site).number)

    def knows(self, thread: int, column: int, time: int) -> bool:
        """Whether what an actor did is ordered before what a thread does now."""
        return int(self.clocks.table[thread // WARP, column]) >= time

    def site_numbered(self, number: int) -> Instruction:
        """The instruction that the shadow knows by a number."""
        return self._site_list[number]


class _Accesses:
    """What one instruction touches: for each grain of shared memory, the thread that does."""

    def __init__(
        self, checker: Checker, threads: Array, index: Array, size: int, site: Instruction
    ) -> None:
        self.checker = checker
        self.index = index
        self.owners = threads // WARP
        self.grains, count = checker.shadow.grains(index, size)
        self.who = threads if count == 1 else np.repeat(threads, count)
        self.warps = self.owners if count == 1 else self.who // WARP
        self.info = checker.site(site)
        self.strong = self.info.strong
        self.site = site

    @classmethod
    def of_one(
        cls, checker: Checker, thread: int, start: int, size: int, site: Instruction
    ) -> _Accesses:
        """One thread touches many bytes, which begin and end at a word."""
        words = np.arange(start >> 2, (start + size + 3) >> 2) << 2
        return cls(checker, np.full(len(words), thread), words, 4, site)

    def require_after_writes(self, what: str, values: Array | None = None) -> None:
        """Report an access that an earlier write is not ordered before."""
        shadow = self.checker.shadow
        bad = shadow.unordered_writes(self.grains, self.warps, self.who % WARP, self.strong)
        if bad.any():
            bad &= ~self._same_values(values)
            if bad.any():
                self._report_write(bad, what)

    def require_after_reads(self, values: Array | None = None) -> None:
        """Report a write that an earlier read is not ordered before."""
        bad = self.checker.shadow.unordered_reads(self.grains, self.warps)
        if not bad.any():
            return
        bad &= ~self._same_values(values)
        if not bad.any():
            return
        grain = int(self.grains[np.argmax(bad)])
        other = self.checker.site_numbered(int(self.checker.shadow.read_sites[grain]))
        note = f"the last read is {other.opcode} at {other.location}"
        self._report("race: nothing orders this write after an earlier read", bad, note)

    def report_meeting(self, met: Array, values: Array | None) -> None:
        """Threads of several warps store to one place at once: that must be the same value."""
        if values is not None:
            fresh = self._bytes(values)
            _, place = np.unique(self.grains, return_inverse=True)
            winners = np.zeros((int(place.max()) + 1, fresh.shape[1]), np.uint8)
            winners[place] = fresh
            met = met & np.logical_or.reduce(winners[place] != fresh, axis=1)
        if met.any():
            self._report_write(met, "store")

    def _bytes(self, values: Array) -> Array:
        width = 1 << self.checker.shadow.shift
        fresh = np.ascontiguousarray(values).view(np.uint8).reshape(-1, width)
        return np.tile(fresh, (len(self.grains) // len(fresh), 1))

    def _same_values(self, values: Array | None) -> Array:
        """Which stores change nothing."""
        if values is None:
            return np.zeros(len(self.grains), np.bool_)
        fresh = self._bytes(values)
        there = self.checker.wave.memory.shared.bytes.reshape(-1, fresh.shape[1])[self.grains]
        same: Array = np.logical_and.reduce(there == fresh, axis=1)
        return same & ~self.checker.shadow.closed(self.grains)

    def _report_write(self, bad: Array, what: str) -> None:
        checker, shadow = self.checker, self.checker.shadow
        grain = int(self.grains[np.argmax(bad)])
        column, lane, number = shadow.writer(grain)
        site = checker.site_numbered(number)
        note = f"the earlier write is {site.opcode} at {site.location}"
        if shadow.closed(np.array([grain]))[0]:
            self._report(f"{what} in the memory of an mbarrier object", bad, note)
        elif column < checker.clocks.cluster_warps:
            cluster = grain * (1 << shadow.shift) // shadow.cta_stride // shadow.cluster_size
            thread = (cluster * checker.clocks.cluster_warps + column) * WARP + lane
            note += f", by {checker.wave.geometry.describe(thread)}"
        self._report(f"race: nothing orders this {what} after an earlier write", bad, note)

    def _report(self, text: str, bad: Array, note: str) -> None:
        shadow = self.checker.shadow
        at = int(np.argmax(bad))
        address = (int(self.grains[at]) << shadow.shift) % shadow.cta_stride
        message = f"{text}, at shared address 0x{address:x}"
        self.checker.wave.violation(message, self.site, int(self.who[at]), note)
