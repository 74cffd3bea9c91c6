"""Tensor maps in the layout of the hardware, as the driver encodes them."""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tilewright.runtime.driver import bindings, call
from tilewright.runtime.errors import GpuError
from tilewright.support.diagnostics import Diagnostic, UserError, note
from tilewright.support.tensor_map_parameters import ALIGNMENT

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
_WORDS: Final = struct.Struct("<16Q")
KEPT: Final = 1024
"""Encoded maps that are kept: most launches have the arrays of an earlier one."""


class MapRejected(UserError):
    """The driver refuses to encode a tensor map, which a kernel could encode itself."""


@lru_cache(KEPT)
def encode_map(map: TensorMapParameter, tensor: BoundTensor) -> bytes:
    """Encode a tensor map; raise `MapRejected` if the driver refuses."""
    cuda = bindings()
    kind = getattr(cuda.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{_TYPES[map.element]}")
    # A kernel that copies nothing may get a null pointer, of which the driver encodes no map.
    address = tensor.address or ALIGNMENT
    try:
        made = call(
            "cuTensorMapEncodeTiled",
            kind,
            len(tensor.sizes),
            address,
            [cuda.cuuint64_t(size) for size in tensor.sizes],
            # The driver looks at an array of strides even where there are none.
            [cuda.cuuint64_t(stride) for stride in tensor.strides or (ALIGNMENT,)],
            [cuda.cuuint32_t(extent) for extent in map.box],
            [cuda.cuuint32_t(1) for _ in map.box],
            cuda.CUtensorMapInterleave(_INTERLEAVES.index(map.interleave)),
            cuda.CUtensorMapSwizzle(_SWIZZLES.index(map.swizzle)),
            cuda.CUtensorMapL2promotion(_PROMOTIONS.index(map.l2_promotion)),
            cuda.CUtensorMapFloatOOBfill(int(map.nan)),
        )
    except GpuError as error:
        if error.is_fault:
            raise
        raise _rejection(map, tensor, error) from error
    return _WORDS.pack(*[int(word) for word in made.opaque])


def _rejection(map: TensorMapParameter, tensor: BoundTensor, error: GpuError) -> MapRejected:
    shape = f"of extents {list(tensor.sizes)} and strides {list(tensor.strides)}"
    what = f"argument {map.address.number}: the driver encodes no tensor map {shape}"
    advice = note("compile it with tensor_maps='kernel'")
    return MapRejected([Diagnostic(f"{what} [{error.status}]", notes=(advice,))])
