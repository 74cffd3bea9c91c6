"""The nvgpu dialect: operations specific to NVIDIA's GPUs."""

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
# The former name of a group of one barrier.
NVGPU.types["nvgpu.mbarrier.barrier"] = MBarrierGroupType
