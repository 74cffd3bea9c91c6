"""State spaces: resolution of addresses to arena indices, checked vector loads and stores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

import numpy as np

from tilewright.ptxsim.arena import ALLOCATED, WRITTEN, Allocations, Arena
from tilewright.ptxsim.scalar_types import UNSIGNED, Array
from tilewright.ptxsim.vectors import all_set, any_set, distinct

if TYPE_CHECKING:
    from tilewright.ptxsim.lanes import Lanes
    from tilewright.ptxsim.syntax import Instruction
    from tilewright.ptxsim.wave import Wave


class Space(Enum):
    """A state space, needed to interpret an address.

    Constants and kernel parameters are in global memory, function parameters in local memory, with
    generic addresses.
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
    """The kind of an access, as reports name it."""

    READ = "load"
    WRITE = "store"
    ATOMIC = "atomic access"
    ASYNC_READ = "asynchronous read"
    ASYNC_WRITE = "asynchronous write"


# The high bits of a generic address select the state space.
SHARED_WINDOW: Final = 0x0100_0000_0000
LOCAL_WINDOW: Final = 0x0200_0000_0000
FUNCTION_WINDOW: Final = 0x0300_0000_0000
GLOBAL_WINDOW: Final = 0x7F00_0000_0000
_WINDOW_BITS: Final = 40
_SHORT_POINTER_BITS: Final = 32
_WINDOWS: Final = {
    SHARED_WINDOW >> _WINDOW_BITS: (Space.CLUSTER, SHARED_WINDOW),
    LOCAL_WINDOW >> _WINDOW_BITS: (Space.LOCAL, LOCAL_WINDOW),
    GLOBAL_WINDOW >> _WINDOW_BITS: (Space.GLOBAL, GLOBAL_WINDOW),
}
# The shared memory of the CTA of rank r in a cluster is at r << 24, also for the CTA itself.
CTA_WINDOW_BITS: Final = 24
OFFSET_IN_CTA: Final = (1 << CTA_WINDOW_BITS) - 1


def parameter_address(address: Array) -> Array:
    """The generic address of a kernel parameter, from a short pointer of 32 bits too."""
    if int(address[0]) >> _SHORT_POINTER_BITS:
        return address
    return address + address.dtype.type(GLOBAL_WINDOW)


@dataclass(frozen=True, slots=True)
class ResolvedAddress:
    """The arena and byte indices of an access, for the lanes of `mask` or for all."""

    arena: Arena
    index: Array
    mask: Array | None


class DeviceMemory:
    """Global memory, which persists across launches."""

    def __init__(self) -> None:
        self.arena = Arena("global", 1 << 16)
        self.allocations = Allocations(self.arena)

    def allocate(self, size: int, alignment: int = 256, name: str = "buffer") -> int:
        """Allocate uninitialised bytes and return their address."""
        return GLOBAL_WINDOW + self.allocations.allocate(size, alignment, name)

    def release(self, address: int) -> None:
        """Free an allocation by its address."""
        self.allocations.release(address - GLOBAL_WINDOW)

    def upload(self, address: int, data: Array | bytes) -> None:
        """Copy from host to device."""
        raw = np.frombuffer(data, np.uint8) if isinstance(data, bytes) else _raw(data)
        start = address - GLOBAL_WINDOW
        self.arena.bytes[start : start + len(raw)] = raw
        self.arena.allocate(start, len(raw), written=True)

    def unwrite(self, address: int, unwritten: Array) -> None:
        """Mark bytes as never written, by a mask from an address on."""
        start = address - GLOBAL_WINDOW
        self.arena.shadow[start : start + len(unwritten)][unwritten] = ALLOCATED

    def forbid(self, address: int, size: int) -> None:
        """Reject accesses to bytes of an allocation, such as those before data that is shifted."""
        self.arena.release(address - GLOBAL_WINDOW, size)

    def written(self, address: int, size: int) -> Array:
        """A mask of the bytes that have been written."""
        start = address - GLOBAL_WINDOW
        return (self.arena.shadow[start : start + size] & WRITTEN) != 0

    def download(self, address: int, size: int) -> Array:
        """Copy bytes from device to host."""
        start = address - GLOBAL_WINDOW
        return self.arena.bytes[start : start + size].copy()


def _raw(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


class Memory:
    """The memory of a wave's threads: global, shared and local."""

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
        """Grow local memory to at least `size` bytes per thread."""
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
        """Copy within local memory, including the shadow."""
        for part in (self.local.bytes, self.local.shadow):
            used = self.local_stride * self.wave.thread_count
            table = part[:used].reshape(-1, self.local_stride)
            table[lanes.select, target : target + size] = table[
                lanes.select, source : source + size
            ]

    def shared_of_cta(self, cta: int) -> Array:
        """A view of one CTA's shared memory."""
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
        """Load rows of `count` unsigned words of `width` bytes: one row, or one for each lane."""
        if width == 16:
            return self.load(lanes, space, address, 8, 2 * count, site, kind)
        self.wave.loads += 1
        resolved = self.resolve(lanes, space, address, width * count, site, kind)
        if space is not Space.PARAM:
            self._note(lanes, resolved, width * count, kind, site)
        if not isinstance(resolved, list):
            return self._read(lanes, resolved, width, count, site, kind)
        result = np.zeros((lanes.count, count), UNSIGNED[8 * width])
        for part in resolved:
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
        """Store rows of `count` unsigned words; of lanes with one address, the last wins."""
        if width == 16:
            return self.store(lanes, space, address, values, 8, 2 * count, site, kind)
        resolved = self.resolve(lanes, space, address, width * count, site, kind)
        self.wave.progress += 1
        if space is not Space.PARAM:
            self._note(lanes, resolved, width * count, kind, site)
        if not isinstance(resolved, list):
            self._write(lanes, resolved, values, width, count, site, kind)
            return
        for part in resolved:
            self._write(lanes, part, lanes.spread(values)[part.mask], width, count, site, kind)

    def _note(
        self,
        lanes: Lanes,
        resolved: ResolvedAddress | list[ResolvedAddress],
        size: int,
        kind: Kind,
        site: Instruction,
    ) -> None:
        """Count memory traffic, of which parameters are no part."""
        for part in resolved if isinstance(resolved, list) else (resolved,):
            self.wave.traffic.access(lanes, part, size, kind, site)

    def _read(
        self,
        lanes: Lanes,
        resolved: ResolvedAddress,
        width: int,
        count: int,
        site: Instruction,
        kind: Kind,
    ) -> Array:
        arena = resolved.arena
        rows = resolved.index >> ((width * count).bit_length() - 1)
        if self.wave.checks and not arena.readable(rows, width, count):
            self.report_shadow(lanes, resolved, width * count, site, kind)
        if self.wave.observer is not None:
            self.wave.observer.access(lanes, resolved, width * count, kind, site)
        return arena.rows(width, count)[0].take(rows, axis=0)

    def _write(
        self,
        lanes: Lanes,
        resolved: ResolvedAddress,
        values: Array,
        width: int,
        count: int,
        site: Instruction,
        kind: Kind,
    ) -> None:
        arena = resolved.arena
        rows = resolved.index >> ((width * count).bit_length() - 1)
        if self.wave.checks:
            if not arena.writable(rows, width, count):
                self.report_shadow(lanes, resolved, width * count, site, kind)
            arena.mark(rows, width, count)
        if self.wave.observer is not None:
            self.wave.observer.access(lanes, resolved, width * count, kind, site, values)
        if len(rows) == 1 and len(values) > 1:
            values = values[-1:]
        arena.rows(width, count)[0][rows] = values

    def resolve(
        self, lanes: Lanes, space: Space, address: Array, size: int, site: Instruction, kind: Kind
    ) -> ResolvedAddress | list[ResolvedAddress]:
        """Resolve addresses; check bounds and alignment, but not the shadow.

        Generic addresses in several state spaces resolve to several arenas, each with its mask.
        """
        if int(np.bitwise_or.reduce(address)) & (size - 1):
            bad = (address & (size - 1)) != 0
            self._report(lanes, address, bad, f"misaligned {kind.value} of {size} bytes", site)
        if space is Space.PARAM:
            address = parameter_address(address)
        if space is Space.GENERIC or space is Space.PARAM:
            return self._generic(lanes, address, size, site, kind)
        return self._RESOLVERS[space](self, lanes, address, size, site, kind)

    def _generic(
        self, lanes: Lanes, address: Array, size: int, site: Instruction, kind: Kind
    ) -> ResolvedAddress | list[ResolvedAddress]:
        windows = address >> _WINDOW_BITS
        first = int(windows[0])
        if first in _WINDOWS and all_set(windows == first):
            space, base = _WINDOWS[first]
            offset = address if space is Space.GLOBAL else address - base
            return self._RESOLVERS[space](self, lanes, offset, size, site, kind)
        parts: list[ResolvedAddress] = []
        for window in distinct(windows):
            mask: Array = windows == window
            if int(window) not in _WINDOWS:
                text = f"{kind.value} of {size} bytes outside of every allocation"
                self._report(lanes, address, mask, text, site)
            space, base = _WINDOWS[int(window)]
            offset = address[mask] - (0 if space is Space.GLOBAL else base)
            resolved = self._RESOLVERS[space](self, lanes.take(mask), offset, size, site, kind)
            parts.append(ResolvedAddress(resolved.arena, resolved.index, mask))
        return parts

    def _resolve_global(
        self, lanes: Lanes, address: Array, size: int, site: Instruction, kind: Kind
    ) -> ResolvedAddress:
        arena = self.device.arena
        index = address - GLOBAL_WINDOW
        if not _within(index, arena.size - size):
            bad = (index < 0) | (index > arena.size - size)
            text = f"{kind.value} of {size} bytes outside of every allocation"
            self._report(lanes, address, bad, text, site)
        return ResolvedAddress(arena, index, None)

    def _resolve_shared(
        self, lanes: Lanes, address: Array, size: int, site: Instruction, kind: Kind
    ) -> ResolvedAddress:
        if self.wave.launch.cluster_size > 1 or not _within(address, self.shared_size - size):
            rank, offset = address >> CTA_WINDOW_BITS, address & OFFSET_IN_CTA
            own = self.wave.geometry.cta_rank[lanes.select]
            bad = (rank != own) | (offset > self.shared_size - size)
            self._report_outside_of_shared(lanes, address, bad, size, site, kind)
            address = offset
        return ResolvedAddress(self.shared, self._shared_base[lanes.select] + address, None)

    def _resolve_cluster(
        self, lanes: Lanes, address: Array, size: int, site: Instruction, kind: Kind
    ) -> ResolvedAddress:
        cluster = self.wave.launch.cluster_size
        if cluster == 1:
            return self._resolve_shared(lanes, address, size, site, kind)
        rank, offset = address >> CTA_WINDOW_BITS, address & OFFSET_IN_CTA
        bad = (rank < 0) | (rank >= cluster) | (offset > self.shared_size - size)
        self._report_outside_of_shared(lanes, address, bad, size, site, kind)
        cta = lanes.ctas // cluster * cluster + rank
        if self.wave.checks_for("races"):
            exited = ~self.wave.live_ctas()[cta]
            if exited.any():
                text = f"{kind.value} of {size} bytes of shared memory in a CTA that has exited"
                self._report(lanes, address, exited, text, site)
        return ResolvedAddress(self.shared, cta * self.shared_stride + offset, None)

    def _report_outside_of_shared(
        self, lanes: Lanes, address: Array, bad: Array, size: int, site: Instruction, kind: Kind
    ) -> None:
        if bad.any():
            text = f"{kind.value} of {size} bytes outside of shared memory"
            self._report(lanes, address, bad, text, site, *self.shared_notes())

    def shared_notes(self) -> list[str]:
        """Notes on the size of shared memory, and on how to set it."""
        wave = self.wave
        notes = [f"a CTA of this launch has {self.shared_size} bytes"]
        if names := wave.program.linker.dynamic_shared:
            size = wave.launch.dynamic_shared or "none"
            listed = ", ".join(f"'{name}'" for name in names)
            plural = "are" if len(names) > 1 else "is"
            notes.append(
                f"{listed} {plural} dynamic shared memory, of which the launch sets the size, "
                f"here {size}: --shared BYTES, shared=BYTES"
            )
        return notes

    def _resolve_local(
        self, lanes: Lanes, address: Array, size: int, site: Instruction, kind: Kind
    ) -> ResolvedAddress:
        if not _within(address, self.local_stride - size):
            bad = (address < 0) | (address > self.local_stride - size)
            text = f"{kind.value} of {size} bytes outside of local memory"
            note = f"a thread of this kernel has {self.local_stride} bytes"
            self._report(lanes, address, bad, text, site, note)
        return ResolvedAddress(self.local, self._local_base[lanes.select] + address, None)

    _RESOLVERS: Final[dict[Space, Callable[..., ResolvedAddress]]] = {
        Space.GLOBAL: _resolve_global,
        Space.SHARED: _resolve_shared,
        Space.CLUSTER: _resolve_cluster,
        Space.LOCAL: _resolve_local,
    }

    def check(
        self, lanes: Lanes, resolved: ResolvedAddress, size: int, site: Instruction, kind: Kind
    ) -> None:
        """Report accesses to unallocated bytes, and reads of uninitialised ones.

        For accesses that handlers make themselves; `resolved.index` is aligned to `size`.
        """
        if kind in (Kind.READ, Kind.ASYNC_READ, Kind.ATOMIC):
            wanted = 3
        else:
            wanted = 1
        spans = resolved.index[:, None] + np.arange(size)
        if any_set((resolved.arena.shadow.take(spans) & wanted) != wanted):
            self.report_shadow(lanes, resolved, size, site, kind)

    def report_shadow(
        self, lanes: Lanes, resolved: ResolvedAddress, size: int, site: Instruction, kind: Kind
    ) -> None:
        """Report the first lane whose access the shadow forbids, if the check is on."""
        if resolved.mask is not None:
            lanes = lanes.take(resolved.mask)
        state = resolved.arena.shadow[resolved.index[:, None] + np.arange(size)]
        missing: Array = np.logical_or.reduce(state == 0, axis=1)
        reads = kind in (Kind.READ, Kind.ATOMIC, Kind.ASYNC_READ)
        unwritten: Array = np.logical_or.reduce(state < 3, axis=1) if reads else missing
        address = resolved.index + (GLOBAL_WINDOW if resolved.arena is self.device.arena else 0)
        if missing.any():
            text = f"{kind.value} of {size} bytes outside of every allocation"
            at = int(resolved.index[np.argmax(missing)])
            self._report(lanes, address, missing, text, site, self._neighbour(resolved.arena, at))
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
        *notes: str,
    ) -> None:
        lane = int(np.argmax(bad))
        thread = int(lanes.threads[lane])
        first = int(address[lane if len(address) > 1 else 0])
        self.wave.violation(f"{text} at address 0x{first:x}", site, thread, *notes)


def _within(index: Array, last: int) -> bool:
    """Whether every index is in [0, last]."""
    return last >= 0 and int(np.maximum.reduce(index.view(np.uint64))) <= last
