"""The search by the cost model, and `--top`, which measures only the first candidates.

Plans and times are those of `benchmarks/results`; the search sees them as those of compilations.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Mapping, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[4] / "benchmarks"))

from cost_model import measured_times
from cost_records import Facts, read_facts

from tilewright.driver.batch_worker import Answer
from tilewright.driver.compilation_result import CompilationResult
from tilewright.driver.schedules import parse_schedule
from tilewright.driver.tuning import search
from tilewright.driver.tuning.job import Device, Job, Trial
from tilewright.driver.tuning.prediction import Predictor
from tilewright.driver.tuning.report import as_json, table
from tilewright.driver.tuning.rows import MEASURED, PREDICTED, PRUNED, REJECTED, Row
from tilewright.driver.tuning.tuner import TRIED, Admit, Tuner
from tilewright.emit.cubin import Resources
from tilewright.emit.elf import KernelInfo
from tilewright.schedule.cost_inputs import Plan
from tilewright.support.diagnostics import Diagnostic, UserError
from tilewright.support.identity import identity
from tilewright.target.arch import ARCHES, occupancy

SM_90 = ARCHES["sm_90"]
EVERY = 4
"""Of this number of rows one is in the sample."""
APART = 1.1
ATTENTION = "packed-odd-length 4x16x1537x128 128x128"


@cache
def facts() -> Facts:
    return read_facts()


@cache
def times() -> Mapping[str, Mapping[str, float]]:
    return measured_times()


def sample() -> list[str]:
    """Rows that are one kernel."""
    rows = [row for row in times() if len(facts().plans[row][""]) == 1]
    return rows[::EVERY]


def packed(name: str, plan: Plan) -> bytes:
    """A compilation whose resources are those of a plan."""
    info = KernelInfo("k")
    info.threads = (plan.threads, 1, 1)
    sizes = range(0, SM_90.static_shared + 1, 1024)
    info.shared = next(size for size in sizes if plan.resident == occupancy(
        SM_90, threads=plan.threads, registers=0, shared=size))  # fmt: skip
    resources = Resources(info, (plan.spilled, 0), SM_90)
    return CompilationResult("sm_90", name, None, (resources,), []).pack()


class Recorded:
    """A backend that compiles and measures the recorded plans of a row."""

    def __init__(self, row: str) -> None:
        self.times = {parse_schedule(text): time for text, time in times()[row].items()}
        plans = {parse_schedule(text): plan for text, [(_, plan)] in facts().plans[row].items()}
        self.plans = {name: plan.stored() for name, plan in plans.items()}
        self.packed = {name: packed(name, plan) for name, plan in plans.items()}
        self.launch = facts().launches[facts().plans[row][""][0][0]]
        self.measured: list[str] = []
        self.problems: dict[str, Trial | BaseException] = {}
        self.finalists: list[str] = []

    def trial(self, packed: bytes) -> Trial:
        name = CompilationResult.unpack(packed).ptx
        self.measured.append(name)
        problem = self.problems.get(name)
        if isinstance(problem, BaseException):
            raise problem
        return problem or Trial(self.times[name], self.times[""])

    def trials(self, schedules: Sequence[str], admit: Admit) -> Generator[tuple[str, Trial | None]]:
        for schedule in schedules:
            answer = Answer(0, "", self.packed[schedule], identity(), self.plans[schedule])
            admitted = admit(schedule, answer)
            yield schedule, None if admitted is None else self.trial(admitted)

    def final(self, packed: Sequence[bytes]) -> list[float]:
        self.finalists = [CompilationResult.unpack(each).ptx for each in packed]
        return [self.times[name] for name in self.finalists]

    def close(self) -> None:
        raise AssertionError("the caller closes it")


@pytest.fixture(autouse=True)
def no_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the recorded schedules are tried."""
    monkeypatch.setattr(search, "TRIED", {})


def tuner_of(backend: Recorded, top: int = 0, meter: str = "gpu") -> Tuner:
    default = backend.packed[""]
    job = Job("job", b"", "k", "k", "sm_90", "kernel", (1,), [], meter, default, backend.plans[""])
    predictor = Predictor(backend.launch, SM_90)
    seeds = [name for name in backend.times if name]
    return Tuner(job, backend, 1e9, lambda: 0.0, None, seeds, predictor, top)


def tuned(backend: Recorded, top: int = 0, meter: str = "gpu") -> Tuner:
    tuner = tuner_of(backend, top, meter)
    tuner.run()
    return tuner


def predicted(row: Row) -> float:
    assert row.forecast is not None
    return row.forecast.microseconds


def test_the_model_orders_measured_plans() -> None:
    """Pairs whose times are far apart. The floor is below the share of all kernels."""
    right = count = 0
    for row in sample():
        backend = Recorded(row)
        ranked = [row.schedule for row in tuned(backend, meter="model").ranked()]
        assert len(ranked) == len(backend.times)
        for first, second in combinations([backend.times[name] for name in ranked], 2):
            if max(first, second) > APART * min(first, second):
                count += 1
                right += first < second
    assert count > 150
    assert right / count > 0.8


def test_the_first_three_have_one_that_is_near_the_best() -> None:
    near = 0
    for row in sample():
        backend = Recorded(row)
        tuner = tuned(backend, top=3)
        assert tuner.winner is not None
        assert tuner.winner.cost is not None
        near += tuner.winner.cost <= 1.05 * min(backend.times.values())
    assert near / len(sample()) >= 0.93


@pytest.mark.parametrize("top", [1, 3])
def test_only_the_first_and_the_compilers_choice_are_measured(top: int) -> None:
    backend = Recorded(ATTENTION)
    tuner = tuned(backend, top)
    assert len(backend.measured) == top + 1
    assert len(tuner.ranked()) == top + 1
    assert set(backend.finalists) <= set(backend.measured)
    pruned = [row for row in tuner.rows.values() if row.outcome == PRUNED]
    assert len(pruned) == len(backend.times) - top - 1
    assert {row.schedule for row in tuner.ranked()} == set(backend.measured)
    # Those that are measured are predicted to be the fastest ones.
    predicted = [
        row.forecast.microseconds for row in tuner.ranked() if row.schedule and row.forecast
    ]
    assert max(predicted) <= min(row.forecast.microseconds for row in pruned if row.forecast)


def test_equal_plans_are_measured_once() -> None:
    """All but one of the schedules lead to the plan that the compiler chooses."""
    backend = Recorded(ATTENTION)
    own = Plan.of(backend.plans[""])
    _, other, *rest = backend.times
    for name in rest:
        backend.plans[name], backend.packed[name] = own.stored(), packed(name, own)
    tuner = tuned(backend, top=3)
    assert backend.measured == ["", other]
    assert [tuner.rows[name].outcome for name in rest] == [PRUNED] * len(rest)


def test_a_wrong_candidate_is_not_chosen() -> None:
    backend = Recorded(ATTENTION)
    best = tuned(Recorded(ATTENTION), top=1).ranked()
    name = next(row.schedule for row in best if row.schedule)
    backend.problems = {name: Trial(problem="wrong result", is_bug=True)}
    tuner = tuned(backend, top=1)
    assert (tuner.rows[name].outcome, tuner.rows[name].is_bug) == (REJECTED, True)
    assert tuner.winner is tuner.default
    backend.problems = {name: UserError([Diagnostic("a task of Ray failed")])}
    assert tuned(backend, top=1).rows[name].detail == "error: a task of Ray failed"


def test_an_interruption_keeps_predictions() -> None:
    backend = Recorded(ATTENTION)
    first = next(row.schedule for row in tuned(Recorded(ATTENTION), 1).ranked() if row.schedule)
    backend.problems = {first: KeyboardInterrupt()}
    tuner = tuner_of(backend, top=3)
    with pytest.raises(KeyboardInterrupt):
        tuner.run()
    assert tuner.winner is None
    assert [row.schedule for row in tuner.ranked()] == [""]
    assert first in table(tuner)


def test_both_steps_are_reported() -> None:
    backend = Recorded(ATTENTION)
    reports: list[tuple[int, int, str]] = []
    tuner = tuner_of(backend, top=2)
    tuner._report = lambda done, count, step: reports.append((done, count, step))
    tuner.run()
    count = len(backend.times) - 1
    assert reports == [
        *((done, count, TRIED) for done in range(count + 1)),
        *((done, 2, MEASURED) for done in range(3)),
    ]


def test_the_table_has_predicted_beside_measured_times() -> None:
    backend = Recorded(ATTENTION)
    tuner = tuned(backend, top=1)
    lines = [line.split("  ") for line in table(tuner).splitlines()]
    head = [each.strip() for each in lines[0] if each]
    assert head == ["schedule", "µs", "ratio", "predicted µs", "limited by", "registers", "spills",
                    "shared"]  # fmt: skip
    assert len(lines) == 1 + 2 + 5 + 1
    assert lines[-1] == ["2 more that were predicted, and not measured"]
    contents = json.loads(as_json(tuner, Device("gpu", "sm_90"), stored=False))
    assert contents["pruned"] == 7
    rows = {row["schedule"]: row for row in contents["candidates"]}
    assert sum("cost" in row for row in rows.values()) == 2
    assert all(row["predicted"] > 0 and row["limit"] for row in rows.values())


def test_the_model_alone_measures_nothing() -> None:
    backend = Recorded(ATTENTION)
    tuner = tuned(backend, meter="model")
    assert {row.outcome for row in tuner.rows.values()} == {PREDICTED}
    assert backend.finalists == []
    assert "µs  ratio  " in table(tuner)
    assert tuner.winner is not None
    assert tuner.winner.cost == min(row.cost for row in tuner.rows.values() if row.cost)
