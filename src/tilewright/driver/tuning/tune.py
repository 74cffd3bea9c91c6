"""Tune a kernel: read it, search on the chosen backend, and store the record."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any

from tilewright.driver.api import read_level
from tilewright.driver.batch import processors
from tilewright.driver.compile import Program
from tilewright.driver.kernel_isolation import keep_kernel
from tilewright.driver.pipelines import level_of
from tilewright.driver.signatures import signature_of
from tilewright.driver.tuning.job import Device, Job
from tilewright.driver.tuning.kernel_digests import TUNABLE, find_record, put_record
from tilewright.driver.tuning.meters import UNITS, describe_device
from tilewright.driver.tuning.records import EMULATOR, GPU, TuningRecord
from tilewright.driver.tuning.tuner import Tuner
from tilewright.emit.toolchain import find_ptxas
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Unsupported
from tilewright.support.identity import identity
from tilewright.support.tensor_map_parameters import KERNEL

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tilewright.driver.cache import Warn
    from tilewright.driver.tuning.ray_backend import RayCluster
    from tilewright.driver.tuning.tuner import Backend

OFFER = "`--meter emulator` needs no GPU: it counts, and measures no time"


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
        limit: float = 60.0,
        arch: str = "",
        tensor_maps: str = KERNEL,
        jobs: int | None = None,
        ray: str = "",
        rtol: float | None = None,
        atol: float | None = None,
    ) -> None:
        """Read the program; raises `Error` if it is invalid, or the kernel must be named."""
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
        self._grid = tuple(grid)
        self._values = list(values)
        self._meter = meter
        self._limit = limit
        self._tensor_maps = tensor_maps
        self._jobs = jobs
        self._ray = ray
        self._tolerance = (rtol, atol)
        self._cluster: RayCluster | None = None
        self._backend: Backend | None = None

    def run(
        self,
        report: Callable[[int, int], object] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Search for the best schedule."""
        device = self._connect()
        arch = self.device.arch or device.arch
        self.device = Device(device.name, arch)
        job = self._job(arch)
        self._backend = self._started(job)
        before = find_record(job.settings(), self.module, self._entry)
        seeds = [before.schedule] if before is not None and before.schedule else []
        self.tuner = Tuner(job, self._backend, self._limit, clock, report, seeds)
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
        if before is not None and before.meter == GPU and self._meter == EMULATOR:
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
        return TuningRecord(
            self._entry,
            self.device.arch,
            winner.schedule,
            self._meter,
            UNITS[self._meter],
            self.device.name,
            winner.cost,
            tuner.default.cost,
            len(tuner.measured()),
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
        try:
            if self._cluster is not None:
                return self._cluster.describe()
            return describe_device(self._meter)
        except Unsupported as error:
            raise Unsupported(f"{error.feature}; {OFFER}") from error

    def _job(self, arch: str) -> Job:
        """The job, with the kernel as compiled without a forced schedule."""
        program = Program(self.module, self._name)
        data, name = program.content()
        job = Job(
            uuid.uuid4().hex,
            data,
            name,
            self._entry,
            arch,
            self._tensor_maps,
            "cubin" if self._meter == GPU or _has_ptxas() else "ptx",
            self._grid,
            self._values,
            self._meter,
            b"",
            *self._tolerance,
        )
        return job._replace(default=program.compiled(job.settings(), job.emit).pack())

    def _started(self, job: Job) -> Backend:
        if self._cluster is not None:
            from tilewright.driver.tuning.ray_backend import RayBackend  # noqa: PLC0415

            return RayBackend(job, self._cluster)
        from tilewright.driver.tuning.local_backend import LocalBackend  # noqa: PLC0415

        return LocalBackend(job, self._jobs or processors())


def _has_ptxas() -> bool:
    try:
        find_ptxas()
    except Unsupported:
        return False
    return True
