"""Dot atoms, the instructions of tensor cores: shapes, element types, and where operands are.

Shapes are `(m, n, k)`, element types as PTX spells them. The tables are those of the PTX ISA.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.target.features import Feature
from tilewright.target.memories import Space

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


Shape = tuple[int, int, int]

BITS: Final[Mapping[str, int]] = {
    "f64": 64,
    "tf32": 32,
    "f32": 32,
    "s32": 32,
    "f16": 16,
    "bf16": 16,
    "e4m3": 8,
    "e5m2": 8,
    "s8": 8,
    "u8": 8,
    "s4": 4,
    "u4": 4,
    "b1": 1,
}
"""The bits of a register that an element takes."""

WARPGROUP: Final = 4
"""Warps of a warpgroup, which executes a wgmma."""
MMA_ROWS: Final = 16
"""Rows of the accumulators of mma.sync."""
MMA_COLUMNS: Final = 8
"""Columns of mma.sync, and the fewest of wgmma."""
MMA_K_BYTES: Final = 32
"""Bytes of K of the instructions with the largest K, of all types but f64."""
WGMMA_ROWS: Final = 64
"""M of a wgmma."""
WGMMA_COLUMNS: Final = 256
"""The largest N of a wgmma."""
WGMMA_K_BYTES: Final = MMA_K_BYTES
"""Bytes of K of a wgmma."""
EITHER_MAJOR_BYTES: Final = 2
"""Bytes of the only elements that wgmma reads from shared memory M- or N-major, too."""


class DotAtom(NamedTuple):
    """Instructions that multiply matrices: types, shapes, and how their operands are held."""

    name: str
    """In reports."""
    multiplicands: frozenset[tuple[str, str]]
    """Pairs of the types of A and B."""
    accumulators: frozenset[str]
    shapes: tuple[Shape, ...]
    requires: Feature
    """The instructions that a GPU needs for it."""
    warps: int = 1
    """Warps that execute an instruction together."""
    asynchronous: bool = False
    """Whether it runs beside later instructions, until a wait."""
    a_memories: frozenset[Space] = frozenset((Space.REGISTERS,))
    """Where A may be."""
    b_memories: frozenset[Space] = frozenset((Space.REGISTERS,))
    """Where B may be. The accumulator is in registers."""
    transposes_b: bool = False
    """Whether it is worth while to transpose B on its way to shared memory, if B has to be K-major
    there and is not in global memory: otherwise another atom computes such a dot."""

    @property
    def lefts(self) -> frozenset[str]:
        """The types of A."""
        return frozenset([a for a, _ in self.multiplicands])

    @property
    def rows(self) -> int:
        """M of the instructions."""
        return self.shapes[0][0]

    @property
    def columns(self) -> int:
        """The least N of the instructions."""
        return self.shapes[0][1]

    def takes(self, a: str, b: str, accumulator: str, shape: Shape | None = None) -> bool:
        """Whether there is an instruction of these types, and of this shape if one is given."""
        return (
            (a, b) in self.multiplicands
            and accumulator in self.accumulators
            and (shape is None or shape in self.shapes)
        )

    def is_k_major_only(self, type: str) -> bool:
        """Whether A and B of a type have to be K-major in shared memory."""
        return Space.SHARED in self.b_memories and BITS[type] != 8 * EITHER_MAJOR_BYTES


def _mma(
    multiplicands: Iterable[tuple[str, str]],
    accumulators: Iterable[str],
    shapes: Iterable[Shape],
    requires: Feature = Feature.BASE,
    name: str = "mma.sync",
) -> DotAtom:
    """An atom of one warp, with all operands in registers."""
    return DotAtom(name, frozenset(multiplicands), frozenset(accumulators), tuple(shapes), requires)


def _same(*types: str) -> list[tuple[str, str]]:
    return [(type, type) for type in types]


def _any(*types: str) -> list[tuple[str, str]]:
    return [(a, b) for a in types for b in types]


MMA_SYNC: Final = (
    _mma(_same("f16"), ("f16", "f32"), ((16, 8, 8), (16, 8, 16))),
    _mma(_same("bf16"), ("f32",), ((16, 8, 8), (16, 8, 16))),
    _mma(_same("tf32"), ("f32",), ((16, 8, 4), (16, 8, 8))),
    _mma(_same("f64"), ("f64",), ((8, 8, 4),)),
    _mma(_any("s8", "u8"), ("s32",), ((8, 8, 16), (16, 8, 16), (16, 8, 32))),
    _mma(_any("s4", "u4"), ("s32",), ((8, 8, 32), (16, 8, 32), (16, 8, 64))),
    _mma(_same("b1"), ("s32",), ((8, 8, 128), (16, 8, 128), (16, 8, 256))),
)
"""`mma.sync` of every GPU, executed by a warp. m8n8k4 of f16 is emulated since sm_80: left out."""
MMA_SYNC_FP8: Final = _mma(
    _any("e4m3", "e5m2"), ("f16", "f32"), ((16, 8, 16), (16, 8, 32)), Feature.FP8
)
MMA_SYNC_F64: Final = _mma(
    _same("f64"), ("f64",), ((16, 8, 4), (16, 8, 8), (16, 8, 16)), Feature.F64_MMA
)
MMA: Final = (*MMA_SYNC, MMA_SYNC_F64, MMA_SYNC_FP8)
"""All of `mma.sync`."""

_SPARSE: Final = "mma.sp.sync"
SPARSE_MMA: Final = (
    _mma(_same("f16"), ("f16", "f32"), ((16, 8, 16), (16, 8, 32)), name=_SPARSE),
    _mma(_same("bf16"), ("f32",), ((16, 8, 16), (16, 8, 32)), name=_SPARSE),
    _mma(_same("tf32"), ("f32",), ((16, 8, 8), (16, 8, 16)), name=_SPARSE),
    _mma(_any("s8", "u8"), ("s32",), ((16, 8, 32), (16, 8, 64)), name=_SPARSE),
    _mma(_any("s4", "u4"), ("s32",), ((16, 8, 64), (16, 8, 128)), name=_SPARSE),
    # LLVM has these of f32 accumulators alone.
    _mma(_any("e4m3", "e5m2"), ("f32",), ((16, 8, 64),), Feature.FP8, _SPARSE),
)
"""`mma.sp.sync`: A holds two of every four elements, and metadata says which."""

_EIGHTS: Final = tuple(range(8, WGMMA_COLUMNS + 1, 8))
_INTEGER_N: Final = (8, 16, 24, *range(32, WGMMA_COLUMNS + 1, 16))
_SHARED: Final = frozenset((Space.SHARED,))


def _wgmma(
    multiplicands: Iterable[tuple[str, str]],
    accumulator: str,
    extents: Iterable[int],
    k: int,
    *,
    transposes_b: bool = False,
) -> DotAtom:
    """An atom of a warpgroup: B in shared memory, A there or in registers."""
    return DotAtom(
        "wgmma",
        frozenset(multiplicands),
        frozenset((accumulator,)),
        tuple([(WGMMA_ROWS, n, k) for n in extents]),
        Feature.WGMMA,
        WARPGROUP,
        True,
        _SHARED | {Space.REGISTERS},
        _SHARED,
        transposes_b,
    )


WGMMA: Final = (
    _wgmma(_same("f16"), "f32", _EIGHTS, 16),
    _wgmma(_same("f16"), "f16", _EIGHTS, 16),
    _wgmma(_same("bf16"), "f32", _EIGHTS, 16),
    _wgmma(_same("tf32"), "f32", _EIGHTS, 8),
    _wgmma(_any("e4m3", "e5m2"), "f32", _EIGHTS, 32, transposes_b=True),
    _wgmma(_any("s8", "u8"), "s32", _INTEGER_N, 32),
)
"""`wgmma.mma_async` for dots of tiles. That of fp8 transposes B where it must, since users compare
its accumulation with that of cuBLAS; with other types both are correct, and to transpose B would
cost more than is gained over `mma.sync`."""
WGMMA_UNUSED: Final = (
    _wgmma(_any("e4m3", "e5m2"), "f16", _EIGHTS, 32),
    _wgmma(_same("b1"), "s32", _INTEGER_N, 256),
)
"""Those that no dot of tiles uses, since `mma.sync` computes it, or since there is none."""
ALL_WGMMA: Final = (*WGMMA, *WGMMA_UNUSED)

K_MAJOR_ONLY: Final = frozenset(
    type for atom in ALL_WGMMA for type, _ in atom.multiplicands if atom.is_k_major_only(type)
)
"""The types of A and B that wgmma reads from shared memory K-major only."""

TABLES: Final[Mapping[str, tuple[DotAtom, ...]]] = {
    "mma": MMA,
    "mma.sp": SPARSE_MMA,
    "wgmma": ALL_WGMMA,
}


def find_mma(
    table: tuple[DotAtom, ...], a: str, b: str, accumulator: str, shape: Shape
) -> DotAtom | None:
    """The atom of an instruction, or None."""
    return next((atom for atom in table if atom.takes(a, b, accumulator, shape)), None)


def fragment_registers(shape: Shape, operand: str, type: str, *, sparse: bool = False) -> int:
    """The 32-bit registers per lane of an operand of a warp; an f64 counts as one."""
    m, n, k = shape
    elements = {"a": m * k // (2 if sparse else 1), "b": k * n, "c": m * n}[operand] // 32
    return elements if type == "f64" else elements * BITS[type] // 32
