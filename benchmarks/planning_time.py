"""Measure the CPU time of planning: warps, splits, stages and producers of each kernel.

    python benchmarks/planning_time.py [--every 1] [--repeat 2]

Needs no GPU. Compiles the programs of the archive and the modules of the corpus to nvvm, one after
the other in one process, as a tuner does: what is kept about layouts is known from other programs.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from time import process_time
from typing import Final, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

from corpus_checks import load_modules
from program_archive import ARCHIVE, unpacked

from tilewright.driver.back_end import Observers
from tilewright.driver.compile import Compilation, Program, function_names
from tilewright.driver.settings import Settings
from tilewright.ir.instruments import Timing
from tilewright.support.diagnostics import Error
from tilewright.target.arch import ARCHES

ARCH: Final = "sm_90"
PLANNING: Final = ("plan-splits", "plan-kernel", "schedule-loops")
HEAD: Final = "| {} | {} | median | p90 | p99 | worst | share of compilation | plans |"


class Planning(NamedTuple):
    """What the compilation of a program to nvvm took, in milliseconds of CPU for each kernel."""

    passes: Mapping[str, float]
    compilation: float
    plans: int
    """That were predicted for the program."""

    @property
    def planning(self) -> float:
        """The time of all passes that plan."""
        return sum(self.passes.values())


def planning_of(code: bytes) -> Planning | None:
    """Compile a program to nvvm; None if it cannot be compiled."""
    observers = Observers(clock=Timing(process_time))
    start = process_time()
    try:
        module = Program(code).module
        kernels = len(function_names(module))
        Compilation(module, Settings(ARCHES[ARCH]), observers).lower("nvvm")
    except Error:
        return None
    scale = 1000 / max(kernels, 1)
    taken = scale * (process_time() - start)
    passes = {name: scale * observers.clock.seconds.get(name, 0.0) for name in PLANNING}
    return Planning(passes, taken, observers.sink.counts.get(("schedule-loops", "plans"), 0))


def fastest(code: bytes, repeat: int) -> Planning | None:
    """The run of several in which planning took least, without the collection of garbage."""
    runs: list[Planning] = []
    for _ in range(repeat):
        gc.collect()
        run = planning_of(code)
        if run is None:
            return None
        runs.append(run)
    return min(runs, key=lambda run: run.planning)


def percentile(times: Sequence[float], percent: int) -> float:
    """The least time that a share of the programs does not exceed."""
    return sorted(times)[-(-len(times) * percent // 100) - 1]


def cells(times: Sequence[float]) -> str:
    """The cells of a table on some times."""
    figures = (median(times), percentile(times, 90), percentile(times, 99), max(times))
    return " | ".join(f"{each:.1f}" for each in figures)


def table(label: str, every: Sequence[Planning]) -> list[str]:
    """The table of a set of programs: all planning, then each pass."""
    share = sum(each.planning for each in every) / sum(each.compilation for each in every)
    plans = sum(each.plans for each in every)
    lines = [HEAD.format(label, "programs"), "|---|" + 7 * "---:|"]
    lines.append(
        f"| planning | {len(every)} | {cells([each.planning for each in every])} "
        f"| {share:.1%} | {plans} |"
    )
    for name in PLANNING:
        lines.append(f"| {name} | | {cells([each.passes[name] for each in every])} | | |")
    return lines


def main() -> int:
    """Print the tables, and the programs that take longest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="only one program in N")
    parser.add_argument("--repeat", type=int, default=2, help="runs of each; the fastest counts")
    options = parser.parse_args()
    archive = {code: name for name, code in unpacked(ARCHIVE.read_bytes()).items()}
    corpus = {module.data: module.name for module in load_modules()}
    gc.disable()
    for label, programs in (("archive", archive), ("corpus", corpus)):
        chosen = list(programs.items())[:: options.every]
        runs = {name: fastest(code, options.repeat) for code, name in chosen}
        known = {name: run for name, run in runs.items() if run is not None}
        print("\n".join(table(label, list(known.values()))))
        worst = sorted(known.items(), key=lambda item: -item[1].planning)[:5]
        named = ", ".join(f"{name} {run.planning:.1f}" for name, run in worst)
        print(f"\nLongest: {named}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
