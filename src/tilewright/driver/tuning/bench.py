"""Run candidates and measure them beside the compiler's own choice."""

from __future__ import annotations

import copy
from math import prod
from typing import TYPE_CHECKING, Any, Final

from tilewright.driver.compilation_result import CompilationResult
from tilewright.driver.compile import CompiledModule, Program, Stages
from tilewright.driver.tuning.agreement import Tolerance, disagreement
from tilewright.driver.tuning.job import Trial
from tilewright.driver.tuning.meters import meter_of
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
    """The kernels of a job, the results that they must have, and their meter."""

    __slots__ = ("_default", "_expected", "_job", "_meter", "_program", "_tolerance")

    def __init__(self, job: Job) -> None:
        """Raises `Error` if the arguments do not match the kernel, or it fails."""
        self._job = job
        self._program = Program(job.data, job.name)
        self._tolerance = Tolerance(job.rtol, job.atol)
        self._meter = meter_of(job)
        self._default = self._kernel(job.default)
        results = self._meter.run(self._default)
        self._expected = self._reference() if self._is_small() else results

    def trial(self, packed: bytes) -> Trial:
        """Run a compiled kernel, compare its results, and measure it."""
        kernel = self._kernel(packed)
        try:
            gist = disagreement(self._expected, self._meter.run(kernel), self._tolerance)
            if gist:
                return Trial(problem=f"wrong result: {gist}", is_bug=True)
            own, cost = self._meter.estimate(self._default), self._meter.estimate(kernel)
            if cost <= HOPELESS * own:
                own, cost = self._meter.measure([self._default, kernel], REPEATS)
        except GpuError as error:
            # Too few registers or too little memory is no bug.
            return Trial(problem=error.headline(), is_bug=error.is_fault, is_fatal=error.is_fault)
        except Error as error:
            return Trial(problem=error.headline(), is_bug=True)
        except InternalError as error:
            return Trial(problem=str(error), is_bug=True)
        return Trial(cost, own)

    def final(self, packed: Sequence[bytes]) -> list[float]:
        """Measure several compiled kernels in turn, more often."""
        kernels = [self._kernel(each) for each in packed]
        for kernel in kernels:
            self._meter.run(kernel)
        return self._meter.measure(kernels, FINAL_REPEATS)

    def _kernel(self, packed: bytes) -> CompiledModule:
        settings = self._job.settings()
        return CompiledModule(Stages(self._program, settings), CompilationResult.unpack(packed))

    def _is_small(self) -> bool:
        size = sum(value.nbytes for value in self._job.values if is_array(value))
        return size <= JUDGED_BYTES and prod(self._job.grid) <= JUDGED_BLOCKS

    def _reference(self) -> list[Any]:
        """The results of the reference executor."""
        job, values = self._job, copy.deepcopy(self._job.values)
        launch(self._program.module, job.entry, job.grid, values, write=lambda text: None)
        return values
