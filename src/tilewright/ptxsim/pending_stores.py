"""Global memory that bulk copies of a wave may still write: no thread has waited for them.

`cp.async.bulk.wait_group.read` says that the source of a copy has been read; only a wait without
`.read` says that its writes are complete. Until then nothing orders other accesses after them.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Final

import numpy as np

from tilewright.ptxsim.memory import GLOBAL_WINDOW, Kind, ResolvedAddress

if TYPE_CHECKING:
    from tilewright.ptxsim.lanes import Lanes
    from tilewright.ptxsim.scalar_types import Array
    from tilewright.ptxsim.syntax import Instruction
    from tilewright.ptxsim.wave import Wave

# Bulk copies write whole chunks of 16 bytes.
_CHUNK_BITS: Final = 4


class PendingStores:
    """For each chunk of global memory, the thread whose bulk copy may still write it.

    Nothing is recorded unless the check `races` is on.
    """

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self.active = wave.checks_for("races")
        # The thread plus 1.
        self._writer: Array = np.zeros(0, np.int32)
        self._count = 0
        if self.active:
            wave.observe(self)

    def synchronise(self, threads: Array, kind: str, key: Hashable, site: Instruction) -> None:
        """Ignore ordering events: they do not complete a copy."""

    def access(
        self,
        lanes: Lanes,
        resolved: ResolvedAddress,
        size: int,
        kind: Kind,
        site: Instruction,
        values: Array | None = None,
    ) -> None:
        """Report ordinary accesses to what a copy may still write."""
        if self._count and resolved.arena is self.wave.memory.device.arena:
            thread = int(lanes.threads[0])
            self.require_complete(_chunks(resolved.index, size), thread, site)

    def require_complete(self, chunks: Array, thread: int, site: Instruction) -> None:
        """Report an access to chunks that a copy may still write."""
        if not self._count:
            return
        chunks = chunks[chunks < len(self._writer)]
        writers = self._writer[chunks]
        if writers.any():
            at = int(np.argmax(writers != 0))
            writer = self.wave.geometry.describe(int(writers[at]) - 1)
            address = GLOBAL_WINDOW + (int(chunks[at]) << _CHUNK_BITS)
            text = f"race in global memory at address 0x{address:x}: a bulk copy may still write it"
            note = f"{writer} has started the copy, and not waited for it to complete"
            self.wave.violation(text, site, thread, note)

    def start(self, starts: Array, size: int, thread: int, site: Instruction) -> Array:
        """Record that a copy writes some bytes at each start; returns their chunks."""
        if not self.active or not len(starts) or not size:
            return np.zeros(0, np.int64)
        chunks = _chunks(starts, size)
        self.require_complete(chunks, thread, site)
        needed = (self.wave.memory.device.arena.size >> _CHUNK_BITS) + 1
        if needed > len(self._writer):
            self._writer = np.pad(self._writer, (0, needed - len(self._writer)))
        self._writer[chunks] = thread + 1
        self._count += 1
        return chunks

    def complete(self, chunks: Array) -> None:
        """Record that the copy that writes these chunks is complete, and known to be."""
        if len(chunks):
            self._writer[chunks] = 0
            self._count -= 1


def _chunks(starts: Array, size: int) -> Array:
    """The numbers of the chunks of some bytes at each start."""
    first, last = starts >> _CHUNK_BITS, (starts + (size - 1)) >> _CHUNK_BITS
    most = int((last - first).max()) + 1 if len(starts) else 0
    numbers = np.minimum(first[:, None] + np.arange(most), last[:, None])
    return numbers.reshape(-1)
