"""The device "cuda" of a torch without CUDA: where tensors are, and `torch.cuda`."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("triton", reason="Triton is not installed (pip install 'tilewright[triton]')")
pytest.importorskip("torch", reason="torch is not installed (pip install 'tilewright[triton]')")

import torch
import triton_kernels as kernels

import tilewright.triton
from tilewright.support.diagnostics import Unsupported, UserError

pytestmark = pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")


@pytest.fixture(scope="module", autouse=True)
def emulator() -> Generator[None]:
    tilewright.triton.enable()
    yield
    tilewright.triton.disable()


def test_factories_create_tensors_on_the_gpu() -> None:
    gpu = torch.device("cuda", 0)
    made = [
        torch.empty(3, device="cuda"),
        torch.randn(3, device=gpu),
        torch.tensor([1, 2], device="cuda:0"),
        torch.arange(4, device=torch.device("cuda")),
        torch.full((2,), 1.0, device=0),
        torch.as_tensor([1.0], device="cuda"),
        torch.randn(3).cuda(),
        torch.randn(3).to("cuda"),
        torch.randn(3).to(torch.float16).to(gpu, torch.float32),
        torch.zeros(3).to(device="cuda", dtype=torch.int32),
        torch.zeros(3, device="cuda").new_tensor([1.0]),
        torch.zeros(3, device="cuda").new_empty(5),
        torch.nn.Linear(2, 2, device="cuda").weight,
        torch.nn.Linear(2, 2).cuda().weight,
        torch.nn.Linear(2, 2).to("cuda").bias,
    ]
    assert [each.device for each in made] == [gpu] * len(made)
    assert all(each.is_cuda and each.get_device() == 0 for each in made)


def test_results_are_where_their_operands_are() -> None:
    x = torch.ones(4, 4, device="cuda")
    made = [x + 1, x[1:], x.T, x.sum(), x @ x, torch.empty_like(x), torch.cat([x, x]), x.half()]
    made += [*x.split(2), *torch.max(x, dim=0), x.expand(3, 4, 4), x.clone().add_(1)]
    assert all(each.is_cuda for each in made)
    assert not any(each.is_cuda for each in (x.cpu(), x.to("cpu"), torch.ones(4), x.cpu() + 1))
    assert x.to("cuda") is x
    assert x.cpu().device == torch.device("cpu")
    host = torch.zeros(4, 4)
    assert not host.copy_(x).is_cuda
    assert host.equal(torch.ones(4, 4))


def test_copies_do_not_share_memory_with_the_host() -> None:
    array = np.zeros(3, np.float32)
    host = torch.zeros(3)
    on_gpu = [torch.as_tensor(array, device="cuda"), torch.from_numpy(array).cuda(), host.cuda()]
    for each in on_gpu:
        each += 1
    assert array.tolist() == host.tolist() == [0, 0, 0]
    back = on_gpu[0].cpu()
    back += 1
    assert on_gpu[0].tolist() == [1, 1, 1]


def test_numpy_needs_a_tensor_on_the_cpu() -> None:
    x = torch.ones(3, device="cuda")
    with pytest.raises(TypeError, match=r"expected one on the CPU, as \.cpu\(\) makes it"):
        x.numpy()
    assert x.cpu().numpy().tolist() == [1, 1, 1]


def test_kernels_reject_tensors_on_the_cpu() -> None:
    x = torch.ones(64)
    with pytest.raises(UserError, match="argument 'y': expected a tensor on the GPU"):
        kernels.add[(1,)](x.cuda(), x, x.cuda(), 64, BLOCK=64)
    out = torch.zeros(64, device="cuda")
    kernels.add[(1,)](x.pin_memory(), x.cuda(), out, 64, BLOCK=64)
    assert out.tolist() == [2] * 64


class Double(torch.autograd.Function):
    """A function whose gradient is a kernel."""

    @staticmethod
    def forward(context: Any, x: Any) -> Any:
        assert x.is_cuda
        return Double.add(x, x)

    @staticmethod
    def backward(context: Any, gradient: Any) -> Any:
        assert gradient.is_cuda
        return Double.add(gradient, gradient)

    @staticmethod
    def add(x: Any, y: Any) -> Any:
        out = torch.empty_like(x, device=x.device)
        kernels.add[(1,)](x, y, out, x.numel(), BLOCK=64)
        return out


@pytest.mark.parametrize("start", ["backward", "autograd.backward", "autograd.grad"])
def test_kernels_in_backward_passes(start: str) -> None:
    x = torch.full((64,), 3.0, device="cuda", requires_grad=True)
    loss = (Double.apply(x) * x).sum()
    if start == "autograd.grad":
        (gradient,) = torch.autograd.grad(loss, x)
    elif start == "autograd.backward":
        torch.autograd.backward(loss)
        gradient = x.grad
    else:
        loss.backward()
        gradient = x.grad
    assert gradient.is_cuda
    assert gradient.tolist() == [12.0] * 64


def test_the_default_device() -> None:
    with torch.device("cuda"):
        assert torch.zeros(3).is_cuda
    assert not torch.zeros(3).is_cuda


def test_printed_tensors_name_the_device() -> None:
    x = torch.ones(2)
    assert repr(x.cuda()) == "tensor([1., 1.], device='cuda:0')"
    assert repr(x) == "tensor([1., 1.])"


def test_the_module_describes_the_gpu() -> None:
    assert torch.cuda.is_available()
    assert torch.cuda.device_count() == 1
    assert torch.cuda.current_device() == 0
    assert torch.cuda.get_device_capability() == (9, 0)
    properties = torch.cuda.get_device_properties("cuda")
    assert (properties.major, properties.multi_processor_count) == (9, 132)
    assert properties.shared_memory_per_block_optin == 227 * 1024
    assert "emulator" in torch.cuda.get_device_name(0)
    torch.cuda.synchronize()
    torch.cuda.set_device(0)
    with torch.cuda.device(0):
        assert torch.cuda.memory_allocated() == 0
    with pytest.raises(UserError, match=r"device 'cuda:1': expected 'cuda' or 'cuda:0'"):
        torch.zeros(3, device="cuda:1")
    with pytest.raises(Unsupported, match=r"torch\.cuda\.CUDAGraph without a GPU"):
        torch.cuda.CUDAGraph()


def test_streams_and_events() -> None:
    stream = torch.cuda.Stream()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        start.record()
        x = torch.ones(3, device="cuda")
        x.record_stream(stream)
        end.record(stream)
    stream.synchronize()
    end.synchronize()
    assert start.elapsed_time(end) >= 0
    assert stream.query()
    with pytest.raises(ValueError, match="expected events that have been recorded"):
        start.elapsed_time(torch.cuda.Event(enable_timing=True))


def test_random_numbers_repeat() -> None:
    torch.cuda.manual_seed(3)
    first = torch.rand(4, device="cuda")
    torch.cuda.manual_seed(3)
    assert first.equal(torch.rand(4, device="cuda"))
    generator = torch.Generator(device="cuda").manual_seed(5)
    second = torch.rand(4, device="cuda", generator=generator)
    assert second.is_cuda
    assert not second.equal(first)


def test_disable_restores_torch() -> None:
    tilewright.triton.disable()
    try:
        assert not torch.cuda.is_available()
        assert torch.ones(3).device.type == "cpu"
        with pytest.raises((AssertionError, RuntimeError)):
            torch.ones(3, device="cuda")
    finally:
        tilewright.triton.enable()


def test_kernels_take_tensors_on_the_cpu_without_the_device() -> None:
    tilewright.triton.enable(cuda=False)
    try:
        x, out = torch.ones(64), torch.zeros(64)
        kernels.add[(1,)](x, x, out, 64, BLOCK=64)
        assert out.tolist() == [2] * 64
    finally:
        tilewright.triton.enable()
