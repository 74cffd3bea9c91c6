"""Judge what the compiler chooses on measured plans, without a GPU.

    python benchmarks/chosen_plans.py [--losses]

Times are those of `results/plans-h200.json`: kernels under forced schedules. Where the compiler
chooses other warps than when they were measured, its choice costs what was measured with these.
Else every schedule of a row is compiled anew to nv_tileas, and its choice costs the median of those
that give the same text as no schedule. Rows of `results/plans-h200-renewed.json` were timed again
when their code had changed; their choice costs what it did then. `--losses` prints the rows whose
choice is more than 5 % slower than the best of its sweep. Times were measured with an older
compiler: what has changed for all schedules of a row alike does not show.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping
from statistics import mean, median
from typing import Final, NamedTuple

from cost_model import measured_times
from cost_records import TIMES, read_facts
from launch_choice import choice_of
from program_archive import ARCHIVE, unpacked

from tilewright.driver.compile import Compilation, Observers, Program, Settings, target
from tilewright.driver.schedules import parse_schedule

FREE: Final = ""
NEAR: Final = (0.05, 0.10)
RENEWED: Final = TIMES.with_name("plans-h200-renewed.json")
ASKED: Final = re.compile(r",? *nv_tileaa\.(asked|refused) = #nv_tileaa\.\1<(?:[^<>]|<[^<>]*>)*>")
"""What a kernel is asked, which differs between schedules that lead to the same code."""


class Choice(NamedTuple):
    """What is chosen for a row."""

    row: str
    schedules: list[str]
    """That lead to the same code; only the empty one if no other that was measured does."""
    loss: float
    """How much slower it is than the best schedule that was measured."""


def lowered(code: bytes, schedule: str) -> str:
    """A program at nv_tileas under a schedule, without what was asked."""
    settings = Settings(target("sm_90"), schedule=parse_schedule(schedule))
    text = Compilation(Program(code).module, settings, Observers()).to("nv_tileas")
    assert isinstance(text, str)
    return ASKED.sub("", text)


def choices() -> Iterator[Choice]:
    """The choice for each row."""
    programs, facts, measured = unpacked(ARCHIVE.read_bytes()), read_facts(), measured_times()
    renewed = measured_times(RENEWED)
    for row, times in measured.items():
        if row not in facts.plans:
            continue
        if row in renewed:
            yield _choice(row, [FREE], renewed[row])
            continue
        if forced := choice_of(facts, measured, row).schedule:
            yield _choice(row, [forced], times)
            continue
        codes = [programs[name] for name, _ in facts.plans[row][FREE]]
        chosen = [lowered(code, FREE) for code in codes]
        same = [
            each
            for each in times
            if each != FREE and [lowered(code, each) for code in codes] == chosen
        ]
        # What was chosen when it was measured is a schedule of its own, unless another one is it.
        yield _choice(row, same or [FREE], times)


def _choice(row: str, same: list[str], times: Mapping[str, float]) -> Choice:
    time = median([times[each] for each in same])
    return Choice(row, same, time / min(times.values()) - 1)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--losses", action="store_true", help="print the rows that lose")
    arguments = parser.parse_args()
    made = list(choices())
    near = [mean(each.loss <= bound for each in made) for bound in NEAR]
    print("| rows | within 5 % | within 10 % | mean loss | worst |\n|---:|---:|---:|---:|---:|")
    worst = max(each.loss for each in made)
    print(f"| {len(made)} | {near[0]:.3f} | {near[1]:.3f} | {mean(x.loss for x in made):.1%} "
          f"| {worst:.0%} |")  # fmt: skip
    if arguments.losses:
        for each in sorted(made, key=lambda choice: -choice.loss):
            if each.loss > NEAR[0]:
                print(
                    f"{each.row}: {each.loss:.1%}, chosen: {', '.join(each.schedules) or 'as then'}"
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
