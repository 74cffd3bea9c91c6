"""Vector clocks for happens-before: one per warp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tilewright.ptxsim.lanes import WARP, WARP_BITS
from tilewright.ptxsim.scalar_types import Array
from tilewright.ptxsim.vectors import distinct_ascending

if TYPE_CHECKING:
    from tilewright.ptxsim.wave import Wave

_GROWTH: Final = 32


class Clocks:
    """One row for each warp of a wave, one column for each actor of its cluster.

    Actors are the warps of the cluster and the async agents they start: copies that an mbarrier
    counts, groups of asynchronous operations. An actor's clock counts its releases: an event of
    actor `a` at time `t` happens before all events of a warp whose entry for `a` is at least `t`.
    """

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self.warps_per_cta = wave.warps_per_cta
        self.cluster_warps = wave.launch.cluster_size * wave.warps_per_cta
        warps = wave.thread_count // WARP
        self.own: Array = np.arange(warps) % self.cluster_warps
        self.table: Array = np.zeros((warps, self.cluster_warps + _GROWTH), np.int32)
        self.table[np.arange(warps), self.own] = 1
        self._used: Array = np.full(warps // self.cluster_warps, self.cluster_warps)

    def warps_of(self, threads: Array) -> Array:
        """The warps that some threads, in ascending order, belong to."""
        return distinct_ascending(threads >> WARP_BITS)

    def add_actor(self, cluster: int) -> int:
        """Add a column for an actor of a cluster, and return it."""
        column = int(self._used[cluster])
        self._used[cluster] += 1
        self._reserve(column + 1)
        return column

    def add_actors(self) -> int:
        """Add a column per warp of every cluster, and return the first."""
        first = int(np.max(self._used))
        self._used[:] = first + self.cluster_warps
        self._reserve(first + self.cluster_warps)
        return first

    def _reserve(self, columns: int) -> None:
        if columns > self.table.shape[1]:
            missing = columns - self.table.shape[1]
            self.table = np.pad(self.table, ((0, 0), (0, missing + _GROWTH)))

    def now(self, warps: Array) -> Array:
        """The current time of each warp."""
        return self.table[warps, self.own[warps]]

    def tick(self, warps: Array) -> None:
        """Advance the clocks of warps after a release."""
        self.table[warps, self.own[warps]] += 1

    def release(self, warps: Array) -> Array:
        """Return the joined clock of warps of one cluster, and advance their own entries."""
        snapshot: Array = np.maximum.reduce(self.table[warps], axis=0)
        self.tick(warps)
        return snapshot

    def acquire(self, warps: Array, snapshot: Array) -> None:
        """Join a released clock into the clocks of warps."""
        width = len(snapshot)
        self.table[warps, :width] = np.maximum(self.table[warps, :width], snapshot)

    def join_ctas(self, ctas: Array) -> Array:
        """Join the clocks of all warps of each CTA at a barrier; return the warps."""
        table = self.table.reshape(-1, self.warps_per_cta, self.table.shape[1])
        table[ctas] = np.maximum.reduce(table[ctas], axis=1, keepdims=True)
        warps = (ctas[:, None] * self.warps_per_cta + np.arange(self.warps_per_cta)).reshape(-1)
        self.tick(warps)
        return warps

    def learn(self, warps: Array, columns: Array | int, time: Array | int) -> None:
        """Acquire the events of actors up to a time."""
        self.table[warps, columns] = np.maximum(self.table[warps, columns], time)


def joined(left: Array | None, right: Array) -> Array:
    """The join (elementwise maximum) of two clocks."""
    if left is None:
        return right.copy()
    if len(left) < len(right):
        left, right = right, left
    result = left.copy()
    result[: len(right)] = np.maximum(result[: len(right)], right)
    return result


class AsyncGroups:
    """Groups of asynchronous operations, which complete in the order in which a warp commits them.

    Its actors, one for each warp, advance at each commit.
    """

    _HISTORY: Final = 16

    def __init__(self, clocks: Clocks) -> None:
        self.clocks = clocks
        self.first = clocks.add_actors()
        warps = len(clocks.own)
        self._time: Array = np.ones(warps, np.int32)
        self._commits: Array = np.zeros(warps, np.int64)
        self._ends: Array = np.zeros((warps, self._HISTORY), np.int32)

    def columns(self, warps: Array) -> Array:
        """The actors of some warps."""
        return self.first + self.clocks.own[warps]

    def time(self, warps: Array) -> Array:
        """The time of operations issued now."""
        return self._time[warps]

    def commit(self, warps: Array) -> None:
        """Commit the issued operations as a group."""
        self._ends[warps, self._commits[warps] % self._HISTORY] = self._time[warps]
        self._commits[warps] += 1
        self._time[warps] += 1

    def wait(self, warps: Array, pending: int) -> None:
        """Acquire all groups but the last `pending` ones."""
        last = self._commits[warps] - 1 - pending
        known = (last >= 0) & (pending < self._HISTORY)
        ends = np.where(known, self._ends[warps, last % self._HISTORY], 0)
        self.clocks.learn(warps, self.columns(warps), ends)

    def complete(self, warps: Array) -> None:
        """Acquire all issued operations, committed or not."""
        self.clocks.learn(warps, self.columns(warps), self._time[warps])
        self._time[warps] += 1

    def release(self, warp: int) -> Array:
        """Release a clock that covers all operations issued so far, for an mbarrier arrival."""
        snapshot = self.clocks.release(np.array([warp]))
        snapshot[self.first + self.clocks.own[warp]] = self._time[warp]
        self._time[warp] += 1
        return snapshot
