"""Happens-before race detection for shared memory."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Final

import numpy as np

from tilewright.ptxsim.clocks import AsyncGroups, Clocks, joined
from tilewright.ptxsim.lanes import WARP, WARP_BITS
from tilewright.ptxsim.memory import Kind, ResolvedAddress
from tilewright.ptxsim.race_shadow import Shadow
from tilewright.ptxsim.scalar_types import Array
from tilewright.ptxsim.strong_accesses import Strength, StrongAccesses
from tilewright.ptxsim.vectors import any_set
from tilewright.support.diagnostics import Diagnostic, note

if TYPE_CHECKING:
    from tilewright.ptxsim.lanes import Lanes
    from tilewright.ptxsim.syntax import Instruction
    from tilewright.ptxsim.wave import Wave

# Groups of asynchronous operations that read shared memory, or write it.
COPY: Final = "cp.async"
BULK: Final = "cp.async.bulk"
WGMMA: Final = "wgmma"


class Checker:
    """Tracks happens-before between the accesses of one wave.

    Order is tracked per warp; lanes of one warp are distinguished only if one reads what another
    has written without a `bar.warp.sync` in between. Stores that do not change memory do not
    race, and neither do two strong accesses.
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
        """Return the number and the memory-order strength of an instruction."""
        strength = self._sites.get(site)
        if strength is None:
            strength = self._sites[site] = Strength(len(self._site_list), site.opcode)
            self._site_list.append(site)
        return strength

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
        if resolved.arena is not self.wave.memory.shared:
            return
        threads = lanes.threads if resolved.mask is None else lanes.threads[resolved.mask]
        if len(threads) != len(resolved.index):
            threads = threads[:1].repeat(len(resolved.index))
        accesses = _Accesses(self, threads, resolved.index, size, site)
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
            self.strong.acquire(accesses.owners, accesses.index, info.acquires)
            return
        now = self.clocks.now(warps)
        self.shadow.note_read(grains, self._readers(grains, warps), now, info.number)

    def _readers(self, grains: Array, warps: Array) -> Array:
        """The columns of warps among the readers of the CTAs that own the grains."""
        own = warps % self.clocks.warps_per_cta
        if self.shadow.cluster_size == 1:
            return own
        remote = self.shadow.owners(grains) != warps // self.clocks.warps_per_cta
        if not remote.any():
            return own
        if self._remote_readers is None:
            self._remote_readers = self.shadow.add_readers(0, whole_cluster=True)
        return np.where(remote, self._remote_readers + self.clocks.own[warps], own)

    def _write(self, accesses: _Accesses, kind: Kind, values: Array | None) -> None:
        info, warps, shadow = accesses.info, accesses.warps, self.shadow
        atomic = kind is Kind.ATOMIC
        accesses.strong |= atomic
        accesses.require_after_writes("store", values)
        accesses.require_after_reads(values)
        now, lanes = self.clocks.now(warps), accesses.threads & (WARP - 1)
        column, strong = self.clocks.own[warps], accesses.strong
        conflicts = shadow.note_write(accesses.grains, column, now, lanes, strong, info.number)
        if strong:
            self.strong.release(accesses.owners, accesses.index, info.releases)
            if atomic:
                self.strong.acquire(accesses.owners, accesses.index, info.acquires)
        elif any_set(conflicts):
            accesses.report_conflicts(conflicts, values)

    # Asynchronous accesses.

    def groups(self, kind: str) -> AsyncGroups:
        """Return the async groups of one kind of operation."""
        groups = self._groups.get(kind)
        if groups is None:
            groups = self._groups[kind] = AsyncGroups(self.clocks)
            if kind != COPY:
                self._group_readers[kind] = self.shadow.add_readers(groups.first)
        return groups

    def commit(self, kind: str, threads: Array) -> None:
        """Commit what the threads have issued as a group."""
        self.groups(kind).commit(self.clocks.warps_of(threads))

    def wait(self, kind: str, threads: Array, pending: int) -> None:
        """Record that threads waited for all groups but the last `pending` ones."""
        self.groups(kind).wait(self.clocks.warps_of(threads), pending)

    def _group_read(self, kind: str, accesses: _Accesses) -> None:
        """Check and record reads of shared memory by an asynchronous group."""
        groups = self.groups(kind)
        accesses.require_after_writes("asynchronous read")
        readers = self._group_readers[kind] + accesses.warps % self.clocks.warps_per_cta
        time = groups.time(accesses.warps)
        self.shadow.note_read(accesses.grains, readers, time, accesses.info.number)

    def _copy_write(self, accesses: _Accesses) -> None:
        """Check and record the writes of `cp.async`."""
        groups = self.groups(COPY)
        accesses.require_after_writes("asynchronous write")
        accesses.require_after_reads()
        warps, lanes = accesses.warps, accesses.threads & (WARP - 1)
        column, time = groups.columns(warps), groups.time(warps)
        grains, number = accesses.grains, accesses.info.number
        self.shadow.note_write(grains, column, time, lanes, False, number)

    def bulk_read(self, thread: int, start: int, size: int, site: Instruction) -> None:
        """Check and record a bulk copy's reads of shared memory."""
        self._group_read(BULK, _Accesses.of_one(self, thread, start, size, site))

    def bulk_write(
        self, thread: int, start: int, size: int, column: int, time: int, site: Instruction
    ) -> None:
        """Check and record a bulk copy's writes of shared memory, for an actor of the clocks."""
        accesses = _Accesses.of_one(self, thread, start, size, site)
        accesses.require_after_writes("asynchronous write")
        accesses.require_after_reads()
        self.shadow.note_span(accesses.grains, column, time, accesses.info.number)

    # Order.

    def synchronise(self, threads: Array, kind: str, key: Hashable, site: Instruction) -> None:
        """Handle the ordering events that instructions report to every observer."""
        if kind == "wgmma.commit_group":
            self.commit(WGMMA, threads)
        elif kind == "wgmma.wait_group" and isinstance(key, int):
            self.wait(WGMMA, threads, key)

    def warp_barrier(self, threads: Array) -> None:
        """Order the lanes of each warp: `bar.warp.sync`."""
        warps = self.clocks.warps_of(threads)
        self.clocks.tick(warps)
        self.shadow.warp_sync[warps] = self.clocks.now(warps)

    def cta_barrier(self, ctas: Array) -> None:
        """Order all threads of each of these CTAs: a CTA barrier."""
        warps = self.clocks.join_ctas(ctas)
        self.shadow.warp_sync[warps] = self.clocks.now(warps)

    def snapshot(self, threads: Array) -> Array:
        """Release the joined clock of threads of one cluster."""
        return self.clocks.release(self.clocks.warps_of(threads))

    def learn(self, threads: Array, snapshot: Array) -> None:
        """Acquire a released clock, including the part for other lanes of the same warp."""
        warps = self.clocks.warps_of(threads)
        self.clocks.acquire(warps, snapshot)
        acquired = snapshot[self.clocks.own[warps]] + 1
        self.shadow.warp_sync[warps] = np.maximum(self.shadow.warp_sync[warps], acquired)

    def release(self, threads: Array, key: Hashable) -> None:
        """Release the clocks of threads of one cluster at a synchronization object."""
        self._objects[key] = joined(self._objects.get(key), self.snapshot(threads))

    def acquire(self, threads: Array, key: Hashable) -> None:
        """Acquire all clocks released at a synchronization object, and clear it."""
        snapshot = self._objects.pop(key, None)
        if snapshot is not None and len(threads):
            self.learn(threads, snapshot)

    def fence(self, threads: Array, *, acquires: bool, releases: bool) -> None:
        """Order accesses around `fence` and `membar`."""
        warps = self.clocks.warps_of(threads)
        self.strong.fence(warps, acquires=acquires, releases=releases)
        self.clocks.tick(warps)

    # Objects in memory.

    def open_object(self, thread: int, start: int, size: int, site: Instruction) -> tuple[int, int]:
        """Begin an mbarrier's lifetime; its users must acquire the returned actor and time."""
        accesses = _Accesses.of_one(self, thread, start, size, site)
        accesses.require_after_writes("store")
        accesses.require_after_reads()
        self.shadow.close(accesses.grains, accesses.info.number)
        warp = thread // WARP
        column = int(self.clocks.own[warp])
        return column, int(self.clocks.table[warp, column])

    def end_object(self, thread: int, start: int, size: int, site: Instruction) -> None:
        """End an mbarrier's lifetime: its bytes are ordinary memory again."""
        warp = thread // WARP
        column = int(self.clocks.own[warp])
        time = int(self.clocks.table[warp, column])
        self.shadow.note_span(self.shadow.span(start, size), column, time, self.site(site).number)

    def knows(self, thread: int, column: int, time: int) -> bool:
        """Whether an actor's event happens before what a thread does now."""
        return int(self.clocks.table[thread // WARP, column]) >= time

    def site_numbered(self, number: int) -> Instruction:
        """The instruction with a number in the shadow."""
        return self._site_list[number]


class _Accesses:
    """The accesses of one instruction: for each grain of shared memory, the accessing thread."""

    def __init__(
        self, checker: Checker, threads: Array, index: Array, size: int, site: Instruction
    ) -> None:
        self.checker = checker
        self.index = index
        self.owners = threads >> WARP_BITS
        self.grains, count = checker.shadow.grains(index, size)
        self.threads = threads if count == 1 else threads.repeat(count)
        self.warps = self.owners if count == 1 else self.owners.repeat(count)
        self.info = checker.site(site)
        self.strong = self.info.strong
        self.site = site

    @classmethod
    def of_one(
        cls, checker: Checker, thread: int, start: int, size: int, site: Instruction
    ) -> _Accesses:
        """One thread accesses a word-aligned range of bytes."""
        words = np.arange(start >> 2, (start + size + 3) >> 2) << 2
        return cls(checker, np.full(len(words), thread), words, 4, site)

    def require_after_writes(self, access: str, values: Array | None = None) -> None:
        """Report an access that races with an earlier write."""
        shadow = self.checker.shadow
        bad = shadow.unordered_writes(self.grains, self.warps, self.threads, self.strong)
        if any_set(bad):
            bad &= ~self._same_values(values)
            if bad.any():
                self._report_write(bad, access)

    def require_after_reads(self, values: Array | None = None) -> None:
        """Report a write that races with an earlier read."""
        bad = self.checker.shadow.unordered_reads(self.grains, self.warps)
        if not any_set(bad):
            return
        bad &= ~self._same_values(values)
        if not bad.any():
            return
        grain = int(self.grains[np.argmax(bad)])
        other = self.checker.site_numbered(int(self.checker.shadow.read_sites[grain]))
        last = note(f"the last read is {other.opcode}", other.location)
        self._report("race: nothing orders this write after an earlier read", bad, last)

    def report_conflicts(self, conflicts: Array, values: Array | None) -> None:
        """Report simultaneous stores of different values to one address by several warps."""
        if values is not None:
            stored = self._bytes(values)
            _, slot = np.unique(self.grains, return_inverse=True)
            winners = np.zeros((int(slot.max()) + 1, stored.shape[1]), np.uint8)
            winners[slot] = stored
            conflicts = conflicts & np.logical_or.reduce(winners[slot] != stored, axis=1)
        if conflicts.any():
            self._report_write(conflicts, "store")

    def _bytes(self, values: Array) -> Array:
        width = 1 << self.checker.shadow.shift
        stored = np.ascontiguousarray(values).view(np.uint8).reshape(-1, width)
        return np.tile(stored, (len(self.grains) // len(stored), 1))

    def _same_values(self, values: Array | None) -> Array:
        """Mask of the stores that do not change memory."""
        if values is None:
            return np.zeros(len(self.grains), np.bool_)
        stored = self._bytes(values)
        current = self.checker.wave.memory.shared.bytes.reshape(-1, stored.shape[1])[self.grains]
        same: Array = np.logical_and.reduce(current == stored, axis=1)
        return same & ~self.checker.shadow.closed(self.grains)

    def _report_write(self, bad: Array, access: str) -> None:
        checker, shadow = self.checker, self.checker.shadow
        grain = int(self.grains[np.argmax(bad)])
        column, lane, number = shadow.writer(grain)
        site = checker.site_numbered(number)
        text = f"the earlier write is {site.opcode}"
        if shadow.closed(np.array([grain]))[0]:
            earlier = note(text, site.location)
            self._report(f"{access} in the memory of an mbarrier object", bad, earlier)
        elif column < checker.clocks.cluster_warps:
            cluster = grain * (1 << shadow.shift) // shadow.cta_stride // shadow.cluster_size
            thread = (cluster * checker.clocks.cluster_warps + column) * WARP + lane
            text += f", by {checker.wave.geometry.describe(thread)}"
        earlier = note(text, site.location)
        self._report(f"race: nothing orders this {access} after an earlier write", bad, earlier)

    def _report(self, text: str, bad: Array, other: Diagnostic) -> None:
        shadow = self.checker.shadow
        at = int(np.argmax(bad))
        address = (int(self.grains[at]) << shadow.shift) % shadow.cta_stride
        message = f"{text}, at shared address 0x{address:x}"
        self.checker.wave.violation(message, self.site, int(self.threads[at]), other)
