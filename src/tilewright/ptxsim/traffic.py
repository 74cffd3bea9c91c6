"""Memory traffic of threads, asynchronous copies and matrix units."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from tilewright.ptxsim.memory import GLOBAL_WINDOW, Kind, ResolvedAddress
from tilewright.ptxsim.scalar_types import Array

if TYPE_CHECKING:
    from tilewright.ptxsim.lanes import Lanes
    from tilewright.ptxsim.memory import Memory
    from tilewright.ptxsim.profile import Profile
    from tilewright.ptxsim.syntax import Instruction

ASYNC_READS: Final = "asynchronous reads"
ASYNC_WRITES: Final = "asynchronous writes"
BULK_READS: Final = "bulk reads"
BULK_WRITES: Final = "bulk writes"
WGMMA_READS: Final = "wgmma reads"
_NAMES: Final = {
    Kind.READ: "loads",
    Kind.WRITE: "stores",
    Kind.ATOMIC: "atomics",
    Kind.ASYNC_READ: ASYNC_READS,
    Kind.ASYNC_WRITE: ASYNC_WRITES,
}


class Traffic:
    """Counts the bytes that a wave accesses; a profile also counts sectors and bank conflicts."""

    def __init__(self, memory: Memory, profile: Profile | None) -> None:
        self.memory = memory
        self.profile = profile
        self.bytes: Counter[str] = Counter()

    def count(self, space: str, access: str, size: int) -> None:
        """Count bytes of a state space, accessed as the name says."""
        self.bytes[f"{space} {access}"] += size

    def access(
        self, lanes: Lanes, resolved: ResolvedAddress, size: int, kind: Kind, site: Instruction
    ) -> None:
        """Count an access of `size` bytes per lane."""
        if resolved.mask is not None:
            lanes = lanes.take(resolved.mask)
        name = f"{resolved.arena.name} {_NAMES[kind]}"
        self.bytes[name] += lanes.count * size
        if self.profile is None:
            return
        if resolved.arena is self.memory.shared:
            self.profile.access_shared(lanes, lanes.spread(resolved.index), size, site)
        elif resolved.arena is self.memory.device.arena:
            self.profile.access_global(name, lanes, lanes.spread(resolved.index), site)

    def copy_lanes(self, lanes: Lanes, address: Array, sizes: Array, site: Instruction) -> None:
        """Count the reads of global memory by `cp.async`: some bytes, or none, for each lane."""
        name = f"global {ASYNC_READS}"
        self.bytes[name] += int(sizes.sum())
        if self.profile is not None and sizes.any():
            reading = sizes > 0
            index = address[reading] - GLOBAL_WINDOW
            self.profile.access_global(name, lanes.take(reading), index, site)

    def copy_bulk(self, access: str, starts: Array, size: int, site: Instruction) -> None:
        """Count what a bulk copy accesses in global memory: `size` bytes at each start."""
        name = f"global {access}"
        self.bytes[name] += len(starts) * size
        if self.profile is not None:
            self.profile.copy_global(name, starts, size, site)
