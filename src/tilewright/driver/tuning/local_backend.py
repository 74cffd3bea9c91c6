"""Candidates on this machine: compiled by a pool of processes, measured one after the other."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from tilewright.driver.batch import WorkerPool
from tilewright.driver.batch_worker import Request
from tilewright.driver.tuning.bench import Bench
from tilewright.driver.tuning.bench_process import BenchProcess
from tilewright.driver.tuning.job import STAGE
from tilewright.driver.tuning.records import GPU

if TYPE_CHECKING:
    from tilewright.driver.tuning.job import Job, Trial
    from tilewright.driver.tuning.tuner import Admit


class LocalBackend:
    """Compiles in processes that live as long as the search; meanwhile this one measures."""

    __slots__ = ("_bench", "_job", "_pool")

    def __init__(self, job: Job, jobs: int) -> None:
        self._job = job
        self._pool = WorkerPool(jobs)
        # The emulator neither crashes nor waits for kernels that do not end.
        self._bench = BenchProcess(job) if job.meter == GPU else Bench(job)

    def trial(self, packed: bytes) -> Trial:
        return self._bench.trial(packed)

    def trials(self, schedules: Sequence[str], admit: Admit) -> Generator[tuple[str, Trial | None]]:
        job = self._job
        requests = [
            Request(job.data, job.name, job.settings(schedule), STAGE, wants_plan=True)
            for schedule in schedules
        ]
        with closing(self._pool.answers(requests)) as answers:
            for request, answer in answers:
                schedule = request.settings.schedule
                packed = admit(schedule, answer)
                yield schedule, None if packed is None else self.trial(packed)

    def final(self, packed: Sequence[bytes]) -> list[float]:
        return self._bench.final(packed)

    def close(self) -> None:
        self._pool.close()
        if isinstance(self._bench, BenchProcess):
            self._bench.close()
