"""Errors of incomplete set-ups: no bindings, no driver, no GPU, an old driver, no ptxas."""

from __future__ import annotations

import numpy as np
import pytest
from stand_in_gpu import StandIn, forget, install

import tilewright
from tilewright.emit import toolchain
from tilewright.runtime.device import current_gpu, gpu

PROGRAM = """\
cuda_tile.module @kernels {
  entry @fill(%x: tile<ptr<i32>>, %by: tile<i32>) {
    %t0 = store_ptr_tko weak %x, %by : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
"""


def run_it() -> None:
    tilewright.execute(PROGRAM, "fill", 1, [np.zeros(1, np.int32), 3], on="gpu")


def test_without_bindings_the_error_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, None)
    with pytest.raises(tilewright.Unsupported, match=r"pip install 'tilewright\[gpu\]'"):
        run_it()
    forget()


def test_without_a_driver_library(cuda: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(flags: int) -> object:
        raise RuntimeError("libcuda.so.1 not found")

    monkeypatch.setattr(cuda, "cuInit", missing)
    with pytest.raises(tilewright.Unsupported, match=r"without NVIDIA's driver \(libcuda"):
        run_it()


def test_without_a_gpu(cuda: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    cuda.failing["cuInit"] = "CUDA_ERROR_NO_DEVICE"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    expected = r"the driver finds none \[CUDA_ERROR_NO_DEVICE\] \(CUDA_VISIBLE_DEVICES is '-1'\)"
    with pytest.raises(tilewright.Unsupported, match=expected):
        run_it()


def test_driver_of_mismatched_versions(cuda: StandIn) -> None:
    cuda.failing["cuInit"] = "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"
    with pytest.raises(tilewright.Unsupported, match="of different versions"):
        run_it()


def test_old_driver(cuda: StandIn) -> None:
    cuda.version = 12020
    expected = r"knows CUDA 12\.2: expected 13\.0 or later \(driver 580\)"
    with pytest.raises(tilewright.Unsupported, match=expected):
        run_it()


@pytest.mark.parametrize(
    "status", ["CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "CUDA_ERROR_INVALID_IMAGE"]
)
def test_driver_older_than_ptxas(cuda: StandIn, status: str) -> None:
    cuda.failing["cuModuleLoadData"] = status
    with pytest.raises(tilewright.Unsupported, match=f"does not understand its code .{status}"):
        run_it()


def test_unsupported_gpu(cuda: StandIn) -> None:
    cuda.capability = (7, 5)
    with pytest.raises(tilewright.Unsupported, match=r"Stand-In 9000 \(sm_75\): not in sm_80, "):
        run_it()


def test_missing_gpu(cuda: StandIn) -> None:
    with pytest.raises(tilewright.Unsupported, match="GPU 2: this machine has 2"):
        gpu(2)


def test_without_ptxas(cuda: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing() -> str:
        raise tilewright.Unsupported("cubins without ptxas: install the package nvidia-cuda-nvcc")

    monkeypatch.setattr(toolchain, "_installed_ptxas", nothing)
    with pytest.raises(tilewright.Unsupported, match="without ptxas: install"):
        run_it()


def test_names_of_gpus(cuda: StandIn) -> None:
    cuda.capability = (12, 1)
    assert (current_gpu().name, current_gpu().arch) == ("Stand-In 9000", "sm_121")


def test_the_gpu_is_that_of_the_current_context(cuda: StandIn) -> None:
    assert current_gpu().ordinal == 0
    cuda.current = 0x1001
    assert current_gpu().ordinal == 1


def test_code_for_another_gpu_is_rejected(cuda: StandIn) -> None:
    with pytest.raises(tilewright.Unsupported, match=r"'sm_80' on 'gpu': .* is sm_90"):
        tilewright.execute(PROGRAM, "fill", 1, [None, 3], on="gpu", arch="sm_80")


def test_race_checks_are_unsupported_on_a_gpu(cuda: StandIn) -> None:
    with pytest.raises(tilewright.Unsupported, match="expected 'cpu' or 'emulator'"):
        tilewright.execute(PROGRAM, "fill", 1, [None, 3], on="gpu", check=True)
