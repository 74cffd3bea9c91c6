"""Run candidates and measure them beside the compiler's own choice."""

from __future__ import annotations

import copy
from math import prod
from typing import TYPE_CHECKING, Any, Final

from tilewright.driver.compilation_result import CompilationResult
from tilewright.driver.compile import CompiledModule, Program, Stages
from tilewright.driver.tuning.agreement import Tolerance, disagreement
from tilewright.driver.tuning.job import Trial
from tilewright.driver.tuning.meters import EmulatedRunner, gpu_meter
from tilewright.driver.tuning.records import GPU
from tilewright.reference.launch import launch
from tilewright.reference.tile import is_array
from tilewright.runtime.errors import GpuError
from tilewright.support.diagnostics import Error, InternalError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.driver.tuning.job import Job

REPEATS: Final = 5
FINAL_REPEATS: Final = 15
HOPELESS: Final = 1.5
"""How much slower than the compiler's own choice a candidate is that is not measured further."""
JUDGED_BYTES: Final = 1 << 20
JUDGED_BLOCKS: Final = 64
"""The largest arrays and grids for which the reference executor computes the expected results."""


class Bench:
    """The kernels of a job, the results that they must have, and their meter if there is one."""

    __slots__ = ("_default", "_expected", "_job", "_meter", "_program", "_runner", "_tolerance")

    def __init__(self, job: Job) -> None:
        """Raises `Error` if the arguments do not match the kernel, or it fails."""
        self._job = job
        self._program = Program(job.data, job.name)
        self._tolerance = Tolerance(job.rtol, job.atol)
        self._meter = gpu_meter(job) if job.meter == GPU else None
        self._runner = self._meter or EmulatedRunner(job)
        self._default = self._kernel(job.default)
        self._expected = self._results() if job.check else []

    def trial(self, packed: bytes) -> Trial:
        """Run a compiled kernel, compare its results, and measure it if there is a meter."""
        kernel = self._kernel(packed)
        try:
            gist = self._disagreement(kernel)
            if gist:
                return Trial(problem=f"wrong result: {gist}", is_bug=True)
            return self._measured(kernel)
        except GpuError as error:
            # Too few registers or too little memory is no bug.
            return Trial(problem=error.headline(), is_bug=error.is_fault, is_fatal=error.is_fault)
        except Error as error:
            return Trial(problem=error.headline(), is_bug=True)
        except InternalError as error:
            return Trial(problem=str(error), is_bug=True)

    def final(self, packed: Sequence[bytes]) -> list[float]:
        """Measure several compiled kernels in turn, more often."""
        assert self._meter is not None
        return self._meter.measure([self._kernel(each) for each in packed], FINAL_REPEATS)

    def _measured(self, kernel: CompiledModule) -> Trial:
        if self._meter is None:
            return Trial()
        own, cost = self._meter.estimate(self._default), self._meter.estimate(kernel)
        if cost <= HOPELESS * own:
            own, cost = self._meter.measure([self._default, kernel], REPEATS)
        return Trial(cost, own)

    def _disagreement(self, kernel: CompiledModule) -> str:
        if not self._job.check:
            return ""
        return disagreement(self._expected, self._runner.run(kernel), self._tolerance)

    def _results(self) -> list[Any]:
        """The expected results: of the reference executor if it can compute them, or ours."""
        own = self._runner.run(self._default)
        return self._reference() if is_small(self._job.values, self._job.grid) else own

    def _kernel(self, packed: bytes) -> CompiledModule:
        settings = self._job.settings()
        return CompiledModule(Stages(self._program, settings), CompilationResult.unpack(packed))

    def _reference(self) -> list[Any]:
        """The results of the reference executor."""
        job, values = self._job, copy.deepcopy(self._job.values)
        launch(self._program.module, job.entry, job.grid, values, write=lambda text: None)
        return values


def is_small(values: Sequence[Any], grid: Sequence[int]) -> bool:
    """Whether a launch is one that interpreters run in seconds."""
    size = sum(value.nbytes for value in values if is_array(value))
    return size <= JUDGED_BYTES and prod(grid) <= JUDGED_BLOCKS
