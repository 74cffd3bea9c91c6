"""Tasks of a cluster, with a stand-in for Ray; tests/cli/test_tune_ray.py has a real one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, cast

import numpy as np
import pytest
from tuned_programs import ADD, add_job, packed

from tilewright.driver.batch_worker import Answer
from tilewright.driver.tuning import ray_backend
from tilewright.driver.tuning.job import Trial
from tilewright.driver.tuning.ray_backend import RayBackend, RayCluster, trial_task
from tilewright.schedule.cost_inputs import Plan
from tilewright.support.diagnostics import Diagnostic, UserError
from tilewright.support.identity import identity

pytestmark = pytest.mark.usefixtures("ptxas")


class StandInCluster:
    """Runs tasks when they are waited for, the oldest first; some crash, some do not end."""

    def __init__(self) -> None:
        self.tasks: list[tuple[Any, ...]] = []
        self.crashing: set[str] = set()
        self.is_stuck = False
        self.cancelled: list[Any] = []
        self.resources: list[bool] = []

    def put(self, value: object) -> object:
        return value

    def submit(self, task: Callable[..., Any], *arguments: Any, measures: bool = False) -> int:
        self.tasks.append((task, *arguments))
        self.resources.append(measures)
        return len(self.tasks) - 1

    def wait(self, tasks: Sequence[int]) -> int | None:
        return None if self.is_stuck else tasks[-1]

    def get(self, task: int) -> Any:
        function, *arguments = self.tasks[task]
        if function.__name__ in self.crashing:
            raise UserError([Diagnostic("a task of Ray failed: worker died")])
        kind, value = function(*arguments)
        assert kind == "done"
        return value

    def cancel(self, tasks: Sequence[int]) -> None:
        self.cancelled += tasks


@pytest.fixture
def cluster() -> StandInCluster:
    ray_backend._benches.clear()
    return StandInCluster()


def backend_of(cluster: StandInCluster) -> RayBackend:
    return RayBackend(add_job(), cast(RayCluster, cluster))


def admit_all(schedule: str, answer: Answer) -> bytes | None:
    return answer.packed or None


def test_candidates_are_compiled_and_measured(cluster: StandInCluster) -> None:
    backend = backend_of(cluster)
    assert backend.trial(add_job().default) == Trial()
    answers: dict[str, Answer] = {}

    def admit(schedule: str, answer: Answer) -> bytes:
        answers[schedule] = answer
        return answer.packed

    trials = dict(backend.trials(["warps=8", "warps=16"], admit))
    assert trials == {"warps=8": Trial(), "warps=16": Trial()}
    assert [Plan.of(answers[each].plan).warps for each in ("warps=8", "warps=16")] == [8, 16]
    # The default, two compilations, two runs: Ray gives a GPU to those that measure.
    assert cluster.resources == [True, False, False, True, True]
    assert cluster.cancelled == []


def test_what_is_not_admitted_is_not_measured(cluster: StandInCluster) -> None:
    answers: dict[str, Answer] = {}

    def admit(schedule: str, answer: Answer) -> bytes | None:
        answers[schedule] = answer
        return None

    assert list(backend_of(cluster).trials(["warps=8"], admit)) == [("warps=8", None)]
    assert (answers["warps=8"].code, answers["warps=8"].maker) == (0, identity())
    assert cluster.resources == [False]


def test_the_rest_is_cancelled(cluster: StandInCluster) -> None:
    with closing(backend_of(cluster).trials(["warps=4", "warps=8"], admit_all)) as trials:
        next(trials)
    assert len(cluster.cancelled) == 1


def test_a_worker_that_dies_is_a_bug_of_the_candidate(cluster: StandInCluster) -> None:
    cluster.crashing = {"trial_task"}
    [(_, trial)] = backend_of(cluster).trials(["warps=8"], admit_all)
    assert trial == Trial(problem="error: a task of Ray failed: worker died", is_bug=True)


def test_a_compilation_that_dies_is_a_failure(cluster: StandInCluster) -> None:
    cluster.crashing = {"compile_task", "final_task"}
    answers: list[Answer] = []

    def admit(schedule: str, answer: Answer) -> bytes | None:
        answers.append(answer)
        return None

    backend = backend_of(cluster)
    assert list(backend.trials(["warps=8"], admit)) == [("warps=8", None)]
    assert (answers[0].packed, "worker died" in answers[0].message) == (b"", True)
    assert backend.final([b""]) == []


def test_tasks_that_do_not_end_are_given_up(cluster: StandInCluster) -> None:
    cluster.is_stuck = True
    assert list(backend_of(cluster).trials(["warps=8"], admit_all)) == []
    assert cluster.cancelled == [0]


def test_workers_keep_the_bench_of_a_job() -> None:
    ray_backend._benches.clear()
    job = add_job()
    for array in job.values:
        array.flags.writeable = False  # as Ray sends them
    kind, trial = trial_task(list(job), job.default)
    assert (kind, trial.problem) == ("done", "")
    bench = ray_backend._benches["job"]
    assert trial_task(list(job), packed(job, ADD, "warps=8")) == ("done", Trial())
    assert ray_backend._benches["job"] is bench
    trial_task(list(job._replace(id="other")), job.default)
    assert list(ray_backend._benches) == ["other"]


def test_errors_of_a_task_are_sent_as_text() -> None:
    ray_backend._benches.clear()
    job = add_job(values=[np.ones(128, np.float32)])
    kind, message = trial_task(list(job), job.default)
    assert (kind, "expected 2 arguments" in message) == ("error", True)
