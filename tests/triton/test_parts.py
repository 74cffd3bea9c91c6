"""The parts of a launch that need neither Triton nor torch."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from each_case import each_case

from tilewright.ptxsim.memory import GLOBAL_WINDOW, DeviceMemory
from tilewright.ptxsim.tensor_map import decode
from tilewright.support.diagnostics import Diagnostic, Unsupported, UserError, note
from tilewright.support.location import CallSiteLoc, FileLoc, Positions, Source, TextLoc, fuse
from tilewright.triton.arguments import parameters
from tilewright.triton.device import DeviceProperties, triton_properties
from tilewright.triton.device_tensors import DeviceTensors
from tilewright.triton.errors import TritonSource, triton_errors
from tilewright.triton.line_info import readable_lines
from tilewright.triton.options import Options
from tilewright.triton.tensor_maps import expand


class HostTensor:
    """A tensor of torch as far as launches look at one: a part of a storage."""

    def __init__(self, storage: np.ndarray[Any, Any], offset: int = 0) -> None:
        self._storage = storage
        self._offset = offset

    def untyped_storage(self) -> SimpleNamespace:
        data = self._storage
        return SimpleNamespace(data_ptr=lambda: data.ctypes.data, nbytes=lambda: data.nbytes)

    def data_ptr(self) -> int:
        return self._storage.ctypes.data + self._offset


def staged() -> DeviceTensors:
    return DeviceTensors(DeviceMemory(), lambda tensor: True)


@each_case(
    ("type", "value", "raw"),
    [
        ("i1", True, b"\1"),
        ("i8", -1, b"\xff"),
        ("u16", 65535, b"\xff\xff"),
        ("i32", -2, struct.pack("<i", -2)),
        ("u32", 4000000000, struct.pack("<I", 4000000000)),
        ("i64", 1 << 40, struct.pack("<q", 1 << 40)),
        ("fp16", 1.5, np.float16(1.5).tobytes()),
        ("bf16", 1.999, b"\xff\x3f"),  # cut, not rounded
        ("fp32", 0.1, np.float32(0.1).tobytes()),
        ("fp64", 0.1, struct.pack("<d", 0.1)),
        ("*fp32", None, bytes(8)),
        ("*fp32", 5, struct.pack("<Q", 5)),
    ],
)
def test_parameters_of_each_type(type: str, value: object, raw: bytes) -> None:
    assert parameters(["a"], [type], [value], [], staged()) == [raw]


def test_constants_are_no_parameters_and_tuples_are_several() -> None:
    types = ["constexpr", ("i32", "constexpr", ("fp32",)), "i8"]
    passed = parameters(["a", "b", "c"], types, [4, (1, 2, (0.5,)), 3], [], staged())
    assert passed == [struct.pack("<i", 1), struct.pack("<f", 0.5), b"\3"]


def test_arguments_of_wrong_types() -> None:
    with pytest.raises(Unsupported, match="argument 'a' of Triton's type 'nvTmaDesc'"):
        parameters(["a"], ["nvTmaDesc"], [None], [], staged())
    with pytest.raises(UserError, match="argument 'a': expected an integer, got str"):
        parameters(["a"], ["i32"], ["x"], [], staged())
    with pytest.raises(UserError, match="argument 'a': expected a tensor of torch, got list"):
        parameters(["a"], ["*i32"], [[1]], [], staged())


def test_tensors_of_one_storage_share_its_copy() -> None:
    memory = DeviceMemory()
    tensors = DeviceTensors(memory, lambda tensor: True)
    data = np.arange(16, dtype=np.uint8)
    first, second = HostTensor(data), HostTensor(data, 4)
    address = tensors.address(first, "a")
    assert tensors.address(second, "b") == address + 4
    assert (address - data.ctypes.data) % 16 == 0
    memory.upload(address + 4, b"\7")
    tensors.copy_back()
    assert data[4] == 7
    tensors.release()
    assert memory.allocations.near(address - GLOBAL_WINDOW) is None


def test_rejected_tensors_are_named() -> None:
    tensors = DeviceTensors(DeviceMemory(), lambda tensor: False)
    with pytest.raises(UserError, match="argument 'a': expected a tensor on the GPU"):
        tensors.address(HostTensor(np.zeros(4, np.uint8)), "a")


def descriptor(**more: Any) -> SimpleNamespace:
    fields = {"base": None, "shape": [8, 64], "strides": [64, 1], "padding": "zero", **more}
    return SimpleNamespace(**fields)


BOX = {
    "swizzle": 3, "elem_size": 2, "elem_type": 6, "block_size": [4, 64], "fp4_padded": False,
}  # fmt: skip


def test_descriptors_are_tensor_maps() -> None:
    types, values = expand("tensordesc<fp16[4,64]>", descriptor(), BOX, 1024)
    assert types == ["map", "i32", "i32", "i64", "i64"]
    assert values[1:] == [8, 64, 64, 1]
    map = decode(values[0])
    assert (map.address, map.type, map.dims, map.strides) == (1024, "f16", (64, 8), (128,))
    assert (map.box, map.swizzle, map.nan) == ((64, 4), 128, False)


def test_descriptors_without_an_engine_are_addresses() -> None:
    types, values = expand("tensordesc<fp16[4,64]>", descriptor(padding="nan"), None, 1024)
    assert types == ["address", *["i64"] * 4, "i1", "i32", "i32", "i64", "i64"]
    assert values == [1024, 8, 64, 64, 1, True, 8, 64, 64, 1]
    newer = descriptor(round_f32_to_tf32=True)
    assert expand("tensordesc<fp32[4,64]>", newer, None, 0).values[5:7] == [False, True]


def test_descriptors_that_are_not_supported() -> None:
    with pytest.raises(Unsupported, match="tensordesc_im2col"):
        expand("tensordesc_im2col<fp16[4,64]>", descriptor(), None, 0)
    with pytest.raises(Unsupported, match="packed fp4"):
        expand("tensordesc<fp16[4,64]>", descriptor(), {**BOX, "fp4_padded": True}, 0)
    with pytest.raises(UserError, match="tensor descriptor: expected an address and strides"):
        expand("tensordesc<fp16[4,64]>", descriptor(), BOX, 1032)


def test_calls_in_comments_become_directives() -> None:
    ptx = (
        ".entry k() {\n.loc 1 5 3 // a.py:5:3\n"
        ".loc 2 9 1 // standard.py:9:1 @[ standard.py:7:2 @[ a.py:6:4 ] ]\nret;\n}\n"
        '.file 1 "/old/a.py"\n.file 2 "/triton/standard.py"\n'
    )
    lines = readable_lines(ptx, "/triton", "/new/a.py").split("\n")
    assert lines[1] == ".loc 1 5 3 // a.py:5:3"
    assert lines[2] == ".loc 2 9 1, function_name $inlined, inlined_at 1 6 4"
    assert '.file 1 "/new/a.py"' in lines
    assert len(lines) == len(ptx.split("\n"))


def test_lines_of_inline_assembly_are_left_out() -> None:
    ptx = ".loc 1 5 3\n// begin inline asm\n.loc 1 6 3\nret;\n// end inline asm\n.loc 1 7 3"
    lines = readable_lines(ptx, "/triton").split("\n")
    assert [line for line in lines if ".loc" in line] == [".loc 1 5 3", ".loc 1 7 3"]
    assert len(lines) == 6


def error_in(line: Any) -> UserError:
    text = TextLoc(Positions(Source("k.ptx", "ret;")), 0)
    notes = (note("thread 0"), note("source line", line))
    return UserError([Diagnostic("wrong", fuse(text, line), notes=notes)])


def test_errors_name_the_program() -> None:
    library, program = FileLoc("/triton/standard.py", 9, 1), FileLoc("/tmp/none.py", 6, 4)
    with (
        pytest.raises(UserError) as caught,
        triton_errors(TritonSource("/triton", 0)),
    ):
        raise error_in(CallSiteLoc(library, program))
    lines = str(caught.value).splitlines()
    assert lines[0] == "/tmp/none.py:6:5: error: wrong"
    assert lines[1] == "k.ptx:1:1: note: in the generated code"
    assert lines[-1] == "note: thread 0"
    with (
        pytest.raises(UserError, match=r"^/triton/standard\.py:9:1: error"),
        triton_errors(TritonSource("/triton", 1)),
    ):
        raise error_in(library)


def test_options() -> None:
    with pytest.raises(Unsupported, match=r"Triton kernels for 'sm_13' \(known: .*sm_90"):
        Options("sm_13").validate()
    with pytest.raises(UserError, match="expected check=True"):
        Options(check=False, seed=1).validate()
    assert Options("sm_80").capability == 80
    assert not Options(check=False).checks
    assert Options(check_proxies=True).checks - Options().checks == {"proxies"}


def test_properties() -> None:
    gpu = Options().gpu
    assert triton_properties(gpu)["max_shared_mem"] == 227 * 1024
    assert triton_properties(gpu)["multiprocessor_count"] == 132
    assert "major=9, minor=0" in repr(DeviceProperties(gpu, (9, 0)))
