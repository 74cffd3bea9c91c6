"""The cute_nvgpu dialect: asynchronous operations of NVIDIA's GPUs that nvgpu does not have."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.cute_nvgpu import (
    attributes,
    copies,
    map_parameters,
    tensormap,
    threads,
    tma,
    wgmma,
)
from tilewright.ir.dialect import Dialect

CUTE_NVGPU: Final = Dialect(
    "cute_nvgpu", attributes, copies, map_parameters, tensormap, threads, tma, wgmma
)
