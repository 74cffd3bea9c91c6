"""Performance counters of a launch."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from tilewright.ptxsim.wave import Wave

_WAITS: Final = {
    "NamedBarriers": "barrier",
    "Mbarriers": "mbarrier",
    "ClusterBarriers": "cluster barrier",
}


@dataclass(slots=True)
class Counters:
    """Counters of one launch.

    Instructions count once per active thread, regardless of the guard predicate. `bytes_moved` is
    keyed by state space and direction ("global loads"), `waits` by the reason for the wait. Bank
    conflicts are the extra cycles of shared-memory requests after the first, counted if the launch
    is profiled; `shared_requests` counts the requests.
    """

    thread_instructions: int = 0
    vector_instructions: int = 0
    by_family: Counter[str] = field(default_factory=Counter[str])
    by_opcode: Counter[str] = field(default_factory=Counter[str])
    bytes_moved: Counter[str] = field(default_factory=Counter[str])
    waits: Counter[str] = field(default_factory=Counter[str])
    shared_requests: int = 0
    bank_conflicts: int = 0
    output: list[str] = field(default_factory=list[str])

    def add(self, wave: Wave) -> None:
        """Add the counters of a finished wave."""
        for segment, threads in wave.scheduler.thread_counts.items():
            issues = wave.scheduler.issue_counts[segment]
            self.thread_instructions += threads * len(segment.sites)
            self.vector_instructions += issues * len(segment.sites)
            for family, site in zip(segment.families, segment.sites, strict=True):
                self.by_family[family] += threads
                self.by_opcode[site.opcode] += threads
        for cause, count in wave.scheduler.waits.items():
            self.waits[_WAITS.get(cause, cause)] += count
        self.bytes_moved += wave.traffic.bytes
        self.shared_requests += wave.traffic.requests
        self.bank_conflicts += wave.traffic.conflicts
