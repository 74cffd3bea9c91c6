"""Matrices in shared memory as `wgmma` sees them: descriptors, core matrices, swizzles.

Memory is read in chunks of 16 bytes. Eight chunks are a core matrix: eight rows of 16 bytes if
the matrix lies along k, eight steps of k with 16 bytes of rows each if it lies across.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.matrix.elements import Element
from tilewright.ptxsim.memory import Kind, Place
from tilewright.ptxsim.proxies import GenericWrites

if TYPE_CHECKING:
    from tilewright.ptxsim.scalar_types import Array
    from tilewright.ptxsim.syntax import Instruction

CHUNK: Final = 16
K_BYTES: Final = 32
# Bits 62 and 63: how many bytes a row of swizzled memory has; 16 is a matrix without a swizzle.
_ROW_BYTES: Final = (16, 128, 64, 32)


class Layout(NamedTuple):
    """What a descriptor says besides where the matrix begins."""

    leading: int
    stride: int
    base_offset: int
    row_bytes: int

    @classmethod
    def of(cls, descriptor: int) -> Layout:
        """Take a descriptor apart."""
        leading = (descriptor >> 16 & 0x3FFF) * CHUNK
        stride = (descriptor >> 32 & 0x3FFF) * CHUNK
        return cls(leading, stride, descriptor >> 49 & 7, _ROW_BYTES[descriptor >> 62 & 3])


def start_of(descriptors: Array) -> Array:
    """The addresses at which matrices begin."""
    return ((descriptors & np.uint64(0x3FFF)) << np.uint64(4)).astype(np.int64)


@lru_cache(maxsize=256)
def chunk_offsets(rows: int, element: Element, layout: Layout, across: bool) -> Array:
    """Where the chunks of a matrix lie from its beginning, before the swizzle.

    Along k, a table of rows and chunks; across, one of steps of k and chunks.
    """
    plain = layout.row_bytes == CHUNK
    if not across:
        row, chunk = np.arange(rows)[:, None], np.arange(K_BYTES // CHUNK)
        step = layout.leading if plain else CHUNK
        return row % 8 * layout.row_bytes + row // 8 * layout.stride + chunk * step
    k = np.arange(K_BYTES * 8 // element.bits)[:, None]
    chunk = np.arange(rows * element.bits // (8 * CHUNK))
    if plain:
        return chunk * layout.stride + k % 8 * CHUNK + k // 8 * layout.leading
    width = layout.row_bytes // CHUNK
    within = chunk % width * CHUNK + k % 8 * layout.row_bytes
    return within + chunk // width * layout.leading + k // 8 * layout.stride


def swizzle(address: Array, layout: Layout) -> Array:
    """The address that is meant: chunks of a row trade places, as the row's number says."""
    if layout.row_bytes == CHUNK:
        return address
    row = (address >> 7) - layout.base_offset
    return address ^ ((row & (layout.row_bytes // CHUNK - 1)) << 4)


class SharedMatrix:
    """An operand of `wgmma` that lies in shared memory, as descriptors say."""

    def __init__(self, rows: int, element: Element, across: bool, site: Instruction) -> None:
        self.rows = rows
        self.element = element
        self.across = across
        self.site = site

    def addresses(self, descriptors: Array) -> Array:
        """For each descriptor a table of the addresses of its chunks."""
        starts = start_of(descriptors)[:, None, None]
        layouts = [Layout.of(int(each)) for each in descriptors]
        if all(layout == layouts[0] for layout in layouts):
            return self._place(starts, layouts[0])
        rows = [self._place(start, layout) for start, layout in zip(starts, layouts, strict=True)]
        return np.stack(rows)

    def _place(self, start: Array, layout: Layout) -> Array:
        offsets = chunk_offsets(self.rows, self.element, layout, self.across)
        return swizzle(start + offsets, layout)

    def announce(self, leaders: Lanes, descriptors: Array) -> None:
        """Check what the warpgroups that the lanes lead are about to read, and tell observers."""
        wave = leaders.wave
        memory = wave.memory
        address = self.addresses(descriptors)
        if int(address.max()) > memory.shared_size - CHUNK:
            self._report_outside(leaders, address)
        if wave.observer is None:
            return
        proxies = wave.state(GenericWrites)
        index = address + (leaders.ctas * memory.shared_stride)[:, None, None]
        for thread, chunks in zip(leaders.threads, index, strict=True):
            lane = Lanes(wave, leaders.frame, np.array([thread]))
            place = Place(memory.shared, chunks.reshape(-1), None)
            wave.observer.access(lane, place, CHUNK, Kind.ASYNC_READ, self.site)
            proxies.require_visible(memory.shared, place.index, CHUNK, int(thread), self.site)

    def read(self, leaders: Lanes, descriptors: Array) -> Array:
        """The numbers of one matrix for each of the warpgroups."""
        wave = leaders.wave
        memory = wave.memory
        address = self.addresses(descriptors)
        index = address + (leaders.ctas * memory.shared_stride)[:, None, None]
        chunks = index >> 4
        wave.traffic.moved("shared", Kind.ASYNC_READ, index.size * CHUNK)
        if wave.checks and not memory.shared.readable(chunks.reshape(-1), 8, 2):
            self._report_unwritten(leaders, index)
        words = memory.shared.rows(8, 2)[0][chunks].reshape(*index.shape[:2], -1)
        numbers = self.element.decode(self.element.unpack(words))
        return numbers.swapaxes(1, 2) if self.across else numbers

    def _report_outside(self, leaders: Lanes, address: Array) -> None:
        memory = leaders.wave.memory
        outside = address > memory.shared_size - CHUNK
        group, *_ = np.unravel_index(int(np.argmax(outside)), address.shape)
        where = int(address.reshape(-1)[np.argmax(outside)])
        text = f"reads {CHUNK} bytes outside of shared memory at address 0x{where:x}"
        note = f"a CTA of this launch has {memory.shared_size} bytes"
        leaders.wave.violation(text, self.site, int(leaders.threads[group]), note)

    def _report_unwritten(self, leaders: Lanes, index: Array) -> None:
        """Name the first chunk that was never written, if the check is on."""
        wave = leaders.wave
        if not wave.checks_for("uninitialised"):
            return
        shadow = wave.memory.shared.shadow[index[..., None] + np.arange(CHUNK)]
        unwritten = (shadow < 3).any(axis=-1)
        group, *_ = np.unravel_index(int(np.argmax(unwritten)), index.shape)
        at = int(index.reshape(-1)[np.argmax(unwritten)]) % wave.memory.shared_stride
        text = f"reads {CHUNK} bytes that were never written at address 0x{at:x}"
        wave.violation(text, self.site, int(leaders.threads[group]))
