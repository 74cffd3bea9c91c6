"""Time kernels under many plans, to calibrate and to validate a model of their cost.

    python benchmarks/plan_sweep.py --variants gemm attention validation [--only REGEX] -o FILE

Runs on a GPU as `version_pairs.py` does. One process for each schedule in `SCHEDULES` compiles the
same kernel, and all of them time samples of it in turn, so that clocks and temperature are the same
for all plans. Schedules that lead to the same machine code are one plan, with the first of their
names. FILE has, for each kernel and plan, the samples in microseconds.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

from version_pairs import HERE, VARIANTS, Version, offered_rows

ROUNDS: Final = 7
SCHEDULES: Final = (
    "",
    "stages=2",
    "stages=3",
    "stages=4",
    "agents=0",
    "agents=1",
    "warps=4",
    "warps=8",
    "rotate=0",
    "in-flight=0",
    "k-parts=2",
    "kept-tiles=0",
    "single-trip=0",
    "prefetch=0",
    "agents=0,stages=2",
    "agents=0,warps=8,rotate=0",
)
"""What is forced; the first is the choice of the compiler."""

Times = dict[str, list[float]]
"""Samples in microseconds, by schedule."""


def main() -> int:
    """Time the kernels that the command line selects."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--only", default="", help="kernels that match a regular expression")
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    swept: dict[str, Times] = {}
    problems: list[str] = []
    for name in arguments.variants:
        command = [sys.executable, str(HERE / VARIANTS[name]), "--alternate"]
        problems += sweep([*command, "--only", arguments.only], swept, arguments.output)
    print("\n".join(problems))
    return 1 if problems else 0


def sweep(command: Sequence[str], swept: dict[str, Times], output: Path) -> list[str]:
    """Time the rows of a command; the errors with which processes ended.

    The output is written after each row: a sweep that is stopped keeps what it has.
    """
    with tempfile.TemporaryDirectory() as created:
        versions = [
            Version(schedule, Path("src"), command, Path.cwd(), Path(created) / str(n), schedule)
            for n, schedule in enumerate(SCHEDULES)
        ]
        before = {version.label: Counter[str]() for version in versions}
        for row, offering in offered_rows(versions):
            plans: dict[frozenset[str], Version] = {}
            for version in offering:
                digests = version.digests()
                plans.setdefault(frozenset(digests - before[version.label]), version)
                before[version.label] = digests
            times = time_in_turn(list(plans.values()))
            swept[row] = times
            spread = sorted(median(each) for each in times.values())
            print(f"{row}: {len(times)} plans, {spread[0]:.1f} to {spread[-1]:.1f} us", flush=True)
            output.write_text(json.dumps(swept, indent=1))
        return [each for version in versions if (each := version.problem())]


def time_in_turn(versions: Sequence[Version]) -> Times:
    """Samples of each version, one round after the other."""
    times: Times = {version.label: [] for version in versions}
    for round_number in range(ROUNDS):
        # The order alternates: a sample may suffer from the one before.
        for version in versions[:: -1 if round_number % 2 else 1]:
            times[version.label].append(round(version.sample(), 2))
    return times


if __name__ == "__main__":
    sys.exit(main())
