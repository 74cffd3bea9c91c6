"""Who last wrote and who has read each part of shared memory."""

from __future__ import annotations

from typing import Final

import numpy as np

from tilewright.ptxsim.clocks import Clocks
from tilewright.ptxsim.scalar_types import Array

# A label says who wrote: the time, whether the access was a strong one, the lane, the actor.
_TIME: Final = 24
_STRONG: Final = 1 << 23
_LANE: Final = 16
# Several lanes of one warp wrote at once: they are not told apart.
_SEVERAL: Final = 1 << 21
_COLUMN: Final = (1 << _LANE) - 1
# Nobody ever knows of this time: what is marked so is not for ordinary accesses.
_NEVER: Final = 1 << 36
_FINEST: Final = 0
_COARSEST: Final = 2


class Shadow:
    """For each grain of shared memory the last write, and the last read of every reader.

    Grains are words until somebody accesses less than a word. Readers are numbered by CTA: its
    warps first, then blocks of as many columns for whoever else reads its memory.
    """

    def __init__(self, clocks: Clocks, size: int, cta_stride: int) -> None:
        self.clocks = clocks
        self.shift = _COARSEST
        self.cta_stride = cta_stride
        wave = clocks.wave
        self.cluster_size = wave.launch.cluster_size
        grains = size >> self.shift
        self.writes: Array = np.zeros(grains, np.int64)
        self.write_sites: Array = np.zeros(grains, np.int32)
        self.read_sites: Array = np.zeros(grains, np.int32)
        self.reads: Array = np.zeros((grains, 0), np.int32)
        # For the CTAs of a cluster, which column of the clocks stands for each reader.
        self.reader_columns: Array = np.zeros((self.cluster_size, 0), np.int64)
        self.warp_sync: Array = np.ones(len(clocks.own), np.int32)

    def add_readers(self, first_column: int, *, everybody: bool = False) -> int:
        """Make room for readers: those of the CTA itself, or of its whole cluster."""
        per_cta = self.clocks.warps_per_cta
        count = self.clocks.cluster_warps if everybody else per_cta
        ranks = np.arange(self.cluster_size)[:, None] * (0 if everybody else per_cta)
        columns = first_column + ranks + np.arange(count)
        first = self.reads.shape[1]
        self.reads = np.pad(self.reads, ((0, 0), (0, count)))
        self.reader_columns = np.concatenate((self.reader_columns, columns), axis=1)
        return first

    def refine(self, size: int) -> None:
        """Have grains that are not larger than an access."""
        wanted = max(_FINEST, size.bit_length() - 1)
        if wanted >= self.shift:
            return
        factor = 1 << (self.shift - wanted)
        self.shift = wanted
        self.writes, self.reads = np.repeat(self.writes, factor), np.repeat(self.reads, factor, 0)
        self.write_sites = np.repeat(self.write_sites, factor)
        self.read_sites = np.repeat(self.read_sites, factor)

    def grains(self, index: Array, size: int) -> tuple[Array, int]:
        """The grains of accesses of `size` bytes, and how many each of them has."""
        if size < (1 << self.shift):
            self.refine(size)
        count = size >> self.shift
        first = index >> self.shift
        if count == 1:
            return first, 1
        return (first[:, None] + np.arange(count)).reshape(-1), count

    def span(self, start: int, size: int) -> Array:
        """The grains of one access to many bytes."""
        shift = self.shift
        return np.arange(start >> shift, (start + size + (1 << shift) - 1) >> shift)

    def owners(self, grains: Array) -> Array:
        """The CTAs in whose memory grains lie."""
        return (grains << self.shift) // self.cta_stride

    def unordered_writes(self, grains: Array, warps: Array, lanes: Array, strong: bool) -> Array:
        """Which accesses are not ordered after the last write of their grain."""
        label = self.writes[grains]
        column, time = label & _COLUMN, label >> _TIME
        bad = time > self.clocks.table[warps, column]
        own = column == self.clocks.own[warps]
        if own.any():
            other_lane = ((label >> _LANE) & 31 != lanes) & (label & _SEVERAL == 0)
            bad |= own & other_lane & (time >= self.warp_sync[warps])
        if strong:
            bad &= (label & _STRONG) == 0
        return bad

    def unordered_reads(self, grains: Array, warps: Array) -> Array:
        """Which writes are not ordered after every read of their grain."""
        table = self.clocks.table
        if self.cluster_size == 1:
            known = table[:, self.reader_columns[0]][warps]
        else:
            ranks = self.owners(grains) % self.cluster_size
            known = table[warps[:, None], self.reader_columns[ranks]]
        late: Array = np.logical_or.reduce(self.reads[grains] > known, axis=1)
        return late

    def note_write(
        self, grains: Array, column: Array, time: Array, lanes: Array, strong: bool, site: int
    ) -> Array:
        """Label grains as written; which of the accesses met others of another actor."""
        label = (time.astype(np.int64) << _TIME) | (lanes.astype(np.int64) << _LANE) | column
        if strong:
            label |= _STRONG
        self.writes[grains] = label
        self.write_sites[grains] = site
        beaten = self.writes[grains] ^ label
        if beaten.any():
            self.writes[grains[beaten != 0]] |= _SEVERAL
        return (beaten & _COLUMN) != 0

    def note_span(self, grains: Array, column: int, time: int, site: int) -> None:
        """Label grains as written by one actor."""
        self.writes[grains] = (time << _TIME) | column
        self.write_sites[grains] = site

    def close(self, grains: Array, site: int) -> None:
        """No ordinary access may touch these grains from now on."""
        self.writes[grains] = _NEVER << _TIME
        self.write_sites[grains] = site

    def closed(self, grains: Array) -> Array:
        """Which grains are part of an object that nobody may touch."""
        return self.writes[grains] >> _TIME == _NEVER

    def note_read(self, grains: Array, readers: Array, time: Array, site: int) -> None:
        """Label grains as read."""
        self.reads[grains, readers] = time
        self.read_sites[grains] = site

    def writer(self, grain: int) -> tuple[int, int, int]:
        """The actor, the lane and the site of the last write."""
        label = int(self.writes[grain])
        return label & _COLUMN, (label >> _LANE) & 31, int(self.write_sites[grain])
