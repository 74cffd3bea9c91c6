"""The search: what it tries, when it stops, and what it chooses; with invented costs and time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

import pytest

from tilewright.driver.batch_worker import Answer
from tilewright.driver.compilation_result import CompilationResult
from tilewright.driver.tuning import tuner as module
from tilewright.driver.tuning.job import Job, Trial
from tilewright.driver.tuning.rows import FAILED, MEASURED, REJECTED, SAME
from tilewright.driver.tuning.search import options_of
from tilewright.driver.tuning.tuner import TRIED, Admit, Tuner
from tilewright.support.diagnostics import InternalError, UserError
from tilewright.support.identity import identity

Cost = Callable[[dict[str, int]], float]


def compiled(ptx: str) -> bytes:
    return CompilationResult("sm_90", ptx, None, (), []).pack()


def job() -> Job:
    return Job("job", b"", "k", "k", "sm_90", "kernel", (1,), [], "gpu", compiled("own"))


class Invented:
    """A backend whose costs are a function of the schedule; each candidate takes a second."""

    def __init__(self, cost: Cost, code: Callable[[str], str] = str) -> None:
        self.cost = cost
        self.code = code
        self.now = 0.0
        self.drift = 1.0
        self.tried: list[str] = []
        self.broken: dict[str, Answer] = {}
        self.problems: dict[str, Trial] = {}
        self.finals: list[float] | None = None
        self.finalists: list[str] = []
        self.closed = 0

    def clock(self) -> float:
        return self.now

    def trial(self, packed: bytes) -> Trial:
        assert CompilationResult.unpack(packed).ptx == "own"
        self.now += 1
        return self.problems.get("", Trial(self.cost({}), self.cost({})))

    def trials(self, schedules: Sequence[str], admit: Admit) -> Generator[tuple[str, Trial | None]]:
        try:
            for schedule in schedules:
                self.now += 1
                self.tried.append(schedule)
                done = Answer(0, "", compiled(self.code(schedule)), identity())
                packed = admit(schedule, self.broken.get(schedule, done))
                yield schedule, None if packed is None else self._trial(schedule)
        finally:
            self.closed += 1

    def _trial(self, schedule: str) -> Trial:
        # The clocks of the device change; the compiler's own choice is measured beside each.
        self.drift *= 1.01
        cost, own = self.cost(options_of(schedule)), self.cost({})
        return self.problems.get(schedule, Trial(cost * self.drift, own * self.drift))

    def final(self, packed: Sequence[bytes]) -> list[float]:
        self.finalists = [CompilationResult.unpack(each).ptx for each in packed]
        if self.finals is not None:
            return self.finals
        texts = ["" if text == "own" else text for text in self.finalists]
        return [self.cost(options_of(text)) for text in texts]

    def close(self) -> None:
        raise AssertionError("the caller closes it")


def tuned(backend: Invented, limit: float = 1e9) -> Tuner:
    tuner = Tuner(job(), backend, limit, backend.clock)
    tuner.run()
    return tuner


def bowl(options: dict[str, int]) -> float:
    """The best is stages=5 agents=1 warps=8."""
    cost = 100.0 + 3 * abs(options.get("stages", 3) - 5)
    cost += 0 if options.get("agents") == 1 else 20
    return cost + (0 if options.get("warps", 4) == 8 else 5)


def winner_of(tuner: Tuner) -> str:
    assert tuner.winner is not None
    return tuner.winner.schedule


def test_it_combines_options_to_the_best_schedule() -> None:
    tuner = tuned(Invented(bowl))
    assert winner_of(tuner) == "stages=5 agents=1 warps=8"
    assert tuner.is_complete
    assert tuner.rows[winner_of(tuner)].cost == pytest.approx(100)


def test_no_schedule_is_tried_twice() -> None:
    backend = Invented(bowl)
    tuned(backend)
    assert len(backend.tried) == len(set(backend.tried))
    assert "" not in backend.tried


def test_costs_are_relative_to_what_was_measured_beside_them() -> None:
    """The clocks of the invented device change by 1 % with each candidate."""
    tuner = tuned(Invented(bowl))
    for row in tuner.ranked():
        assert row.cost == pytest.approx(bowl(options_of(row.schedule)))


def test_the_time_limit_stops_it_and_it_chooses_among_what_it_has() -> None:
    backend = Invented(bowl)
    tuner = tuned(backend, limit=4.5)
    # The default takes one second, as each candidate does; the fourth of them ends at 5.
    assert backend.tried == ["agents=1", "agents=0", "stages=3", "stages=4"]
    assert not tuner.is_complete
    assert winner_of(tuner) == "agents=1"
    assert backend.closed == 1


def test_a_search_that_was_stopped_is_not_complete() -> None:
    """Also if nothing better is known whose neighbours could be tried."""
    backend = Invented(lambda options: 100 + len(options))
    assert not tuned(backend, limit=4.5).is_complete
    assert tuned(Invented(backend.cost)).is_complete


def test_without_time_it_has_only_the_compilers_choice() -> None:
    backend = Invented(bowl)
    tuner = tuned(backend, limit=0)
    assert backend.tried == []
    assert winner_of(tuner) == ""


def test_seeds_are_tried_first() -> None:
    backend = Invented(bowl)
    seeds = ["stages=6 agents=1"]
    tuner = Tuner(job(), backend, 1.5, backend.clock, seeds=seeds)
    tuner.run()
    assert backend.tried == seeds
    assert winner_of(tuner) == "stages=6 agents=1"


@pytest.mark.parametrize(("gain", "chosen"), [(0.995, ""), (0.98, "agents=0")])
def test_noise_does_not_replace_the_compilers_choice(gain: float, chosen: str) -> None:
    tuner = tuned(Invented(lambda options: 100 * (gain if options.get("agents") == 0 else 1)))
    assert options_of(winner_of(tuner)).get("agents") == (0 if chosen else None)


def test_the_last_measurement_decides() -> None:
    backend = Invented(lambda options: 90 if options == {"agents": 0} else 100)
    backend.finals = [80, 81, 81, 81]
    assert winner_of(tuned(backend)) == ""
    assert backend.finalists[:2] == ["own", "agents=0"]


def test_a_failed_last_measurement_leaves_the_costs() -> None:
    backend = Invented(lambda options: 90 if options == {"agents": 0} else 100)
    backend.finals = []
    assert winner_of(tuned(backend)) == "agents=0"


def test_the_same_code_is_measured_once() -> None:
    backend = Invented(bowl, code=lambda schedule: schedule if schedule == "stages=3" else "own")
    tuner = tuned(backend)
    outcomes = {row.schedule: (row.outcome, row.detail) for row in tuner.rows.values()}
    assert outcomes["stages=3"] == (MEASURED, "")
    assert outcomes["stages=4"] == (SAME, "")
    assert len(tuner.ranked()) == 2


def test_failures_are_rows() -> None:
    backend = Invented(bowl)
    backend.broken = {
        "agents=1": Answer(3, "k.mlir:1:1: error: unsupported: warps of that kind\n  line\n  ^"),
        "agents=0": Answer(70, "Traceback\nInternalError: no layout"),
        "stages=3": Answer(0, "", compiled("x"), "another compiler"),
    }
    backend.problems = {
        "stages=4": Trial(problem="wrong result: argument 0", is_bug=True),
        "stages=2": Trial(problem="the GPU has no memory left"),
    }
    rows = tuned(backend).rows
    assert (rows["agents=1"].outcome, rows["agents=1"].is_bug) == (FAILED, False)
    assert rows["agents=1"].detail == "unsupported: warps of that kind"
    assert (rows["agents=0"].outcome, rows["agents=0"].is_bug) == (FAILED, True)
    assert rows["stages=3"].detail == "compiled by another version of Tilewright"
    assert (rows["stages=4"].outcome, rows["stages=4"].is_bug) == (REJECTED, True)
    assert (rows["stages=2"].outcome, rows["stages=2"].is_bug) == (REJECTED, False)


def test_a_kernel_that_is_wrong_as_it_is_is_our_bug() -> None:
    backend = Invented(bowl)
    backend.problems = {"": Trial(problem="wrong result: argument 2", is_bug=True)}
    with pytest.raises(InternalError, match="'@k', without a forced schedule: wrong result"):
        tuned(backend)


def test_a_kernel_that_cannot_be_measured_is_an_error() -> None:
    backend = Invented(bowl)
    backend.problems = {"": Trial(problem="the GPU has no memory left")}
    with pytest.raises(UserError, match="'@k' cannot be measured: the GPU has no memory left"):
        tuned(backend)


def test_an_interruption_keeps_what_was_measured() -> None:
    backend = Invented(bowl)

    def interrupted(options: dict[str, int]) -> float:
        if options == {"stages": 4}:
            raise KeyboardInterrupt
        return bowl(options)

    backend.cost = interrupted
    tuner = Tuner(job(), backend, 1e9, backend.clock)
    with pytest.raises(KeyboardInterrupt):
        tuner.run()
    assert [row.schedule for row in tuner.ranked()] == ["agents=1", "", "agents=0", "stages=3"]
    assert tuner.winner is None
    assert backend.closed == 1


def test_progress_is_reported() -> None:
    backend, reports = Invented(bowl), list[tuple[int, int, str]]()

    def report(done: int, count: int, step: str) -> None:
        reports.append((done, count, step))

    tuner = Tuner(job(), backend, 3.5, backend.clock, report)
    tuner.run()
    count = reports[0][1]
    assert reports == [(done, count, TRIED) for done in range(4)]


def test_it_stops_after_many_schedules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_MEASURED", 5)
    tuner = tuned(Invented(bowl))
    assert len(tuner.ranked()) == 5
    assert not tuner.is_complete
