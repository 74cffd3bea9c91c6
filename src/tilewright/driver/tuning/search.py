"""The search space of tuning: which values of the options of schedules are tried, in which order.

The options and their values are those of `support.schedule_keys`. The search starts at the
compiler's own choice and changes one option at a time; see `Tuner`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.support.schedule_keys import CHOICES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TRIED: Final[dict[str, tuple[int, ...]]] = {
    "agents": (1, 0),
    "stages": (3, 4, 2, 5, 6, 8, 1),
    "warps": (8, 4, 2, 16),
    "in-flight": (0, 1),
    "k-parts": (2, 1, 4),
    "tma-stores": (1,),
    "multicast": (0,),
    "evict-first": (0,),
    "rotate": (0, 1),
    "kept-tiles": (0, 8, 16, 32),
    "single-trip": (0, 1),
    "prefetch": (1, 0),
}
"""The values of each option that are tried, the most promising first."""


def neighbours(schedule: str) -> Iterator[str]:
    """Schedules that differ from one in a single option."""
    chosen = options_of(schedule)
    for name, values in TRIED.items():
        for value in values:
            if chosen.get(name) != value:
                yield spell({**chosen, name: value})


def candidates_around(
    schedules: Sequence[str], known: set[str], seeds: Sequence[str] = ()
) -> list[str]:
    """The seeds and the neighbours of some schedules that are not known yet, each once."""
    each = (neighbour for schedule in schedules for neighbour in neighbours(schedule))
    return [schedule for schedule in dict.fromkeys((*seeds, *each)) if schedule not in known]


def options_of(schedule: str) -> dict[str, int]:
    """The options of a schedule, as `parse_schedule` writes it."""
    pairs = (pair.partition("=") for pair in schedule.split())
    return {name: int(number) for name, _, number in pairs}


def spell(options: dict[str, int]) -> str:
    """The schedule of some options, in the order in which they are declared."""
    return " ".join(f"{name}={options[name]}" for name in CHOICES if name in options)
