"""The mbarrier objects of a wave: phases, pending arrivals, expected bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tilewright.ptxsim.clocks import joined
from tilewright.ptxsim.lanes import WARP

if TYPE_CHECKING:
    from tilewright.ptxsim.scalar_types import Array
    from tilewright.ptxsim.syntax import Instruction
    from tilewright.ptxsim.wave import Wave

SIZE: Final = 8
_MOST: Final = (1 << 20) - 1


class Mbarrier:
    """One object; `phase` counts the phases that are complete."""

    __slots__ = (
        "actor", "arrived", "complete", "count", "index", "made", "past", "pending", "phase", "tx",
    )  # fmt: skip

    def __init__(self, index: int, count: int) -> None:
        self.index = index
        self.count = count
        self.pending = count
        self.tx = 0
        self.phase = 0
        # For the checker: the actor that stands for copies, how many phases it saw in earlier
        # objects at this place, who made the object, and what arrivals know.
        self.actor = 0
        self.past = 0
        self.made: tuple[int, int] = (0, 0)
        self.arrived: Array | None = None
        self.complete: Array | None = None

    @property
    def token(self) -> int:
        """What `mbarrier.arrive` returns: the phase and the pending count."""
        return self.phase << 32 | self.pending

    @property
    def time(self) -> int:
        """The time of the actor when the current phase completes."""
        return self.past + self.phase + 1


class Mbarriers:
    """All objects of a wave, by their place in the arena of shared memory."""

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self._alive: dict[int, Mbarrier] = {}
        self._dead: dict[int, Mbarrier] = {}
        wave.deciding.append(self._condition)

    def _condition(self) -> Array:
        rows = [
            (each.index, each.count, each.pending, each.tx, each.phase & 1)
            for each in self._alive.values()
        ]
        return np.array(rows, np.int64)

    def keys(self) -> list[tuple[type[Mbarriers], int]]:
        """Under which keys threads wait for these objects."""
        return [(Mbarriers, index) for index in self._alive]

    def init(self, index: int, count: int, thread: int, site: Instruction) -> None:
        """Make an object."""
        wave = self.wave
        if not 1 <= count <= _MOST:
            wave.violation(f"expected a count of 1 to {_MOST}, got {count}", site, thread)
        if index in self._alive and wave.checks_for("barriers"):
            text = f"{self.name(index)} exists already"
            wave.violation(text, site, thread, "mbarrier.inval ends it")
        checker = wave.checker
        found = self._alive[index] = Mbarrier(index, count)
        if checker is not None:
            before = self._dead.pop(index, None)
            if before is None:
                cluster = thread // WARP // checker.clocks.cluster_warps
                found.actor = checker.clocks.add_actor(cluster)
            else:
                found.actor, found.past = before.actor, before.time
            found.made = checker.open_object(thread, index, SIZE, site)
        wave.progress += 1

    def invalidate(self, index: int, thread: int, site: Instruction) -> None:
        """End an object."""
        self._dead[index] = self.find(index, thread, site)
        del self._alive[index]
        if self.wave.checker is not None:
            self.wave.checker.end_object(thread, index, SIZE, site)

    def find(self, index: int, thread: int, site: Instruction) -> Mbarrier:
        """The object at a place, which must exist, for the thread that uses it too."""
        found = self._alive.get(index)
        wave = self.wave
        if found is None:
            wave.violation(f"{self.name(index)} was never initialised", site, thread)
        if wave.checker is not None and not wave.checker.knows(thread, *found.made):
            text = f"race: nothing orders this after the initialisation of {self.name(index)}"
            wave.violation(text, site, thread)
        return found

    def name(self, index: int) -> str:
        """How reports name an object."""
        cta, address = divmod(index, self.wave.memory.shared_stride)
        block = tuple(
            int(axis[cta * self.wave.slots_per_cta]) for axis in self.wave.geometry.cta_index
        )
        return f"the mbarrier at shared address 0x{address:x} of block {block}"

    def describe(self, found: Mbarrier) -> str:
        """What an object still waits for."""
        arrived = found.count - found.pending
        text = f"phase {found.phase} of {self.name(found.index)}, "
        text += f"at {arrived} of {found.count} arrivals"
        if found.tx:
            text += f" and {abs(found.tx)} bytes {'missing' if found.tx > 0 else 'too many'}"
        return text

    def arrive(self, found: Mbarrier, count: int, thread: int, site: Instruction) -> None:
        """Arrive `count` times; the phase may complete."""
        if count > found.pending:
            text = f"{count} arrivals are more than {found.pending} that are pending"
            self.wave.violation(text, site, thread, self.describe(found))
        found.pending -= count
        self.wave.progress += 1
        self._settle(found)

    def drop(self, found: Mbarrier, count: int) -> None:
        """Expect fewer arrivals from the next phase on."""
        found.count -= count

    def expect(self, found: Mbarrier, size: int, thread: int, site: Instruction) -> None:
        """Expect more bytes, or, if `size` is negative, take note that bytes came."""
        found.tx += size
        if abs(found.tx) > _MOST:
            text = f"expected at most {_MOST} bytes under way, got {found.tx}"
            self.wave.violation(text, site, thread, self.describe(found))
        self.wave.progress += 1

    def complete_tx(self, found: Mbarrier, size: int, thread: int, site: Instruction) -> None:
        """Bytes have come."""
        self.expect(found, -size, thread, site)
        self._settle(found)

    def release(self, found: Mbarrier, snapshot: Array | None) -> None:
        """Those who wait for this phase will know a snapshot."""
        if snapshot is not None:
            found.arrived = joined(found.arrived, snapshot)

    def _settle(self, found: Mbarrier) -> None:
        if found.pending or found.tx:
            return
        checker = self.wave.checker
        if checker is not None:
            found.complete = joined(found.arrived, np.zeros(found.actor + 1, np.int32))
            found.complete[found.actor] = found.time
            found.arrived = None
        found.phase += 1
        found.pending = found.count
        self.wave.wake((Mbarriers, found.index))
