"""Launches without a GPU: calls to the driver, and handling of its results."""

from __future__ import annotations

import ctypes
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from each_case import each_case
from stand_in_gpu import PRIMARY, CUdeviceptr, StandIn, number

import tilewright
from tilewright.runtime.device import MODULES, gpu
from tilewright.runtime.errors import GpuError

PROGRAM = """\
cuda_tile.module @kernels {
  entry @fill(%x: tile<ptr<i32>>, %from: tile<ptr<i32>>, %by: tile<i32>) {
    %there = assume div_by<16>, %x : tile<ptr<i32>>
    %n = assume div_by<8>, %by : tile<i32>
    %m = assume bounded<0, ?>, %n : tile<i32>
    %v, %t0 = load_ptr_tko weak %from : tile<ptr<i32>> -> tile<i32>, token
    %w = addi %v, %m : tile<i32>
    %t1 = store_ptr_tko weak %there, %w : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
"""
PRINTING = """\
cuda_tile.module @kernels {
  entry @speak(%x: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %fine = cmpi greater_than %x, %zero, signed : tile<i32> -> tile<i1>
    assert %fine, "x is positive" : tile<i1>
    %t = print_tko "x is %d\\0A", %x : tile<i32> -> token
    return
  }
}
"""


@pytest.fixture(scope="module")
def torch() -> Any:
    """Import torch before the stand-in driver is installed, because torch queries the driver."""
    return pytest.importorskip("torch")


@pytest.fixture(scope="module")
def compiled() -> tilewright.CompiledModule:
    return tilewright.compile(PROGRAM, arch="sm_90")


@pytest.fixture
def fill(cuda: StandIn, compiled: tilewright.CompiledModule) -> tilewright.CompiledModule:
    def kernel(pointers: list[int]) -> None:
        into, source, by = (
            number(pointer, kind)
            for pointer, kind in zip(pointers, (np.uint64, np.uint64, np.int32), strict=True)
        )
        if source:
            ctypes.c_int32.from_address(int(into)).value = int(number(int(source)) + by)

    cuda.parameters = 3
    cuda.kernel = kernel
    compiled.plans.clear()
    return compiled


class InterfaceArray:
    """An array of a library that has `__cuda_array_interface__`."""

    def __init__(self, address: int, *, typestr: str = "<i4", readonly: bool = False, **more: Any):
        self.__cuda_array_interface__ = {
            "shape": (4,), "typestr": typestr, "data": (address, readonly), "version": 3, **more,
        }  # fmt: skip


def on_gpu(cuda: StandIn, ordinal: int = 0) -> int:
    """Allocate memory on a GPU."""
    [*_, made] = cuda.cuMemAlloc(64)
    address = int(made)
    cuda.homes[address] = ordinal
    return address


def test_numpy_arrays_are_copied_to_the_gpu_and_back(
    cuda: StandIn, fill: tilewright.CompiledModule
) -> None:
    x, source = np.zeros(2, np.int32), np.array([5], np.int32)
    tilewright.launch(fill, "fill", (3, 2), [x, source, 16])
    assert (x.tolist(), source.tolist()) == ([21, 0], [5])
    threads = fill.entries["fill"].resources.threads
    assert cuda.launches == [(b"fill", (3, 2, 1), threads, 0, 0)]
    assert not cuda.memory
    assert cuda.current == 0


def test_views_of_one_array_share_memory_on_the_gpu(
    cuda: StandIn, fill: tilewright.CompiledModule
) -> None:
    whole = np.array([0, 0, 0, 0, 7, 0], np.int32)
    tilewright.launch(fill, None, 1, [whole, whole[4:], np.int64(8)])
    assert whole.tolist() == [15, 0, 0, 0, 7, 0]


def test_gpu_arrays_are_not_copied(cuda: StandIn, fill: tilewright.CompiledModule) -> None:
    into, source = on_gpu(cuda), on_gpu(cuda)
    ctypes.c_int32.from_address(source).value = 4
    arrays = [InterfaceArray(into), InterfaceArray(source, typestr="|V4", readonly=True)]
    tilewright.launch(fill, "fill", 1, [*arrays, 8])
    assert number(into) == 12
    assert "cuStreamSynchronize" not in cuda.calls
    assert {into, source} <= set(cuda.memory)


def test_addresses_of_the_bindings(cuda: StandIn, fill: tilewright.CompiledModule) -> None:
    into, source = on_gpu(cuda), on_gpu(cuda)
    tilewright.launch(fill, "fill", 1, [CUdeviceptr(into), CUdeviceptr(source), 8])
    assert number(into) == 8


def test_arrays_determine_the_gpu(cuda: StandIn, fill: tilewright.CompiledModule) -> None:
    seen: list[int] = []
    cuda.kernel = lambda pointers: seen.append(cuda.current)
    array = InterfaceArray(on_gpu(cuda, 1))
    tilewright.launch(fill, "fill", 1, [array, array, 8])
    assert seen == [PRIMARY + 1]
    with pytest.raises(
        tilewright.UserError, match=r"argument 1 .*on GPU 1, as before it, got .* 0"
    ):
        tilewright.launch(fill, "fill", 1, [array, InterfaceArray(on_gpu(cuda, 0)), 8])


def test_modules_are_loaded_once(cuda: StandIn, fill: tilewright.CompiledModule) -> None:
    for _ in range(3):
        tilewright.launch(fill, "fill", 1, [np.zeros(1, np.int32), None, 8])
    assert cuda.calls.count("cuModuleLoadData") == 1


def test_the_oldest_modules_are_unloaded(cuda: StandIn) -> None:
    device = gpu(0)
    for index in range(MODULES + 2):
        device.kernel(PRIMARY, b"code %d" % index, "kernel")
    assert cuda.calls.count("cuModuleUnload") == 2


class TestStreams:
    @pytest.mark.parametrize(
        "stream",
        [
            0x77,
            np.int64(0x77),
            SimpleNamespace(cuda_stream=0x77),
            SimpleNamespace(ptr=0x77),
            SimpleNamespace(__cuda_stream__=lambda: (0, 0x77)),
            SimpleNamespace(__cuda_stream__=(0, 0x77)),
        ],
    )
    def test_forms(self, cuda: StandIn, fill: tilewright.CompiledModule, stream: object) -> None:
        tilewright.launch(fill, "fill", 1, [None, None, 8], stream=stream)
        assert cuda.launches[0][-1] == 0x77

    @pytest.mark.parametrize("stream", ["fast", True, -1, 1 << 64, 1.5])
    def test_invalid_streams(
        self, cuda: StandIn, fill: tilewright.CompiledModule, stream: object
    ) -> None:
        expected = f"expected a stream or its handle, got {type(stream).__name__} {stream!r}"
        with pytest.raises(tilewright.UserError, match=expected):
            tilewright.launch(fill, "fill", 1, [None, None, 8], stream=stream)
        assert not cuda.launches

    def test_waits_for_the_producer_stream_of_an_array(
        self, cuda: StandIn, fill: tilewright.CompiledModule
    ) -> None:
        array = InterfaceArray(on_gpu(cuda), stream=0x55)
        tilewright.launch(fill, "fill", 1, [array, array, 8], stream=0x55)
        assert "cuStreamWaitEvent" not in cuda.calls
        tilewright.launch(fill, "fill", 1, [array, array, 8], stream=0x66)
        assert cuda.calls.count("cuStreamWaitEvent") == 2


class TestArguments:
    @pytest.mark.parametrize(
        ("arguments", "gist"),
        [
            ([None, None], "'@fill': expected 3 arguments, got 2"),
            ([1.5, None, 8], "argument 0 of '@fill': expected an array for .*, got float 1.5"),
            ([None, None, 1.5], "argument 2 of '@fill': expected an integer for .*, got 1.5"),
            ([None, None, "8"], "argument 2 of '@fill': expected a number for .*, got str '8'"),
            ([None, None, np.zeros(1)], "argument 2 .*: expected a number .*, got an array of f"),
            ([None, None, 1 << 33], "argument 2 .*: expected a number of 32 bits"),
            ([None, None, 9], "argument 2 .*: expected a number divisible by 8, .* got 9"),
            ([None, None, -8], r"argument 2 .*: expected a number from 0 to \?, .* got -8"),
            ([np.zeros(4), None, 8], "argument 0 .*: expected elements of 'i32', .* of float64"),
            ([np.zeros(4, ">i4"), None, 8], "argument 0: expected elements in the byte order"),
            (
                [np.zeros(5, np.int32)[1:], None, 8],
                "argument 0 .*: expected an address divisible by 16, .* got 0x",
            ),
            ([[1, 2], None, 8], r"argument 0 .*: expected an array for .*, got list \[1, 2\]"),
        ],
    )
    def test_mismatched_arguments_are_named(
        self, cuda: StandIn, fill: tilewright.CompiledModule, arguments: list[Any], gist: str
    ) -> None:
        with pytest.raises(tilewright.UserError, match=gist):
            tilewright.launch(fill, "fill", 1, arguments)
        assert not cuda.launches
        assert not cuda.memory

    def test_tensors_of_the_host(
        self, torch: Any, cuda: StandIn, fill: tilewright.CompiledModule
    ) -> None:
        with pytest.raises(tilewright.UserError, match=r"argument 0 .*: .* on 'cpu': move it"):
            tilewright.launch(fill, "fill", 1, [torch.zeros(4), None, 8])

    def test_tensors_without_memory(
        self, torch: Any, cuda: StandIn, fill: tilewright.CompiledModule
    ) -> None:
        class Sparse(torch.Tensor):
            device = SimpleNamespace(type="cuda", index=0)
            layout = torch.sparse_coo

            def data_ptr(self) -> int:
                raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

        with pytest.raises(tilewright.UserError, match=r"argument 0 .*dense .* torch.sparse_coo"):
            tilewright.launch(fill, "fill", 1, [torch.zeros(4).as_subclass(Sparse), None, 8])

    def test_read_only_arrays_may_be_read(
        self, cuda: StandIn, fill: tilewright.CompiledModule
    ) -> None:
        x, fixed = np.zeros(1, np.int32), np.array([5], np.int32)
        fixed.flags.writeable = False
        tilewright.launch(fill, "fill", 1, [x, fixed, 8])
        assert x.tolist() == [13]
        with pytest.raises(tilewright.UserError, match=r"argument 0 .*: .* that may change, got"):
            tilewright.launch(fill, "fill", 1, [fixed, x, 8])

    def test_read_only_views_of_written_arrays(
        self, cuda: StandIn, fill: tilewright.CompiledModule
    ) -> None:
        x = np.array([0, 0, 0, 0, 5], np.int32)
        fixed = x[4:]
        fixed.flags.writeable = False
        tilewright.launch(fill, "fill", 1, [x, fixed, 8])
        assert x.tolist() == [13, 0, 0, 0, 5]

    def test_elements_in_another_byte_order(
        self, cuda: StandIn, fill: tilewright.CompiledModule
    ) -> None:
        array = InterfaceArray(on_gpu(cuda), typestr=">i4")
        with pytest.raises(tilewright.UserError, match=r"argument 0 .*: .* in the byte order"):
            tilewright.launch(fill, "fill", 1, [array, None, 8])

    def test_tensors_of_the_host_for_numbers(
        self, torch: Any, cuda: StandIn, fill: tilewright.CompiledModule
    ) -> None:
        with pytest.raises(tilewright.UserError, match=r"argument 2 .*a number .*tensor"):
            tilewright.launch(fill, "fill", 1, [None, None, torch.tensor(8)])

    def test_memory_that_is_not_of_a_gpu(
        self, cuda: StandIn, fill: tilewright.CompiledModule
    ) -> None:
        cuda.failing["cuPointerGetAttribute"] = "CUDA_ERROR_INVALID_VALUE"
        with pytest.raises(tilewright.UserError, match=r"argument 0 .*: .* address 0x40"):
            tilewright.launch(fill, "fill", 1, [InterfaceArray(0x40), None, 8])

    def test_arrays_of_dlpack_on_the_host(
        self, cuda: StandIn, fill: tilewright.CompiledModule
    ) -> None:
        array = SimpleNamespace(__dlpack_device__=lambda: (1, 0))
        with pytest.raises(tilewright.UserError, match=r"argument 0 .*: .* on the host"):
            tilewright.launch(fill, "fill", 1, [array, None, 8])

    def test_arrays_of_dlpack(
        self, cuda: StandIn, fill: tilewright.CompiledModule, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        into = on_gpu(cuda)
        waited: list[bool] = []
        array = SimpleNamespace(
            __dlpack_device__=lambda: (2, 0), block_until_ready=lambda: waited.append(True)
        )
        monkeypatch.setitem(sys.modules, "cuda.core.utils", None)
        with pytest.raises(tilewright.Unsupported, match=r"without cuda\.core"):
            tilewright.launch(fill, "fill", 1, [array, array, 8])

        def view(owner: object, stream_ptr: int) -> object:
            return SimpleNamespace(ptr=into, dtype=np.dtype(np.int32), readonly=False)

        utils = SimpleNamespace(StridedMemoryView=SimpleNamespace(from_dlpack=view))
        monkeypatch.setitem(sys.modules, "cuda.core.utils", utils)
        tilewright.launch(fill, "fill", 1, [array, array, 8])
        assert number(into) == 8
        assert waited

    def test_elements_that_do_not_go_through_dlpack(
        self, cuda: StandIn, fill: tilewright.CompiledModule, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(owner: object, stream_ptr: int) -> object:
            raise TypeError("Unsupported dtype. dtype code: 10")

        utils = SimpleNamespace(StridedMemoryView=SimpleNamespace(from_dlpack=refuse))
        monkeypatch.setitem(sys.modules, "cuda.core.utils", utils)
        array = SimpleNamespace(__dlpack_device__=lambda: (2, 0))
        with pytest.raises(tilewright.UserError, match=r"argument 0 .*code: 10\): pass them as"):
            tilewright.launch(fill, "fill", 1, [array, None, 8])


class TestGrids:
    @pytest.mark.parametrize(
        ("grid", "extents"),
        [(np.int64(4), (4, 1, 1)), (np.array(4), (4, 1, 1)), (np.array([2, 3]), (2, 3, 1)),
         ([np.int32(2), 3, np.uint8(4)], (2, 3, 4))],
    )  # fmt: skip
    def test_integers_of_any_library(
        self, cuda: StandIn, fill: tilewright.CompiledModule, grid: Any, extents: tuple[int, ...]
    ) -> None:
        tilewright.launch(fill, "fill", grid, [None, None, 8])
        assert cuda.launches[0][1] == extents

    @pytest.mark.parametrize(
        "grid", [0, (1, 0), (-1,), (1, 1, 1, 1), (), 1.5, (2.0,), "4", ("4",), None, ((1, 2), 3)]
    )
    def test_no_blocks(self, cuda: StandIn, fill: tilewright.CompiledModule, grid: Any) -> None:
        with pytest.raises(tilewright.UserError, match="one to three positive extents"):
            tilewright.launch(fill, "fill", grid, [None, None, 8])
        assert not cuda.launches

    def test_too_many_blocks(self, cuda: StandIn, fill: tilewright.CompiledModule) -> None:
        expected = "at most 65535 blocks in dimension 1, got 65536"
        with pytest.raises(tilewright.UserError, match=expected):
            tilewright.launch(fill, "fill", (1, 65536), [None, None, 8])

    def test_whole_clusters(self, cuda: StandIn, fill: tilewright.CompiledModule) -> None:
        cuda.cluster = 4
        tilewright.launch(fill, "fill", (8, 3), [None, None, 8])
        with pytest.raises(tilewright.UserError, match="clusters, of 4 blocks each in dimension 0"):
            tilewright.launch(fill, "fill", 6, [None, None, 8])


class TestKernels:
    def test_unknown_name(self, cuda: StandIn, fill: tilewright.CompiledModule) -> None:
        with pytest.raises(tilewright.UserError, match="expected 'full'; its kernels are: 'fill'"):
            tilewright.launch(fill, "full", 1, [])

    @each_case("kernel", [PROGRAM, b"cubin", None])
    def test_kernels_that_are_not_compiled(self, kernel: Any) -> None:
        expected = rf"expected what tilewright\.compile gives, got {type(kernel).__name__}"
        with pytest.raises(TypeError, match=expected):
            tilewright.launch(kernel, "fill", 1, [None, None, 8])

    def test_modules_without_a_cubin(self, cuda: StandIn) -> None:
        kernel = tilewright.compile(PROGRAM, emit="ptx")
        with pytest.raises(ValueError, match="compiled to a cubin, got one to PTX"):
            tilewright.launch(kernel, "fill", 1, [None, None, 8])

    def test_code_for_another_gpu(self, cuda: StandIn, fill: tilewright.CompiledModule) -> None:
        cuda.capability = (8, 0)
        expected = r"Stand-In 9000 \(sm_80\), got code for sm_90"
        with pytest.raises(tilewright.UserError, match=expected):
            tilewright.launch(fill, "fill", 1, [None, None, 8])

    @pytest.mark.parametrize(
        ("capability", "runs"), [((8, 6), True), ((8, 0), True), ((9, 0), False)]
    )
    def test_code_for_a_family(
        self, cuda: StandIn, capability: tuple[int, int], runs: bool
    ) -> None:
        cuda.capability = capability
        kernel = tilewright.compile(PROGRAM, arch="sm_80")
        if runs:
            tilewright.launch(kernel, "fill", 1, [None, None, 8])
            return
        with pytest.raises(tilewright.UserError, match="got code for sm_80"):
            tilewright.launch(kernel, "fill", 1, [None, None, 8])

    def test_programs_below_tile_ir(self, cuda: StandIn) -> None:
        text = """
        gpu.module @m {
          llvm.func @copy(%a: !llvm.ptr, %n: i32, %x: f32) attributes {
            nvvm.kernel, nvvm.reqntid = array<i32: 64>
          } {
            llvm.store %n, %a : i32, !llvm.ptr
            llvm.return
          }
        }
        """
        cuda.parameters = 3
        seen: list[Any] = []
        cuda.kernel = lambda p: seen.extend((number(p[1]), number(p[2], np.float32)))
        tilewright.launch(tilewright.compile(text), "copy", 1, [np.zeros(1, np.int8), 3, 0.5])
        assert seen == [3, 0.5]
        assert cuda.launches[0][2] == (64, 1, 1)


class TestFailures:
    @pytest.mark.parametrize(
        ("status", "gist", "hint"),
        [
            ("CUDA_ERROR_ILLEGAL_ADDRESS", "accessed memory that is not there", True),
            ("CUDA_ERROR_MISALIGNED_ADDRESS", "not a multiple of the size", True),
            ("CUDA_ERROR_LAUNCH_FAILED", "stopped, by a trap", True),
            ("CUDA_ERROR_ASSERT", "an assertion of the kernel does not hold", False),
        ],
    )
    def test_faults(
        self, cuda: StandIn, fill: tilewright.CompiledModule, status: str, gist: str, hint: bool
    ) -> None:
        names = ("cuStreamSynchronize", "cuMemFree", "cuCtxPopCurrent")
        cuda.kernel = lambda pointers: cuda.failing.update(dict.fromkeys(names, status))
        with pytest.raises(GpuError, match=f"kernel '@fill': .*{gist}.*{status}") as caught:
            tilewright.launch(fill, "fill", 1, [np.zeros(1, np.int32), None, 8])
        assert caught.value.is_fault
        assert caught.value.status == status
        assert ("--sanitize=memcheck" in caught.value.render()) is hint
        assert "nothing else can run on the GPU in this process" in caught.value.render()

    def test_faults_of_earlier_kernels(
        self, cuda: StandIn, fill: tilewright.CompiledModule
    ) -> None:
        cuda.failing["cuLaunchKernel"] = "CUDA_ERROR_ILLEGAL_ADDRESS"
        with pytest.raises(GpuError, match="a kernel that was launched before: "):
            tilewright.launch(fill, "fill", 1, [None, None, 8])

    def test_assertions_of_earlier_kernels_have_their_text(
        self, cuda: StandIn, capfd: pytest.CaptureFixture[str]
    ) -> None:
        line = b"k.py:12: before: block: [1,0,0], thread: [0,0,0] Assertion `n > 0` failed.\n"
        cuda.kernel = lambda _: cuda.say((b"", line))
        cuda.failing["cuLaunchKernel"] = "CUDA_ERROR_ASSERT"
        with pytest.raises(GpuError) as caught:
            tilewright.execute(PRINTING, "speak", 1, [3], on="gpu")
        assert caught.value.headline() == (
            "k.py:12:1: error: a kernel that was launched before: "
            "assertion failed in block [1,0,0]: n > 0"
        )
        assert capfd.readouterr().err == ""

    def test_out_of_memory(self, cuda: StandIn, fill: tilewright.CompiledModule) -> None:
        cuda.failing["cuMemAlloc"] = "CUDA_ERROR_OUT_OF_MEMORY"
        with pytest.raises(GpuError, match="the GPU has no memory left") as caught:
            tilewright.launch(fill, "fill", 1, [np.zeros(1, np.int32), None, 8])
        assert not caught.value.is_fault

    def test_kernel_output_reaches_the_user(
        self, cuda: StandIn, capfd: pytest.CaptureFixture[str]
    ) -> None:
        cuda.says = (b"x is 3\n", b"a warning\n")
        printed: list[str] = []
        tilewright.execute(PRINTING, "speak", 1, [3], on="gpu", write=printed.append)
        assert printed == ["x is 3\n"]
        assert capfd.readouterr() == ("", "a warning\n")
        tilewright.execute(PRINTING, "speak", 1, [3], on="gpu")
        assert capfd.readouterr().out == "x is 3\n"

    def test_output_during_the_return_of_a_launch_is_not_lost(
        self, cuda: StandIn, capfd: pytest.CaptureFixture[str]
    ) -> None:
        cuda.kernel = lambda _: cuda.say((b"x ", b""))
        cuda.says = (b"is 3\n", b"")
        printed: list[str] = []
        tilewright.execute(PRINTING, "speak", 1, [3], on="gpu", write=printed.append)
        assert "".join(printed) == "x is 3\n"
        assert capfd.readouterr().out == ""

    def test_assertions_have_their_text_and_location(
        self, cuda: StandIn, capfd: pytest.CaptureFixture[str]
    ) -> None:
        line = b"kernel.py:12: speak: block: [2,0,0], thread: [%d,0,0] Assertion `x > 0` failed.\n"
        cuda.says = (b"", b"".join(line % thread for thread in range(3)))
        cuda.failing["cuStreamSynchronize"] = "CUDA_ERROR_ASSERT"
        with pytest.raises(GpuError) as caught:
            tilewright.execute(PRINTING, "speak", 1, [-3], on="gpu")
        assert caught.value.headline() == (
            "kernel.py:12:1: error: kernel '@speak': assertion failed in block [2,0,0]: x > 0"
        )
        assert capfd.readouterr().err == ""

    def test_checked_accesses_have_their_own_location(self, cuda: StandIn) -> None:
        text = b"k.py:4:8: error: store outside of its view"
        line = b"k.py:4: speak: block: [0,1,0], thread: [0,0,0] Assertion `%s` failed.\n" % text
        cuda.says = (b"", line)
        cuda.failing["cuStreamSynchronize"] = "CUDA_ERROR_ASSERT"
        expected = (
            r"k.py:4:8: error: kernel '@speak': .* block \[0,1,0\]: store outside of its view"
        )
        with pytest.raises(GpuError, match=expected):
            tilewright.execute(PRINTING, "speak", 1, [-3], on="gpu")
