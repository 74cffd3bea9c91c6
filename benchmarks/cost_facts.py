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
from typing import Any, Final, NamedTuple

import numpy as np
from cost_records import FACTS, TIMES, Facts, read_facts, write_facts
from program_archive import ARCHIVE, unpacked
from validation_cases import VARIANTS
from variant_arrays import UnfilledArrays
from variant_resources import ARCH, kernel_name
from variant_sizes import Step
from variant_timing import cases

from tilewright.cutile.signatures import Arguments
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.driver.api import read_level
from tilewright.driver.back_end import Observers
from tilewright.driver.compile import Compilation
from tilewright.driver.progress import progress
from tilewright.driver.schedules import parse_schedule
from tilewright.driver.settings import Settings
from tilewright.ir.operation import Operation
from tilewright.schedule.launch_cost import Launch, traffic_of
from tilewright.schedule.plan_facts import Plan, plan_of
from tilewright.schedule.work_tree import LaunchedBlock, tree_of
from tilewright.target.arch import ARCHES, occupancy
from tilewright.target.sm_90 import H200

SAMPLES: Final = 8
"""Blocks of a launch whose work is counted: evenly spaced over the grid."""


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


def launch_of(function: FuncOp, kernel: Kernel) -> Launch:
    """The work of a launch."""
    arguments: list[int | None] = []
    sizes: dict[int, int] = {}
    contents: dict[int, Any] = {}
    for number, each in enumerate(kernel.parameters):
        arguments.append(int(each) if isinstance(each, int | np.integer) else None)
        if isinstance(each, np.ndarray):
            sizes[number] = each.nbytes
            if each.dtype == np.int32:
                contents[number] = each.reshape(-1)
    x, y, z = (*kernel.grid, 1, 1)[:3]
    blocks = prod(kernel.grid)
    trees = []
    for n in sorted({sample * (blocks - 1) // (SAMPLES - 1) for sample in range(SAMPLES)}):
        at = (n % x, n // x % y, n // x // y)
        trees.append(tree_of(function, LaunchedBlock(arguments, at, (x, y, z), contents)))
    samples = tuple(tree.root for tree in trees)
    traffic = traffic_of([tree.arrays for tree in trees], sizes, blocks)
    return Launch(blocks, samples[:1] if len(set(samples)) == 1 else samples, traffic)


def compile_plan(code: bytes, kernel: Kernel, schedule: str) -> tuple[Launch, Plan]:
    """The work of a kernel, and its plan under a schedule."""
    result: dict[str, Any] = {}

    def reached(level: str, module: Operation) -> None:
        # A kernel whose registers spill may be compiled again: the last one counts.
        functions = [op for op in module.walk() if isinstance(op, FuncOp) and op.is_kernel]
        if level == "nv_tileaa":
            result["launch"] = launch_of(functions[0], kernel)
        elif level == "nv_tileas":
            result["plan"] = plan_of(functions[0])

    module = read_level(code, kernel.name)
    settings = Settings(ARCHES[ARCH], schedule=parse_schedule(schedule))
    compilation = Compilation(module, settings, Observers(reached=reached), source=module.clone)
    compilation.to("cubin")
    assert compilation.cubin is not None
    (entry,) = compilation.cubin.entries.values()
    threads = prod(entry.threads or ())
    resident = occupancy(
        settings.arch, threads=threads, registers=entry.registers, shared=entry.shared
    )
    spilled = entry.spill_stores + entry.spill_loads
    return result["launch"], result["plan"].assembled(threads, resident, spilled)


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
