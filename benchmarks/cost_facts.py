"""Write the facts by which the cost model predicts the plans of `results/plans-h200.json`.

    python benchmarks/cost_facts.py [--only REGEX] [--jobs N] [-o FILE]

Needs cuTile Python, for the launches of the validation kernels, but no GPU. Compiles each kernel
under each plan: the work of the launch is counted at nv_tileaa, the plan is read at nv_tileas, and
ptxas says what it takes. FILE has what is there already replaced by kernel and plan.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import sys
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from cost_records import FACTS, TIMES, Facts, read_facts, write_facts
from program_archive import ARCHIVE, unpacked
from validation_cases import VARIANTS
from variant_arrays import UnfilledArrays
from variant_resources import ARCH, kernel_name
from variant_sizes import Step
from variant_timing import cases

from tilewright.cutile.signatures import Arguments
from tilewright.driver.api import read_level
from tilewright.driver.back_end import Observers
from tilewright.driver.compile import Compilation
from tilewright.driver.progress import progress
from tilewright.driver.schedules import parse_schedule
from tilewright.driver.settings import Settings
from tilewright.driver.tuning.plan_observer import PlanObserver
from tilewright.driver.tuning.prediction import launch_arguments
from tilewright.schedule.cost_inputs import Plan
from tilewright.schedule.launch_cost import Launch
from tilewright.target.arch import ARCHES
from tilewright.target.sm_90 import H200


class Kernel(NamedTuple):
    """A kernel of a row, and how it is launched."""

    name: str
    """Of its program in the archive."""
    grid: tuple[int, ...]
    parameters: list[Any]


def rows_of() -> Iterator[tuple[str, list[Kernel]]]:
    """The kernels of each row."""
    arrays = UnfilledArrays()
    arrays.multiprocessors = H200.sms
    for case, variant, size in cases(list(VARIANTS)):
        steps = variant.build(arrays, *size, variant.dtype).steps
        yield case, [_kernel(case, step, alone=len(steps) == 1) for step in steps]


def _kernel(case: str, step: Step, *, alone: bool) -> Kernel:
    parts = case.split() if alone else [*case.split(), kernel_name(step.kernel)]
    parameters = Arguments(step.kernel, step.arguments).parameters
    return Kernel(f"validation/{'-'.join(parts)}", tuple(step.grid), parameters)


def compile_plan(code: bytes, kernel: Kernel, schedule: str) -> tuple[Launch, Plan]:
    """The work of a kernel, and its plan under a schedule."""
    module = read_level(code, kernel.name)
    settings = Settings(ARCHES[ARCH], schedule=parse_schedule(schedule))
    observer = PlanObserver(kernel.grid, launch_arguments(kernel.parameters))
    observers = Observers(reached=observer.reached)
    compilation = Compilation(module, settings, observers, source=module.clone)
    compilation.to("cubin")
    assert compilation.cubin is not None
    (entry,) = compilation.cubin.entries.values()
    assert observer.launch is not None
    assert observer.plan is not None
    spilled = entry.spill_stores + entry.spill_loads
    plan = observer.plan.assembled(prod(entry.threads or ()), entry.occupancy or 0, spilled)
    return observer.launch, plan


def facts_of(task: tuple[str, list[Kernel], list[str], list[bytes]]) -> tuple[str, Facts]:
    """The facts of one row."""
    row, kernels, schedules, codes = task
    facts = Facts({}, {row: {}})
    for schedule in schedules:
        plans = facts.plans[row].setdefault(schedule, [])
        for kernel, code in zip(kernels, codes, strict=True):
            launch, plan = compile_plan(code, kernel, schedule)
            facts.launches[kernel.name] = launch
            plans.append((kernel.name, plan))
    return row, facts


def tasks(only: str) -> Iterator[tuple[str, list[Kernel], list[str], list[bytes]]]:
    """The rows that a regular expression matches, with what their compilation needs."""
    times = json.loads(TIMES.read_text())
    programs = unpacked(ARCHIVE.read_bytes())
    for row, kernels in rows_of():
        if re.search(only, row) and row in times:
            yield row, kernels, list(times[row]), [programs[each.name] for each in kernels]


def main(arguments: Sequence[str] | None = None) -> int:
    """Compile the rows that the command line selects."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="rows that match a regular expression")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path, default=FACTS)
    options = parser.parse_args(arguments)
    known = read_facts(options.output) if options.output.exists() else Facts({}, {})
    chosen = list(tasks(options.only))
    with multiprocessing.Pool(options.jobs) as pool:
        for row, facts in progress(pool.imap(facts_of, chosen), len(chosen)):
            known.launches.update(facts.launches)
            known.plans[row] = facts.plans[row]
    write_facts(known, options.output)
    print(f"{sum(map(len, known.plans.values()))} plans of {len(known.plans)} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
