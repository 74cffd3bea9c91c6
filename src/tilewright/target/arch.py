"""The supported GPUs: one row each, with limits, features and element types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.target.features import Feature

if TYPE_CHECKING:
    from collections.abc import Mapping

KIB: Final = 1024

WARP_SIZE: Final = 32
LANE_BITS: Final = 5
"""The bits of a thread index that are its lane."""
REGISTER_BYTES: Final = 4
"""The size of a register, of a bank of shared memory, and of what a shuffle exchanges."""
MAX_ACCESS_BYTES: Final = 16
"""The widest vectorized access of a thread."""
REGISTERS_PER_SM: Final = 65536
MAX_REGISTERS: Final = 255
"""The most registers of a thread."""
REGISTER_UNIT: Final = 256
"""The allocation unit of registers, per warp."""
REGISTER_STEP: Final = REGISTER_UNIT // WARP_SIZE
"""The same per thread."""
SHARED_UNIT: Final = 128
"""The allocation unit of shared memory, per CTA, in bytes."""
SHARED_RESERVED: Final = KIB
"""Bytes of shared memory that the system reserves per CTA."""
STATIC_SHARED: Final = 48 * KIB
"""Bytes of static shared memory for targets without the suffix `a`."""
MAX_THREADS: Final = 1024
"""The most threads of a CTA."""
MAX_PARTITIONS: Final = 4
"""Processing blocks of an SM, over which the warps of a CTA are distributed."""

PTX_VERSION: Final = (9, 0)
"""The newest PTX version that LLVM 22 emits; ptxas of CUDA 13 reads it."""


class Limits:
    """The resources of an SM."""

    __slots__ = ("ctas", "shared", "warps")

    def __init__(self, *, warps: int, ctas: int, shared: int) -> None:
        self.warps = warps
        """Resident warps per SM."""
        self.ctas = ctas
        """Resident CTAs per SM."""
        self.shared = shared
        """Bytes of shared memory per SM."""


class Arch:
    """A GPU by the name that users give, with its limits and features."""

    __slots__ = (
        "_static_shared",
        "assembled_as",
        "elements",
        "features",
        "limits",
        "max_cluster",
        "name",
        "ptx_target",
    )

    def __init__(
        self,
        name: str,
        ptx_target: str,
        limits: Limits,
        features: frozenset[Feature],
        *,
        elements: frozenset[str],
        max_cluster: int = 1,
        assembled_as: str = "",
        static_shared: int = 0,
    ) -> None:
        self.name = name
        self.ptx_target = ptx_target
        """The `.target` of the PTX, and LLVM's processor name."""
        self.assembled_as = assembled_as or ptx_target
        """The `-arch` of ptxas."""
        self.limits = limits
        self.features = features
        self.elements = elements
        """The element types of tiles that programs for this GPU may use."""
        self.max_cluster = max_cluster
        """The most CTAs of a cluster."""
        self._static_shared = static_shared

    @property
    def number(self) -> int:
        """Major and minor version as one number: 90 for sm_90."""
        return int(self.name.removeprefix("sm_"))

    @property
    def static_shared(self) -> int:
        """Bytes of static shared memory that a program may declare."""
        return self._static_shared or STATIC_SHARED

    @property
    def llvm_features(self) -> str:
        """LLVM's target features: the version of PTX."""
        major, minor = PTX_VERSION
        return f"+ptx{major}{minor}"

    def __contains__(self, feature: Feature) -> bool:
        return feature in self.features

    def __repr__(self) -> str:
        return f"<{self.name}>"


_NUMBERS: Final = frozenset(
    ("i1", "i4", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "tf32", "f64")
)
_FP8: Final = _NUMBERS | {"f8E4M3FN", "f8E5M2"}
_NARROW: Final = _FP8 | {"f8E8M0FNU", "f4E2M1FN"}
_EVERY: Final = _NARROW | {"fnv8E5M3FNU"}

_AMPERE: Final = frozenset((Feature.BASE,))
_ADA: Final = _AMPERE | {Feature.FP8}
_CLUSTERED: Final = _ADA | {
    Feature.BF16_ATOMICS,
    Feature.CLUSTER,
    Feature.PROGRAMMATIC_LAUNCH,
    Feature.TMA,
    Feature.STMATRIX,
    Feature.F64_MMA,
    Feature.VECTOR_REDUCTIONS,
    Feature.MULTIMEM,
}
_HOPPER: Final = _CLUSTERED | {Feature.SETMAXNREG, Feature.WGMMA}
_BLACKWELL: Final = _CLUSTERED | {
    Feature.SETMAXNREG,
    Feature.PACKED_F32,
    Feature.WIDE_ACCESS,
    Feature.BULK_STORE,
    Feature.NARROW_FLOATS,
    Feature.TENSORMAP_FIELDS,
}
_EMBEDDED: Final = _BLACKWELL | {Feature.TMA_EXTENDED, Feature.TENSOR_MEMORY}
_FAMILY: Final = _EMBEDDED | {Feature.F32_REDUX}
_DATACENTER: Final = _FAMILY | {Feature.RANDOM_ROUNDING}
_CONSUMER: Final = _BLACKWELL | {Feature.NARROW_MMA}

_LARGE: Final = 227 * KIB
_SMALL: Final = 99 * KIB

ARCHES: Final[Mapping[str, Arch]] = {
    arch.name: arch
    for arch in (
        Arch("sm_80", "sm_80", Limits(warps=64, ctas=32, shared=164 * KIB), _AMPERE,
             elements=_NUMBERS),
        Arch("sm_86", "sm_86", Limits(warps=48, ctas=16, shared=100 * KIB), _AMPERE,
             elements=_NUMBERS),
        Arch("sm_87", "sm_87", Limits(warps=48, ctas=16, shared=164 * KIB), _AMPERE,
             elements=_NUMBERS),
        Arch("sm_88", "sm_88", Limits(warps=48, ctas=16, shared=100 * KIB), _AMPERE,
             elements=_NUMBERS),
        Arch("sm_89", "sm_89", Limits(warps=48, ctas=24, shared=100 * KIB), _ADA,
             elements=_NUMBERS),
        Arch("sm_90", "sm_90a", Limits(warps=64, ctas=32, shared=228 * KIB), _HOPPER,
             elements=_FP8, max_cluster=16, static_shared=_LARGE),
        Arch("sm_100", "sm_100a", Limits(warps=64, ctas=32, shared=228 * KIB), _DATACENTER,
             elements=_NARROW, max_cluster=16, static_shared=_LARGE),
        Arch("sm_103", "sm_103a", Limits(warps=64, ctas=32, shared=228 * KIB), _DATACENTER,
             elements=_NARROW, max_cluster=16, static_shared=_LARGE),
        # LLVM 22 does not know sm_107: its code is that of the family of sm_100.
        Arch("sm_107", "sm_100f", Limits(warps=32, ctas=16, shared=328 * KIB), _FAMILY,
             elements=_EVERY, max_cluster=8, assembled_as="sm_107a", static_shared=_LARGE),
        Arch("sm_110", "sm_110a", Limits(warps=48, ctas=24, shared=228 * KIB), _EMBEDDED,
             elements=_NARROW, max_cluster=8, static_shared=_LARGE),
        Arch("sm_120", "sm_120a", Limits(warps=48, ctas=24, shared=100 * KIB), _CONSUMER,
             elements=_NARROW, max_cluster=8, static_shared=_SMALL),
        Arch("sm_121", "sm_121a", Limits(warps=48, ctas=24, shared=100 * KIB), _CONSUMER,
             elements=_NARROW, max_cluster=8, static_shared=_SMALL),
    )
}  # fmt: skip
"""Every GPU that we compile for, by name."""

BASELINE: Final = ARCHES["sm_80"]
"""The GPU whose features all others have: assumed where a program names no GPU."""


def find_arch(name: str) -> Arch | None:
    """The row of a GPU; `sm_90a` and the like mean the GPU itself."""
    return ARCHES.get(name) or ARCHES.get(name.rstrip("af"))


def registers_per_thread(threads: int) -> int:
    """The most registers of each thread, if this many share the registers of an SM."""
    return min(MAX_REGISTERS, REGISTERS_PER_SM // threads // REGISTER_STEP * REGISTER_STEP)


def occupancy_bounds(arch: Arch, *, threads: int, registers: int, shared: int) -> dict[str, int]:
    """The CTAs per SM that each resource allows, by name: the least of them is the occupancy."""
    warps = -(-threads // WARP_SIZE)
    limits = arch.limits
    if not warps or threads > MAX_THREADS:
        return {"threads": 0}
    bounds = {"CTAs": limits.ctas, "warps": limits.warps // warps}
    if registers:
        # A warp's registers come from the processing block that it runs on.
        per_warp = _round_up(registers * WARP_SIZE, REGISTER_UNIT)
        resident = REGISTERS_PER_SM // MAX_PARTITIONS // per_warp * MAX_PARTITIONS
        bounds["registers"] = resident // warps
    bounds["shared memory"] = limits.shared // _round_up(shared + SHARED_RESERVED, SHARED_UNIT)
    return bounds


def occupancy(arch: Arch, *, threads: int, registers: int, shared: int) -> int:
    """The occupancy of a kernel: resident CTAs per SM; 0 if not even one fits."""
    return min(occupancy_bounds(arch, threads=threads, registers=registers, shared=shared).values())


def _round_up(number: int, unit: int) -> int:
    return -(-number // unit) * unit
