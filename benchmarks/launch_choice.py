"""Judge the choice of warps on measured plans, and its estimate of registers by what spilled.

    python benchmarks/launch_choice.py

Needs no GPU: times are those of `results/plans-h200.json`, whose plans without a schedule had the
warps of 535eb66f. A choice costs what was measured with its number of warps, forced for all kernels
of a row; rows of which the choice was not measured count as not changed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from statistics import geometric_mean, mean
from typing import Final, NamedTuple

from cost_model import Times, measured_times, predicted
from cost_records import Facts, read_facts
from program_archive import ARCHIVE, unpacked

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.driver.assembly import wrap_in_module
from tilewright.driver.compile import Program
from tilewright.driver.pipelines import PLAN, parse_pipeline, passes_to
from tilewright.schedule.constants import CONSTANTS
from tilewright.schedule.launch_shape import choose_launch
from tilewright.schedule.liveness_before_layouts import live_words
from tilewright.schedule.registers import K_LOOP_OTHERS, launch_registers
from tilewright.target.arch import WARP_SIZE

ARCH: Final = "sm_90"
FREE: Final = ""
"""The schedule that forces nothing."""
FORCED: Final = {4: "warps=4", 8: "warps=8"}
NEAR: Final = 0.05
MARGINS: Final = (0.0, 0.1, 0.2, 0.3)
"""By how much faster the cost model has to predict a plan to replace the one of the rules."""


class Choice(NamedTuple):
    """The choice for a row: the schedule that was measured with it."""

    row: str
    before: tuple[int, ...]
    after: tuple[int, ...]
    schedule: str

    @property
    def is_changed(self) -> bool:
        """Whether the warps differ."""
        return self.before != self.after


@cache
def kernel(name: str) -> FuncOp:
    """A kernel of the archive as `plan-kernel` gets it."""
    module = Program(_programs()[name]).module
    root = module if module.name == "builtin.module" else wrap_in_module(module)
    planned, _, _ = passes_to(PLAN, ARCH).partition(",plan-kernel")
    for passes in (passes_to("cuda_tile", ARCH), passes_to("nv_tileaa", ARCH), planned):
        parse_pipeline(passes).run(root)
    (function,) = [op for op in root.walk() if isinstance(op, FuncOp) and op.is_kernel]
    return function


@cache
def _programs() -> dict[str, bytes]:
    return unpacked(ARCHIVE.read_bytes())


def choice_of(facts: Facts, times: Times, row: str) -> Choice:
    """What is chosen for a row now, and what was when it was measured."""
    kernels = facts.plans[row][FREE]
    before = tuple(plan.warps for _, plan in kernels)
    after = tuple(choose_launch(kernel(name)).warps for name, _ in kernels)
    schedule = next(
        (
            forced
            for warps, forced in FORCED.items()
            if before != after
            and forced in times[row]
            and all(new in (old, warps) for old, new in zip(before, after, strict=True))
        ),
        FREE,
    )
    return Choice(row, before, after, schedule)


def measured_plans(plans: Mapping[str, float]) -> list[str]:
    """The schedules of a row that force nothing but warps, or nothing."""
    return [each for each in (FREE, *FORCED.values()) if each in plans]


def loss(plans: Mapping[str, float], schedule: str) -> float:
    """How much slower a schedule is than the best number of warps that was measured."""
    return plans[schedule] / min(plans[each] for each in measured_plans(plans)) - 1


def scored(label: str, losses: Sequence[float]) -> str:
    """A line of the table of choices."""
    near = sum(each <= NEAR for each in losses)
    worst = max(losses)
    return f"| {label} | {near} of {len(losses)} | {mean(losses):.1%} | {worst:.0%} |"


def by_cost_model(facts: Facts, times: Times, choice: Choice, margin: float) -> str:
    """The plan with the fewest predicted microseconds, if it beats the chosen one by a margin."""
    row = choice.row
    costs = {each: predicted(facts, row, each, CONSTANTS) for each in measured_plans(times[row])}
    best = min(costs, key=lambda each: costs[each])
    return best if costs[best] * (1 + margin) < costs[choice.schedule] else choice.schedule


def spills(facts: Facts, times: Times) -> Iterator[str]:
    """The table of estimates: kernels with dots and without, by whether they should spill."""
    seen: set[tuple[str, int]] = set()
    spilled: dict[tuple[bool, bool], list[int]] = {}
    for row in times:
        for schedule in measured_plans(times[row]):
            for name, plan in facts.plans[row][schedule]:
                if (name, plan.warps) in seen:
                    continue
                seen.add((name, plan.warps))
                threads = plan.warps * WARP_SIZE
                registers = -(-live_words(kernel(name)) // threads) + K_LOOP_OTHERS
                fits = registers <= launch_registers(threads)
                has_dots = any(op.name == "nv_tileaa.dot" for op in kernel(name).walk())
                spilled.setdefault((has_dots, fits), []).append(plan.spilled)
    for has_dots in (True, False):
        cells = []
        for fits in (True, False):
            bytes = spilled.get((has_dots, fits), [])
            cells += [str(len(bytes)), str(sum(each > 0 for each in bytes))]
        yield f"| {'with' if has_dots else 'without'} dots | {' | '.join(cells)} |"


def fastest_tiles(times: Times, choices: Sequence[Choice]) -> dict[str, float]:
    """By kernel, how many times as fast its fastest tile is as before the choice."""
    before: dict[str, list[float]] = {}
    after: dict[str, list[float]] = {}
    for each in choices:
        name, plans = each.row.rpartition(" ")[0], times[each.row]
        before.setdefault(name, []).append(plans[FREE])
        after.setdefault(name, []).append(plans[each.schedule])
    return {name: min(before[name]) / min(after[name]) for name in before}


def main() -> int:
    """Print the tables."""
    facts = read_facts()
    times = {row: plans for row, plans in measured_times().items() if row in facts.plans}
    choices = [choice_of(facts, times, row) for row in times]
    print("| choice of warps | within 5 % | mean loss | worst |\n|---|---:|---:|---:|")
    print(scored("of 535eb66f", [loss(times[each.row], FREE) for each in choices]))
    print(scored("now", [loss(times[each.row], each.schedule) for each in choices]))
    for margin in MARGINS:
        picked = [
            loss(times[each.row], by_cost_model(facts, times, each, margin)) for each in choices
        ]
        print(scored(f"now, then by the cost model if {margin:.0%} faster", picked))
    print("\n| row | warps before | now | time |\n|---|---|---|---:|")
    for each in choices:
        if each.is_changed:
            plans = times[each.row]
            ratio = f"{plans[each.schedule] / plans[FREE]:.2f}" if each.schedule else "?"
            before, after = (", ".join(map(str, warps)) for warps in (each.before, each.after))
            print(f"| {each.row} | {before} | {after} | {ratio} |")
    gains = fastest_tiles(times, choices)
    print(f"\nFastest tile of each kernel: {geometric_mean(gains.values()):.3f} times as fast")
    print("\n".join(f"{name}: {gain:.3f}" for name, gain in gains.items() if gain != 1))
    print("\n| kernels | fit | of them spill | above | of them spill |\n|---|---:|---:|---:|---:|")
    print("\n".join(spills(facts, times)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
