"""Performance counters of a launch."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tilewright.ptxsim.profile import Profile
    from tilewright.ptxsim.syntax import Instruction
    from tilewright.ptxsim.wave import Wave

_WAITS: Final = {
    "NamedBarriers": "barrier",
    "Mbarriers": "mbarrier",
    "ClusterBarriers": "cluster barrier",
}

SourcePosition = tuple[str, int]
"""A file and a line: of the source if the PTX has line information, else of the PTX."""


@dataclass(slots=True)
class LineCounters:
    """Counters of the instructions of one line."""

    warp_instructions: int = 0
    divergent_instructions: int = 0
    predicated_off: int = 0
    sectors: int = 0
    shared_requests: int = 0
    bank_conflicts: int = 0
    waits: int = 0


@dataclass(slots=True)
class Counters:
    """Counters of one launch.

    Instructions count once per active thread, regardless of the guard predicate; one that waits
    and is then retried counts once. `vector_instructions` counts the steps of the emulator.
    `bytes_moved` is keyed by state space and access ("global loads"), `waits` by the reason for
    which threads waited.

    The others are counted if the launch is profiled. `warp_instructions` counts instructions once
    per warp, and `divergent_instructions` those of them that some threads of the warp did not
    execute; `predicated_off` counts threads whose guard was false. `sectors` counts the sectors of
    32 bytes that each warp instruction or bulk copy accesses, by the same names as `bytes_moved`.
    `shared_requests` counts the requests to shared memory, and `bank_conflicts` their extra cycles
    after the first.
    """

    thread_instructions: int = 0
    vector_instructions: int = 0
    by_family: Counter[str] = field(default_factory=Counter[str])
    by_opcode: Counter[str] = field(default_factory=Counter[str])
    bytes_moved: Counter[str] = field(default_factory=Counter[str])
    waits: Counter[str] = field(default_factory=Counter[str])
    warp_instructions: int = 0
    divergent_instructions: int = 0
    predicated_off: int = 0
    sectors: Counter[str] = field(default_factory=Counter[str])
    shared_requests: int = 0
    bank_conflicts: int = 0
    by_line: defaultdict[SourcePosition, LineCounters] = field(
        default_factory=lambda: defaultdict(LineCounters)
    )
    output: list[str] = field(default_factory=list[str])

    def add(self, wave: Wave) -> None:
        """Add the counters of a finished wave."""
        for segment, threads in wave.scheduler.thread_counts.items():
            self.thread_instructions += threads * len(segment.sites)
            for family, site in zip(segment.families, segment.sites, strict=True):
                self.by_family[family] += threads
                self.by_opcode[site.opcode] += threads
        for segment, steps in wave.scheduler.issue_counts.items():
            self.vector_instructions += steps * len(segment.sites)
        for (cause, _), count in wave.scheduler.waits.items():
            self.waits[_WAITS.get(cause, cause)] += count
        self.bytes_moved += wave.traffic.bytes
        if wave.profile is not None:
            self._add_profile(wave.profile)
            for (_, site), count in wave.scheduler.waits.items():
                self.by_line[_position(site)].waits += count

    def _add_profile(self, profile: Profile) -> None:
        self.sectors += profile.sectors
        for segment, warps in profile.warps.items():
            divergent = profile.divergent[segment]
            self.warp_instructions += warps * len(segment.sites)
            self.divergent_instructions += divergent * len(segment.sites)
            for site in segment.sites:
                line = self.by_line[_position(site)]
                line.warp_instructions += warps
                line.divergent_instructions += divergent
        for site, counts in profile.sites.items():
            line = self.by_line[_position(site)]
            self.predicated_off += counts.predicated_off
            self.shared_requests += counts.shared_requests
            self.bank_conflicts += counts.bank_conflicts
            line.predicated_off += counts.predicated_off
            line.sectors += counts.sectors
            line.shared_requests += counts.shared_requests
            line.bank_conflicts += counts.bank_conflicts

    def as_dict(self) -> dict[str, Any]:
        """All counters as JSON values under the names of the attributes, lines in order."""
        hidden = ("output", "by_line")
        values: dict[str, Any] = {
            name: getattr(self, name) for name in self.__slots__ if name not in hidden
        }
        values["by_line"] = [
            {"file": file, "line": line, **asdict(counters)}
            for (file, line), counters in sorted(self.by_line.items())
        ]
        return values


def _position(site: Instruction) -> SourcePosition:
    if site.source_line is not None:
        return site.source_line.file, site.source_line.line
    location = site.text_location.resolve()
    return location.file, location.line
