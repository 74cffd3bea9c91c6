"""Matrices in shared memory as operands of `wgmma`: descriptors, core matrices, swizzles.

Memory is read in chunks of 16 bytes. Eight chunks are a core matrix: eight rows of 16 bytes if
the matrix is K-major, eight steps of K with 16 bytes of rows each if it is MN-major.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.matrix.elements import Element
from tilewright.ptxsim.memory import Kind, ResolvedAddress
from tilewright.ptxsim.proxies import GenericWrites
from tilewright.ptxsim.traffic import WGMMA_READS

if TYPE_CHECKING:
    from tilewright.ptxsim.scalar_types import Array
    from tilewright.ptxsim.syntax import Instruction

CHUNK: Final = 16
K_BYTES: Final = 32
# Bits 62 and 63: the swizzle width in bytes; 16 is no swizzle.
_ROW_BYTES: Final = (16, 128, 64, 32)


class Layout(NamedTuple):
    """The fields of a descriptor except the start address."""

    leading: int
    stride: int
    base_offset: int
    row_bytes: int

    @classmethod
    def of(cls, descriptor: int) -> Layout:
        """Decode a descriptor."""
        leading = (descriptor >> 16 & 0x3FFF) * CHUNK
        stride = (descriptor >> 32 & 0x3FFF) * CHUNK
        return cls(leading, stride, descriptor >> 49 & 7, _ROW_BYTES[descriptor >> 62 & 3])


def start_of(descriptors: Array) -> Array:
    """The start addresses of matrices."""
    return ((descriptors & np.uint64(0x3FFF)) << np.uint64(4)).astype(np.int64)


@lru_cache(maxsize=256)
def chunk_offsets(rows: int, element: Element, layout: Layout, across: bool) -> Array:
    """The offsets of the chunks of a matrix from its start, before the swizzle.

    K-major: a table of rows and chunks; MN-major (`across`): of steps of K and chunks.
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
    """Swizzle addresses: XOR the chunk with the row."""
    if layout.row_bytes == CHUNK:
        return address
    row = (address >> 7) - layout.base_offset
    return address ^ ((row & (layout.row_bytes // CHUNK - 1)) << 4)


class SharedMatrix:
    """A `wgmma` operand in shared memory, given by descriptors."""

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
            return self._chunk_addresses(starts, layouts[0])
        rows = [
            self._chunk_addresses(start, layout)
            for start, layout in zip(starts, layouts, strict=True)
        ]
        return np.stack(rows)

    def _chunk_addresses(self, start: Array, layout: Layout) -> Array:
        offsets = chunk_offsets(self.rows, self.element, layout, self.across)
        return swizzle(start + offsets, layout)

    def announce(self, leaders: Lanes, descriptors: Array) -> None:
        """Check the shared-memory reads of the leaders' warpgroups, and report to observers."""
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
            resolved = ResolvedAddress(memory.shared, chunks.reshape(-1), None)
            wave.observer.access(lane, resolved, CHUNK, Kind.ASYNC_READ, self.site)
            proxies.require_visible(memory.shared, resolved.index, CHUNK, int(thread), self.site)

    def read(self, leaders: Lanes, descriptors: Array) -> Array:
        """Load one matrix for each of the warpgroups."""
        wave = leaders.wave
        memory = wave.memory
        address = self.addresses(descriptors)
        index = address + (leaders.ctas * memory.shared_stride)[:, None, None]
        chunks = index >> 4
        wave.traffic.count("shared", WGMMA_READS, index.size * CHUNK)
        if wave.checks and not memory.shared.readable(chunks.reshape(-1), 8, 2):
            self._report_unwritten(leaders, index)
        words = memory.shared.rows(8, 2)[0][chunks].reshape(*index.shape[:2], -1)
        numbers = self.element.decode(self.element.unpack(words))
        return numbers.swapaxes(1, 2) if self.across else numbers

    def _report_outside(self, leaders: Lanes, address: Array) -> None:
        memory = leaders.wave.memory
        outside = address > memory.shared_size - CHUNK
        group, *_ = np.unravel_index(int(np.argmax(outside)), address.shape)
        out_of_bounds = int(address.reshape(-1)[np.argmax(outside)])
        text = f"reads {CHUNK} bytes outside of shared memory at address 0x{out_of_bounds:x}"
        thread = int(leaders.threads[group])
        leaders.wave.violation(text, self.site, thread, *memory.shared_notes())

    def _report_unwritten(self, leaders: Lanes, index: Array) -> None:
        """Report the first chunk that was never written, if the check is on."""
        wave = leaders.wave
        if not wave.checks_for("uninitialised"):
            return
        shadow = wave.memory.shared.shadow[index[..., None] + np.arange(CHUNK)]
        unwritten = (shadow < 3).any(axis=-1)
        group, *_ = np.unravel_index(int(np.argmax(unwritten)), index.shape)
        at = int(index.reshape(-1)[np.argmax(unwritten)]) % wave.memory.shared_stride
        text = f"reads {CHUNK} bytes that were never written at address 0x{at:x}"
        wave.violation(text, self.site, int(leaders.threads[group]))
