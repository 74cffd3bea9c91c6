"""What a launch did, in numbers."""

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
    """Numbers of one launch, the start of a cost model.

    Instructions count once for every thread at them, whatever its guard says. `bytes_moved` goes
    by space and direction ("global loads"), `waits` says how often threads had to wait for what.
    Bank conflicts are turns that accesses to shared memory take beyond the first, and are counted
    if the launch is profiled; `shared_requests` are the first turns.
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
        """Count what a finished wave did."""
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
