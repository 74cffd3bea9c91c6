"""Tune a kernel: read it, search on the chosen backend, and store the record."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any, Final

from tilewright.driver.api import read_level
from tilewright.driver.batch import processors
from tilewright.driver.compile import Program
from tilewright.driver.kernel_isolation import keep_kernel
from tilewright.driver.pipelines import level_of
from tilewright.driver.signatures import signature_of
from tilewright.driver.tuning.bench import is_small
from tilewright.driver.tuning.job import STAGE, Device, Job
from tilewright.driver.tuning.kernel_digests import TUNABLE, find_record, put_record
from tilewright.driver.tuning.meters import UNITS, current_device
from tilewright.driver.tuning.plan_observer import PlanObserver
from tilewright.driver.tuning.prediction import (
    Predictor,
    is_predictable,
    known_rates,
    launch_arguments,
)
from tilewright.driver.tuning.records import GPU, MODEL, TuningRecord
from tilewright.driver.tuning.tuner import Tuner
from tilewright.ir.verifier import verify
from tilewright.reference.launch import full_grid
from tilewright.support.diagnostics import Unsupported
from tilewright.support.identity import identity
from tilewright.support.tensor_map_parameters import KERNEL
from tilewright.target.arch import ARCHES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tilewright.driver.cache import Warn
    from tilewright.driver.tuning.ray_backend import RayCluster
    from tilewright.driver.tuning.tuner import Backend, Report

OFFER: Final = "`--meter model` needs no GPU: it predicts times"
MODEL_ARCH: Final = "sm_90"
"""The GPU for which times are predicted if none is named."""


class Tuning:
    """A kernel to tune, and what came of it."""

    def __init__(
        self,
        data: bytes,
        name: str,
        entry: str | None,
        grid: Sequence[int],
        values: Sequence[Any],
        *,
        meter: str = GPU,
        top: int = 0,
        check: bool = True,
        limit: float = 60.0,
        arch: str = "",
        tensor_maps: str = KERNEL,
        jobs: int | None = None,
        ray: str = "",
        rtol: float | None = None,
        atol: float | None = None,
    ) -> None:
        """Read the program; raises `Error` if it is invalid, or the kernel must be named.

        `top` is how many candidates are measured, the first by the cost model; 0: all. `check` is
        whether their results are compared.
        """
        module = read_level(data, name)
        verify(module)
        level = level_of(module)
        if level not in TUNABLE:
            raise Unsupported(f"tuning programs at the level of '{level}'", module.location)
        signature = signature_of(module, entry)
        signature.check_count(values)
        self.module = keep_kernel(module, signature.name)
        self.device = Device("", arch)
        self.tuner: Tuner | None = None
        self.reason = ""
        """Why nothing was stored."""
        self._name = name
        self._entry = signature.name
        self._grid = full_grid(grid)
        self._values = list(values)
        self._meter = meter
        self._top = top
        self._check = check
        self._limit = limit
        self._tensor_maps = tensor_maps
        self._jobs = jobs
        self._ray = ray
        self._tolerance = (rtol, atol)
        self._cluster: RayCluster | None = None
        self._backend: Backend | None = None

    @property
    def emulates_much(self) -> bool:
        """Whether the emulator checks launches that take it long."""
        return self._meter == MODEL and self._check and not is_small(self._values, self._grid)

    def run(
        self, report: Report | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Search for the best schedule."""
        self.device = self._connect()
        arch = ARCHES[self.device.arch]
        if self._top or self._meter == MODEL:
            known_rates(arch)  # or raises an error
        job, observer = self._job()
        self._backend = self._started(job)
        before = find_record(job.settings(), self.module, self._entry)
        seeds = [before.schedule] if before is not None and before.schedule else []
        predictor = None
        if is_predictable(arch) and observer.launch is not None:
            predictor = Predictor(observer.launch, arch)
        self.tuner = Tuner(
            job, self._backend, self._limit, clock, report, seeds, predictor, self._top
        )
        self.tuner.run()

    def close(self) -> None:
        """End all processes."""
        if self._backend is not None:
            self._backend.close()
        elif self._cluster is not None:
            self._cluster.close()

    def store(self, warn: Warn) -> bool:
        """Store the winner for later compilations; whether that was possible is returned."""
        tuner = self.tuner
        if tuner is None or tuner.winner is None:
            return False
        settings = tuner.job.settings()
        before = find_record(settings, self.module, self._entry)
        if before is not None and before.meter == GPU and self._meter == MODEL:
            self.reason = "there is a record of times on a GPU"
            return False
        try:
            store = put_record(settings, self.module, self._record(tuner))
        except OSError as error:
            self.reason = str(error.strerror or error)
            warn(f"the tuning record cannot be written: {self.reason}")
            return False
        if store is None:
            self.reason = "the cache is off"
        return store is not None

    def _record(self, tuner: Tuner) -> TuningRecord:
        winner = tuner.winner
        assert winner is not None
        assert winner.cost is not None
        assert tuner.default.cost is not None
        return TuningRecord(
            self._entry,
            self.device.arch,
            winner.schedule,
            self._meter,
            UNITS[self._meter],
            self.device.name,
            winner.cost,
            tuner.default.cost,
            len(tuner.ranked()),
            round(tuner.seconds, 1),
            time.strftime("%Y-%m-%d"),
            identity(),
        )

    def _connect(self) -> Device:
        """The device that measures; connects to the cluster that has it."""
        if self._ray:
            # Ray is loaded only if it is asked for.
            from tilewright.driver.tuning.ray_backend import RayCluster  # noqa: PLC0415

            self._cluster = RayCluster(self._ray, self._meter, self._jobs)
        named = self.device.arch
        if self._meter == MODEL:
            arch = named or MODEL_ARCH
            return Device(f"the cost model of an {known_rates(ARCHES[arch])[1].gpu}", arch)
        try:
            device = self._cluster.describe() if self._cluster is not None else current_device()
        except Unsupported as error:
            raise Unsupported(f"{error.feature}; {OFFER}") from error
        return Device(device.name, named or device.arch)

    def _job(self) -> tuple[Job, PlanObserver]:
        """The job, with the kernel as compiled without a forced schedule, which was observed."""
        program = Program(self.module, self._name)
        data, name = program.content()
        job = Job(
            uuid.uuid4().hex,
            data,
            name,
            self._entry,
            self.device.arch,
            self._tensor_maps,
            self._grid,
            self._values,
            self._meter,
            b"",
            (),
            self._check,
            *self._tolerance,
        )
        observer = PlanObserver(self._grid, launch_arguments(self._values))
        made = program.compiled(job.settings(), STAGE, observer.reached)
        plan = () if observer.plan is None else observer.plan.stored()
        return job._replace(default=made.pack(), default_plan=plan), observer

    def _started(self, job: Job) -> Backend:
        if self._cluster is not None:
            from tilewright.driver.tuning.ray_backend import RayBackend  # noqa: PLC0415

            return RayBackend(job, self._cluster)
        from tilewright.driver.tuning.local_backend import LocalBackend  # noqa: PLC0415

        return LocalBackend(job, self._jobs or processors())
