"""Launches with tensor maps as parameters: what the driver encodes, and what a kernel gets."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pytest
from specialized_programs import Gemm
from stand_in_gpu import CUdeviceptr, StandIn, number

import tilewright
from tilewright.runtime.errors import GpuError
from tilewright.runtime.tensor_maps import KEPT, MapRejected, encode_map
from tilewright.support.tensor_map_parameters import (
    ELEMENTS,
    OUT_OF_BOUNDS,
    Argument,
    BoundTensor,
    TensorMapParameter,
)

GEMM: Final = Gemm(tile=(128, 128, 64))
M: Final = 200
N: Final = 48
K: Final = 80
OWN: Final = 8
"""The arguments of the kernel itself."""


@pytest.fixture(scope="module")
def compiled() -> tilewright.CompiledModule:
    return tilewright.compile(
        GEMM.persistent(), "sm_90", schedule="agents=1", tensor_maps="parameters"
    )


class Seen:
    """What a kernel gets: addresses, numbers, tensor maps and their offsets."""

    def __init__(self, cuda: StandIn, maps: int = 2) -> None:
        self.launches: list[tuple[list[int], list[bytes], list[int]]] = []
        cuda.parameters = OWN + 2 * maps
        cuda.kernel = self._record

    def _record(self, pointers: Sequence[int]) -> None:
        addresses = [int(number(each, np.uint64)) for each in pointers[:3]]
        maps = [ctypes.string_at(each, 128) for each in pointers[OWN::2]]
        self.launches.append(
            (addresses, maps, [int(number(each)) for each in pointers[OWN + 1 :: 2]])
        )


def arrays(cuda: StandIn) -> list[Any]:
    """A, B and C in memory of the GPU."""
    made: list[Any] = [cuda.cuMemAlloc(1 << 16) for _ in range(3)]
    return [CUdeviceptr(address) for _, address in made]


def map_bytes(count: int) -> bytes:
    return count.to_bytes(8, "little") * 16


def test_the_driver_encodes_maps(cuda: StandIn, compiled: tilewright.CompiledModule) -> None:
    """Its arguments: type, rank, address, then sizes and bytes of strides, the innermost first."""
    compiled.plans.clear()
    seen, (a, b, c) = Seen(cuda), arrays(cuda)
    tilewright.launch(compiled, "k", 1, [a, b, c, M, N, K, 2, 2])
    half = "CU_TENSOR_MAP_DATA_TYPE_FLOAT16"
    modes = (0, 3, 0, 0)
    assert cuda.maps == [
        (half, 2, int(a), [K, M], [2 * K], [64, 128], [1, 1], *modes),
        (half, 2, int(b), [N, K], [2 * N], [64, 64], [1, 1], *modes),
    ]
    assert seen.launches == [([a, b, c], [map_bytes(1), map_bytes(2)], [0, 0])]


def test_maps_are_encoded_once(cuda: StandIn, compiled: tilewright.CompiledModule) -> None:
    compiled.plans.clear()
    seen, (a, b, c) = Seen(cuda), arrays(cuda)
    for rows in (M, M, 64, M):
        tilewright.launch(compiled, "k", 1, [a, b, c, rows, N, K, 2, 2])
    assert len(cuda.maps) == 3
    maps = [maps for _, maps, _ in seen.launches]
    assert maps == [[map_bytes(first), map_bytes(2)] for first in (1, 1, 3, 1)]


def test_empty_tensors(cuda: StandIn, compiled: tilewright.CompiledModule) -> None:
    """The driver takes neither extents and strides of 0 nor a null pointer."""
    compiled.plans.clear()
    seen, (_, b, c) = Seen(cuda), arrays(cuda)
    tilewright.launch(compiled, "k", 1, [None, b, c, M, N, 0, 2, 2])
    for (_, _, address, sizes, strides, *_), expected in zip(cuda.maps, (16, int(b)), strict=True):
        assert (address, sizes, strides) == (expected, [1, 1], [16])
    ((addresses, _, offsets),) = seen.launches
    assert (addresses[0], offsets) == (0, [OUT_OF_BOUNDS, OUT_OF_BOUNDS])


def test_a_map_that_the_driver_refuses(cuda: StandIn, compiled: tilewright.CompiledModule) -> None:
    compiled.plans.clear()
    cuda.failing["cuTensorMapEncodeTiled"] = "CUDA_ERROR_INVALID_VALUE"
    a, b, c = arrays(cuda)
    message = r"argument 0: .* no tensor map of extents \[80, 200\] .*CUDA_ERROR_INVALID_VALUE"
    with pytest.raises(MapRejected, match=message):
        tilewright.launch(compiled, "k", 1, [a, b, c, M, N, K, 2, 2])
    assert not cuda.launches


def test_execute_encodes_in_the_kernel_what_the_driver_refuses(cuda: StandIn) -> None:
    """The hardware takes more than the driver: the program runs as it does without parameters."""
    cuda.failing["cuTensorMapEncodeTiled"] = "CUDA_ERROR_INVALID_VALUE"
    cuda.parameters = OWN
    a, b, c = (np.zeros(1 << 14, kind) for kind in (np.float32, np.float32, np.float32))
    # Without a forced schedule, the kernel is specialized since its blocks compute many tiles.
    gemm = Gemm("f32", (128, 128, 32), precision="tf32")
    tilewright.execute(gemm.persistent(), "k", 1, [a, b, c, M, N, K, 0, 2], on="gpu")
    assert cuda.maps
    assert len(cuda.launches) == 1
    assert not cuda.memory


def test_faults_are_not_refusals(cuda: StandIn, compiled: tilewright.CompiledModule) -> None:
    compiled.plans.clear()
    cuda.failing["cuTensorMapEncodeTiled"] = "CUDA_ERROR_ILLEGAL_ADDRESS"
    a, b, c = arrays(cuda)
    with pytest.raises(GpuError) as caught:
        tilewright.launch(compiled, "k", 1, [a, b, c, M, N, K, 2, 2])
    assert caught.value.status == "CUDA_ERROR_ILLEGAL_ADDRESS"


@pytest.mark.parametrize("element", ELEMENTS)
def test_every_mode(cuda: StandIn, element: str) -> None:
    map = TensorMapParameter(
        element, (16,), Argument(0), (8,), (), 64, 32, nan=True, l2_promotion=256
    )
    encode_map(map, BoundTensor(0x1000, (8,), (), 0))
    ((type, rank, _, sizes, strides, box, steps, *modes),) = cuda.maps
    assert type.startswith("CU_TENSOR_MAP_DATA_TYPE_")
    assert (rank, sizes, box, steps, modes) == (1, [8], [16], [1], [2, 2, 3, 1])
    # It looks at an array of strides even where there are none.
    assert len(strides) == 1


def test_only_some_maps_are_kept(cuda: StandIn) -> None:
    map = TensorMapParameter("f16", (16,), Argument(0), (8,), ())
    for address in range(16, 16 * (KEPT + 10), 16):
        encode_map(map, BoundTensor(address, (8,), (), 0))
    assert encode_map.cache_info().currsize == KEPT
