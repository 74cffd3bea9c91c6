"""A mock of `cuda.bindings.driver`, for tests without a GPU.

Its memory is that of the host. It runs nothing: launches are recorded, and a test may set the
effect of a kernel on memory and the status of the driver.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from enum import IntEnum
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tilewright.runtime import device, driver, tensor_maps

STATUS = {
    "CUDA_SUCCESS": 0, "CUDA_ERROR_INVALID_VALUE": 1, "CUDA_ERROR_OUT_OF_MEMORY": 2,
    "CUDA_ERROR_NO_DEVICE": 100, "CUDA_ERROR_INVALID_IMAGE": 200,
    "CUDA_ERROR_NO_BINARY_FOR_GPU": 209, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION": 222,
    "CUDA_ERROR_ILLEGAL_ADDRESS": 700, "CUDA_ERROR_ASSERT": 710,
    "CUDA_ERROR_MISALIGNED_ADDRESS": 716, "CUDA_ERROR_LAUNCH_FAILED": 719,
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": 803,
}  # fmt: skip
CUresult = IntEnum("CUresult", STATUS)  # pyrefly: ignore[invalid-argument]
PRIMARY = 0x1000
MAP_TYPES = (
    "UINT8", "UINT16", "UINT32", "INT32", "UINT64", "INT64", "FLOAT16", "FLOAT32", "FLOAT64",
    "BFLOAT16", "FLOAT32_FTZ", "TFLOAT32",
)  # fmt: skip
"""In the order of their numbers."""
_MAP_TYPE = "CU_TENSOR_MAP_DATA_TYPE_"
_UINT32 = ctypes.POINTER(ctypes.c_uint32)
_UINT64 = ctypes.POINTER(ctypes.c_uint64)
_ENCODER = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.c_void_p,
    _UINT64, _UINT64, _UINT32, _UINT32, *[ctypes.c_int] * 4,
)  # fmt: skip


class Names:
    """An enumeration whose values are the names."""

    def __getattr__(self, name: str) -> str:
        return name


class CUdeviceptr(int):
    """An address, as the bindings hold it."""


class StandIn(ModuleType):
    """The functions that the runtime calls."""

    def __init__(self, capability: tuple[int, int] = (9, 0), count: int = 2) -> None:
        super().__init__("cuda.bindings.driver")
        self.capability = capability
        self.count = count
        self.version = 13000
        self.failing: dict[str, str] = {}
        """The status of functions that fail."""
        self.current = 0
        self.memory: dict[int, np.ndarray] = {}
        self.homes: dict[int, int] = {}
        self.cluster = 0
        self.launches: list[tuple[Any, ...]] = []
        self.calls: list[str] = []
        self.kernel: Callable[[list[int]], None] = lambda pointers: None
        """The effect of a launch, called with the addresses of its parameters."""
        self.parameters = 0
        self.says: tuple[bytes, bytes] = (b"", b"")
        """Texts printed at the next synchronization, to standard output and to standard error."""
        self.CUdevice_attribute = self.CUfunction_attribute = self.CUpointer_attribute = Names()
        self.CUlimit = self.CUevent_flags = Names()
        self.CUdeviceptr = CUdeviceptr
        self.CUcontext = int
        self.CUresult = CUresult
        types = [(f"{_MAP_TYPE}{name}", number) for number, name in enumerate(MAP_TYPES)]
        self.CUtensorMapDataType = IntEnum("CUtensorMapDataType", types)
        self.maps: list[tuple[Any, ...]] = []
        """The arguments of each tensor map that was encoded; the map has the number of it."""
        self._encoder = _ENCODER(self._encode)

    def __getattribute__(self, name: str) -> Any:
        attribute: Any = super().__getattribute__(name)
        if not name.startswith("cu") or not callable(attribute) or name.startswith("cuGetError"):
            return attribute

        def call(*arguments: Any) -> Any:
            self.calls.append(name)
            results: Any = attribute(*arguments)
            status = CUresult[self.failing.get(name, "CUDA_SUCCESS")]
            return (status, None) if status else (status, *results)

        return call

    def cuGetErrorName(self, status: CUresult) -> tuple[int, bytes]:
        return 0, status.name.encode()

    def cuGetErrorString(self, status: CUresult) -> tuple[int, bytes]:
        return 0, b"a description"

    def cuInit(self, flags: int) -> tuple[()]:
        return ()

    def cuDriverGetVersion(self) -> tuple[int]:
        return (self.version,)

    def cuDeviceGetCount(self) -> tuple[int]:
        return (self.count,)

    def cuDeviceGet(self, ordinal: int) -> tuple[int]:
        return (ordinal,)

    def cuDeviceGetName(self, length: int, ordinal: int) -> tuple[bytes]:
        return (b"Stand-In 9000" + bytes(length - 13),)

    def cuDeviceGetAttribute(self, name: str, ordinal: int) -> tuple[int]:
        major, minor = self.capability
        if "CAPABILITY" in name:
            return (major if name.endswith("MAJOR") else minor,)
        return (0x7FFFFFFF if name.endswith("X") else 65535,)

    def cuDevicePrimaryCtxRetain(self, ordinal: int) -> tuple[int]:
        return (PRIMARY + ordinal,)

    def cuCtxGetCurrent(self) -> tuple[int]:
        return (self.current,)

    def cuCtxGetDevice(self) -> tuple[int]:
        return (self.current - PRIMARY,)

    def cuCtxPushCurrent(self, context: int) -> tuple[()]:
        self.pushed, self.current = self.current, context
        return ()

    def cuCtxPopCurrent(self) -> tuple[int]:
        popped, self.current = self.current, self.pushed
        return (popped,)

    def cuCtxSetLimit(self, limit: str, value: int) -> tuple[()]:
        return ()

    def cuModuleLoadData(self, code: bytes) -> tuple[object]:
        return (object(),)

    def cuModuleUnload(self, module: object) -> tuple[()]:
        return ()

    def cuModuleGetFunction(self, module: object, name: bytes) -> tuple[bytes]:
        return (name,)

    def cuFuncGetAttribute(self, attribute: str, function: object) -> tuple[int]:
        return (self.cluster if attribute.endswith("WIDTH") else min(self.cluster, 1),)

    def cuMemAlloc(self, size: int) -> tuple[CUdeviceptr]:
        # The driver's allocations start at multiples of 256.
        made = np.zeros(size + 256, np.uint8)
        address = -(-made.ctypes.data // 256) * 256
        self.memory[address] = made
        return (CUdeviceptr(address),)

    def cuMemFree(self, address: int) -> tuple[()]:
        del self.memory[address]
        return ()

    def cuMemcpyHtoD(self, to: int, source: int, size: int) -> tuple[()]:
        ctypes.memmove(int(to), int(source), size)
        return ()

    def cuMemcpyDtoH(self, to: int, source: int, size: int) -> tuple[()]:
        ctypes.memmove(int(to), int(source), size)
        return ()

    def cuLaunchKernel(self, function: object, *rest: Any) -> tuple[()]:
        grid, block, shared, stream, pointers = rest[:3], rest[3:6], rest[6], rest[7], rest[8]
        self.launches.append((function, grid, block, shared, stream))
        table = (ctypes.c_uint64 * self.parameters).from_address(pointers)
        self.kernel(list(table))
        return ()

    def cuCtxSynchronize(self) -> tuple[()]:
        return ()

    def cuStreamSynchronize(self, stream: int) -> tuple[()]:
        self.say(self.says)
        return ()

    def say(self, texts: tuple[bytes, bytes]) -> None:
        """Print to standard output and to standard error, as the driver does: to the files."""
        for number, text in enumerate(texts, 1):
            os.write(number, text)

    def cuEventCreate(self, flags: str) -> tuple[str]:
        return ("event",)

    def cuEventRecord(self, event: str, stream: int) -> tuple[()]:
        return ()

    def cuStreamWaitEvent(self, stream: int, event: str, flags: int) -> tuple[()]:
        return ()

    def cuEventDestroy(self, event: str) -> tuple[()]:
        return ()

    def cuGetProcAddress(self, name: bytes, version: int, flags: int) -> tuple[int, int]:
        assert (name, version) == (b"cuTensorMapEncodeTiled", 12000)
        return ctypes.cast(self._encoder, ctypes.c_void_p).value or 0, 0

    def _encode(self, map: int, type: int, rank: int, address: int, *rest: Any) -> int:
        assert map % 64 == 0
        sizes, strides, box, steps, *modes = rest
        lists = [sizes[:rank], strides[: max(rank - 1, 1)], box[:rank], steps[:rank]]
        self.maps.append((f"{_MAP_TYPE}{MAP_TYPES[type]}", rank, address, *lists, *modes))
        ctypes.memmove(map, len(self.maps).to_bytes(8, "little") * 16, 128)
        return CUresult[self.failing.get("cuTensorMapEncodeTiled", "CUDA_SUCCESS")]

    def cuPointerGetAttribute(self, attribute: str, address: int) -> tuple[int]:
        return (self.homes.get(address, 0),)


def install(monkeypatch: pytest.MonkeyPatch, stand_in: ModuleType | None) -> None:
    """Install a mock, or none; the runtime's caches are cleared."""
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", stand_in)
    forget()


def forget() -> None:
    """Let the runtime look for a GPU again."""
    caches = (driver.bindings, driver.ready, device.gpu, tensor_maps.encode_map)
    for cached in (*caches, tensor_maps.encoder):
        cached.cache_clear()


def number(address: int, kind: type[Any] = np.int32) -> Any:
    """The number that lies at an address."""
    size = np.dtype(kind).itemsize
    return np.frombuffer(ctypes.string_at(address, size), kind)[0]
