"""Launches of test programs on a GPU: arguments, tensor maps, clusters, printed output."""

from __future__ import annotations

from typing import Any

import numpy as np
from low_programs import Outcome, entry_of, tensor_map
from programs import Run

from tilewright.ptxsim import Module
from tilewright.ptxsim.machine import encode_number
from tilewright.ptxsim.tensor_map import TensorMap
from tilewright.runtime.device import Gpu
from tilewright.runtime.driver import bindings, call
from tilewright.runtime.errors import GpuError
from tilewright.runtime.messages import captured

_MAP_TYPES = {
    "u8": "UINT8", "u16": "UINT16", "u32": "UINT32", "s32": "INT32", "u64": "UINT64",
    "s64": "INT64", "f16": "FLOAT16", "f32": "FLOAT32", "f32.ftz": "FLOAT32_FTZ",
    "f64": "FLOAT64", "bf16": "BFLOAT16", "tf32": "TFLOAT32", "tf32.ftz": "TFLOAT32_FTZ",
}  # fmt: skip


def encoded(map: TensorMap) -> bytes:
    """A tensor map in the layout of the hardware."""
    cuda = bindings()
    kind = getattr(cuda.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{_MAP_TYPES[map.type]}")
    made = call(
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


class Launch:
    """One run of a program on the GPU."""

    def __init__(self, gpu: Gpu, run: Run, ptx: str, cubin: bytes) -> None:
        self.gpu = gpu
        self.run = run
        self.entry = entry_of(run, Module(ptx))
        self.kernel = gpu.kernel(gpu.use(), cubin, self.entry.name)
        self.values = run.values()
        self.failure: str | None = None
        arrays = {name: each for name, each in self.values.items() if isinstance(each, np.ndarray)}
        self.there = {name: gpu.upload(np.ascontiguousarray(a)) for name, a in arrays.items()}

    def outcome(self) -> Outcome:
        """Start the kernel, and wait for its end."""
        printed = "".join(captured(self._start))
        if self.failure is not None:
            return Outcome({}, "", f"{self.failure}\n{printed}")
        arrays = {name: self._download(name) for name in self.there}
        for address in self.there.values():
            self.gpu.free(address)
        return Outcome({**self.values, **arrays}, printed)

    def _start(self) -> None:
        names = [name for name in self.run.arguments if name not in self.run.data]
        raw = [self._argument(at, name) for at, name in enumerate(names)]
        block = self.run.block
        required = self.entry.directives.get("reqntid")
        if required is not None and block == (1,):
            block = tuple(required)
        cluster = None if self.run.cluster is None else _triple(self.run.cluster)
        try:
            self.gpu.launch(
                self.kernel.function, _triple(self.run.grid), _triple(block), raw,
                shared=self.run.shared, cluster=cluster,
            )  # fmt: skip
            self.gpu.synchronize()
        except GpuError as error:
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
        return encoded(tensor_map(self.run, name, self.values[array], address))

    def _download(self, name: str) -> Any:
        array = np.empty_like(np.ascontiguousarray(self.values[name]))
        self.gpu.download(self.there[name], array)
        return array


def _triple(size: tuple[int, ...]) -> tuple[int, int, int]:
    x, y, z = (*size, 1, 1)[:3]
    return x, y, z
