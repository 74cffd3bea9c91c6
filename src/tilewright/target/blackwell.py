"""What the Blackwell GPUs for data centers and for consumers have in common."""

from __future__ import annotations

from typing import Final

from tilewright.target.engines import BULK, CP_ASYNC, REGISTERS, TMA
from tilewright.target.features import Feature
from tilewright.target.tensor_cores import MMA_SYNC, MMA_SYNC_F64, MMA_SYNC_FP8

DOTS: Final = (*MMA_SYNC, MMA_SYNC_F64, MMA_SYNC_FP8)
ENGINES: Final = (TMA, BULK, CP_ASYNC, REGISTERS)
FEATURES: Final = (
    Feature.BF16_ATOMICS,
    Feature.BULK_STORE,
    Feature.CLUSTER,
    Feature.MULTIMEM,
    Feature.NARROW_FLOATS,
    Feature.PACKED_F32,
    Feature.PROGRAMMATIC_LAUNCH,
    Feature.SETMAXNREG,
    Feature.STMATRIX,
    Feature.TENSORMAP_FIELDS,
    Feature.VECTOR_REDUCTIONS,
    Feature.WIDE_ACCESS,
)
