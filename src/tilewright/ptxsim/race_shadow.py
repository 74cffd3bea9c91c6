"""Shadow state of the race detector: the last writer and the readers of shared memory."""

from __future__ import annotations

from typing import Final

import numpy as np

from tilewright.ptxsim.clocks import Clocks
from tilewright.ptxsim.scalar_types import Array
from tilewright.ptxsim.vectors import any_set

# A write label packs the time, whether the access was strong, the lane and the actor.
_TIME: Final = 24
_STRONG: Final = 1 << 23
_LANE: Final = 16
# Several lanes of one warp wrote at once: they are not distinguished.
_SEVERAL: Final = 1 << 21
_COLUMN: Final = (1 << _LANE) - 1
# A time that no thread acquires: marks memory closed to ordinary accesses.
_NEVER: Final = 1 << 36
_FINEST: Final = 0
_COARSEST: Final = 2


class Shadow:
    """For each grain of shared memory the last write, and the last read of each reader.

    Grains are words until an access is smaller than a word. Readers are numbered per CTA: its warps
    first, then blocks of columns for asynchronous and remote readers.
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
        # For the CTAs of a cluster, the clock column of each reader.
        self.reader_columns: Array = np.zeros((self.cluster_size, 0), np.int64)
        self.warp_sync: Array = np.ones(len(clocks.own), np.int32)

    def add_readers(self, first_column: int, *, whole_cluster: bool = False) -> int:
        """Add columns for readers: those of the CTA itself, or of its whole cluster."""
        per_cta = self.clocks.warps_per_cta
        count = self.clocks.cluster_warps if whole_cluster else per_cta
        ranks = np.arange(self.cluster_size)[:, None] * (0 if whole_cluster else per_cta)
        columns = first_column + ranks + np.arange(count)
        first = self.reads.shape[1]
        self.reads = np.pad(self.reads, ((0, 0), (0, count)))
        self.reader_columns = np.concatenate((self.reader_columns, columns), axis=1)
        return first

    def refine(self, size: int) -> None:
        """Split grains until they are not larger than an access."""
        wanted = max(_FINEST, size.bit_length() - 1)
        if wanted >= self.shift:
            return
        count = 1 << (self.shift - wanted)
        self.shift = wanted
        self.writes, self.reads = np.repeat(self.writes, count), np.repeat(self.reads, count, 0)
        self.write_sites = np.repeat(self.write_sites, count)
        self.read_sites = np.repeat(self.read_sites, count)

    def grains(self, index: Array, size: int) -> tuple[Array, int]:
        """The grains of accesses of `size` bytes, and their number per access."""
        if size < (1 << self.shift):
            self.refine(size)
        count = size >> self.shift
        first = index >> self.shift
        if count == 1:
            return first, 1
        return (first[:, None] + np.arange(count)).reshape(-1), count

    def span(self, start: int, size: int) -> Array:
        """The grains of a contiguous range of bytes."""
        shift = self.shift
        return np.arange(start >> shift, (start + size + (1 << shift) - 1) >> shift)

    def owners(self, grains: Array) -> Array:
        """The CTAs that own grains."""
        return (grains << self.shift) // self.cta_stride

    def unordered_writes(self, grains: Array, warps: Array, threads: Array, strong: bool) -> Array:
        """Mask of accesses that do not happen after the last write of their grain."""
        label = self.writes.take(grains)
        column, time = label & _COLUMN, label >> _TIME
        bad = time > self.clocks.table[warps, column]
        own = column == self.clocks.own.take(warps)
        if any_set(own):
            other_lane = ((label >> _LANE) & 31 != threads & 31) & (label & _SEVERAL == 0)
            bad |= own & other_lane & (time >= self.warp_sync[warps])
        if strong:
            bad &= (label & _STRONG) == 0
        return bad

    def unordered_reads(self, grains: Array, warps: Array) -> Array:
        """Mask of writes that do not happen after every read of their grain."""
        table = self.clocks.table
        if self.cluster_size == 1:
            known = table.take(self.reader_columns[0], axis=1).take(warps, axis=0)
        else:
            ranks = self.owners(grains) % self.cluster_size
            known = table[warps[:, None], self.reader_columns[ranks]]
        late = self.reads.take(grains, axis=0) > known
        if not any_set(late):
            return np.zeros(len(grains), np.bool_)
        unordered: Array = np.logical_or.reduce(late, axis=1)
        return unordered

    def note_write(
        self, grains: Array, column: Array, time: Array, lanes: Array, strong: bool, site: int
    ) -> Array:
        """Label grains as written; return a mask of accesses that conflict with another actor."""
        label = (time.astype(np.int64) << _TIME) | (lanes.astype(np.int64) << _LANE) | column
        if strong:
            label |= _STRONG
        self.writes[grains] = label
        self.write_sites[grains] = site
        overwritten = self.writes.take(grains) ^ label
        if any_set(overwritten):
            self.writes[grains[overwritten != 0]] |= _SEVERAL
        return (overwritten & _COLUMN) != 0

    def note_span(self, grains: Array, column: int, time: int, site: int) -> None:
        """Label grains as written by one actor."""
        self.writes[grains] = (time << _TIME) | column
        self.write_sites[grains] = site

    def close(self, grains: Array, site: int) -> None:
        """Close grains to ordinary accesses: they are part of an mbarrier object."""
        self.writes[grains] = _NEVER << _TIME
        self.write_sites[grains] = site

    def closed(self, grains: Array) -> Array:
        """Mask of the grains that are closed to ordinary accesses."""
        return self.writes[grains] >> _TIME == _NEVER

    def note_read(self, grains: Array, readers: Array, time: Array, site: int) -> None:
        """Label grains as read."""
        self.reads[grains, readers] = time
        self.read_sites[grains] = site

    def writer(self, grain: int) -> tuple[int, int, int]:
        """The actor, the lane and the site of the last write."""
        label = int(self.writes[grain])
        return label & _COLUMN, (label >> _LANE) & 31, int(self.write_sites[grain])
