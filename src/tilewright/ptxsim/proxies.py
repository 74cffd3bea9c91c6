"""Writes of the generic proxy that are not yet visible to the async proxy.

`wgmma` and the bulk copies access memory through the async proxy. Writes of the generic proxy, by
ordinary stores and by `cp.async` as it completes, are ordered before its accesses only by a
`fence.proxy.async`: of the writing thread, or of any thread after a synchronisation with it. Reads
of the generic proxy need none before the memory is overwritten: a barrier orders them.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Final

import numpy as np

from tilewright.ptxsim.memory import Kind, ResolvedAddress
from tilewright.ptxsim.vectors import any_set

if TYPE_CHECKING:
    from tilewright.ptxsim.arena import Arena
    from tilewright.ptxsim.lanes import Lanes
    from tilewright.ptxsim.scalar_types import Array
    from tilewright.ptxsim.syntax import Instruction
    from tilewright.ptxsim.wave import Wave

# Reads of the async proxy are aligned to 16 bytes, and multiples of 16 bytes long.
_GRANULE_BITS: Final = 4
_FENCE: Final = "fence.proxy.async"


class _Marks:
    """For each granule of an arena, the last writing thread, plus 1, and its epoch."""

    def __init__(self, size: int) -> None:
        granules = (size >> _GRANULE_BITS) + 1
        self.writer: Array = np.zeros(granules, np.int32)
        self.epoch: Array = np.zeros(granules, np.int32)
        self.any = False


class GenericWrites:
    """The bytes of a wave's memory that lack a proxy fence.

    A decoder of an instruction that uses the async proxy calls `op.needs(GenericWrites)`; the
    instruction then calls `require_visible` for its reads, `require_overwritable` and `replace` for
    its writes. Nothing is recorded unless the check `proxies` is on.
    """

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self.active = wave.checks_for("proxies")
        self._marks: dict[Arena, _Marks] = {}
        # The number of synchronisations of each CTA.
        self._epoch: Array = np.ones(wave.cta_count, np.int32)
        if self.active:
            wave.observe(self)

    def access(
        self,
        lanes: Lanes,
        resolved: ResolvedAddress,
        size: int,
        kind: Kind,
        site: Instruction,
        values: Array | None = None,
    ) -> None:
        """Record writes of ordinary stores and atomics."""
        if kind not in (Kind.WRITE, Kind.ATOMIC) or resolved.arena is self.wave.memory.local:
            return
        lanes = lanes if resolved.mask is None else lanes.take(resolved.mask)
        threads = lanes.threads if len(resolved.index) == lanes.count else lanes.threads[-1:]
        self._record(resolved.arena, resolved.index, size, threads)

    def copied(self, index: Array, size: int, threads: Array) -> None:
        """Record that `cp.async` of these threads has written to shared memory."""
        if self.active:
            self._record(self.wave.memory.shared, index, size, threads)

    def _record(self, arena: Arena, index: Array, size: int, threads: Array) -> None:
        marks = self._marks_of(arena)
        for offset in range(0, size, 1 << _GRANULE_BITS):
            granules = (index + offset) >> _GRANULE_BITS
            marks.writer[granules] = threads + 1
            marks.epoch[granules] = self._epoch[self.wave.cta_of_thread[threads]]
        marks.any = True

    def synchronise(self, threads: Array, kind: str, key: Hashable, site: Instruction) -> None:
        """Record barriers, and apply proxy fences."""
        if kind.startswith(_FENCE):
            self._fence(threads, kind)
        elif not kind.startswith(("fence", "membar", "wgmma")):
            self._epoch[self.wave.cta_of_thread[threads]] += 1

    def _fence(self, threads: Array, kind: str) -> None:
        fencing = np.zeros(self.wave.thread_count + 1, np.bool_)
        fencing[threads + 1] = True
        for arena, marks in self._marks.items():
            is_shared = arena is self.wave.memory.shared
            if not marks.any or (is_shared and kind.endswith("global")):
                continue
            if not is_shared and "shared" in kind:
                continue
            marked = np.flatnonzero(marks.writer)
            writer = marks.writer[marked]
            cta = self.wave.cta_of_thread[writer - 1]
            synchronised = marks.epoch[marked] < self._epoch[cta]
            synchronised &= self._in_clusters_of(threads)[cta] if is_shared else True
            marks.writer[marked[fencing[writer] | synchronised]] = 0
            marks.any = any_set(marks.writer)

    def _in_clusters_of(self, threads: Array) -> Array:
        """For each CTA, whether it is in the cluster of one of the threads."""
        size = self.wave.launch.cluster_size
        inside = np.zeros((self.wave.cta_count // size, size), np.bool_)
        inside[self.wave.cta_of_thread[threads] // size] = True
        return inside.reshape(-1)

    def require_visible(
        self, arena: Arena, index: Array, size: int, thread: int, site: Instruction
    ) -> None:
        """Report a read through the async proxy of bytes that lack a fence.

        It reads `size` bytes, at most 16, at each index into the arena.
        """
        self._require_fence(arena, index, size, thread, site, "reads")

    def require_overwritable(
        self, arena: Arena, index: Array, size: int, thread: int, site: Instruction
    ) -> None:
        """Report a write through the async proxy to bytes that lack a fence.

        Nothing orders it after the ordinary stores, which may still take effect.
        """
        self._require_fence(arena, index, size, thread, site, "overwrites")

    def _require_fence(
        self, arena: Arena, index: Array, size: int, thread: int, site: Instruction, verb: str
    ) -> None:
        marks = self._marks.get(arena)
        if not self.active or marks is None or not marks.any:
            return
        writer = marks.writer[index >> _GRANULE_BITS]
        if not any_set(writer):
            return
        first = int(np.argmax(writer != 0))
        writer_name = self.wave.geometry.describe(int(writer[first]) - 1)
        at = int(index.reshape(-1)[first])
        if arena is self.wave.memory.shared:
            at %= self.wave.memory.shared_stride
        text = f"{verb} {arena.name} memory that was written by ordinary stores, with no"
        note = f"{size} bytes at address 0x{at:x}, written by {writer_name}"
        self.wave.violation(f"{text} {_FENCE} in between", site, thread, note)

    def replace(self, arena: Arena, index: Array, size: int) -> None:
        """Record writes through the async proxy itself, which need no fence."""
        marks = self._marks.get(arena)
        if marks is None or not marks.any:
            return
        for offset in range(0, size, 1 << _GRANULE_BITS):
            marks.writer[(index + offset) >> _GRANULE_BITS] = 0

    def _marks_of(self, arena: Arena) -> _Marks:
        marks = self._marks.get(arena)
        if marks is None or len(marks.writer) <= arena.size >> _GRANULE_BITS:
            marks = self._marks[arena] = _Marks(arena.size)
        return marks
