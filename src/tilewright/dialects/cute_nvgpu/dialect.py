"""cute_nvgpu: what NVIDIA's GPUs can do, and nvgpu cannot say: work that goes on by itself."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.cute_nvgpu import attributes, tensormap, threads, tma, wgmma
from tilewright.ir.dialect import Dialect

CUTE_NVGPU: Final = Dialect("cute_nvgpu", attributes, tensormap, threads, tma, wgmma)
