"""Measure the lowering from Tile IR to nv_tileaa on the corpus, and the share of each pass.

Operations are those of the input program. Absolute figures depend on the machine.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

from corpus_checks import Module, load_modules, load_programs

from tilewright.bytecode.reader import read_bytecode
from tilewright.driver.assembly import wrap_in_module
from tilewright.driver.pipelines import parse_pipeline, passes_to
from tilewright.driver.progress import progress
from tilewright.ir.operation import Operation
from tilewright.ir.passes import Pass
from tilewright.support.collector import CollectorPause
from tilewright.support.diagnostics import Sink

AIM: Final = 80_000
PASSES: Final = passes_to("nv_tileaa", "sm_90")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", type=int, default=0, help="number of modules (default: all)")
    parser.add_argument("--runs", type=int, default=3, help="repetitions; the best one counts")
    options = parser.parse_args()
    modules = [*load_programs(), *load_modules()]
    if options.modules:
        modules = modules[:: max(1, len(modules) // options.modules)]
    steps = [step for step in parse_pipeline(PASSES).steps if isinstance(step, Pass)]
    runs = progress((measured(modules, steps) for _ in range(options.runs)), options.runs)
    best = [min(times) for times in zip(*runs, strict=True)]
    ops = sum(1 for root in programs(modules) for _ in root.walk())
    report(steps, best, ops, len(modules))


def programs(modules: Sequence[Module]) -> list[Operation]:
    """All modules, ready to be lowered."""
    return [wrap_in_module(read_bytecode(module.data, module.name)) for module in modules]


def measured(modules: Sequence[Module], steps: Sequence[Pass]) -> list[float]:
    """The seconds that each pass takes on all modules."""
    roots = programs(modules)
    gc.collect()
    times: list[float] = []
    with CollectorPause():
        for step in steps:
            started = time.process_time()
            for root in roots:
                step.run(root, Sink())
            times.append(time.process_time() - started)
    return times


def report(steps: Sequence[Pass], times: Sequence[float], ops: int, modules: int) -> None:
    """Print the table."""
    whole = sum(times)
    print(f"{modules} modules, {ops} operations")
    for step, seconds in zip(steps, times, strict=True):
        print(f"  {step.name:<32}{ops / seconds:>12,.0f} ops/s{seconds / whole:>8.0%}")
    print(f"  {'all':<32}{ops / whole:>12,.0f} ops/s   aim {AIM:,}")


if __name__ == "__main__":
    main()
