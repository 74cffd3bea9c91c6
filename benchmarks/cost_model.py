"""Score the cost model on measured plans: how it orders them, and what it costs to choose by it.

    python benchmarks/cost_model.py [--fit STEPS] [--kernels]

Needs no GPU: times are those of `results/plans-h200.json`, facts those that `cost_facts.py` wrote.
`--fit` fits the free constants on half of the kernels and scores the other half, for two splits;
`--kernels` prints a line for each kernel. A sweep is what a choice is made from: the plans of one
tile of a kernel, or all tiles and plans of a kernel.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Final, NamedTuple

from cost_records import FACTS, TIMES, Facts, read_facts

from tilewright.schedule.constants import CONSTANTS, FREE, Constants
from tilewright.schedule.cost import Machine
from tilewright.schedule.launch_cost import predict
from tilewright.target.sm_90 import H200, RATES

APART: Final = 1.05
"""The ratio of the times of a pair that has to be ordered."""
TIE: Final = 1e-4
"""The relative difference of predictions below which a pair counts one half."""
MANY_PAIRS: Final = 10
"""Pairs of a kernel that counts among the worst."""
STEP: Final = 0.3
"""The spread of a step of the fit, as a logarithm."""
PENALTY: Final = 0.004
"""On leaving the start value, for each constant and as a logarithm."""
LARGEST_ERROR: Final = 0.6
"""Beyond which a row does not weigh more in the fit."""


class Timed(NamedTuple):
    """A plan with its measured and its predicted time."""

    measured: float
    predicted: float


Sweep = Sequence[Timed]
Times = Mapping[str, Mapping[str, float]]
"""Microseconds by row and schedule."""


class Pairs(NamedTuple):
    """Pairs of plans that are apart, and how many of them are ordered rightly."""

    right: float
    count: int

    @property
    def share(self) -> float:
        """Of the pairs, those that are right."""
        return self.right / self.count


def measured_times(file: Path = TIMES) -> Times:
    """The medians of all samples."""
    stored = json.loads(file.read_text())
    return {
        row: {schedule: median(samples) for schedule, samples in plans.items()}
        for row, plans in stored.items()
    }


def kernel_of(row: str) -> str:
    """The kernel of a row, whose name has a shape and a tile, too."""
    return row.partition(" ")[0]


def predicted(facts: Facts, row: str, schedule: str, constants: Constants) -> float:
    """The predicted microseconds of all kernels of a row."""
    machine = Machine(RATES, constants)
    kernels = facts.plans[row][schedule]
    times = [
        predict(facts.launches[name], plan, machine, H200).microseconds for name, plan in kernels
    ]
    return constants.launch + sum(times) + constants.next_launch * (len(times) - 1)


def sweeps_of(
    facts: Facts, times: Times, constants: Constants, rows: Iterable[str]
) -> dict[str, Sweep]:
    """The plans of each row."""
    return {
        row: [
            Timed(measured, predicted(facts, row, schedule, constants))
            for schedule, measured in times[row].items()
        ]
        for row in rows
    }


def pairs_of(sweep: Sweep) -> Pairs:
    """Compare all pairs of a sweep."""
    right, count = 0.0, 0
    for number, one in enumerate(sweep):
        for other in sweep[:number]:
            if max(one.measured, other.measured) <= APART * min(one.measured, other.measured):
                continue
            count += 1
            if abs(one.predicted / other.predicted - 1) < TIE:
                right += 0.5
            else:
                right += (one.measured < other.measured) == (one.predicted < other.predicted)
    return Pairs(right, count)


def loss_of(sweep: Sweep, tried: int = 1) -> float:
    """How much slower the best of the model's first plans is than the best of all."""
    first = sorted(sweep, key=lambda plan: plan.predicted)[:tried]
    return min(plan.measured for plan in first) / min(plan.measured for plan in sweep) - 1


class Score(NamedTuple):
    """What the bars are about, for some sweeps."""

    sweeps: int
    pairs: int
    right: float
    """Of all pairs."""
    median: float
    """Of the shares of kernels."""
    worst_tenth: float
    """The mean of the worst tenth of kernels with many pairs."""
    within_5: float
    within_10: float
    loss: float
    """The mean."""
    of_three: float
    """The sweeps for which the best of the first three is within 5 %."""
    error: float
    """The median of the relative error."""

    def __str__(self) -> str:
        return (
            f"{self.sweeps:4} sweeps, {self.pairs:4} pairs: {self.right:.3f} right, "
            f"median kernel {self.median:.3f}, worst tenth {self.worst_tenth:.2f}; "
            f"within 5 % {self.within_5:.2f}, 10 % {self.within_10:.2f}, "
            f"loss {100 * self.loss:.1f} %, best of three {self.of_three:.2f}; "
            f"error {100 * self.error:.0f} %"
        )


def score(sweeps: Mapping[str, Sweep]) -> Score:
    """Score sweeps of tiles, or of kernels."""
    by_kernel: dict[str, Pairs] = {}
    for name, sweep in sweeps.items():
        one, before = pairs_of(sweep), by_kernel.get(kernel_of(name), Pairs(0.0, 0))
        by_kernel[kernel_of(name)] = Pairs(one.right + before.right, one.count + before.count)
    counted = [each for each in by_kernel.values() if each.count]
    worst = sorted(each.share for each in counted if each.count >= MANY_PAIRS)
    losses = [loss_of(sweep) for sweep in sweeps.values()]
    pairs = sum(each.count for each in counted)
    return Score(
        sweeps=len(sweeps),
        pairs=pairs,
        right=sum(each.right for each in counted) / pairs,
        median=median(each.share for each in counted),
        worst_tenth=mean(worst[: max(1, round(len(worst) / 10))]),
        within_5=mean(loss <= 0.05 for loss in losses),
        within_10=mean(loss <= 0.10 for loss in losses),
        loss=mean(losses),
        of_three=mean(loss_of(sweep, 3) <= 0.05 for sweep in sweeps.values()),
        error=median(
            abs(plan.predicted / plan.measured - 1) for sweep in sweeps.values() for plan in sweep
        ),
    )


def joined(sweeps: Mapping[str, Sweep]) -> dict[str, Sweep]:
    """All tiles and plans of each kernel as one sweep."""
    kernels: dict[str, list[Timed]] = {}
    for row, sweep in sweeps.items():
        kernels.setdefault(kernel_of(row), []).extend(sweep)
    return dict(kernels)


def objective(sweeps: Mapping[str, Sweep], constants: Constants) -> float:
    """What the fit makes small: errors in the ratios of plans, and half as much of tiles."""
    amount, biases = 0.0, dict[str, list[float]]()
    for row, sweep in sweeps.items():
        errors = [math.log(plan.predicted / plan.measured) for plan in sweep]
        biases.setdefault(kernel_of(row), []).append(mean(errors))
        amount += _spread(errors) / len(sweeps)
    for errors in biases.values():
        amount += (0.5 * _spread(errors) + 0.15 * min(abs(mean(errors)), 1.0)) / len(biases)
    moved = [math.log(getattr(constants, name) / getattr(CONSTANTS, name)) for name in FREE]
    return amount + PENALTY * sum(map(abs, moved))


def _spread(errors: Sequence[float]) -> float:
    center = mean(errors)
    return mean(min(abs(error - center), LARGEST_ERROR) for error in errors)


def fitted(facts: Facts, times: Times, rows: Sequence[str], steps: int) -> Constants:
    """Change one free constant after the other, as long as the objective becomes smaller."""
    random_steps, best = random.Random(0), CONSTANTS
    least = objective(sweeps_of(facts, times, best, rows), best)
    for step in range(steps):
        name = FREE[step % len(FREE)]
        value = getattr(best, name) * math.exp(random_steps.gauss(0, STEP))
        if name == "many_warps":
            value = min(value, 1.0)
        tried = best._replace(**{name: value})
        result = objective(sweeps_of(facts, times, tried, rows), tried)
        if result < least:
            least, best = result, tried
    return best


def report(label: str, sweeps: Mapping[str, Sweep]) -> None:
    """Print the scores of tiles, and of kernels."""
    print(f"{label}, plans of a tile:      {score(sweeps)}")
    print(f"{label}, tiles of a kernel:    {score(joined(sweeps))}")


def report_fits(facts: Facts, times: Times, steps: int) -> None:
    """Fit on half of the kernels, for two splits, and on all."""
    names = sorted({kernel_of(row) for row in times})
    held_out: list[dict[str, Sweep]] = []
    for split in range(2):
        order = random.Random(split).sample(names, len(names))
        for fold in range(2):
            chosen = set(order[fold::2])
            used = [row for row in times if kernel_of(row) in chosen]
            unused = [row for row in times if kernel_of(row) not in chosen]
            constants = fitted(facts, times, used, steps)
            held_out.append(sweeps_of(facts, times, constants, unused))
            report(f"unfitted, half {split}.{fold}", sweeps_of(facts, times, CONSTANTS, unused))
            report(f"held out, half {split}.{fold}", held_out[-1])
    constants = fitted(facts, times, list(times), steps)
    report("fitted on all", sweeps_of(facts, times, constants, times))
    print({name: round(getattr(constants, name), 3) for name in FREE})


def report_kernels(sweeps: Mapping[str, Sweep]) -> None:
    """Print pairs and bias of each kernel."""
    tiles = {name: Pairs(0.0, 0) for name in joined(sweeps)}
    for row, sweep in sweeps.items():
        one, before = pairs_of(sweep), tiles[kernel_of(row)]
        tiles[kernel_of(row)] = Pairs(one.right + before.right, one.count + before.count)
    for name, sweep in joined(sweeps).items():
        bias = math.exp(mean(math.log(plan.predicted / plan.measured) for plan in sweep))
        plans, every = tiles[name], pairs_of(sweep)
        print(
            f"{name:24} plans {plans.right:5g} of {plans.count:3}, tiles and plans "
            f"{every.right:6g} of {every.count:3}, predicted/measured {bias:.2f}, "
            f"loss {100 * loss_of(sweep):.1f} %"
        )


def main() -> int:
    """Print the scores."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fit", type=int, default=0, metavar="STEPS")
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--facts", type=Path, default=FACTS)
    options = parser.parse_args()
    facts = read_facts(options.facts)
    times = {row: plans for row, plans in measured_times().items() if row in facts.plans}
    start = time.process_time()
    sweeps = sweeps_of(facts, times, CONSTANTS, times)
    spent = (time.process_time() - start) / sum(map(len, sweeps.values()))
    report("committed constants", sweeps)
    print(f"{1e6 * spent:.0f} us of CPU for each prediction")
    if options.kernels:
        report_kernels(sweeps)
    if options.fit:
        report_fits(facts, times, options.fit)
    return 0


if __name__ == "__main__":
    sys.exit(main())
