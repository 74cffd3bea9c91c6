"""Times on a GPU, with a stand-in for the driver: graphs of launches, measured in turn."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stand_in_gpu import Names, StandIn, forget, install
from tuned_programs import ADD, add_job, packed

from tilewright.driver.tuning.bench import FINAL_REPEATS, Bench
from tilewright.driver.tuning.gpu_meter import MOST_LAUNCHES
from tilewright.driver.tuning.job import Device
from tilewright.driver.tuning.meters import current_device
from tilewright.support.diagnostics import Unsupported


class TimedStandIn(StandIn):
    """A driver whose kernels take as many µs as their blocks have threads."""

    def __init__(self) -> None:
        super().__init__()
        self.CUstreamCaptureMode = Names()
        self.captured: list[float] | None = None
        self.work = 0.0
        self.replayed: list[float] = []
        self.graph_sizes: list[int] = []
        self.parameters = 2
        self.kernel = self.add
        self.sign = 1

    def add(self, pointers: list[int]) -> None:
        """y += x."""
        x, y = (ctypes.c_uint64.from_address(pointer).value for pointer in pointers)
        size = 4 * 128
        values = [np.frombuffer(ctypes.string_at(each, size), np.float32) for each in (x, y)]
        after = values[1] + self.sign * values[0]
        ctypes.memmove(y, after.tobytes(), size)

    def cuLaunchKernel(self, function: object, *rest: Any) -> tuple[()]:
        if self.captured is not None:
            self.captured.append(float(rest[3]))
            return ()
        self.work += float(rest[3])
        return super().cuLaunchKernel(function, *rest)

    def cuCtxSetCurrent(self, context: int) -> tuple[()]:
        self.current = context
        return ()

    def cuStreamCreate(self, flags: int) -> tuple[int]:
        return (7,)

    def cuStreamBeginCapture(self, stream: int, mode: str) -> tuple[()]:
        assert stream == 7
        self.captured = []
        return ()

    def cuStreamEndCapture(self, stream: int) -> tuple[list[float]]:
        captured, self.captured = self.captured, None
        assert captured is not None
        return (captured,)

    def cuGraphInstantiate(self, graph: list[float], flags: int) -> tuple[list[float]]:
        self.graph_sizes.append(len(graph))
        return (graph,)

    def cuGraphDestroy(self, graph: list[float]) -> tuple[()]:
        return ()

    def cuGraphLaunch(self, graph: list[float], stream: int) -> tuple[()]:
        self.work += sum(graph)
        self.replayed.append(graph[0])
        return ()

    def cuEventRecord(self, event: str, stream: int) -> tuple[()]:
        self.before, self.after = getattr(self, "after", 0.0), self.work
        return ()

    def cuEventSynchronize(self, event: str) -> tuple[()]:
        return ()

    def cuEventElapsedTime(self, start: str, end: str) -> tuple[float]:
        return ((self.after - self.before) / 1000,)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Any:
    stand_in = TimedStandIn()
    install(monkeypatch, stand_in)
    yield stand_in
    monkeypatch.undo()
    forget()


def test_the_device_is_that_of_the_driver(driver: TimedStandIn) -> None:
    assert current_device() == Device("Stand-In 9000", "sm_90")


def test_without_a_gpu_it_is_unsupported(driver: TimedStandIn) -> None:
    driver.failing["cuInit"] = "CUDA_ERROR_NO_DEVICE"
    with pytest.raises(Unsupported, match="the driver finds none"):
        current_device()


def test_kernels_are_measured_beside_the_default(driver: TimedStandIn, ptxas: Path) -> None:
    job = add_job(meter="gpu")
    trial = Bench(job).trial(packed(job, ADD, "warps=4"))
    assert trial.problem == ""
    assert (trial.cost, trial.default_cost) == (pytest.approx(128), pytest.approx(128))


def test_a_hopeless_kernel_is_not_measured_further(driver: TimedStandIn, ptxas: Path) -> None:
    job = add_job(meter="gpu")
    trial = Bench(job).trial(packed(job, ADD, "warps=16"))
    assert (trial.cost, trial.default_cost) == (pytest.approx(512), pytest.approx(128))
    assert driver.replayed == []


def test_finalists_are_measured_in_turn(driver: TimedStandIn, ptxas: Path) -> None:
    job = add_job(meter="gpu")
    costs = Bench(job).final([job.default, packed(job, ADD, "warps=8")])
    assert costs == [pytest.approx(128), pytest.approx(256)]
    # Each graph is launched once before, for the driver to upload it.
    assert driver.replayed[2:] == [128.0, 256.0] * FINAL_REPEATS


def test_short_kernels_are_launched_often(driver: TimedStandIn, ptxas: Path) -> None:
    job = add_job(meter="gpu")
    Bench(job).final([job.default])
    assert driver.graph_sizes == [1000 // 128]
    assert driver.graph_sizes[0] <= MOST_LAUNCHES


def test_results_are_compared(driver: TimedStandIn, ptxas: Path) -> None:
    job = add_job(meter="gpu")
    bench = Bench(job)
    driver.sign = -1
    trial = bench.trial(job.default)
    assert trial.is_bug
    assert trial.problem.startswith("wrong result: argument 1: expected 2.0 at [1], got 0.0")


def test_a_fault_ends_the_bench(driver: TimedStandIn, ptxas: Path) -> None:
    job = add_job(meter="gpu")
    bench = Bench(job)
    driver.failing["cuStreamSynchronize"] = "CUDA_ERROR_ILLEGAL_ADDRESS"
    trial = bench.trial(job.default)
    assert (trial.is_bug, trial.is_fatal) == (True, True)
    assert "memory that is not there" in trial.problem


def test_too_few_resources_are_no_bug(driver: TimedStandIn, ptxas: Path) -> None:
    job = add_job(meter="gpu")
    bench = Bench(job)
    driver.failing["cuMemAlloc"] = "CUDA_ERROR_OUT_OF_MEMORY"
    trial = bench.trial(job.default)
    assert (trial.is_bug, trial.is_fatal) == (False, False)
    assert "no memory left" in trial.problem
