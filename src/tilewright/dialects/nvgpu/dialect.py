"""nvgpu: what NVIDIA's GPUs can do beyond what all GPUs share."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.nvgpu import (
    async_copy,
    attributes,
    mbarrier,
    packed,
    tma,
    types,
    warp,
    warpgroup,
)
from tilewright.dialects.nvgpu.types import MBarrierGroupType
from tilewright.ir.dialect import Dialect

NVGPU: Final = Dialect(
    "nvgpu",
    async_copy,
    attributes,
    mbarrier,
    packed,
    tma,
    types,
    warp,
    warpgroup,
)
# What groups of one barrier were called before there were others.
NVGPU.types["nvgpu.mbarrier.barrier"] = MBarrierGroupType
