"""Run the cases of tests/shared/copy_cases.py on a GPU and keep what it answered.

    python3 tools/copies_hardware.py answers.json

writes, for each case, a number for its inputs and a digest of what it left in memory. It needs a
GPU of compute capability 9.0, NumPy and the driver's library; PTX is compiled by the driver.
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

_ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(_ROOT / "tools"), str(_ROOT / "tests" / "shared")]

from copy_cases import Case, Map, cases  # noqa: E402
from ptx_probes import Array, digest  # noqa: E402

_TYPES: tuple[str, ...] = (
    "u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "ftz", "tf32", "tf32ftz",
)  # fmt: skip
_CLUSTER = 4


class _Attribute(ctypes.Structure):
    _fields_: ClassVar = [
        ("id", ctypes.c_int), ("padding", ctypes.c_char * 4), ("value", ctypes.c_uint32 * 16),
    ]  # fmt: skip


class _Launch(ctypes.Structure):
    _fields_: ClassVar = [
        *((name, ctypes.c_uint) for name in ("gx", "gy", "gz", "bx", "by", "bz", "shared")),
        ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(_Attribute)),
        ("count", ctypes.c_uint),
    ]  # fmt: skip


class Driver:
    """The first device, through the driver's interface."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name: str, *args: Any) -> None:
        """Call a function; failures are errors."""
        status = getattr(self.library, name)(*args)
        if status:
            raise RuntimeError(f"{name}: error {status}")

    def upload(self, data: Array) -> ctypes.c_uint64:
        """A copy of an array on the device."""
        address, size = ctypes.c_uint64(), ctypes.c_size_t(data.nbytes)
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(data.nbytes + (1 << 16)))
        self.call("cuMemcpyHtoD_v2", address, data.ctypes.data_as(ctypes.c_void_p), size)
        return address

    def download(self, address: ctypes.c_uint64, size: int) -> Array:
        """A copy for the host."""
        data = np.empty(size, np.uint8)
        where = data.ctypes.data_as(ctypes.c_void_p)
        self.call("cuMemcpyDtoH_v2", where, address, ctypes.c_size_t(size))
        return data

    def encode(self, map: Map, base: ctypes.c_uint64) -> Any:
        """A tensor map; the driver wants it at a multiple of 64."""
        buffer = (ctypes.c_char * 192)()
        start = -ctypes.addressof(buffer) % 64
        rank = len(map.dims)
        steps = map.element_strides or (1,) * rank
        self.call(
            "cuTensorMapEncodeTiled", ctypes.c_void_p(ctypes.addressof(buffer) + start),
            _TYPES.index(map.type), rank, ctypes.c_void_p(base.value),
            (ctypes.c_uint64 * rank)(*map.dims), (ctypes.c_uint64 * rank)(*map.strides),
            (ctypes.c_uint32 * rank)(*map.box), (ctypes.c_uint32 * rank)(*steps),
            map.interleave, map.swizzle, 0, map.fill,
        )  # fmt: skip
        return ctypes.create_string_buffer(bytes(buffer[start : start + 128]), 128)

    def run(self, case: Case) -> list[Array]:
        """What a case leaves in memory."""
        module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), case.ptx.encode() + b"\0")
        self.call("cuModuleGetFunction", ctypes.byref(kernel), module, b"probe")
        tensor, given = self.upload(case.tensor), self.upload(case.input)
        output = self.upload(np.zeros(case.output_size, np.uint8))
        map = ctypes.create_string_buffer(128)
        if case.map is not None:
            map = self.encode(case.map, tensor)
        values = (map, tensor, output, given)
        args = (ctypes.c_void_p * 4)(*(ctypes.addressof(value) for value in values))
        cluster = _Attribute(_CLUSTER)
        cluster.value[:3] = case.ctas, 1, 1
        count = int(case.ctas > 1)
        launch = _Launch(case.ctas, 1, 1, 128, 1, 1, 0, None, ctypes.pointer(cluster), count)
        self.call("cuLaunchKernelEx", ctypes.byref(launch), kernel, args, None)
        self.call("cuCtxSynchronize")
        results = [
            self.download(output, case.output_size),
            self.download(tensor, case.tensor.nbytes),
        ]
        for address in (tensor, given, output):
            self.call("cuMemFree_v2", address)
        self.call("cuModuleUnload", module)
        return results


def main() -> None:
    """Run all cases."""
    driver = Driver()
    lines = [
        f"{json.dumps(case.name)}: {json.dumps([case.fingerprint(), digest(driver.run(case))])}"
        for case in cases()
    ]
    Path(sys.argv[1]).write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
