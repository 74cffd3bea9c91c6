"""What runs candidates and measures them: the interfaces, and the PTX emulator, which only runs."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Final, Protocol

from tilewright.driver.emulate import run_ptx
from tilewright.driver.tuning.job import Device
from tilewright.driver.tuning.records import GPU, MODEL
from tilewright.support.diagnostics import Unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.driver.compile import CompiledModule
    from tilewright.driver.tuning.job import Job

UNITS: Final = {GPU: "µs", MODEL: "predicted µs"}


class Runner(Protocol):
    """Runs compiled kernels on the arguments of a job."""

    def run(self, kernel: CompiledModule) -> list[Any]:
        """Run a kernel once on copies of the arguments, and return these."""
        ...


class Meter(Runner, Protocol):
    """Also measures them."""

    def estimate(self, kernel: CompiledModule) -> float:
        """A quick measurement of a kernel."""
        ...

    def measure(self, kernels: Sequence[CompiledModule], repeats: int) -> list[float]:
        """The costs of kernels; all are measured in turn, as often as asked."""
        ...


class EmulatedRunner:
    """Runs kernels on the PTX emulator."""

    __slots__ = ("_job",)

    def __init__(self, job: Job) -> None:
        self._job = job

    def run(self, kernel: CompiledModule) -> list[Any]:
        job, values = self._job, copy.deepcopy(self._job.values)
        run_ptx(
            kernel.ptx,
            kernel.program,
            job.entry,
            job.grid,
            values,
            maps=kernel.map_parameters.get(job.entry, ()),
            write=lambda text: None,
        )
        return values


def current_device() -> Device:
    """The GPU of this machine; raises `Unsupported` if there is none."""
    # The driver is loaded only if a GPU measures.
    from tilewright.driver.launch_checks import required_arch  # noqa: PLC0415
    from tilewright.runtime.device import current_gpu  # noqa: PLC0415
    from tilewright.runtime.errors import GpuError  # noqa: PLC0415

    try:
        gpu = current_gpu()
    except GpuError as error:
        raise Unsupported(f"tuning on a GPU: {error.headline()}") from error
    return Device(gpu.name, required_arch(gpu))


def gpu_meter(job: Job) -> Meter:
    """The meter of a job that the current GPU measures."""
    from tilewright.driver.tuning.gpu_meter import GpuMeter  # noqa: PLC0415

    return GpuMeter(job)
