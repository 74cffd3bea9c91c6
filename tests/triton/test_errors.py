"""Errors of Triton kernels name the line of the kernel."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator
from typing import Any

import pytest

pytest.importorskip("triton", reason="Triton is not installed (pip install 'tilewright[triton]')")
pytest.importorskip("torch", reason="torch is not installed (pip install 'tilewright[triton]')")

import torch
import triton
import triton_kernels as kernels
from triton.runtime.errors import OutOfResources

import tilewright.triton
from tilewright.support.diagnostics import UserError

FILE = kernels.__file__

pytestmark = pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")


@pytest.fixture(autouse=True)
def disabled() -> Generator[None]:
    yield
    tilewright.triton.disable()


def line_of(comment: str) -> int:
    """The number of the line that ends in a comment."""
    lines = inspect.getsource(kernels).splitlines()
    return next(at for at, line in enumerate(lines, 1) if line.endswith(f"# {comment}"))


def error_of(launch: Callable[[], object], **options: Any) -> str:
    tilewright.triton.enable(**options)
    with pytest.raises(UserError) as caught:
        launch()
    return str(caught.value)


def test_missing_mask() -> None:
    def launch() -> None:
        x = torch.ones(64 * 64 - 13, device="cuda")
        kernels.without_mask[(64,)](x, torch.empty_like(x), BLOCK=64)

    text = error_of(launch)
    assert text.startswith(f"{FILE}:{line_of('out of bounds')}:")
    assert "load of 4 bytes outside of every allocation" in text
    assert "of block (63, 0, 0)" in text
    assert "16332 bytes into x, which has 16332" in text
    assert "without_mask.ptx:" in text


def test_race_between_blocks() -> None:
    def launch() -> None:
        out = torch.zeros(64, dtype=torch.int32, device="cuda")
        kernels.racing_blocks[(64,)](out, BLOCK=64)

    text = error_of(launch)
    assert text.startswith(f"{FILE}:{line_of('all blocks')}:")
    assert "race in global memory" in text
    tilewright.triton.enable(check=False)
    launch()


def test_failing_assertion() -> None:
    def launch() -> None:
        x = torch.arange(4096, device="cuda")
        kernels.small_values[(64,)](x, 4000, BLOCK=64)

    text = error_of(launch)
    assert text.startswith(f"{FILE}:{line_of('fails')}:")
    assert "assertion 'a value is too large' fails" in text
    assert "thread (32, 0, 0) of block (62, 0, 0)" in text


def test_calls_are_shown() -> None:
    def launch() -> None:
        x = torch.ones(32, device="cuda")
        kernels.through_function[(2,)](x, torch.empty(64, device="cuda"), BLOCK=32)

    text = error_of(launch)
    assert text.startswith(f"{FILE}:{line_of('in a function')}:")
    assert f"{FILE}:{line_of('calls it')}:" in text
    assert "note: called from here" in text


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"max_steps": 5}, "stopped at the limit of 5 steps"),
        ({}, "never ends"),
    ],
)
def test_endless_loops_end(limits: dict[str, int], message: str) -> None:
    zero = torch.zeros(1, dtype=torch.int32)

    def launch() -> None:
        kernels.endless[(1,)](zero.cuda())

    text = error_of(launch, **limits)
    assert message in text
    assert "triton_kernels.py:" in text


def test_missing_proxy_fences_are_reported_on_demand() -> None:
    def launch() -> None:
        a, b = (torch.ones(128, 128, dtype=torch.float16, device="cuda") for _ in range(2))
        c = torch.zeros(128, 128, device="cuda")
        kernels.matmul[(1, 1)](a, b, c, 128, 128, 128, 128, 128, 128, M=128, N=128, K=32)

    tilewright.triton.enable()
    launch()
    if triton.__version__.startswith("3.6."):  # later versions have the fence
        assert "no fence.proxy.async" in error_of(launch, check_proxies=True)
    else:
        tilewright.triton.enable(check_proxies=True)
        launch()


def test_too_much_shared_memory_is_the_error_of_triton() -> None:
    tilewright.triton.enable()
    a = torch.ones(256, 256, dtype=torch.float32, device="cuda")
    with pytest.raises(OutOfResources, match="shared memory"):
        kernels.matmul[(1, 1)](
            a, a, a, 256, 256, 256, 256, 256, 256, M=128, N=256, K=128, num_stages=4
        )
