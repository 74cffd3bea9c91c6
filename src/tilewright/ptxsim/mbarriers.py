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
_MAX_COUNT: Final = (1 << 20) - 1


class Mbarrier:
    """One object; `phase` counts the phases that have completed."""

    __slots__ = (
        "actor", "arrived", "complete", "count", "index", "made", "past", "pending", "phase", "tx",
    )  # fmt: skip

    def __init__(self, index: int, count: int) -> None:
        self.index = index
        self.count = count
        self.pending = count
        self.tx = 0
        self.phase = 0
        # For the race detector: the actor of the copies, the phases it completed in earlier
        # objects at this address, the initialising event, and the clocks released by arrivals.
        self.actor = 0
        self.past = 0
        self.made: tuple[int, int] = (0, 0)
        self.arrived: Array | None = None
        self.complete: Array | None = None

    @property
    def token(self) -> int:
        """The state that `mbarrier.arrive` returns: the phase and the pending count."""
        return self.phase << 32 | self.pending

    @property
    def time(self) -> int:
        """The actor's time at which the current phase completes."""
        return self.past + self.phase + 1


class Mbarriers:
    """All objects of a wave, by their index in the shared-memory arena."""

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self._alive: dict[int, Mbarrier] = {}
        self._dead: dict[int, Mbarrier] = {}
        wave.control_state.append(self._control_state)

    def _control_state(self) -> Array:
        rows = [
            (each.index, each.count, each.pending, each.tx, each.phase & 1)
            for each in self._alive.values()
        ]
        return np.array(rows, np.int64)

    def keys(self) -> list[tuple[type[Mbarriers], int]]:
        """The keys under which threads wait for these objects."""
        return [(Mbarriers, index) for index in self._alive]

    def init(self, index: int, count: int, thread: int, site: Instruction) -> None:
        """Initialise an object."""
        wave = self.wave
        if not 1 <= count <= _MAX_COUNT:
            wave.violation(f"expected a count of 1 to {_MAX_COUNT}, got {count}", site, thread)
        if index in self._alive and wave.checks_for("barriers"):
            text = f"{self.name(index)} exists already"
            wave.violation(text, site, thread, "mbarrier.inval ends it")
        checker = wave.checker
        mbarrier = self._alive[index] = Mbarrier(index, count)
        if checker is not None:
            before = self._dead.pop(index, None)
            if before is None:
                cluster = thread // WARP // checker.clocks.cluster_warps
                mbarrier.actor = checker.clocks.add_actor(cluster)
            else:
                mbarrier.actor, mbarrier.past = before.actor, before.time
            mbarrier.made = checker.open_object(thread, index, SIZE, site)
        wave.progress += 1

    def invalidate(self, index: int, thread: int, site: Instruction) -> None:
        """Invalidate an object."""
        self._dead[index] = self.find(index, thread, site)
        del self._alive[index]
        if self.wave.checker is not None:
            self.wave.checker.end_object(thread, index, SIZE, site)

    def find(self, index: int, thread: int, site: Instruction) -> Mbarrier:
        """Return the object at an index; its initialisation must happen before the use."""
        mbarrier = self._alive.get(index)
        wave = self.wave
        if mbarrier is None:
            wave.violation(f"{self.name(index)} was never initialised", site, thread)
        if wave.checker is not None and not wave.checker.knows(thread, *mbarrier.made):
            text = f"race: nothing orders this after the initialisation of {self.name(index)}"
            wave.violation(text, site, thread)
        return mbarrier

    def name(self, index: int) -> str:
        """The name of an object in reports."""
        cta, address = divmod(index, self.wave.memory.shared_stride)
        block = tuple(
            int(axis[cta * self.wave.slots_per_cta]) for axis in self.wave.geometry.cta_index
        )
        return f"the mbarrier at shared address 0x{address:x} of block {block}"

    def describe(self, mbarrier: Mbarrier) -> str:
        """Describe the pending arrivals and bytes of an object."""
        arrived = mbarrier.count - mbarrier.pending
        text = f"phase {mbarrier.phase} of {self.name(mbarrier.index)}, "
        text += f"at {arrived} of {mbarrier.count} arrivals"
        if mbarrier.tx:
            text += f" and {abs(mbarrier.tx)} bytes {'missing' if mbarrier.tx > 0 else 'too many'}"
        return text

    def arrive(self, mbarrier: Mbarrier, count: int, thread: int, site: Instruction) -> None:
        """Arrive `count` times; the phase may complete."""
        if count > mbarrier.pending:
            text = f"{count} arrivals are more than {mbarrier.pending} that are pending"
            self.wave.violation(text, site, thread, self.describe(mbarrier))
        mbarrier.pending -= count
        self.wave.progress += 1
        self._try_complete(mbarrier)

    def drop(self, mbarrier: Mbarrier, count: int) -> None:
        """Expect fewer arrivals from the next phase on."""
        mbarrier.count -= count

    def expect(self, mbarrier: Mbarrier, size: int, thread: int, site: Instruction) -> None:
        """Add to the transaction count; a negative `size` completes bytes."""
        mbarrier.tx += size
        if abs(mbarrier.tx) > _MAX_COUNT:
            text = f"expected at most {_MAX_COUNT} bytes under way, got {mbarrier.tx}"
            self.wave.violation(text, site, thread, self.describe(mbarrier))
        self.wave.progress += 1

    def complete_tx(self, mbarrier: Mbarrier, size: int, thread: int, site: Instruction) -> None:
        """Complete bytes of the transaction count; the phase may complete."""
        self.expect(mbarrier, -size, thread, site)
        self._try_complete(mbarrier)

    def release(self, mbarrier: Mbarrier, snapshot: Array | None) -> None:
        """Join a released clock, which waiters of this phase acquire."""
        if snapshot is not None:
            mbarrier.arrived = joined(mbarrier.arrived, snapshot)

    def _try_complete(self, mbarrier: Mbarrier) -> None:
        if mbarrier.pending or mbarrier.tx:
            return
        checker = self.wave.checker
        if checker is not None:
            mbarrier.complete = joined(mbarrier.arrived, np.zeros(mbarrier.actor + 1, np.int32))
            mbarrier.complete[mbarrier.actor] = mbarrier.time
            mbarrier.arrived = None
        mbarrier.phase += 1
        mbarrier.pending = mbarrier.count
        self.wave.wake((Mbarriers, mbarrier.index))
