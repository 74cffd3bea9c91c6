"""Counters of warps for each instruction, collected only if a launch is profiled."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from tilewright.ptxsim.lanes import WARP, Lanes
from tilewright.ptxsim.scalar_types import Array

if TYPE_CHECKING:
    from tilewright.ptxsim.geometry import Geometry
    from tilewright.ptxsim.program import Segment
    from tilewright.ptxsim.syntax import Instruction

SECTOR: Final = 32
"""The bytes of global memory that are transferred at once."""

_BANKS: Final = 32
_WORD: Final = 4
# Bits of an index below the number of its warp in a combined key.
_INDEX_BITS: Final = 40


@dataclass(slots=True)
class SiteCounters:
    """Counters of one PTX instruction, besides those of its segment."""

    predicated_off: int = 0
    sectors: int = 0
    shared_requests: int = 0
    bank_conflicts: int = 0


class Profile:
    """Counts warps, sectors and bank conflicts of a wave."""

    def __init__(self, geometry: Geometry) -> None:
        self._warp_sizes = geometry.exists.reshape(-1, WARP).sum(axis=1)
        self._thread_count = int(self._warp_sizes.sum())
        self.warps: Counter[Segment] = Counter()
        """How many warps have executed a segment with at least one thread."""
        self.divergent: Counter[Segment] = Counter()
        """How many of them executed it without some of their threads."""
        self.sites: defaultdict[Instruction, SiteCounters] = defaultdict(SiteCounters)
        self.sectors: Counter[str] = Counter()

    def execute(self, segment: Segment, lanes: Lanes) -> None:
        """Count the warps that execute a segment."""
        if lanes.count == self._thread_count:
            self.warps[segment] += len(self._warp_sizes)
            return
        active = np.bincount(lanes.warps, minlength=len(self._warp_sizes))
        self.warps[segment] += int(np.count_nonzero(active))
        self.divergent[segment] += int(np.count_nonzero((active > 0) & (active < self._warp_sizes)))

    def guard(self, site: Instruction, count: int) -> None:
        """Count threads whose guard predicate was false."""
        self.sites[site].predicated_off += count

    def access_global(self, name: str, lanes: Lanes, index: Array, site: Instruction) -> None:
        """Count the distinct sectors of each warp; no access is larger than a sector."""
        keys = (lanes.warps << _INDEX_BITS) + index // SECTOR
        self._add_sectors(name, len(np.unique(keys)), site)

    def copy_global(self, name: str, starts: Array, size: int, site: Instruction) -> None:
        """Count the distinct sectors of a bulk copy of `size` bytes at each start."""
        if not len(starts) or not size:
            return
        first, last = starts // SECTOR, (starts + size - 1) // SECTOR
        offsets = np.arange(int((last - first).max()) + 1)
        sectors = np.minimum(first[:, None] + offsets, last[:, None])
        self._add_sectors(name, len(np.unique(sectors)), site)

    def _add_sectors(self, name: str, count: int, site: Instruction) -> None:
        self.sectors[name] += count
        self.sites[site].sectors += count

    def access_shared(self, lanes: Lanes, index: Array, size: int, site: Instruction) -> None:
        """Count requests and conflicts: a request takes a cycle per word of its busiest bank.

        Accesses of 8 bytes are split into half-warps, those of 16 into quarters.
        """
        words = max(1, size // _WORD)
        groups = lanes.threads // (WARP // min(words, WARP))
        word = (index // _WORD)[:, None] + np.arange(words)
        keys = np.unique((groups[:, None] << _INDEX_BITS) + word)
        group, bank = keys >> _INDEX_BITS, keys % _BANKS
        slots, counts = np.unique(group * _BANKS + bank, return_counts=True)
        starts = np.flatnonzero(np.diff(slots // _BANKS, prepend=-1))
        cycles = np.maximum.reduceat(counts, starts)
        counters = self.sites[site]
        counters.shared_requests += len(starts)
        counters.bank_conflicts += int((cycles - 1).sum())
