"""The threads that execute one instruction together, as one vector."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Final

from tilewright.ptxsim.scalar_types import Array
from tilewright.ptxsim.vectors import all_set

if TYPE_CHECKING:
    from tilewright.ptxsim.frame import Frame
    from tilewright.ptxsim.wave import Wave

WARP: Final = 32
WARP_BITS: Final = 5


class Lanes:
    """A selection of a wave's threads, in ascending order.

    `cells[slot][select]` is a register of these threads: `select` is a slice if they are
    consecutive, and an index array otherwise. A handler sees active threads only, without a mask.
    """

    __slots__ = ("_threads", "cells", "count", "frame", "select", "wave")

    def __init__(self, wave: Wave, frame: Frame, threads: Array) -> None:
        self.wave = wave
        self.frame = frame
        self.cells = frame.cells
        self.count = count = len(threads)
        self._threads: Array = threads
        first = int(threads[0]) if count else 0
        adjacent = count > 0 and int(threads[-1]) - first == count - 1
        self.select: slice | Array = slice(first, first + count) if adjacent else threads

    @property
    def threads(self) -> Array:
        """The indices of these threads in their wave."""
        return self._threads

    @property
    def ctas(self) -> Array:
        """For each of these threads, the index of its CTA in the wave."""
        return self.wave.cta_of_thread[self.select]

    @property
    def warps(self) -> Array:
        """For each of these threads, the index of its warp in the wave."""
        return self._threads >> WARP_BITS

    @property
    def lane_ids(self) -> Array:
        """For each of these threads, its lane in its warp."""
        return self._threads & (WARP - 1)

    @property
    def whole_warps(self) -> bool:
        """Whether every warp has all 32 threads, so that vectors reshape to (-1, 32)."""
        if self.count % WARP:
            return False
        if isinstance(self.select, slice):
            return self.select.start % WARP == 0
        groups = self._threads.reshape(-1, WARP)
        # Ascending and distinct: comparing the first and last of 32 is enough.
        return bool(((groups[:, 0] % WARP == 0) & (groups[:, -1] == groups[:, 0] + 31)).all())

    def take(self, mask: Array) -> Lanes:
        """Select the lanes for which the mask is true."""
        return Lanes(self.wave, self.frame, self._threads[mask])

    def spread(self, values: Array) -> Array:
        """Broadcast values to one row per lane; readers may return one row for all lanes."""
        if len(values) == self.count:
            return values
        return values.repeat(self.count, axis=0)

    def park(
        self,
        mask: Array | None,
        key: Hashable,
        reason: str | Callable[[], str],
        *,
        retry: bool = True,
    ) -> None:
        """Block lanes until `wave.wake(key)`; all of them if there is no mask.

        With `retry` they then execute this instruction again, otherwise they continue after it.
        `reason` completes the sentence "waits for …" of a deadlock report.
        """
        threads = self._threads if mask is None else self._threads[mask]
        if len(threads):
            self.wave.scheduler.park(threads, key, reason, retry)

    def converged(self, member_mask: Array) -> Lanes:
        """Return the lanes whose warp has all lanes of the mask here; block the others.

        `member_mask` has 32 bits per lane; threads that have exited are not waited for.
        """
        wave = self.wave
        if self.count == wave.live_count or self.whole_warps:
            return self
        here = wave.warp_bits(self._threads)
        expected = member_mask & wave.live_warp_bits()[self.warps]
        complete = (here[self.warps] & expected) == expected
        if all_set(complete):
            return self
        self.park(~complete, CONVERGENCE, "the other threads of its warp")
        return self.take(complete)


CONVERGENCE: Final = "convergence"
