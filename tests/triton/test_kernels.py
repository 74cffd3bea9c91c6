"""Kernels of the usual kinds on the emulator, against NumPy and torch on the CPU."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any

import pytest

pytest.importorskip("triton", reason="Triton is not installed (pip install 'tilewright[triton]')")
pytest.importorskip("torch", reason="torch is not installed (pip install 'tilewright[triton]')")

import torch
import triton
import triton_kernels as kernels
from triton.tools.tensor_descriptor import TensorDescriptor

import tilewright.triton

CUDA = "cuda"

pytestmark = pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")


@pytest.fixture(scope="module", autouse=True)
def emulator() -> Generator[None]:
    tilewright.triton.enable()
    torch.manual_seed(0)
    yield
    tilewright.triton.disable()


def close(actual: Any, expected: Any, tolerance: float = 1e-5) -> None:
    assert actual.is_cuda
    torch.testing.assert_close(
        actual.cpu(), expected, rtol=tolerance, atol=tolerance, check_dtype=False
    )


def test_add_with_a_masked_edge() -> None:
    n = 64 * 64 - 13
    x, y = torch.randn(n), torch.randn(n)
    out = torch.zeros(n, device=CUDA)
    kernels.add[(64,)](x.to(CUDA), y.to(CUDA), out, n, BLOCK=64)
    close(out, x + y)


def test_views_of_one_storage() -> None:
    base = torch.arange(3 * 4096, dtype=torch.float32, device=CUDA)
    x, y, out = base[:4096], base[4096:8192], base[8192:]
    kernels.add[(64,)](x, y, out, 4096, BLOCK=64)
    close(base[8192:], torch.arange(4096) * 2 + 4096.0)
    close(base[:4096], torch.arange(4096).float())


def test_softmax() -> None:
    x = torch.randn(64, 100)
    out = torch.empty_like(x, device=CUDA)
    kernels.softmax[(64,)](x.cuda(), out, x.stride(0), 100, BLOCK=128)
    close(out, torch.softmax(x, dim=1))


@pytest.mark.parametrize("type", ["float16", "bfloat16", "float32"])
def test_matmul(type: str) -> None:
    element = getattr(torch, type)
    a, b = torch.randn(125, 60).to(element), torch.randn(60, 120).to(element)
    c = torch.zeros(125, 120, device=CUDA)
    kernels.matmul[(8, 8)](
        a.cuda(), b.cuda(), c, 125, 120, 60, a.stride(0), b.stride(0), c.stride(0),
        M=16, N=16, K=32,
    )  # fmt: skip
    # Triton multiplies f32 as tf32.
    close(c, a.float() @ b.float(), 0.05 if type == "float32" else 1e-4)


@pytest.mark.parametrize("ctas", [1, 2])
def test_matmul_by_warpgroups(ctas: int) -> None:
    a, b = torch.randn(256, 64).half(), torch.randn(64, 128).half()
    c = torch.zeros(256, 128, device=CUDA)
    kernels.matmul[(2, 1)](
        a.cuda(), b.cuda(), c, 256, 128, 64, 64, 128, 128, M=128, N=128, K=32, num_ctas=ctas
    )
    close(c, a.float() @ b.float(), 1e-3)


def test_matmul_of_host_descriptors() -> None:
    a, b = torch.randn(512, 64).half(), torch.randn(64, 512).half()
    c = torch.zeros(512, 512, dtype=torch.float16, device=CUDA)
    kernels.matmul_of_descriptors[(8, 8)](
        TensorDescriptor.from_tensor(a.cuda(), [64, 32]),
        TensorDescriptor.from_tensor(b.cuda(), [32, 64]),
        TensorDescriptor.from_tensor(c, [64, 64]),
        64, M=64, N=64, K=32,
    )  # fmt: skip
    close(c, (a.float() @ b.float()).half(), 1e-2)


@pytest.mark.parametrize("arch", ["sm_80", "sm_120"])
def test_other_gpus(arch: str) -> None:
    tilewright.triton.enable(arch=arch)
    try:
        a, b = torch.randn(32, 32).half(), torch.randn(32, 32).half()
        c = torch.zeros(32, 32, dtype=torch.float16, device=CUDA)
        # Without an engine for tensor maps, descriptors are addresses, sizes and strides.
        kernels.matmul_of_descriptors[(2, 2)](
            TensorDescriptor.from_tensor(a.cuda(), [16, 16]),
            TensorDescriptor.from_tensor(b.cuda(), [16, 16]),
            TensorDescriptor.from_tensor(c, [16, 16]),
            32, M=16, N=16, K=16,
        )  # fmt: skip
        close(c, (a.float() @ b.float()).half(), 1e-2)
    finally:
        tilewright.triton.enable()


def test_descriptors_of_a_kernel_are_in_global_scratch() -> None:
    sizes: list[int] = []

    def allocate(size: int, alignment: int, stream: object) -> Any:
        sizes.append(size)
        return torch.empty(size, dtype=torch.int8, device=CUDA)

    triton.set_allocator(allocate)
    x = torch.randn(128, 128)
    out = torch.zeros(128, 128, device=CUDA)
    kernels.copy_by_own_descriptors[(8, 8)](x.cuda(), out, 128, 128, M=16, N=16)
    close(out, x * 2)
    assert len(sizes) == 1
    assert sizes[0] >= 64 * 2 * 128


def test_layer_norm() -> None:
    x, weight, bias = torch.randn(64, 96), torch.randn(96), torch.randn(96)
    out = torch.zeros(64, 96, device=CUDA)
    kernels.layer_norm[(64,)](x.cuda(), weight.cuda(), bias.cuda(), out, 96, 1e-5, BLOCK=128)
    close(out, torch.nn.functional.layer_norm(x, (96,), weight, bias), 1e-4)


def test_atomics() -> None:
    x = torch.randint(0, 100, (4000,), dtype=torch.int32)
    totals = torch.zeros(8, dtype=torch.int32, device=CUDA)
    largest = torch.zeros(1, dtype=torch.int32, device=CUDA)
    lock = torch.zeros(2, dtype=torch.int32, device=CUDA)
    kernels.atomics[(64,)](x.cuda(), totals, largest, lock, 4000, BLOCK=64)
    close(totals, x.reshape(-1, 8).sum(0))
    close(largest, x.max().reshape(1))
    assert lock.tolist() == [0, 64]


def test_histogram() -> None:
    x = torch.randint(0, 16, (64 * 64,), dtype=torch.int32)
    out = torch.zeros(16, dtype=torch.int32, device=CUDA)
    kernels.histogram[(64,)](x.cuda(), out, x.numel(), BINS=16, BLOCK=64)
    close(out, torch.bincount(x, minlength=16))


def test_scan() -> None:
    x = torch.randint(-9, 9, (64, 128))
    out = torch.zeros(64, 128, dtype=torch.int64, device=CUDA)
    kernels.scan[(64,)](x.cuda(), out, 128, BLOCK=128)
    close(out, x.cumsum(1))


def test_gather() -> None:
    x, index = torch.randn(64, 64), torch.randint(0, 64, (64, 64), dtype=torch.int32)
    out = torch.zeros(64, 64, device=CUDA)
    kernels.gather[(64,)](x.cuda(), index.cuda(), out, BLOCK=64)
    close(out, x.gather(1, index.long()))


def test_while_loop() -> None:
    x = torch.randint(1, 200, (4000,), dtype=torch.int32)
    out = torch.zeros(4000, dtype=torch.int32, device=CUDA)
    kernels.collatz[(63,)](x.cuda(), out, 4000, BLOCK=64)
    assert out.tolist() == [collatz_steps(value) for value in x.tolist()]


def collatz_steps(value: int) -> int:
    steps = 0
    while value > 1:
        value = 3 * value + 1 if value % 2 else value // 2
        steps += 1
    return steps


def test_sort() -> None:
    x = torch.randn(64, 64)
    out = torch.zeros(64, 64, device=CUDA)
    kernels.sort_rows[(64,)](x.cuda(), out, BLOCK=64)
    close(out, x.sort(dim=1).values)


def test_attention() -> None:
    heads, length, width = 4, 256, 32
    q, k, v = (torch.randn(heads, length, width).half() for _ in range(3))
    out = torch.zeros(heads, length, width, device=CUDA)
    scale = 1 / math.sqrt(width)
    kernels.attention[(16, heads)](
        q.cuda(), k.cuda(), v.cuda(), out, length, scale, M=16, N=32, D=width
    )
    scores = torch.softmax(q.float() @ k.float().transpose(1, 2) * scale, dim=-1)
    close(out, scores @ v.float(), 5e-3)


def test_random_numbers() -> None:
    x = torch.ones(4096, device=CUDA)
    out, again = torch.empty_like(x), torch.empty_like(x)
    kernels.dropout[(64,)](x, out, 4096, 0.25, 7, BLOCK=64)
    kernels.dropout[(64,)](x, again, 4096, 0.25, 7, BLOCK=64)
    assert torch.equal(out.cpu(), again.cpu())
    assert 0.7 < (out > 0).float().mean().item() < 0.8


def test_scalars_of_each_type() -> None:
    out = torch.zeros(32, dtype=torch.float64, device=CUDA)
    kernels.scalars[(1,)](out, 3, 2.5, 2**40, -7, True, (3, 0.25), BLOCK=32)
    expected = 3 + 2.5 * 2**40 - 7 + 0.75
    close(out, torch.full((32,), expected, dtype=torch.float64), 1e-6)


def test_print(capsys: pytest.CaptureFixture[str]) -> None:
    x = torch.arange(64, dtype=torch.int32, device=CUDA)
    kernels.print_values[(2,)](x, BLOCK=32, num_warps=1)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 64
    assert any("pid (1, 0, 0)" in line and line.endswith(": 63") for line in lines)


def test_autotuning_takes_the_first_that_fits(capsys: pytest.CaptureFixture[str]) -> None:
    a, b = torch.randn(128, 64).half(), torch.randn(64, 128).half()
    c = torch.zeros(128, 128, device=CUDA)
    kernels.tuned_matmul[lambda meta: (128 // meta["M"], 128 // meta["N"])](
        a.cuda(), b.cuda(), c, 128, 128, 64, 64, 128, 128
    )
    close(c, a.float() @ b.float(), 1e-3)
    assert kernels.tuned_matmul.best_config.kwargs == {"M": 32, "N": 32, "K": 32}
    note = capsys.readouterr().err
    assert note.startswith("note: autotuning of 'matmul': M: 32, N: 32, K: 32")
    assert "the first of 3 that compiles and fits the GPU" in note


def test_benchmarks_run_once(capsys: pytest.CaptureFixture[str]) -> None:
    calls: list[int] = []
    assert triton.testing.do_bench(lambda: calls.append(1)) >= 0
    assert len(triton.testing.do_bench(lambda: calls.append(1), quantiles=[0.5, 0.2, 0.8])) == 3
    assert len(calls) == 2
    assert "run a function once" in capsys.readouterr().err
