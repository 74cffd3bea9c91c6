"""Blackwell for data centers and embedded systems: tensor memory.

No atom here uses tensor memory: the compiler multiplies by `mma.sync`. Only the instructions are
known to the emission of hand-written programs.
"""

from __future__ import annotations

from typing import Final

from tilewright.target.arch import Arch, Limits
from tilewright.target.blackwell import DOTS, ENGINES, FEATURES
from tilewright.target.elements import WITH_NARROW_FLOATS
from tilewright.target.features import Feature
from tilewright.target.memories import KIB, TENSOR_MEMORY, shared_memory
from tilewright.target.rates import Peak, tensor_rates

LARGE: Final = 227 * KIB
EMBEDDED: Final = (*FEATURES, Feature.TENSOR_MEMORY, Feature.TMA_EXTENDED)
FAMILY: Final = (*EMBEDDED, Feature.F32_REDUX)
DATACENTER: Final = (*FAMILY, Feature.RANDOM_ROUNDING)


def _datacenter(name: str, peak: Peak | None = None) -> Arch:
    """A GPU for data centers."""
    return Arch(
        name,
        ptx_target=f"{name}a",
        limits=Limits(warps=64, ctas=32),
        shared=shared_memory(228 * KIB, LARGE),
        tensor_memory=TENSOR_MEMORY,
        max_cluster=16,
        dots=DOTS,
        engines=ENGINES,
        elements=WITH_NARROW_FLOATS,
        features=DATACENTER,
        peak=peak,
    )


SM_100: Final = _datacenter(
    "sm_100", Peak("B200", 8000, {**tensor_rates(2250, 75, f8=4500), "f64": 37})
)
SM_103: Final = _datacenter("sm_103")
SM_107: Final = Arch(
    "sm_107",
    # LLVM 22 does not know sm_107: its code is that of the family of sm_100.
    ptx_target="sm_100f",
    assembled_as="sm_107a",
    limits=Limits(warps=32, ctas=16),
    shared=shared_memory(328 * KIB, LARGE),
    tensor_memory=TENSOR_MEMORY,
    max_cluster=8,
    dots=DOTS,
    engines=ENGINES,
    elements=WITH_NARROW_FLOATS | {"fnv8E5M3FNU"},
    features=FAMILY,
)
SM_110: Final = Arch(
    "sm_110",
    ptx_target="sm_110a",
    limits=Limits(warps=48, ctas=24),
    shared=shared_memory(228 * KIB, LARGE),
    tensor_memory=TENSOR_MEMORY,
    max_cluster=8,
    dots=DOTS,
    engines=ENGINES,
    elements=WITH_NARROW_FLOATS,
    features=EMBEDDED,
)

GPUS: Final = {gpu.name: gpu for gpu in (SM_100, SM_103, SM_107, SM_110)}
