"""Memory traffic of threads and copies, and shared-memory bank conflicts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from tilewright.ptxsim.memory import Kind, ResolvedAddress
from tilewright.ptxsim.scalar_types import Array

if TYPE_CHECKING:
    from tilewright.ptxsim.lanes import Lanes
    from tilewright.ptxsim.wave import Wave

_BANKS: Final = 32
_NAMES: Final = {
    Kind.READ: "loads",
    Kind.WRITE: "stores",
    Kind.ATOMIC: "atomics",
    Kind.ASYNC_READ: "asynchronous reads",
    Kind.ASYNC_WRITE: "asynchronous writes",
}


class Traffic:
    """Counts the accesses of a wave; bank conflicts only when profiling, since they cost time."""

    def __init__(self, wave: Wave, conflicts: bool) -> None:
        self.wave = wave
        self.counts_conflicts = conflicts
        self.bytes: Counter[str] = Counter()
        self.requests = 0
        self.conflicts = 0

    def moved(self, space: str, kind: Kind, size: int) -> None:
        """Count bytes copied to or from a state space."""
        self.bytes[f"{space} {_NAMES[kind]}"] += size

    def access(self, lanes: Lanes, resolved: ResolvedAddress, size: int, kind: Kind) -> None:
        """Count an access of `size` bytes per lane."""
        if resolved.mask is not None:
            lanes = lanes.take(resolved.mask)
        self.moved(resolved.arena.name, kind, lanes.count * size)
        if self.counts_conflicts and resolved.arena is self.wave.memory.shared:
            self._count_conflicts(lanes.spread(resolved.index), lanes.threads, size)

    def _count_conflicts(self, index: Array, threads: Array, size: int) -> None:
        """A warp's access takes one cycle per distinct word of its busiest bank.

        Accesses of 8 bytes are split into half-warps, those of 16 into quarters.
        """
        words = max(1, size // 4)
        groups = threads // (32 // min(words, 32))
        word = (index // 4)[:, None] + np.arange(words)
        keys = np.unique(groups[:, None] * (1 << 40) + word)
        group, bank = keys >> 40, keys % _BANKS
        slots, counts = np.unique(group * _BANKS + bank, return_counts=True)
        starts = np.flatnonzero(np.diff(slots // _BANKS, prepend=-1))
        cycles = np.maximum.reduceat(counts, starts)
        self.requests += len(starts)
        self.conflicts += int((cycles - 1).sum())
