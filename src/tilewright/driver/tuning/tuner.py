"""The search for the best schedule of a kernel, under a time limit."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final, Protocol

from tilewright.driver.compilation_result import CompilationResult
from tilewright.driver.tuning.job import Trial
from tilewright.driver.tuning.records import GPU, MODEL
from tilewright.driver.tuning.rows import (
    FAILED,
    MEASURED,
    PREDICTED,
    PRUNED,
    REJECTED,
    SAME,
    Row,
    near_best,
    plan_of,
    predicted_rank,
    rank,
)
from tilewright.driver.tuning.search import candidates_around
from tilewright.schedule.cost_inputs import Plan
from tilewright.support.diagnostics import Error, InternalError, fail
from tilewright.support.identity import identity

if TYPE_CHECKING:
    from tilewright.driver.batch_worker import Answer
    from tilewright.driver.tuning.job import Job
    from tilewright.driver.tuning.prediction import Predictor

    Report = Callable[[int, int, str], object]

MOST_MEASURED: Final = 240
"""Schedules that are measured at most: a process keeps 256 kernels loaded on a GPU."""
MARGIN: Final = 0.01
"""By which part of its cost the compiler's own choice must be improved on: times have noise, and
so small a difference of predictions says nothing."""
TRIED: Final = "tried"
"""The step of a search that `Report` is about; the other one is `MEASURED`."""

Admit = Callable[[str, "Answer"], bytes | None]
"""Called with a schedule and what compiling it gave; returns the kernel to measure, if any."""


class Backend(Protocol):
    """Compiles and measures candidates, on this machine or on others."""

    def trial(self, packed: bytes) -> Trial:
        """Run and measure a compiled kernel; raises `Error` if that cannot be tried."""
        ...

    def trials(self, schedules: Sequence[str], admit: Admit) -> Generator[tuple[str, Trial | None]]:
        """Compile schedules and measure those that are admitted; closing it stops everything."""
        ...

    def final(self, packed: Sequence[bytes]) -> list[float]:
        """Measure several kernels in turn; empty if that failed."""
        ...

    def close(self) -> None:
        """End all processes."""
        ...


class Tuner:
    """Beam search from the compiler's own choice: the neighbours of the best are tried next.

    By the measured times, or by those that the cost model predicts: then only the first are
    measured, or none if the job has no meter.
    """

    def __init__(
        self,
        job: Job,
        backend: Backend,
        limit: float,
        clock: Callable[[], float] = time.monotonic,
        report: Report | None = None,
        seeds: Sequence[str] = (),
        predictor: Predictor | None = None,
        top: int = 0,
    ) -> None:
        """`seeds` are schedules that are tried first, such as those that were best before.

        `top` is how many of the candidates are measured, and checked; 0: all.
        """
        self.job = job
        self.rows: dict[str, Row] = {}
        """All schedules that were tried, by their text; the compiler's own choice is empty."""
        self.winner: Row | None = None
        """The best one, once the search is over."""
        self.is_complete = False
        """Whether the search ended before the time limit."""
        self.top = top
        self._backend = backend
        self._limit = limit
        self._clock = clock
        self._start = clock()
        self._report = report or (lambda done, count, step: None)
        self._seeds = seeds
        self._predictor = predictor
        self._searches_by_model = bool(top) or job.meter == MODEL
        self._by_code: dict[bytes, str] = {}
        self._compiled: dict[str, Row] = {}

    @property
    def seconds(self) -> float:
        """How long it has taken."""
        return self._clock() - self._start

    @property
    def default(self) -> Row:
        """The compiler's own choice."""
        return self.rows[""]

    def run(self) -> None:
        """Search, and choose the winner. Raises `Error` if the kernel itself cannot be measured."""
        self._measure_default()
        self._search()
        if self.top:
            self._measure_top()
        self._choose()

    def ranked(self) -> list[Row]:
        """The rows that have a cost, the best first; of equal ones that with fewest options."""
        return sorted((row for row in self.rows.values() if row.cost is not None), key=rank)

    def predicted(self) -> list[Row]:
        """The rows that have only a prediction, the best first."""
        return sorted((row for row in self.rows.values() if row.is_predicted), key=predicted_rank)

    def _search(self) -> None:
        """Try the neighbours of the best until these have none left, or the limit is reached."""
        expanded: set[str] = set()
        while True:
            bases = [row.schedule for row in self._best() if row.schedule not in expanded]
            candidates = candidates_around(bases, set(self.rows), self._seeds)
            if not candidates:
                self.is_complete = True
                return
            if self._is_over() or not self._try(candidates):
                return
            expanded.update(bases)

    def _known(self) -> list[Row]:
        """The rows that the search knows the time of, the best first."""
        if not self._searches_by_model:
            return self.ranked()
        rows = [row for row in self.rows.values() if row.outcome in (MEASURED, PREDICTED)]
        return sorted(rows, key=predicted_rank)

    def _best(self) -> list[Row]:
        return near_best(self._known(), predicted_rank if self._searches_by_model else rank)

    def _is_over(self) -> bool:
        return self.seconds >= self._limit or len(self._known()) >= MOST_MEASURED

    def _measure_default(self) -> None:
        trial = self._backend.trial(self.job.default)
        if trial.is_bug:
            raise InternalError(f"'@{self.job.entry}', without a forced schedule: {trial.problem}")
        if trial.problem:
            fail(f"'@{self.job.entry}' cannot be measured: {trial.problem}")
        made = CompilationResult.unpack(self.job.default)
        self._by_code[_code_of(made)] = ""
        row = self._add(self._row("", self.job.default, made, self.job.default_plan))
        self._finish(row, trial.cost)

    def _try(self, schedules: Sequence[str]) -> bool:
        """Compile and measure candidates; whether there was time for all of them."""
        self._report(0, len(schedules), TRIED)
        with closing(self._backend.trials(schedules, self._admit)) as trials:
            for done, (schedule, trial) in enumerate(trials, 1):
                if trial is not None:
                    row = self._compiled.pop(schedule)
                    self._add(row)
                    self._record(row, trial)
                self._report(done, len(schedules), TRIED)
                if self._is_over():
                    return done == len(schedules)
        return True

    def _admit(self, schedule: str, answer: Answer) -> bytes | None:
        """Note what compiling a schedule gave; return the kernel if it must be measured."""
        if answer.packed and answer.maker != identity():
            self._add(Row(schedule, FAILED, "compiled by another version of Tilewright"))
            return None
        if not answer.packed:
            row = self._add(Row(schedule, FAILED, _first_line(answer.message)))
            row.is_bug = answer.code not in (1, 3)
            return None
        made = CompilationResult.unpack(answer.packed)
        row = self._row(schedule, answer.packed, made, answer.plan)
        same = self._by_code.setdefault(_code_of(made), schedule)
        if same != schedule:
            row.outcome, row.detail, row.packed = SAME, same, b""
            self._add(row)
            return None
        if self.top:
            self._add(row)
            return None
        # It is no row of the table until it is measured, for which there may be no time.
        self._compiled[schedule] = row
        return answer.packed

    def _measure_top(self) -> None:
        """Measure the first plans that the model distinguishes, beside the compiler's own."""
        chosen = self._first_predicted()
        self._report(0, len(chosen), MEASURED)
        for done, row in enumerate(chosen, 1):
            try:
                trial = self._backend.trial(row.packed)
            except Error as error:
                trial = Trial(problem=error.headline(), is_bug=True)
            self._record(row, trial)
            self._report(done, len(chosen), MEASURED)

    def _first_predicted(self) -> list[Row]:
        """The candidates to measure, one of each plan; all others are pruned."""
        chosen: list[Row] = []
        known = {plan_of(self.default): self.default}
        for row in self.predicted():
            same = known.setdefault(plan_of(row), row)
            if same is row and len(chosen) < self.top:
                chosen.append(row)
                continue
            row.outcome, row.detail = PRUNED, "" if same is row else same.schedule
        return chosen

    def _record(self, row: Row, trial: Trial) -> None:
        """Note what running a kernel gave."""
        if trial.problem:
            row.outcome, row.detail, row.is_bug = REJECTED, trial.problem, trial.is_bug
            return
        # Measured in another process, or at another clock, the compiler's own choice may differ.
        own = self.default.cost or 0.0
        self._finish(row, trial.cost * own / trial.default_cost if trial.default_cost else 0.0)

    def _finish(self, row: Row, measured: float) -> None:
        """Set the cost of a kernel that ran: what was measured, or predicted without a meter."""
        if self.job.meter == MODEL:
            assert row.forecast is not None
            row.outcome, row.cost = PREDICTED, row.forecast.microseconds
        else:
            row.outcome, row.cost = MEASURED, measured

    def _row(
        self, schedule: str, packed: bytes, made: CompilationResult, plan: tuple[Any, ...]
    ) -> Row:
        """A compiled candidate."""
        row = Row(schedule, PREDICTED)
        row.packed = packed
        row.resources = made.entries.get(self.job.entry)
        if self._predictor is not None and row.resources is not None and plan:
            row.forecast = self._predictor.forecast(Plan.of(plan), row.resources)
        return row

    def _add(self, row: Row) -> Row:
        self.rows[row.schedule] = row
        return row

    def _choose(self) -> None:
        """Measure the best ones in turn, and choose among them."""
        finalists = [self.default]
        finalists += [row for row in near_best(self.ranked(), rank) if row is not self.default]
        if len(finalists) > 1 and self.job.meter == GPU:
            costs = self._backend.final([row.packed for row in finalists])
            for row, cost in zip(finalists, costs, strict=False):
                row.cost = cost
        best = min(finalists, key=rank)
        is_better = rank(best)[0] < (1 - MARGIN) * rank(self.default)[0]
        self.winner = best if is_better else self.default


def _code_of(made: CompilationResult) -> bytes:
    """What a GPU runs."""
    return made.ptx.encode() if made.cubin is None else made.cubin


def _first_line(text: str) -> str:
    """The gist of diagnostics."""
    line = next((line for line in text.splitlines() if "error:" in line), text.strip())
    return line.rpartition("error: ")[2]
