"""State spaces: addresses to places in arenas, checked loads and stores of vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

import numpy as np

from tilewright.ptxsim.arena import Allocations, Arena
from tilewright.ptxsim.scalar_types import UNSIGNED, Array

if TYPE_CHECKING:
    from tilewright.ptxsim.lanes import Lanes
    from tilewright.ptxsim.syntax import Instruction
    from tilewright.ptxsim.wave import Wave


class Space(Enum):
    """A state space; an address means nothing without one.

    Constants and kernel parameters lie in global memory, parameters of functions in local memory,
    and their addresses are generic ones.
    """

    GENERIC = "generic"
    PARAM = "param"
    GLOBAL = "global"
    SHARED = "shared"
    CLUSTER = "shared::cluster"
    LOCAL = "local"


SPACES: Final = {
    "global": Space.GLOBAL,
    "const": Space.GLOBAL,
    "param": Space.PARAM,
    "param::entry": Space.PARAM,
    "param::func": Space.PARAM,
    "shared": Space.SHARED,
    "shared::cta": Space.SHARED,
    "shared::cluster": Space.CLUSTER,
    "local": Space.LOCAL,
}


class Kind(Enum):
    """What an access does; hooks and reports name it."""

    READ = "load"
    WRITE = "store"
    ATOMIC = "atomic access"
    ASYNC_READ = "asynchronous read"
    ASYNC_WRITE = "asynchronous write"


# A generic address says by its high bits which space it means.
SHARED_WINDOW: Final = 0x0100_0000_0000
LOCAL_WINDOW: Final = 0x0200_0000_0000
FUNCTION_WINDOW: Final = 0x0300_0000_0000
GLOBAL_WINDOW: Final = 0x7F00_0000_0000
_WINDOW_BITS: Final = 40
_WINDOWS: Final = {
    SHARED_WINDOW >> _WINDOW_BITS: (Space.CLUSTER, SHARED_WINDOW),
    LOCAL_WINDOW >> _WINDOW_BITS: (Space.LOCAL, LOCAL_WINDOW),
    GLOBAL_WINDOW >> _WINDOW_BITS: (Space.GLOBAL, GLOBAL_WINDOW),
}
# The shared memory of the CTA of rank r in a cluster lies at r << 24, also for the CTA itself.
CTA_WINDOW_BITS: Final = 24
OFFSET_IN_CTA: Final = (1 << CTA_WINDOW_BITS) - 1


@dataclass(frozen=True, slots=True)
class Place:
    """Where an access goes: an arena and byte indices, for the lanes of `mask` or for all."""

    arena: Arena
    index: Array
    mask: Array | None


class DeviceMemory:
    """Global memory, which outlives launches."""

    def __init__(self) -> None:
        self.arena = Arena("global", 1 << 16)
        self.allocations = Allocations(self.arena)

    def allocate(self, size: int, alignment: int = 256, name: str = "buffer") -> int:
        """The address of new bytes, which count as not written."""
        return GLOBAL_WINDOW + self.allocations.allocate(size, alignment, name)

    def release(self, address: int) -> None:
        """Give back what `allocate` gave."""
        self.allocations.release(address - GLOBAL_WINDOW)

    def upload(self, address: int, data: Array | bytes) -> None:
        """Copy from the host."""
        raw = np.frombuffer(data, np.uint8) if isinstance(data, bytes) else _raw(data)
        start = address - GLOBAL_WINDOW
        self.arena.bytes[start : start + len(raw)] = raw
        self.arena.allocate(start, len(raw), written=True)

    def download(self, address: int, size: int) -> Array:
        """A copy for the host, as bytes."""
        start = address - GLOBAL_WINDOW
        return self.arena.bytes[start : start + size].copy()


def _raw(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


class Memory:
    """All memory that the threads of a wave see."""

    def __init__(self, wave: Wave, device: DeviceMemory, shared_size: int) -> None:
        self.wave = wave
        self.device = device
        self.shared_size = shared_size
        self.shared_stride = -(-max(shared_size, 1) // 1024) * 1024
        self.shared = Arena("shared", self.shared_stride * wave.cta_count)
        for cta in range(wave.cta_count):
            self.shared.allocate(cta * self.shared_stride, shared_size)
        self._shared_base = wave.cta_of_thread * self.shared_stride
        self.local_stride = 0
        self.local = Arena("local", 0)
        self._local_base: Array = np.zeros(wave.thread_count, np.int64)

    def reserve_local(self, size: int) -> None:
        """Let every thread have at least `size` bytes of local memory."""
        if size <= self.local_stride:
            return
        stride = -(-max(size, 2 * self.local_stride) // 32) * 32
        old, threads = self.local, self.wave.thread_count
        self.local = Arena("local", stride * threads)
        self.local.allocate(0, stride * threads)
        for new, former in ((self.local.bytes, old.bytes), (self.local.shadow, old.shadow)):
            table = new[: stride * threads].reshape(threads, stride)
            kept = self.local_stride
            table[:, :kept] = former[: kept * threads].reshape(threads, kept)
        self.local_stride = stride
        self._local_base = np.arange(threads) * stride

    def copy_local(self, lanes: Lanes, source: int, target: int, size: int) -> None:
        """Copy from one place of local memory to another, state of the shadow included."""
        for part in (self.local.bytes, self.local.shadow):
            used = self.local_stride * self.wave.thread_count
            table = part[:used].reshape(-1, self.local_stride)
            table[lanes.select, target : target + size] = table[
                lanes.select, source : source + size
            ]

    def shared_of_cta(self, cta: int) -> Array:
        """The bytes of one CTA's shared memory, as a view."""
        start = cta * self.shared_stride
        return self.shared.bytes[start : start + self.shared_size]

    def load(
        self,
        lanes: Lanes,
        space: Space,
        address: Array,
        width: int,
        count: int,
        site: Instruction,
        kind: Kind = Kind.READ,
    ) -> Array:
        """Rows of `count` unsigned words of `width` bytes: one row, or one for each lane."""
        if width == 16:
            return self.load(lanes, space, address, 8, 2 * count, site, kind)
        self.wave.loads += 1
        place = self.place(lanes, space, address, width * count, site, kind)
        if space is not Space.PARAM:
            self._note(lanes, place, width * count, kind)
        if not isinstance(place, list):
            return self._read(lanes, place, width, count, site, kind)
        result = np.zeros((lanes.count, count), UNSIGNED[8 * width])
        for part in place:
            result[part.mask] = self._read(lanes, part, width, count, site, kind)
        return result

    def store(
        self,
        lanes: Lanes,
        space: Space,
        address: Array,
        values: Array,
        width: int,
        count: int,
        site: Instruction,
        kind: Kind = Kind.WRITE,
    ) -> None:
        """Write rows of `count` unsigned words; where lanes meet, the last one wins."""
        if width == 16:
            return self.store(lanes, space, address, values, 8, 2 * count, site, kind)
        place = self.place(lanes, space, address, width * count, site, kind)
        self.wave.progress += 1
        if space is not Space.PARAM:
            self._note(lanes, place, width * count, kind)
        if not isinstance(place, list):
            self._write(lanes, place, values, width, count, site, kind)
            return
        for part in place:
            self._write(lanes, part, lanes.spread(values)[part.mask], width, count, site, kind)

    def _note(self, lanes: Lanes, place: Place | list[Place], size: int, kind: Kind) -> None:
        """Parameters are not counted: they are no traffic."""
        for part in place if isinstance(place, list) else (place,):
            self.wave.traffic.access(lanes, part, size, kind)

    def _read(
        self, lanes: Lanes, place: Place, width: int, count: int, site: Instruction, kind: Kind
    ) -> Array:
        arena = place.arena
        rows = place.index >> ((width * count).bit_length() - 1)
        if self.wave.checks and not arena.readable(rows, width, count):
            self.report_shadow(lanes, place, width * count, site, kind)
        if self.wave.observer is not None:
            self.wave.observer.access(lanes, place, width * count, kind, site)
        return arena.rows(width, count)[0][rows]

    def _write(
        self,
        lanes: Lanes,
        place: Place,
        values: Array,
        width: int,
        count: int,
        site: Instruction,
        kind: Kind,
    ) -> None:
        arena = place.arena
        rows = place.index >> ((width * count).bit_length() - 1)
        if self.wave.checks:
            if not arena.writable(rows, width, count):
                self.report_shadow(lanes, place, width * count, site, kind)
            arena.mark(rows, width, count)
        if self.wave.observer is not None:
            self.wave.observer.access(lanes, place, width * count, kind, site, values)
        if len(rows) == 1 and len(values) > 1:
            values = values[-1:]
        arena.rows(width, count)[0][rows] = values

    def place(
        self, lanes: Lanes, space: Space, address: Array, size: int, site: Instruction, kind: Kind
    ) -> Place | list[Place]:
        """Where an access goes; checks bounds and alignment, but not the shadow.

        Generic addresses that mean several spaces give several places, each with its mask.
        """
        if int(np.bitwise_or.reduce(address)) & (size - 1):
            bad = (address & (size - 1)) != 0
            self._report(lanes, address, bad, f"misaligned {kind.value} of {size} bytes", site)
        if space is Space.GENERIC or space is Space.PARAM:
            return self._generic(lanes, address, size, site, kind)
        return self._PLACERS[space](self, lanes, address, size, site, kind)

    def _generic(
        self, lanes: Lanes, address: Array, size: int, site: Instruction, kind: Kind
    ) -> Place | list[Place]:
        windows = address >> _WINDOW_BITS
        first = int(windows[0])
        same = bool((windows == first).all())
        if same and first in _WINDOWS:
            space, base = _WINDOWS[first]
            offset = address if space is Space.GLOBAL else address - base
            return self._PLACERS[space](self, lanes, offset, size, site, kind)
        parts: list[Place] = []
        for window in np.unique(windows):
            mask = windows == window
            if int(window) not in _WINDOWS:
                text = f"{kind.value} of {size} bytes outside of every allocation"
                self._report(lanes, address, mask, text, site)
            space, base = _WINDOWS[int(window)]
            offset = address[mask] - (0 if space is Space.GLOBAL else base)
            found = self._PLACERS[space](self, lanes.take(mask), offset, size, site, kind)
            parts.append(Place(found.arena, found.index, mask))
        return parts

    def _place_global(
        self, lanes: Lanes, address: Array, size: int, site: Instruction, kind: Kind
    ) -> Place:
        arena = self.device.arena
        index = address - GLOBAL_WINDOW
        if not _within(index, arena.size - size):
            bad = (index < 0) | (index > arena.size - size)
            text = f"{kind.value} of {size} bytes outside of every allocation"
            self._report(lanes, address, bad, text, site)
        return Place(arena, index, None)

    def _place_shared(
        self, lanes: Lanes, address: Array, size: int, site: Instruction, kind: Kind
    ) -> Place:
        if self.wave.launch.cluster_size > 1 or not _within(address, self.shared_size - size):
            rank, offset = address >> CTA_WINDOW_BITS, address & OFFSET_IN_CTA
            own = self.wave.geometry.cta_rank[lanes.select]
            bad = (rank != own) | (offset > self.shared_size - size)
            self._report_outside_of_shared(lanes, address, bad, size, site, kind)
            address = offset
        return Place(self.shared, self._shared_base[lanes.select] + address, None)

    def _place_cluster(
        self, lanes: Lanes, address: Array, size: int, site: Instruction, kind: Kind
    ) -> Place:
        cluster = self.wave.launch.cluster_size
        if cluster == 1:
            return self._place_shared(lanes, address, size, site, kind)
        rank, offset = address >> CTA_WINDOW_BITS, address & OFFSET_IN_CTA
        bad = (rank < 0) | (rank >= cluster) | (offset > self.shared_size - size)
        self._report_outside_of_shared(lanes, address, bad, size, site, kind)
        cta = lanes.ctas // cluster * cluster + rank
        return Place(self.shared, cta * self.shared_stride + offset, None)

    def _report_outside_of_shared(
        self, lanes: Lanes, address: Array, bad: Array, size: int, site: Instruction, kind: Kind
    ) -> None:
        if bad.any():
            text = f"{kind.value} of {size} bytes outside of shared memory"
            note = f"a CTA of this launch has {self.shared_size} bytes"
            self._report(lanes, address, bad, text, site, note)

    def _place_local(
        self, lanes: Lanes, address: Array, size: int, site: Instruction, kind: Kind
    ) -> Place:
        if not _within(address, self.local_stride - size):
            bad = (address < 0) | (address > self.local_stride - size)
            text = f"{kind.value} of {size} bytes outside of local memory"
            note = f"a thread of this kernel has {self.local_stride} bytes"
            self._report(lanes, address, bad, text, site, note)
        return Place(self.local, self._local_base[lanes.select] + address, None)

    _PLACERS: Final[dict[Space, Callable[..., Place]]] = {
        Space.GLOBAL: _place_global,
        Space.SHARED: _place_shared,
        Space.CLUSTER: _place_cluster,
        Space.LOCAL: _place_local,
    }

    def check(self, lanes: Lanes, place: Place, size: int, site: Instruction, kind: Kind) -> None:
        """Report the lanes that touch bytes that do not exist, or read what was never written.

        For accesses that handlers make on their own, `place.index` being aligned to `size`.
        """
        if kind in (Kind.READ, Kind.ASYNC_READ, Kind.ATOMIC):
            wanted = 3
        else:
            wanted = 1
        spans = place.index[:, None] + np.arange(size)
        if ((place.arena.shadow[spans] & wanted) != wanted).any():
            self.report_shadow(lanes, place, size, site, kind)

    def report_shadow(
        self, lanes: Lanes, place: Place, size: int, site: Instruction, kind: Kind
    ) -> None:
        """Report the first lane that the shadow forbids its access, if the check is on."""
        if place.mask is not None:
            lanes = lanes.take(place.mask)
        state = place.arena.shadow[place.index[:, None] + np.arange(size)]
        missing: Array = np.logical_or.reduce(state == 0, axis=1)
        reads = kind in (Kind.READ, Kind.ATOMIC, Kind.ASYNC_READ)
        unwritten: Array = np.logical_or.reduce(state < 3, axis=1) if reads else missing
        address = place.index + (GLOBAL_WINDOW if place.arena is self.device.arena else 0)
        if missing.any():
            text = f"{kind.value} of {size} bytes outside of every allocation"
            at = int(place.index[np.argmax(missing)])
            self._report(lanes, address, missing, text, site, self._neighbour(place.arena, at))
        elif unwritten.any() and self.wave.checks_for("uninitialised"):
            text = f"{kind.value} of {size} bytes that were never written"
            self._report(lanes, address, unwritten, text, site)

    def _neighbour(self, arena: Arena, index: int) -> str:
        near = self.device.allocations.near(index) if arena is self.device.arena else None
        if near is None:
            return ""
        name, start, size = near
        return f"{index - start} bytes into {name}, which has {size}"

    def _report(
        self,
        lanes: Lanes,
        address: Array,
        bad: Array,
        text: str,
        site: Instruction,
        note: str = "",
    ) -> None:
        which = int(np.argmax(bad))
        thread = int(lanes.threads[which])
        where = int(address[which if len(address) > 1 else 0])
        self.wave.violation(f"{text} at address 0x{where:x}", site, thread, note)


def _within(index: Array, last: int) -> bool:
    """Whether every index lies in 0 to `last`."""
    return last >= 0 and int(np.maximum.reduce(index.view(np.uint64))) <= last
