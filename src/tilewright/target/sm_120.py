"""Blackwell for consumers: the dots of a warp, copies by tensor maps, clusters."""

from __future__ import annotations

from typing import Final

from tilewright.target.arch import Arch, Limits
from tilewright.target.blackwell import DOTS, ENGINES, FEATURES
from tilewright.target.elements import WITH_NARROW_FLOATS
from tilewright.target.features import Feature
from tilewright.target.memories import KIB, shared_memory

CONSUMER: Final = (*FEATURES, Feature.NARROW_MMA)

SM_120: Final = Arch(
    "sm_120",
    ptx_target="sm_120a",
    limits=Limits(warps=48, ctas=24),
    shared=shared_memory(100 * KIB, 99 * KIB),
    max_cluster=8,
    dots=DOTS,
    engines=ENGINES,
    elements=WITH_NARROW_FLOATS,
    features=CONSUMER,
)
SM_121: Final = Arch(
    "sm_121",
    ptx_target="sm_121a",
    limits=Limits(warps=48, ctas=24),
    shared=shared_memory(100 * KIB, 99 * KIB),
    max_cluster=8,
    dots=DOTS,
    engines=ENGINES,
    elements=WITH_NARROW_FLOATS,
    features=CONSUMER,
)

GPUS: Final = {gpu.name: gpu for gpu in (SM_120, SM_121)}
