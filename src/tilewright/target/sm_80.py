"""Ampere and Ada: the dots of a warp, and copies by `cp.async`.

The limits are those of the CUDA programming guide, the peaks those of NVIDIA's data sheets.
"""

from __future__ import annotations

from typing import Final

from tilewright.target.arch import Arch, Limits
from tilewright.target.elements import NUMBERS
from tilewright.target.engines import CP_ASYNC, REGISTERS
from tilewright.target.memories import KIB, shared_memory
from tilewright.target.rates import Peak, tensor_rates
from tilewright.target.tensor_cores import MMA_SYNC, MMA_SYNC_FP8

ENGINES: Final = (CP_ASYNC, REGISTERS)

SM_80: Final = Arch(
    "sm_80",
    limits=Limits(warps=64, ctas=32),
    shared=shared_memory(164 * KIB),
    dots=MMA_SYNC,
    engines=ENGINES,
    elements=NUMBERS,
    peak=Peak("A100 80GB SXM", 2039, {**tensor_rates(312, 19.5), "f64": 19.5}),
)
SM_86: Final = Arch(
    "sm_86",
    limits=Limits(warps=48, ctas=16),
    shared=shared_memory(100 * KIB),
    dots=MMA_SYNC,
    engines=ENGINES,
    elements=NUMBERS,
)
SM_87: Final = Arch(
    "sm_87",
    limits=Limits(warps=48, ctas=16),
    shared=shared_memory(164 * KIB),
    dots=MMA_SYNC,
    engines=ENGINES,
    elements=NUMBERS,
)
SM_88: Final = Arch(
    "sm_88",
    limits=Limits(warps=48, ctas=16),
    shared=shared_memory(100 * KIB),
    dots=MMA_SYNC,
    engines=ENGINES,
    elements=NUMBERS,
)
SM_89: Final = Arch(
    "sm_89",
    limits=Limits(warps=48, ctas=24),
    shared=shared_memory(100 * KIB),
    dots=(*MMA_SYNC, MMA_SYNC_FP8),
    engines=ENGINES,
    elements=NUMBERS,
    peak=Peak("L40S", 864, tensor_rates(362, 91.6, f8=733)),
)

GPUS: Final = {gpu.name: gpu for gpu in (SM_80, SM_86, SM_87, SM_88, SM_89)}
