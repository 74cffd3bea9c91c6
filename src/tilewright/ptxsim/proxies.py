"""Memory that ordinary stores wrote and the asynchronous proxy does not see yet.

`wgmma` and the bulk copies read memory through the asynchronous proxy. What the generic proxy
wrote is theirs only after a `fence.proxy.async`: by the thread that wrote, or by any thread after
a synchronisation with it.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Final

import numpy as np

from tilewright.ptxsim.memory import Kind, Place

if TYPE_CHECKING:
    from tilewright.ptxsim.arena import Arena
    from tilewright.ptxsim.lanes import Lanes
    from tilewright.ptxsim.scalar_types import Array
    from tilewright.ptxsim.syntax import Instruction
    from tilewright.ptxsim.wave import Wave

# What the asynchronous proxy reads is aligned to 16 bytes and a multiple of them.
_GRANULE_BITS: Final = 4
_FENCE: Final = "fence.proxy.async"


class _Marks:
    """For each granule of an arena, the thread that wrote it last, plus 1, and when."""

    def __init__(self, size: int) -> None:
        granules = (size >> _GRANULE_BITS) + 1
        self.writer: Array = np.zeros(granules, np.int32)
        self.epoch: Array = np.zeros(granules, np.int32)
        self.any = False


class GenericWrites:
    """Which bytes of a wave's memory wait for a proxy fence.

    A decoder of an instruction that uses the asynchronous proxy calls `op.needs(GenericWrites)`;
    the instruction then calls `require_visible` for what it reads and `replace` for what it
    writes. Nothing is recorded unless the check `proxies` is on.
    """

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self.active = wave.checks_for("proxies")
        self._marks: dict[Arena, _Marks] = {}
        # Synchronisations of each CTA so far.
        self._epoch: Array = np.ones(wave.cta_count, np.int32)
        if self.active:
            wave.observe(self)

    def access(
        self,
        lanes: Lanes,
        place: Place,
        size: int,
        kind: Kind,
        site: Instruction,
        values: Array | None = None,
    ) -> None:
        """Note what ordinary stores and atomic operations write."""
        if kind not in (Kind.WRITE, Kind.ATOMIC) or place.arena is self.wave.memory.local:
            return
        marks = self._marks_of(place.arena)
        lanes = lanes if place.mask is None else lanes.take(place.mask)
        threads = lanes.threads if len(place.index) == lanes.count else lanes.threads[-1:]
        for offset in range(0, size, 1 << _GRANULE_BITS):
            granules = (place.index + offset) >> _GRANULE_BITS
            marks.writer[granules] = threads + 1
            marks.epoch[granules] = self._epoch[self.wave.cta_of_thread[threads]]
        marks.any = True

    def synchronise(self, threads: Array, kind: str, key: Hashable, site: Instruction) -> None:
        """Note barriers, and let proxy fences do their work."""
        if kind.startswith(_FENCE):
            self._fence(threads, kind)
        elif not kind.startswith(("fence", "membar", "wgmma")):
            self._epoch[np.unique(self.wave.cta_of_thread[threads])] += 1

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
            synchronised &= np.isin(cta, self._clusters_of(threads)) if is_shared else True
            marks.writer[marked[fencing[writer] | synchronised]] = 0
            marks.any = bool(marks.writer.any())

    def _clusters_of(self, threads: Array) -> Array:
        """All CTAs of the clusters that the threads belong to."""
        size = self.wave.launch.cluster_size
        first = np.unique(self.wave.cta_of_thread[threads] // size) * size
        return (first[:, None] + np.arange(size)).reshape(-1)

    def require_visible(
        self, arena: Arena, index: Array, size: int, thread: int, site: Instruction
    ) -> None:
        """Report a read through the asynchronous proxy of bytes that wait for a fence.

        It reads `size` bytes, at most 16, at each index into the arena.
        """
        marks = self._marks.get(arena)
        if not self.active or marks is None or not marks.any:
            return
        writer = marks.writer[index >> _GRANULE_BITS]
        if not writer.any():
            return
        which = int(np.argmax(writer != 0))
        who = self.wave.geometry.describe(int(writer[which]) - 1)
        at = int(index.reshape(-1)[which])
        if arena is self.wave.memory.shared:
            at %= self.wave.memory.shared_stride
        text = f"reads {arena.name} memory that was written by ordinary stores, with no"
        note = f"{size} bytes at address 0x{at:x}, written by {who}"
        self.wave.violation(f"{text} {_FENCE} in between", site, thread, note)

    def replace(self, arena: Arena, index: Array, size: int) -> None:
        """Bytes at each index were written through the asynchronous proxy itself."""
        marks = self._marks.get(arena)
        if marks is None or not marks.any:
            return
        for offset in range(0, size, 1 << _GRANULE_BITS):
            marks.writer[(index + offset) >> _GRANULE_BITS] = 0

    def _marks_of(self, arena: Arena) -> _Marks:
        found = self._marks.get(arena)
        if found is None or len(found.writer) <= arena.size >> _GRANULE_BITS:
            found = self._marks[arena] = _Marks(arena.size)
        return found
