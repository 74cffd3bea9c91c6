"""Predictions of launches: their work against counts by hand, and what the prediction shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.driver.api import read_level
from tilewright.driver.back_end import Observers
from tilewright.driver.compile import Compilation
from tilewright.driver.settings import Settings
from tilewright.driver.signatures import isolate_kernel
from tilewright.driver.tuning.plan_observer import PlanObserver
from tilewright.driver.tuning.prediction import Forecast, Predictor, known_rates, launch_arguments
from tilewright.emit.cubin import Resources
from tilewright.emit.elf import KernelInfo
from tilewright.schedule.cost_inputs import Plan
from tilewright.schedule.launch_cost import Launch
from tilewright.schedule.work import Dot, Loop
from tilewright.support.diagnostics import Unsupported
from tilewright.target.arch import ARCHES, Arch

ROOT = Path(__file__).parents[4]
KERNELS = ROOT / "tests" / "run" / "kernels"
SM_90 = ARCHES["sm_90"]
GEMM = ROOT / "examples" / "gemm.mlir"
F16 = Dot(128, 128, 64, "f16", 16)


def half(*shape: int) -> Any:
    return np.zeros(shape, np.float16)


def single(*shape: int) -> Any:
    return np.zeros(shape, np.float32)


def observed(
    path: Path, entry: str, grid: tuple[int, ...], values: list[Any], schedule: str = ""
) -> tuple[Launch, Plan]:
    """The work of a launch, and the plan of the kernel."""
    program = isolate_kernel(read_level(path.read_bytes(), path.name), entry)
    observer = PlanObserver(grid, launch_arguments(values))
    settings = Settings(SM_90, schedule=schedule)
    Compilation(program, settings, Observers(reached=observer.reached)).to("nv_tileas")
    assert observer.launch is not None
    assert observer.plan is not None
    return observer.launch, observer.plan


def resources(**changes: Any) -> Resources:
    info = KernelInfo("k")
    info.threads, info.registers = (128, 1, 1), 64
    for name, value in changes.items():
        setattr(info, name, value)
    return Resources(info, (0, 0), SM_90)


def dots_of(loop: Loop, times: float = 1.0) -> float:
    """The multiplications of a block."""
    assert loop.trips is not None
    times *= loop.entries * loop.trips
    own = sum(count * dot.m * dot.n * dot.k for dot, count in loop.work.dots)
    return times * own + sum(dots_of(inner, times) for inner in loop.loops)


def test_a_gemm_of_known_sizes() -> None:
    """16 x 8 blocks of 128x128; K = 512 in 8 iterations; each array is moved once."""
    arrays = [half(2048, 512), half(512, 1024), single(2048, 1024)]
    launch, plan = observed(GEMM, "gemm", (16, 8), [*arrays, 2048, 1024, 512])
    assert launch.blocks == 128
    (block,) = launch.samples
    (loop,) = block.loops
    assert (loop.trips, loop.work.dots) == (8, ((F16, 1.0),))
    assert launch.bytes == sum(array.nbytes for array in arrays)
    assert plan.is_warpgroup_dot


def test_a_kernel_without_dots() -> None:
    """Eight rows of 128 floats, read and written once."""
    launch, plan = observed(KERNELS / "softmax.mlir", "softmax", (8,), [single(8, 128)] * 2)
    (block,) = launch.samples
    assert (block.work.dots, block.loops) == ((), ())
    assert (block.work.loads, block.work.stores) == (512, 512)
    assert launch.bytes == 2 * 8 * 512
    # A block loads one row, and waits for it.
    assert forecast(plan, launch).limit == "latency"


@pytest.mark.parametrize("grid", [4, 5, 16])
def test_a_kernel_whose_blocks_stride_over_the_grid(grid: int) -> None:
    """8 x 4 tiles of C are shared by the blocks, which know how many they are."""
    values = [half(1024, 128), half(128, 512), half(1024, 512), 1024, 512, 128]
    launch, _ = observed(KERNELS / "persistent_gemm.mlir", "f16", (grid,), values)
    tiles = [len(range(block, 32, grid)) for block in range(grid)]
    assert {dots_of(block) for block in launch.samples} == {
        count * 128 * 128 * 128 for count in tiles
    }


def test_scalars_of_arrays_are_read() -> None:
    arguments = launch_arguments([np.array([[1, 2], [3, 4]], np.int32), single(3), 7, np.int64(8)])
    assert list(arguments.integers) == [None, None, 7, 8]
    assert arguments.sizes == {0: 16, 1: 12}
    assert [list(each) for each in arguments.contents.values()] == [[1, 2, 3, 4]]


def forecast(plan: Plan, launch: Launch, **changes: Any) -> Forecast:
    return Predictor(launch, SM_90).forecast(plan, resources(**changes))


def test_what_limits_a_launch() -> None:
    """A long K is a question of the SM, a short one of the memory, for 256 MiB of C.

    A dot of 128x128x64 takes 512 clocks of tensor cores, and 640 of shared memory.
    """
    long = [half(8192, 4096), half(4096, 8192), single(8192, 8192), 8192, 8192, 4096]
    launch, plan = observed(GEMM, "gemm", (64, 64), long)
    taken = {"threads": (384, 1, 1), "registers": 80, "shared": 98_304}
    made = forecast(plan, launch, **taken)
    assert made.limit == "shared memory"
    # No faster than 989 TFLOP/s of the data sheet.
    assert made.microseconds > 2 * 8192 * 8192 * 4096 / 989e6
    short = [half(8192, 64), half(64, 8192), single(8192, 8192), 8192, 8192, 64]
    launch, plan = observed(GEMM, "gemm", (64, 64), short)
    made = forecast(plan, launch, **taken)
    assert made.limit == "memory"
    assert made.microseconds > 4 * 8192 * 8192 / 4800e3


def test_spills_and_fewer_blocks_take_longer() -> None:
    values = [half(2048, 512), half(512, 2048), single(2048, 2048), 2048, 2048, 512]
    launch, plan = observed(GEMM, "gemm", (16, 16), values)
    taken = {"threads": (256, 1, 1), "registers": 128}
    quick = forecast(plan, launch, **taken, shared=65536)
    alone = forecast(plan, launch, **taken, shared=131072)
    assert (quick.plan.resident, alone.plan.resident) == (2, 1)
    assert quick.microseconds < alone.microseconds
    assert quick.plan == forecast(plan, launch, **taken, shared=65000).plan


@pytest.mark.parametrize(("arch", "missing"), [
    (ARCHES["sm_80"], "the rates of its SMs"),
    (ARCHES["sm_100"], "the rates of its SMs"),
])  # fmt: skip
def test_gpus_without_rates_are_errors(arch: Arch, missing: str) -> None:
    with pytest.raises(Unsupported) as caught:
        known_rates(arch)
    text = caught.value.headline()
    assert f"predicting times on {arch.name}, since {missing} are not known" in text
    assert "they are for sm_90" in text
    assert "`--meter gpu` without `--top`" in text
