"""Tensor maps in the layout of the hardware, as the driver encodes them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from tilewright.runtime.driver import bindings, check, native
from tilewright.runtime.errors import GpuError
from tilewright.support.diagnostics import Diagnostic, UserError, note
from tilewright.support.tensor_map_parameters import ALIGNMENT, MAP_BYTES

if TYPE_CHECKING:
    from tilewright.support.tensor_map_parameters import BoundTensor, TensorMapParameter

_TYPES: Final = {
    "u8": "UINT8", "u16": "UINT16", "u32": "UINT32", "s32": "INT32", "u64": "UINT64",
    "s64": "INT64", "f16": "FLOAT16", "f32": "FLOAT32", "f32.ftz": "FLOAT32_FTZ",
    "f64": "FLOAT64", "bf16": "BFLOAT16", "tf32": "TFLOAT32",
}  # fmt: skip
"""The driver's names of element types."""
_INTERLEAVES: Final = (0, 16, 32)
_SWIZZLES: Final = (0, 32, 64, 128)
_PROMOTIONS: Final = (0, 64, 128, 256)
"""Bytes, in the order of the driver's numbers."""
_MAP_ALIGNMENT: Final = 64
"""Of the memory that the driver writes a map to, in bytes."""
_FUNCTION: Final = "cuTensorMapEncodeTiled"
_SINCE: Final = 12000
"""The version of CUDA that introduced the function."""
KEPT: Final = 1024
"""Encoded maps that are kept: most launches have the arrays of an earlier one."""


class MapRejected(UserError):
    """The driver refuses to encode a tensor map, which a kernel could encode itself."""


@lru_cache(KEPT)
def encode_map(map: TensorMapParameter, tensor: BoundTensor) -> bytes:
    """Encode a tensor map; raise `MapRejected` if the driver refuses."""
    cuda, rank = bindings(), len(tensor.sizes)
    kind = getattr(cuda.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{_TYPES[map.element]}")
    memory = ctypes.create_string_buffer(MAP_BYTES + _MAP_ALIGNMENT)
    start = -ctypes.addressof(memory) % _MAP_ALIGNMENT
    sizes, strides = tensor.sizes, tensor.strides
    if tensor.offset:
        # Nothing is copied of a tensor without elements, whose strides may be 0.
        sizes, strides = (1,) * rank, (ALIGNMENT,) * (rank - 1)
    # The driver reads an array of strides even where there are none.
    strides = strides or (ALIGNMENT,)
    status = encoder()(
        ctypes.addressof(memory) + start,
        int(kind),
        rank,
        # A kernel that copies nothing may get a null pointer, of which the driver encodes no map.
        tensor.address or ALIGNMENT,
        (ctypes.c_uint64 * rank)(*sizes),
        (ctypes.c_uint64 * len(strides))(*strides),
        (ctypes.c_uint32 * rank)(*map.box),
        (ctypes.c_uint32 * rank)(*[1] * rank),
        _INTERLEAVES.index(map.interleave),
        _SWIZZLES.index(map.swizzle),
        _PROMOTIONS.index(map.l2_promotion),
        int(map.nan),
    )
    try:
        check(_FUNCTION, status)
    except GpuError as error:
        if error.is_fault:
            raise
        raise _rejection(map, tensor, error) from error
    return memory.raw[start : start + MAP_BYTES]


@cache
def encoder() -> Callable[..., int]:
    """The driver's function, which the bindings would call with memory that is not aligned."""
    pointer, number = ctypes.c_void_p, ctypes.c_int
    arrays = (ctypes.POINTER(ctypes.c_uint64),) * 2 + (ctypes.POINTER(ctypes.c_uint32),) * 2
    return native(
        _FUNCTION, _SINCE, pointer, number, ctypes.c_uint32, pointer, *arrays, *[number] * 4
    )


def _rejection(map: TensorMapParameter, tensor: BoundTensor, error: GpuError) -> MapRejected:
    shape = f"of extents {list(tensor.sizes)} and strides {list(tensor.strides)}"
    what = f"argument {map.address.number}: the driver encodes no tensor map {shape}"
    advice = note("compile it with tensor_maps='kernel'")
    return MapRejected([Diagnostic(f"{what} [{error.status}]", notes=(advice,))])
