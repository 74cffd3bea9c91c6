"""What schedules are measured by: the interface, and the counts of the PTX emulator."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Final, Protocol

from tilewright.driver.emulate import run_ptx
from tilewright.driver.tuning.job import Device
from tilewright.driver.tuning.records import EMULATOR, GPU
from tilewright.support.diagnostics import Unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.driver.compile import CompiledModule
    from tilewright.driver.tuning.job import Job
    from tilewright.ptxsim import Counters

WARP: Final = 32
SECTOR: Final = 32
"""Bytes of global memory that are transferred at once."""
EMULATOR_ARCH: Final = "sm_90"

UNITS: Final = {GPU: "µs", EMULATOR: "counts"}
MARGINS: Final = {GPU: 0.01, EMULATOR: 0.0}
"""By which part of its cost the compiler's own choice must be improved on: times have noise."""


class Meter(Protocol):
    """Runs and measures compiled kernels on the arguments of a job."""

    def run(self, kernel: CompiledModule) -> list[Any]:
        """Run a kernel once on copies of the arguments, and return these."""
        ...

    def estimate(self, kernel: CompiledModule) -> float:
        """A quick measurement of a kernel that has run."""
        ...

    def measure(self, kernels: Sequence[CompiledModule], repeats: int) -> list[float]:
        """The costs of kernels that have run; all are measured in turn, as often as asked."""
        ...


class EmulatorMeter:
    """Counts of the PTX emulator: the same on every machine, and no time."""

    __slots__ = ("_costs", "_job")

    def __init__(self, job: Job) -> None:
        self._job = job
        self._costs: dict[str, float] = {}

    def run(self, kernel: CompiledModule) -> list[Any]:
        job, values = self._job, copy.deepcopy(self._job.values)
        counters = run_ptx(
            kernel.ptx,
            kernel.program,
            job.entry,
            job.grid,
            values,
            maps=kernel.map_parameters.get(job.entry, ()),
            write=lambda text: None,
            profile=True,
        )
        self._costs[kernel.ptx] = cost_of(counters)
        return values

    def estimate(self, kernel: CompiledModule) -> float:
        return self._costs[kernel.ptx]

    def measure(self, kernels: Sequence[CompiledModule], repeats: int) -> list[float]:
        return [self._costs[kernel.ptx] for kernel in kernels]


def cost_of(counters: Counters) -> float:
    """One number of the counters: issued warp instructions, bank conflicts, sectors of memory."""
    instructions = counters.thread_instructions / WARP
    memory = sum(count for name, count in counters.bytes_moved.items() if name.startswith("global"))
    return instructions + counters.bank_conflicts + memory / SECTOR


def describe_device(meter: str) -> Device:
    """The device that measures on this machine; raises `Unsupported` if there is none."""
    if meter == EMULATOR:
        return Device("the PTX emulator", EMULATOR_ARCH)
    # The driver is loaded only for this meter.
    from tilewright.driver.launch_checks import required_arch  # noqa: PLC0415
    from tilewright.runtime.device import current_gpu  # noqa: PLC0415
    from tilewright.runtime.errors import GpuError  # noqa: PLC0415

    try:
        gpu = current_gpu()
    except GpuError as error:
        raise Unsupported(f"tuning on a GPU: {error.headline()}") from error
    return Device(gpu.name, required_arch(gpu))


def meter_of(job: Job) -> Meter:
    """The meter of a job."""
    if job.meter == EMULATOR:
        return EmulatorMeter(job)
    from tilewright.driver.tuning.gpu_meter import GpuMeter  # noqa: PLC0415

    return GpuMeter(job)
