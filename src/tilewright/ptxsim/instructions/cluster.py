"""`barrier.cluster`: the cluster barrier."""

from __future__ import annotations

import numpy as np

from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.operation import Operation
from tilewright.ptxsim.scalar_types import Array
from tilewright.ptxsim.syntax import Instruction
from tilewright.ptxsim.vectors import distinct
from tilewright.ptxsim.wave import Wave


class ClusterBarriers:
    """For each cluster the number of arrived threads; for each thread the phase it waits for."""

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self.size = wave.launch.cluster_size * wave.slots_per_cta
        self.clusters = wave.thread_count // self.size
        self.phase: Array = np.zeros(self.clusters, np.int64)
        self.arrived: Array = np.zeros(self.clusters, np.int64)
        self.live: Array = self._count(np.flatnonzero(wave.live))
        # The phase that a thread waits for, plus 1; 0 if it has not arrived.
        self.ticket: Array = np.zeros(wave.thread_count, np.int64)
        wave.on_exit.append(self.retire)
        wave.control_state.append(self._state)

    def _state(self) -> Array:
        distance = np.repeat(self.phase, self.size) + 1 - self.ticket
        return np.concatenate((self.arrived, np.where(self.ticket == 0, -1, distance)))

    def _count(self, threads: Array) -> Array:
        return np.bincount(threads // self.size, minlength=self.clusters)

    def retire(self, threads: Array) -> None:
        """Exclude exited threads, which may complete a barrier."""
        self.live -= self._count(threads)
        # Threads that arrived before they exited are excluded from the arrivals, too.
        arrived = threads[self.ticket[threads] == self.phase[threads // self.size] + 1]
        self.arrived -= self._count(arrived)
        self.complete_phases()

    def arrive(self, lanes: Lanes, relaxed: bool, site: Instruction) -> None:
        """Count arrivals."""
        threads = lanes.threads
        again = self.ticket[threads] != 0
        if again.any():
            text = "expected barrier.cluster.wait between two arrivals"
            self.wave.violation(text, site, int(threads[np.argmax(again)]))
        clusters = threads // self.size
        self.ticket[threads] = self.phase[clusters] + 1
        checker = self.wave.checker
        if checker is not None and not relaxed:
            for cluster in distinct(clusters).tolist():
                key = ClusterBarriers, cluster, int(self.phase[cluster])
                checker.release(threads[clusters == cluster], key)
        self.arrived += self._count(threads)
        self.complete_phases()

    def complete_phases(self) -> None:
        """Begin the next phase of each cluster whose live threads have all arrived."""
        complete = (self.arrived > 0) & (self.arrived >= self.live)
        for cluster in np.flatnonzero(complete).tolist():
            self._acquire(cluster)
            self.phase[cluster] += 1
            self.arrived[cluster] = 0
            self.wave.progress += 1
            self.wave.wake((ClusterBarriers, cluster))

    def _acquire(self, cluster: int) -> None:
        # Every arrived thread will wait, so it may acquire now.
        if self.wave.checker is not None:
            threads = np.arange(cluster * self.size, (cluster + 1) * self.size)
            key = ClusterBarriers, cluster, int(self.phase[cluster])
            self.wave.checker.acquire(threads, key)

    def wait(self, lanes: Lanes, site: Instruction) -> None:
        """Block threads until the phase at which they arrived completes."""
        threads = lanes.threads
        tickets = self.ticket[threads]
        if not tickets.all():
            text = "expected barrier.cluster.arrive before the wait"
            self.wave.violation(text, site, int(threads[np.argmin(tickets)]))
        clusters = threads // self.size
        late = self.phase[clusters] < tickets
        self.ticket[threads[~late]] = 0
        if self.wave.observer is not None and not late.all():
            self.wave.observer.synchronise(threads[~late], "barrier.cluster", None, site)
        for cluster in distinct(clusters[late]).tolist():
            waiting: Array = late & (clusters == cluster)
            key = ClusterBarriers, cluster
            lanes.park(waiting, key, lambda cluster=cluster: self.describe(cluster))

    def describe(self, cluster: int) -> str:
        """Describe the arrivals at a cluster's barrier."""
        return f"its cluster, at {self.arrived[cluster]} of {self.live[cluster]} threads"


@instruction("barrier.cluster.arrive", blocks=True)
def arrive(op: Operation) -> Run:
    """`barrier.cluster.arrive`."""
    relaxed = op.choice("release", "relaxed") == "relaxed"
    op.ignore("aligned")
    site = op.site
    return lambda lanes: lanes.wave.state(ClusterBarriers).arrive(lanes, relaxed, site)


@instruction("barrier.cluster.wait", blocks=True)
def wait(op: Operation) -> Run:
    """`barrier.cluster.wait`."""
    op.ignore("acquire", "aligned")
    site = op.site
    return lambda lanes: lanes.wave.state(ClusterBarriers).wait(lanes, site)
