"""Candidates on the machines of a Ray cluster: one task compiles each, another measures it.

Ray decides where tasks run. Each measurement has a GPU for itself, and the compiler's own choice
is measured beside each candidate, since GPUs differ.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from tilewright.driver.batch_worker import Answer, answer_request
from tilewright.driver.tuning.bench import Bench
from tilewright.driver.tuning.bench_process import PATIENCE
from tilewright.driver.tuning.job import STAGE, Device, Job, Trial
from tilewright.driver.tuning.meters import current_device
from tilewright.driver.tuning.records import GPU
from tilewright.support.diagnostics import Diagnostic, Error, Unsupported, UserError

if TYPE_CHECKING:
    from tilewright.driver.tuning.tuner import Admit

LOCAL: Final = "local"
"""The address of a cluster that is started on this machine, and ended with the command."""

_benches: dict[str, Bench] = {}
"""The bench of the last job, in a worker process: the next task needs it again."""


class RayCluster:
    """A connection to a cluster."""

    __slots__ = ("_ray", "_resources")

    def __init__(self, address: str, meter: str, cpus: int | None = None) -> None:
        try:
            self._ray: Any = import_module("ray")
        except ModuleNotFoundError as error:
            raise Unsupported(
                f"tuning on Ray without Ray ({error.name}): pip install 'tilewright[tune]'"
            ) from error
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
        options |= (
            {"num_cpus": cpus, "include_dashboard": False}
            if address == LOCAL
            else {"address": address}
        )
        try:
            self._ray.init(**options)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise Unsupported(f"tuning on the Ray cluster '{address}': {error}") from error
        self._resources = {"num_gpus": 1, "num_cpus": 0} if meter == GPU else {"num_cpus": 1}

    def describe(self) -> Device:
        """A GPU of the cluster; raises `Unsupported` if there is none."""
        if not self._ray.cluster_resources().get("GPU", 0):
            raise Unsupported("tuning on a GPU: the Ray cluster has none")
        return self.get(self.submit(describe_task, measures=True))

    def put(self, value: object) -> Any:
        """Send a value to the cluster once, for many tasks."""
        return self._ray.put(value)

    def submit(self, task: Any, *arguments: Any, measures: bool = False) -> Any:
        """Start a task; one that measures has a GPU, if the meter needs one."""
        resources = self._resources if measures else {"num_cpus": 1}
        return self._ray.remote(task).options(max_retries=0, **resources).remote(*arguments)

    def wait(self, tasks: Sequence[Any]) -> Any:
        """The next task that is done; None if there is none for long."""
        done, _ = self._ray.wait(list(tasks), num_returns=1, timeout=PATIENCE)
        return done[0] if done else None

    def get(self, task: Any) -> Any:
        """The result of a task; raises `Error` if it failed."""
        try:
            kind, value = self._ray.get(task)
        except self._ray.exceptions.RayError as error:
            lines = str(error).strip().splitlines()
            raise UserError([Diagnostic(f"a task of Ray failed: {lines[-1]}")]) from error
        if kind == "error":
            raise UserError([Diagnostic(value)])
        return value

    def cancel(self, tasks: Sequence[Any]) -> None:
        """End tasks that nothing waits for any more."""
        for task in tasks:
            self._ray.cancel(task, force=True)

    def close(self) -> None:
        """Disconnect, and end a local cluster."""
        self._ray.shutdown()


class RayBackend:
    """Compiles and measures candidates as tasks of a cluster."""

    __slots__ = ("_cluster", "_job", "_sent")

    def __init__(self, job: Job, cluster: RayCluster) -> None:
        self._job = job
        self._cluster = cluster
        self._sent = cluster.put(list(job))

    def trial(self, packed: bytes) -> Trial:
        return self._cluster.get(self._measured(packed))

    def trials(self, schedules: Sequence[str], admit: Admit) -> Generator[tuple[str, Trial | None]]:
        cluster = self._cluster
        compiling = {
            cluster.submit(compile_task, self._sent, schedule): schedule for schedule in schedules
        }
        measuring: dict[Any, str] = {}
        try:
            while compiling or measuring:
                task = cluster.wait([*measuring, *compiling])
                if task is None:
                    for schedule in measuring.values():
                        yield schedule, Trial(problem="did not end", is_bug=True)
                    return
                schedule = measuring.pop(task, None)
                if schedule is not None:
                    yield schedule, self._trial(task)
                    continue
                schedule = compiling.pop(task)
                packed = admit(schedule, self._answer(task))
                if packed is None:
                    yield schedule, None
                else:
                    measuring[self._measured(packed)] = schedule
        finally:
            cluster.cancel([*measuring, *compiling])

    def final(self, packed: Sequence[bytes]) -> list[float]:
        try:
            return self._cluster.get(
                self._cluster.submit(final_task, self._sent, list(packed), measures=True)
            )
        except Error:
            return []

    def close(self) -> None:
        self._cluster.close()

    def _measured(self, packed: bytes) -> Any:
        return self._cluster.submit(trial_task, self._sent, packed, measures=True)

    def _trial(self, task: Any) -> Trial:
        try:
            return self._cluster.get(task)
        except Error as error:
            return Trial(problem=error.headline(), is_bug=True)

    def _answer(self, task: Any) -> Answer:
        try:
            return Answer(*self._cluster.get(task))
        except Error as error:
            return Answer(1, error.headline())


def describe_task() -> tuple[str, Any]:
    """Describe the GPU of a worker."""
    try:
        return "done", current_device()
    except Error as error:
        return "error", error.diagnostics[0].message


def compile_task(sent: list[Any], schedule: str) -> tuple[str, Any]:
    """Compile the kernel of a job with a schedule."""
    job = Job(*sent)
    settings = job.settings(schedule)
    options = (settings.arch.name, *settings[1:])
    answer = answer_request(job.data, job.name, options, STAGE, wants_plan=True)
    return "done", tuple(answer)


def trial_task(sent: list[Any], packed: bytes) -> tuple[str, Any]:
    """Run and measure a compiled kernel."""
    try:
        trial = _bench(Job(*sent)).trial(packed)
    except Error as error:
        return "error", "\n".join(each.message for each in error.diagnostics)
    if trial.is_fatal:
        os._exit(1)  # the GPU is lost for this process, so that Ray must not use it again
    return "done", trial


def final_task(sent: list[Any], packed: list[bytes]) -> tuple[str, Any]:
    """Measure several compiled kernels in turn."""
    return "done", _bench(Job(*sent)).final(packed)


def _bench(job: Job) -> Bench:
    bench = _benches.get(job.id)
    if bench is None:
        _benches.clear()
        # What Ray sends is read-only.
        bench = _benches[job.id] = Bench(job._replace(values=[_own(each) for each in job.values]))
    return bench


def _own(value: Any) -> Any:
    return value.copy() if hasattr(value, "copy") else value
