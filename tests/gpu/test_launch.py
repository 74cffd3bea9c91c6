"""Launches on a GPU: arrays of NumPy and torch, streams, threads, output of kernels."""

from __future__ import annotations

import importlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import DTypeLike
from tile_programs import SCALE

import tilewright
from tilewright.runtime import device
from tilewright.runtime.device import current_gpu
from tilewright.runtime.driver import call

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).parents[2]
BLOCK = 128

ADD = """\
cuda_tile.module @kernels {
  entry @add(%x: tile<ptr<ELEMENT>>, %y: tile<ptr<ELEMENT>>, %out: tile<ptr<ELEMENT>>, %n: tile<i32>) {
    %xv = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xELEMENT, strides=[1]>
    %yv = make_tensor_view %y, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xELEMENT, strides=[1]>
    %ov = make_tensor_view %out, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xELEMENT, strides=[1]>
    %xp = make_partition_view %xv : partition_view<tile=(128), padding_value = zero, tensor_view<?xELEMENT, strides=[1]>>
    %yp = make_partition_view %yv : partition_view<tile=(128), padding_value = zero, tensor_view<?xELEMENT, strides=[1]>>
    %op = make_partition_view %ov : partition_view<tile=(128), tensor_view<?xELEMENT, strides=[1]>>
    %b, %b1, %b2 = get_tile_block_id : tile<i32>
    %u, %t0 = load_view_tko weak %xp[%b] : partition_view<tile=(128), padding_value = zero, tensor_view<?xELEMENT, strides=[1]>>, tile<i32> -> tile<128xELEMENT>, token
    %v, %t1 = load_view_tko weak %yp[%b] : partition_view<tile=(128), padding_value = zero, tensor_view<?xELEMENT, strides=[1]>>, tile<i32> -> tile<128xELEMENT>, token
    %s = ADDITION : tile<128xELEMENT>
    %t2 = store_view_tko weak %s, %op[%b] : tile<128xELEMENT>, partition_view<tile=(128), tensor_view<?xELEMENT, strides=[1]>>, tile<i32> -> token
    return
  }
}
"""  # noqa: E501
CLUSTERS = """\
cuda_tile.module @kernels {
  entry @ids(%x: tile<ptr<i32>>) optimization_hints=<sm_90 = {num_cta_in_cga = 2}> {
    %b, %b1, %b2 = get_tile_block_id : tile<i32>
    %p = offset %x, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t1 = store_ptr_tko weak %p, %b : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
"""


def program(element: str) -> str:
    kind = "addi %u, %v" if element.startswith("i") else "addf %u, %v"
    return ADD.replace("ADDITION", kind).replace("ELEMENT", element)


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch")


@pytest.fixture(scope="module")
def add() -> tilewright.CompiledModule:
    return tilewright.compile(program("f32"), arch=current_gpu().arch)


ELEMENTS: dict[str, DTypeLike] = {
    "i8": np.int8, "i32": np.int32, "i64": np.int64, "f16": np.float16, "f32": np.float32,
    "f64": np.float64, "bf16": ml_dtypes.bfloat16,
}  # fmt: skip


@pytest.mark.parametrize("element", ELEMENTS)
def test_numpy_arrays_change_in_place(element: str) -> None:
    rng = np.random.default_rng(1)
    x, y = (rng.integers(-50, 50, 1000).astype(ELEMENTS[element]) for _ in range(2))
    out = np.zeros_like(x)
    tilewright.execute(program(element), "add", 8, [x, y, out, 1000], on="gpu")
    # x + y is exact in every type but i8, which wraps as NumPy does.
    assert np.array_equal(out, x + y)


def test_views_share_memory(add: tilewright.CompiledModule) -> None:
    whole = np.arange(512, dtype=np.float32)
    tilewright.launch(add, "add", 1, [whole, whole[128:], whole[256:], 128])
    wanted = np.arange(512, dtype=np.float32)
    wanted[256:384] = wanted[:128] + wanted[128:256]
    assert np.array_equal(whole, wanted)


def test_memory_is_freed(add: tilewright.CompiledModule, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    given: list[int] = []

    def record(name: str, *arguments: Any) -> Any:
        result = call(name, *arguments)
        if name == "cuMemAlloc":
            taken.append(int(result))
        elif name == "cuMemFree":
            given.append(int(arguments[0]))
        return result

    monkeypatch.setattr(device, "call", record)
    x = np.zeros(1 << 20, np.float32)
    for _ in range(5):
        tilewright.launch(add, "add", 1, [x, x, x, 128])
    assert taken
    assert sorted(given) == sorted(taken)


@pytest.mark.parametrize("dtype", ["float32", "int32", "bfloat16", "float16"])
def test_tensors_of_torch(torch: Any, dtype: str) -> None:
    spelling = {"float32": "f32", "int32": "i32", "bfloat16": "bf16", "float16": "f16"}[dtype]
    kernel = tilewright.compile(program(spelling), arch=current_gpu().arch)
    x, y = (torch.randint(-50, 50, (1000,), device="cuda").to(getattr(torch, dtype)) for _ in "xy")
    out = torch.zeros_like(x)
    tilewright.launch(kernel, "add", (8,), [x, y, out, 1000])
    assert torch.equal(out, x + y)


def test_tensors_and_numpy_arrays_mix(torch: Any, add: tilewright.CompiledModule) -> None:
    x, y = torch.ones(256, device="cuda"), np.arange(256, dtype=np.float32)
    out = np.zeros(256, np.float32)
    tilewright.launch(add, "add", 2, [x, y, out, np.int32(256)])
    assert np.array_equal(out, y + 1)


class Interface:
    """An array that only has `__cuda_array_interface__`."""

    def __init__(self, tensor: Any) -> None:
        self.__cuda_array_interface__ = tensor.__cuda_array_interface__


class Capsule:
    """An array that only has DLPack."""

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    def __dlpack__(self, **options: Any) -> object:
        return self._tensor.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._tensor.__dlpack_device__()


@pytest.mark.parametrize("form", [Interface, Capsule])
def test_arrays_of_other_libraries(
    torch: Any, add: tilewright.CompiledModule, form: type[Any]
) -> None:
    if form is Capsule:
        pytest.importorskip("cuda.core")
    x, out = torch.arange(256, device="cuda").float(), torch.zeros(256, device="cuda")
    torch.cuda.synchronize()
    tilewright.launch(add, "add", 2, [form(x), form(x), form(out), 256])
    torch.cuda.synchronize()
    assert torch.equal(out, 2 * x)
    with pytest.raises(tilewright.UserError, match="got an array of float64"):
        tilewright.launch(add, "add", 2, [form(x.double()), form(x), form(out), 256])


def test_tensors_that_need_gradients(torch: Any, add: tilewright.CompiledModule) -> None:
    x = torch.ones(128, device="cuda", requires_grad=True)
    out = torch.zeros(128, device="cuda")
    tilewright.launch(add, "add", 1, [x, x, out, 128])
    assert out.tolist() == [2] * 128


def test_tensors_on_the_host_are_rejected(torch: Any, add: tilewright.CompiledModule) -> None:
    there, here = torch.ones(128, device="cuda"), torch.ones(128)
    with pytest.raises(tilewright.UserError, match=r"argument 1 of '@add': .* on 'cpu': move it"):
        tilewright.launch(add, "add", 1, [there, here, there, 128])


def test_elements_of_another_type_are_rejected(torch: Any, add: tilewright.CompiledModule) -> None:
    x, half = torch.ones(128, device="cuda"), torch.ones(128, device="cuda").half()
    with pytest.raises(tilewright.UserError, match=r"argument 1 .*'f32', got an array of float16"):
        tilewright.launch(add, "add", 1, [x, half, x, 128])


def test_kernels_follow_the_current_stream(torch: Any, add: tilewright.CompiledModule) -> None:
    stream = torch.cuda.Stream()
    x, out = torch.zeros(1 << 20, device="cuda"), torch.zeros(1 << 20, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)  # the kernel must wait for earlier work of the stream
        x.fill_(3)
        tilewright.launch(add, "add", (1 << 20) // BLOCK, [x, x, out, 1 << 20])
        result = out.sum()
    stream.synchronize()
    assert result.item() == 6 * (1 << 20)


@pytest.mark.parametrize("form", ["stream", "handle", "core"])
def test_explicit_streams(torch: Any, add: tilewright.CompiledModule, form: str) -> None:
    stream = torch.cuda.Stream()
    given: Any = {"stream": stream, "handle": stream.cuda_stream}.get(form)
    if form == "core":
        core = pytest.importorskip("cuda.core")
        given = core.Stream.from_handle(stream.cuda_stream)
    x, out = torch.zeros(1 << 20, device="cuda"), torch.zeros(1 << 20, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)
        x.fill_(3)
    tilewright.launch(add, "add", (1 << 20) // BLOCK, [x, x, out, 1 << 20], stream=given)
    stream.synchronize()
    assert out.sum().item() == 6 * (1 << 20)


def test_launches_return_before_kernels_end(torch: Any, add: tilewright.CompiledModule) -> None:
    x = torch.zeros(128, device="cuda")
    tilewright.launch(add, "add", 1, [x, x, x, 128])
    torch.cuda.synchronize()
    done = torch.cuda.Event()
    torch.cuda._sleep(2_000_000_000)
    tilewright.launch(add, "add", 1, [x, x, x, 128])
    done.record()
    assert not done.query()
    torch.cuda.synchronize()


def test_threads_launch_concurrently(add: tilewright.CompiledModule) -> None:
    def work(seed: int) -> bool:
        x = np.full(1000, seed, np.float32)
        out = np.zeros(1000, np.float32)
        for _ in range(20):
            tilewright.launch(add, "add", 8, [x, x, out, 1000])
        return bool((out == 2 * seed).all())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(16)))


def test_the_thread_keeps_its_own_context(torch: Any, add: tilewright.CompiledModule) -> None:
    torch.zeros(1, device="cuda")
    before = int(call("cuCtxGetCurrent"))
    out = np.zeros(128, np.float32)
    tilewright.launch(add, "add", 1, [out, out, out, 128])
    assert int(call("cuCtxGetCurrent")) == before


def test_kernel_output(capfd: pytest.CaptureFixture[str]) -> None:
    printed: list[str] = []
    x = np.arange(3, dtype=np.float32)
    tilewright.execute(SCALE, "scale", 3, [x, 2.5], on="gpu", write=printed.append)
    assert sorted("".join(printed).split()) == ["0", "2.5", "5"]
    tilewright.execute(SCALE, "scale", 3, [x, 2], on="gpu")
    assert sorted(capfd.readouterr().out.split()) == ["0", "10", "5"]


def test_a_cluster_hint_does_not_constrain_the_grid() -> None:
    if current_gpu().arch != "sm_90":
        pytest.skip("the hint is for sm_90")
    kernel = tilewright.compile(CLUSTERS, arch="sm_90")
    x = np.zeros(7, np.int32)
    tilewright.launch(kernel, "ids", 7, [x])
    assert x.tolist() == list(range(7))


@pytest.mark.parametrize("grid", [0, (4, 0)])
def test_no_blocks(add: tilewright.CompiledModule, grid: Any) -> None:
    with pytest.raises(tilewright.UserError, match="one to three positive extents"):
        tilewright.launch(add, "add", grid, [None, None, None, 0])


def test_too_many_blocks(add: tilewright.CompiledModule) -> None:
    with pytest.raises(tilewright.UserError, match="at most 65535 blocks in dimension 1"):
        tilewright.launch(add, "add", (1, 70000), [None, None, None, 0])


def test_code_for_another_gpu() -> None:
    other = "sm_100" if current_gpu().arch != "sm_100" else "sm_90"
    kernel = tilewright.compile(program("f32"), arch=other)
    with pytest.raises(tilewright.UserError, match=f"got code for {other}"):
        tilewright.launch(kernel, "add", 1, [None, None, None, 0])


def test_gemm(torch: Any) -> None:
    source = (ROOT / "examples" / "gemm.mlir").read_text()
    kernel = tilewright.compile(source, arch=current_gpu().arch)
    a, b = (torch.randint(-4, 5, size, device="cuda").half() for size in ((512, 320), (320, 384)))
    c = torch.zeros(512, 384, device="cuda")
    tilewright.launch(kernel, "gemm", (4, 3), [a, b, c, 512, 384, 320])
    assert torch.equal(c, a.float() @ b.float())


def test_alignment_is_checked(torch: Any) -> None:
    source = (ROOT / "examples" / "gemm.mlir").read_text()
    kernel = tilewright.compile(source, arch=current_gpu().arch)
    a, c = torch.zeros(1 << 16, device="cuda").half(), torch.zeros(1 << 16, device="cuda")
    with pytest.raises(tilewright.UserError, match=r"argument 1 of '@gemm': .* divisible by 16"):
        tilewright.launch(kernel, "gemm", 1, [a, a[1:], c, 128, 128, 128])
    with pytest.raises(tilewright.UserError, match=r"argument 5 of '@gemm': .* divisible by 16"):
        tilewright.launch(kernel, "gemm", 1, [a, a, c, 128, 128, 100])


def test_demo(capsys: pytest.CaptureFixture[str]) -> None:
    demo = importlib.import_module("demo")
    assert demo.main() == 0
    out = capsys.readouterr().out
    assert f"so does the cubin, on {current_gpu().name}: yes" in out
    assert "not done here" not in out
