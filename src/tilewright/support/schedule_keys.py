"""The keys of a forced schedule, the values of each, and the sources of requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

CHOICES: Final[dict[str, Sequence[int]]] = {
    "stages": range(9),
    "in-flight": range(2),
    "k-parts": range(9),
    "agents": range(2),
    "multicast": range(2),
    "tma-stores": range(2),
    "evict-first": range(2),
    "rotate": range(2),
    "kept-tiles": range(33),
    "single-trip": range(2),
    "prefetch": range(2),
    "warps": (0, 1, 2, 4, 8, 16),
}
"""The values of each key."""
COUNTS: Final = ("stages", "k-parts", "warps")
"""The keys of which 0 asks for nothing: the compiler chooses."""

LEVEL: Final = "level"
SANITIZE: Final = "sanitize"
RESTRICTIONS: Final[dict[str, Sequence[int]]] = {LEVEL: range(2), SANITIZE: range(1, 2)}
"""The values of what restricts the compiler: the optimization levels that do, and `--sanitize`."""
OPTIONS: Final = "options"
"""The source of restrictions: options of the command line, or of the Python API."""
SCHEDULE: Final = "schedule"
"""The source of requests of `--schedule`, or of the Python API."""
ENVIRONMENT: Final = "environment"
VARIABLE: Final = "TILEWRIGHT_SCHEDULE"
"""The environment variable with the schedule of compilations under cuTile."""
RECORD: Final = "record"
"""The source of requests of a tuning record."""
ENTRY: Final = "entry"
"""The source of requests that are hints of the program."""
SOURCES: Final = (OPTIONS, SCHEDULE, ENVIRONMENT, RECORD, ENTRY)
"""The sources of requests. The first one of two that ask for the same wins."""
