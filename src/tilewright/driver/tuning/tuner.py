"""The search for the best schedule of a kernel, under a time limit."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Final, Protocol

from tilewright.driver.compilation_result import CompilationResult
from tilewright.driver.tuning.meters import MARGINS
from tilewright.driver.tuning.search import candidates_around
from tilewright.support.diagnostics import InternalError, fail
from tilewright.support.identity import identity

if TYPE_CHECKING:
    from tilewright.driver.batch_worker import Answer
    from tilewright.driver.tuning.job import Job, Trial
    from tilewright.emit.cubin import Resources

    Report = Callable[[int, int], object]

BEAM: Final = 3
"""The best schedules whose neighbours are tried."""
NEAR: Final = 1.05
"""The cost, relative to the best one, up to which a schedule is tried further."""
FINALISTS: Final = 4
MOST_MEASURED: Final = 240
"""Schedules that are measured at most: a process keeps 256 kernels loaded on a GPU."""

MEASURED: Final = "measured"
SAME: Final = "same code"
FAILED: Final = "not compiled"
REJECTED: Final = "rejected"
"""What became of a candidate."""


class Row:
    """A schedule that was tried."""

    __slots__ = ("cost", "detail", "is_bug", "outcome", "packed", "resources", "schedule")

    def __init__(self, schedule: str, outcome: str, detail: str = "") -> None:
        self.schedule = schedule
        self.outcome = outcome
        self.detail = detail
        """The reason of a failure, or the schedule with the same code."""
        self.cost = 0.0
        self.is_bug = False
        self.packed = b""
        self.resources: Resources | None = None

    @property
    def is_measured(self) -> bool:
        """Whether it has a cost."""
        return self.outcome == MEASURED


Admit = Callable[[str, "Answer"], bytes | None]
"""Called with a schedule and what compiling it gave; returns the kernel to measure, if any."""


class Backend(Protocol):
    """Compiles and measures candidates, on this machine or on others."""

    def first(self) -> Trial:
        """Measure the compiler's own choice."""
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
    """Beam search from the compiler's own choice: the neighbours of the best are tried next."""

    def __init__(
        self,
        job: Job,
        backend: Backend,
        limit: float,
        clock: Callable[[], float] = time.monotonic,
        report: Report | None = None,
        seeds: Sequence[str] = (),
    ) -> None:
        """`seeds` are schedules that are tried first, such as those that were best before."""
        self.job = job
        self.rows: dict[str, Row] = {}
        """All schedules that were tried, by their text; the compiler's own choice is empty."""
        self.winner: Row | None = None
        """The best one, once the search is over."""
        self.is_complete = False
        """Whether the search ended before the time limit."""
        self._backend = backend
        self._limit = limit
        self._clock = clock
        self._start = clock()
        self._report = report
        self._seeds = seeds
        self._by_code: dict[str, str] = {}
        self._compiled: dict[str, bytes] = {}

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
        expanded: set[str] = set()
        while True:
            bases = [row.schedule for row in self._best() if row.schedule not in expanded]
            candidates = candidates_around(bases, set(self.rows), self._seeds)
            if not candidates:
                self.is_complete = True
                break
            if self._is_over() or not self._try(candidates):
                break
            expanded.update(bases)
        self._choose()

    def measured(self) -> list[Row]:
        """The rows that have a cost, the best first; of equal ones that with fewest options."""
        return sorted((row for row in self.rows.values() if row.is_measured), key=_rank)

    def _best(self) -> list[Row]:
        rows = self.measured()
        return [row for row in rows[:BEAM] if row.cost <= NEAR * rows[0].cost]

    def _is_over(self) -> bool:
        return self.seconds >= self._limit or len(self.measured()) >= MOST_MEASURED

    def _measure_default(self) -> None:
        trial = self._backend.first()
        if trial.is_bug:
            raise InternalError(f"'@{self.job.entry}', without a forced schedule: {trial.problem}")
        if trial.problem:
            fail(f"'@{self.job.entry}' cannot be measured: {trial.problem}")
        made = CompilationResult.unpack(self.job.default)
        self._by_code[made.ptx] = ""
        row = self._add("", MEASURED)
        row.cost = trial.cost
        self._keep(row, made, self.job.default)

    def _try(self, schedules: Sequence[str]) -> bool:
        """Compile and measure candidates; whether there was time for all of them."""
        if self._report is not None:
            self._report(0, len(schedules))
        with closing(self._backend.trials(schedules, self._admit)) as trials:
            for done, (schedule, trial) in enumerate(trials, 1):
                if trial is not None:
                    self._record(schedule, trial)
                if self._report is not None:
                    self._report(done, len(schedules))
                if self._is_over():
                    return done == len(schedules)
        return True

    def _admit(self, schedule: str, answer: Answer) -> bytes | None:
        """Note what compiling a schedule gave; return the kernel if it must be measured."""
        if answer.packed and answer.maker != identity():
            self._add(schedule, FAILED, "compiled by another version of Tilewright")
            return None
        if not answer.packed:
            row = self._add(schedule, FAILED, _first_line(answer.message))
            row.is_bug = answer.code not in (1, 3)
            return None
        made = CompilationResult.unpack(answer.packed)
        same = self._by_code.setdefault(made.ptx, schedule)
        if same != schedule:
            self._keep(self._add(schedule, SAME, same), made, b"")
            return None
        # It is no row of the table until it is measured, for which there may be no time.
        self._compiled[schedule] = answer.packed
        return answer.packed

    def _record(self, schedule: str, trial: Trial) -> None:
        row = self._add(schedule, REJECTED if trial.problem else MEASURED, trial.problem)
        packed = self._compiled.pop(schedule)
        self._keep(row, CompilationResult.unpack(packed), packed)
        row.is_bug = trial.is_bug
        if trial.problem:
            return
        # Measured in another process, or at another clock, the compiler's own choice may differ.
        row.cost = trial.cost * self.default.cost / trial.default_cost

    def _add(self, schedule: str, outcome: str, detail: str = "") -> Row:
        row = self.rows[schedule] = Row(schedule, outcome, detail)
        return row

    def _keep(self, row: Row, made: CompilationResult, packed: bytes) -> None:
        row.packed = packed
        if made.cubin is not None:
            row.resources = made.entries.get(self.job.entry)

    def _choose(self) -> None:
        """Measure the best ones in turn, and choose among them."""
        finalists = [self.default]
        finalists += [row for row in self._best()[:FINALISTS] if row is not self.default]
        if len(finalists) > 1:
            costs = self._backend.final([row.packed for row in finalists])
            for row, cost in zip(finalists, costs, strict=False):
                row.cost = cost
        best = min(finalists, key=_rank)
        is_better = best.cost < (1 - MARGINS[self.job.meter]) * self.default.cost
        self.winner = best if is_better else self.default


def _rank(row: Row) -> tuple[float, int]:
    """The cost, without what rounding adds where it is relative to another, and the options."""
    return float(f"{row.cost:.9g}"), len(row.schedule.split())


def _first_line(text: str) -> str:
    """The gist of diagnostics."""
    line = next((line for line in text.splitlines() if "error:" in line), text.strip())
    return line.rpartition("error: ")[2]
