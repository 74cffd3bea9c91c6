"""The supported GPUs: what each offers, as data in a file of its own, found by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Final

from tilewright.target.features import Feature
from tilewright.target.tensor_cores import BITS, find_mma

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tilewright.target.engines import Engine
    from tilewright.target.memories import Memory
    from tilewright.target.rates import Board, Peak, Rates
    from tilewright.target.tensor_cores import DotAtom, Shape

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
MAX_THREADS: Final = 1024
"""The most threads of a CTA."""
MAX_PARTITIONS: Final = 4
"""Processing blocks of an SM, over which the warps of a CTA are distributed."""

PTX_VERSION: Final = (9, 0)
"""The newest PTX version that LLVM 22 emits; ptxas of CUDA 13 reads it."""

MAX_CLUSTER: Final = 16
"""The most CTAs of a cluster of any GPU."""
PORTABLE_CLUSTER: Final = 8
"""The most CTAs of a cluster that every GPU with clusters can launch."""
TYPICAL_SMS: Final = 128
"""About the SMs of a GPU for data centers: 108 of an A100, 132 of an H100, 148 of a B200."""

EMULATED_ROUNDING: Final = 6
"""Instructions that round an f32 to tf32 by integer arithmetic."""
EMULATED_FP8: Final = 10
"""Instructions that convert an fp8 element by integer arithmetic."""

_FP8: Final = ("f8E4M3FN", "f8E5M2")
_CONVERSIONS: Final = {**dict.fromkeys(_FP8, Feature.FP8), "tf32": Feature.CLUSTER}
"""The floats that only some GPUs have instructions for, to convert f32 to, and those that do."""


class Limits:
    """The CTAs and warps of an SM."""

    __slots__ = ("ctas", "warps")

    def __init__(self, *, warps: int, ctas: int) -> None:
        self.warps = warps
        """Resident warps per SM."""
        self.ctas = ctas
        """Resident CTAs per SM."""


class Arch:
    """A GPU by the name that users give, with what it offers to a compiler.

    Passes ask it for atoms, engines and capacities. `Feature.TMA in arch` is for emission alone.
    """

    __slots__ = (
        "assembled_as",
        "async_dots",
        "board",
        "bulk_engine",
        "dots",
        "elements",
        "engines",
        "features",
        "limits",
        "max_cluster",
        "name",
        "peak",
        "ptx_target",
        "rates",
        "shared",
        "tensor_memory",
        "tile_engine",
    )

    def __init__(
        self,
        name: str,
        *,
        ptx_target: str = "",
        assembled_as: str = "",
        limits: Limits,
        shared: Memory,
        tensor_memory: Memory | None = None,
        max_cluster: int = 1,
        dots: Iterable[DotAtom],
        engines: Iterable[Engine],
        elements: frozenset[str],
        features: Iterable[Feature] = (),
        peak: Peak | None = None,
        rates: Rates | None = None,
        board: Board | None = None,
    ) -> None:
        self.name = name
        self.ptx_target = ptx_target or name
        """The `.target` of the PTX, and LLVM's processor name."""
        self.assembled_as = assembled_as or self.ptx_target
        """The `-arch` of ptxas."""
        self.limits = limits
        self.shared = shared
        """The shared memory."""
        self.tensor_memory = tensor_memory
        """The memory of accumulators that are not in registers, if there is any."""
        self.max_cluster = max_cluster
        """The most CTAs of a cluster."""
        self.dots = tuple(dots)
        """The atoms for dots of tiles, the preferred ones first."""
        self.engines = tuple(engines)
        """The engines that copy from global to shared memory."""
        self.async_dots = tuple([atom for atom in self.dots if atom.asynchronous])
        """The atoms that run beside other instructions, and read shared memory as copy engines
        write it: through the async proxy."""
        by_one_thread = {each.max_rank > 1: each for each in self.engines if each.bulk}
        self.bulk_engine = by_one_thread.get(False)
        """By which one thread copies contiguous memory, if there is such an engine."""
        self.tile_engine = by_one_thread.get(True)
        """By which one thread copies boxes of tensors, if there is such an engine."""
        self.elements = elements
        """The element types of tiles that programs for this GPU may use."""
        needed = [each.requires for each in (*self.dots, *self.engines)]
        self.features = frozenset((*features, *needed))
        """The instructions that it has: those of atoms and engines, and others."""
        self.peak = peak
        """The rates of a board, if they are known."""
        self.rates = rates
        """The rates of an SM, if they are known."""
        self.board = board
        """The board for which times of launches are predicted, if one is known."""

    @property
    def number(self) -> int:
        """Major and minor version as one number: 90 for sm_90."""
        return _number(self.name)

    def is_older_minor_of(self, name: str) -> bool:
        """Whether a GPU has the same major version, and no smaller minor one: it runs this code."""
        newer = _number(name)
        return self.number // 10 == newer // 10 and self.number <= newer

    def dot_atom(self, a: str, b: str, accumulator: str, shape: Shape) -> DotAtom | None:
        """The atom for dots of tiles that has an instruction; None if there is none."""
        return find_mma(self.dots, a, b, accumulator, shape)

    def async_dot(self, a: str) -> DotAtom | None:
        """The asynchronous atom for A of a type, as PTX spells it; None if there is none."""
        return next((atom for atom in self.async_dots if a in atom.lefts), None)

    def multiplies(self, a: str) -> bool:
        """Whether an atom takes A of a type, as PTX spells it."""
        return any(a in atom.lefts for atom in self.dots)

    def reads_either_major(self, bytes: int) -> bool:
        """Whether asynchronous atoms read elements of a size in either order from shared memory."""
        return any(
            8 * bytes == BITS[a] and not atom.is_k_major_only(a)
            for atom in self.async_dots
            for a in atom.lefts
        )

    @property
    def overlap_problem(self) -> str | None:
        """Why warps cannot copy tiles while others multiply; None if they can."""
        if self.async_dots and self.tile_engine is not None:
            return None
        return "the GPU has no wgmma or no TMA"

    @property
    def cluster_problem(self) -> str | None:
        """Why a cluster has no more than one CTA; None if it may."""
        return None if self.max_cluster > 1 else "the GPU has no clusters"

    @property
    def tile_engine_problem(self) -> str | None:
        """What the GPU lacks to copy boxes of tensors; None if it has an engine for it."""
        return None if self.tile_engine is not None else Feature.TMA.value

    def converts(self, element: str) -> bool:
        """Whether an instruction converts f32 to a type of floats, as Tile IR spells it."""
        return _CONVERSIONS[element] in self.features

    def conversion_instructions(self, source: str, result: str) -> int:
        """How many instructions the conversion of a float to another type takes, roughly."""
        if result == "tf32" and not self.converts(result):
            return EMULATED_ROUNDING
        if any(each in _FP8 and not self.converts(each) for each in (source, result)):
            return EMULATED_FP8
        return 1

    @property
    def elects_lanes(self) -> bool:
        """Whether an instruction elects a lane of a warp, such that ptxas knows of it."""
        return Feature.CLUSTER in self.features

    @property
    def reallocates_registers(self) -> bool:
        """Whether the registers of a CTA can be divided unevenly among its warpgroups."""
        return Feature.SETMAXNREG in self.features

    @property
    def overlaps_grids(self) -> bool:
        """Whether a grid may start before the one that it depends on has ended."""
        return Feature.PROGRAMMATIC_LAUNCH in self.features

    @property
    def stores_matrices(self) -> bool:
        """Whether a warp stores the fragments of matrices to shared memory in one instruction."""
        return Feature.STMATRIX in self.features

    @property
    def static_shared(self) -> int:
        """Bytes of static shared memory that a program may declare."""
        return self.shared.per_cta

    @property
    def llvm_features(self) -> str:
        """LLVM's target features: the version of PTX."""
        major, minor = PTX_VERSION
        return f"+ptx{major}{minor}"

    def __contains__(self, feature: Feature) -> bool:
        return feature in self.features

    def __repr__(self) -> str:
        return f"<{self.name}>"


_FILES: Final = {
    "sm_80": "sm_80",
    "sm_86": "sm_80",
    "sm_87": "sm_80",
    "sm_88": "sm_80",
    "sm_89": "sm_80",
    "sm_90": "sm_90",
    "sm_100": "sm_100",
    "sm_103": "sm_100",
    "sm_107": "sm_100",
    "sm_110": "sm_100",
    "sm_120": "sm_120",
    "sm_121": "sm_120",
}
"""The module of this package that describes each GPU."""


class _Arches(Mapping[str, Arch]):
    """The GPUs by name; the file of one is loaded when it is asked for."""

    def __getitem__(self, name: str) -> Arch:
        module = import_module(f"tilewright.target.{_FILES[name]}")
        gpus: Mapping[str, Arch] = module.GPUS
        return gpus[name]

    def __contains__(self, name: object) -> bool:
        return name in _FILES

    def __iter__(self) -> Iterator[str]:
        return iter(_FILES)

    def __len__(self) -> int:
        return len(_FILES)


ARCHES: Final[Mapping[str, Arch]] = _Arches()
"""Every GPU that we compile for, by name."""

BASELINE: Final = "sm_80"
"""The GPU that offers what all others do: assumed where a program names no GPU."""


def find_arch(name: str) -> Arch | None:
    """The GPU of a name; `sm_90a` and the like mean the GPU itself."""
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
    bounds["shared memory"] = arch.shared.ctas(shared)
    return bounds


def occupancy(arch: Arch, *, threads: int, registers: int, shared: int) -> int:
    """The occupancy of a kernel: resident CTAs per SM; 0 if not even one fits."""
    return min(occupancy_bounds(arch, threads=threads, registers=registers, shared=shared).values())


def _round_up(number: int, unit: int) -> int:
    return -(-number // unit) * unit


def _number(name: str) -> int:
    return int(name.removeprefix("sm_"))
