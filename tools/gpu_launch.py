"""Launches of test programs on a GPU: arguments, tensor maps, clusters, what a kernel prints."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
from low_programs import Outcome, entry_of, tensor_map
from programs import Run
from ptx_hardware import Gpu

from tilewright.ptxsim import Module
from tilewright.ptxsim.machine import encode_number
from tilewright.ptxsim.tensor_map import TensorMap

SMALL = 48 * 1024
"""How much dynamic shared memory a kernel has without being asked."""

_MAP_TYPES = {
    "u8": "UINT8", "u16": "UINT16", "u32": "UINT32", "s32": "INT32", "u64": "UINT64",
    "s64": "INT64", "f16": "FLOAT16", "f32": "FLOAT32", "f32.ftz": "FLOAT32_FTZ",
    "f64": "FLOAT64", "bf16": "BFLOAT16", "tf32": "TFLOAT32", "tf32.ftz": "TFLOAT32_FTZ",
}  # fmt: skip


def encoded(gpu: Gpu, map: TensorMap) -> bytes:
    """A tensor map in the layout of the hardware."""
    cuda = gpu.driver
    kind = getattr(cuda.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{_MAP_TYPES[map.type]}")
    made = gpu.call(
        "cuTensorMapEncodeTiled", kind, map.rank, map.address,
        [cuda.cuuint64_t(size) for size in map.dims],
        # The driver looks at an array of strides even where there are none.
        [cuda.cuuint64_t(stride) for stride in map.strides or (16,)],
        [cuda.cuuint32_t(size) for size in map.box],
        [cuda.cuuint32_t(step) for step in map.element_strides],
        cuda.CUtensorMapInterleave(map.interleave // 16),
        cuda.CUtensorMapSwizzle(map.swizzle.bit_length() - 5 if map.swizzle else 0),
        cuda.CUtensorMapL2promotion(0),
        cuda.CUtensorMapFloatOOBfill(int(map.nan)),
    )  # fmt: skip
    return np.array([int(word) for word in made.opaque], np.uint64).tobytes()


def captured(action: Callable[[], None]) -> str:
    """What is printed by the process, the driver included, while something is done."""
    sys.stdout.flush()
    with tempfile.TemporaryFile() as file:
        saved = [os.dup(number) for number in (1, 2)]
        for number in (1, 2):
            os.dup2(file.fileno(), number)
        try:
            action()
        finally:
            for number, old in zip((1, 2), saved, strict=True):
                os.dup2(old, number)
                os.close(old)
        file.seek(0)
        return file.read().decode(errors="replace")


class Launch:
    """One run of a program on the GPU."""

    def __init__(self, gpu: Gpu, run: Run, ptx: str, cubin: bytes) -> None:
        self.gpu = gpu
        self.run = run
        self.entry = entry_of(run, Module(ptx))
        self.module = gpu.call("cuModuleLoadData", cubin)
        self.kernel = gpu.call("cuModuleGetFunction", self.module, self.entry.name.encode())
        self.values = run.values()
        self.failure: str | None = None
        arrays = {name: each for name, each in self.values.items() if isinstance(each, np.ndarray)}
        self.there = {name: gpu.upload(np.ascontiguousarray(a)) for name, a in arrays.items()}

    def outcome(self) -> Outcome:
        """Start the kernel, and wait for its end."""
        printed = captured(self._start)
        if self.failure is not None:
            return Outcome({}, "", f"{self.failure}\n{printed}")
        arrays = {name: self._download(name) for name in self.there}
        for address in self.there.values():
            self.gpu.call("cuMemFree", address)
        self.gpu.call("cuModuleUnload", self.module)
        return Outcome({**self.values, **arrays}, printed)

    def _start(self) -> None:
        names = [name for name in self.run.arguments if name not in self.run.data]
        raw = [self._argument(at, name) for at, name in enumerate(names)]
        held = [np.frombuffer(each, np.uint8).copy() for each in raw]
        pointers = np.array([each.ctypes.data for each in held], np.uint64)
        self._allow_shared()
        try:
            self.gpu.call("cuLaunchKernelEx", self._config(), self.kernel, pointers.ctypes.data, 0)
            self.gpu.call("cuCtxSynchronize")
        except RuntimeError as error:
            self.failure = str(error)

    def _argument(self, at: int, name: str) -> bytes:
        """The bytes of an argument."""
        parameter = self.entry.parameters[at]
        if name in self.run.maps:
            map = self._map(name)
            if parameter.size == len(map):
                return map
            return int(self.gpu.upload(np.frombuffer(map, np.uint8))).to_bytes(8, "little")
        if name in self.there:
            return int(self.there[name]).to_bytes(8, "little")
        return encode_number(parameter, self.values[name])

    def _map(self, name: str) -> bytes:
        array = self.run.maps[name]["array"]
        address = int(self.there[array])
        return encoded(self.gpu, tensor_map(self.run, name, self.values[array], address))

    def _allow_shared(self) -> None:
        if self.run.shared > SMALL:
            attribute = self.gpu.driver.CUfunction_attribute
            limit = attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self.gpu.call("cuFuncSetAttribute", self.kernel, limit, self.run.shared)

    def _config(self) -> Any:
        """Grid, block, cluster and shared memory as the driver wants them."""
        cuda = self.gpu.driver
        block = self.run.block
        required = self.entry.directives.get("reqntid")
        if required is not None and block == (1,):
            block = tuple(required)
        config = cuda.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = _triple(self.run.grid)
        config.blockDimX, config.blockDimY, config.blockDimZ = _triple(block)
        config.sharedMemBytes = self.run.shared
        if self.run.cluster is not None:
            attribute = cuda.CUlaunchAttribute()
            attribute.id = cuda.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            extents = attribute.value.clusterDim
            extents.x, extents.y, extents.z = _triple(self.run.cluster)
            config.attrs = [attribute]
            config.numAttrs = 1
        return config

    def _download(self, name: str) -> Any:
        found = np.empty_like(np.ascontiguousarray(self.values[name]))
        self.gpu.call("cuMemcpyDtoH", found.ctypes.data, self.there[name], found.nbytes)
        return found


def _triple(size: tuple[int, ...]) -> tuple[int, ...]:
    return (*size, 1, 1)[:3]
