"""Tensor-core instructions: the shapes and element types that each takes.

Shapes are `(m, n, k)`, element types as PTX spells them. The tables are those of the PTX ISA.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.target.features import Feature

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
WGMMA_ROWS: Final = 64
"""M of a wgmma."""
WGMMA_COLUMNS: Final = 256
"""The largest N of a wgmma."""
WGMMA_K_BYTES: Final = 32
"""Bytes of K of a wgmma."""
EITHER_MAJOR_BYTES: Final = 2
"""Bytes of the only elements that wgmma reads from shared memory M- or N-major, too."""


class MmaFamily:
    """A family of mma instructions: operand types, accumulator types, shapes."""

    __slots__ = ("accumulators", "feature", "multiplicands", "shapes")

    def __init__(
        self,
        multiplicands: Iterable[tuple[str, str]],
        accumulators: Iterable[str],
        shapes: Iterable[Shape],
        feature: Feature = Feature.BASE,
    ) -> None:
        self.multiplicands = frozenset(multiplicands)
        """Pairs of the types of A and B."""
        self.accumulators = frozenset(accumulators)
        self.shapes = tuple(shapes)
        self.feature = feature

    def takes(self, a: str, b: str, accumulator: str, shape: Shape) -> bool:
        """Whether this family has the instruction of these types and this shape."""
        return (
            (a, b) in self.multiplicands
            and accumulator in self.accumulators
            and shape in self.shapes
        )


def _same(*types: str) -> list[tuple[str, str]]:
    return [(type, type) for type in types]


def _any(*types: str) -> list[tuple[str, str]]:
    return [(a, b) for a in types for b in types]


MMA: Final = (
    MmaFamily(_same("f16"), ("f16", "f32"), ((16, 8, 8), (16, 8, 16))),
    MmaFamily(_same("bf16"), ("f32",), ((16, 8, 8), (16, 8, 16))),
    MmaFamily(_same("tf32"), ("f32",), ((16, 8, 4), (16, 8, 8))),
    MmaFamily(_same("f64"), ("f64",), ((8, 8, 4),)),
    MmaFamily(_same("f64"), ("f64",), ((16, 8, 4), (16, 8, 8), (16, 8, 16)), Feature.F64_MMA),
    MmaFamily(_any("s8", "u8"), ("s32",), ((8, 8, 16), (16, 8, 16), (16, 8, 32))),
    MmaFamily(_any("s4", "u4"), ("s32",), ((8, 8, 32), (16, 8, 32), (16, 8, 64))),
    MmaFamily(_same("b1"), ("s32",), ((8, 8, 128), (16, 8, 128), (16, 8, 256))),
    MmaFamily(_any("e4m3", "e5m2"), ("f16", "f32"), ((16, 8, 16), (16, 8, 32)), Feature.FP8),
)
"""`mma.sync`, executed by a warp. m8n8k4 of f16 is emulated since sm_80: left out."""

SPARSE_MMA: Final = (
    MmaFamily(_same("f16"), ("f16", "f32"), ((16, 8, 16), (16, 8, 32))),
    MmaFamily(_same("bf16"), ("f32",), ((16, 8, 16), (16, 8, 32))),
    MmaFamily(_same("tf32"), ("f32",), ((16, 8, 8), (16, 8, 16))),
    MmaFamily(_any("s8", "u8"), ("s32",), ((16, 8, 32), (16, 8, 64))),
    MmaFamily(_any("s4", "u4"), ("s32",), ((16, 8, 64), (16, 8, 128))),
    # LLVM has these of f32 accumulators alone.
    MmaFamily(_any("e4m3", "e5m2"), ("f32",), ((16, 8, 64),), Feature.FP8),
)
"""`mma.sp.sync`: A holds two of every four elements, and metadata says which."""

_EIGHTS: Final = tuple(range(8, WGMMA_COLUMNS + 1, 8))
_INTEGER_N: Final = (8, 16, 24, *range(32, WGMMA_COLUMNS + 1, 16))


def _wgmma(extents: Iterable[int], k: int) -> list[Shape]:
    return [(WGMMA_ROWS, n, k) for n in extents]


WGMMA: Final = (
    MmaFamily(_same("f16"), ("f16", "f32"), _wgmma(_EIGHTS, 16), Feature.WGMMA),
    MmaFamily(_same("bf16"), ("f32",), _wgmma(_EIGHTS, 16), Feature.WGMMA),
    MmaFamily(_same("tf32"), ("f32",), _wgmma(_EIGHTS, 8), Feature.WGMMA),
    MmaFamily(_any("e4m3", "e5m2"), ("f16", "f32"), _wgmma(_EIGHTS, 32), Feature.WGMMA),
    MmaFamily(_any("s8", "u8"), ("s32",), _wgmma(_INTEGER_N, 32), Feature.WGMMA),
    MmaFamily(_same("b1"), ("s32",), _wgmma(_INTEGER_N, 256), Feature.WGMMA),
)
"""`wgmma.mma_async`, executed by a warpgroup: B in shared memory, A there or in registers."""

K_MAJOR_ONLY: Final = frozenset(
    type for row in WGMMA for type, _ in row.multiplicands if BITS[type] != 8 * EITHER_MAJOR_BYTES
)
"""The types of A and B that wgmma reads from shared memory K-major only."""

TABLES: Final[Mapping[str, tuple[MmaFamily, ...]]] = {
    "mma": MMA,
    "mma.sp": SPARSE_MMA,
    "wgmma": WGMMA,
}


def find_mma(
    table: tuple[MmaFamily, ...], a: str, b: str, accumulator: str, shape: Shape
) -> MmaFamily | None:
    """The family of an instruction, or None."""
    return next((row for row in table if row.takes(a, b, accumulator, shape)), None)


def fragment_registers(shape: Shape, operand: str, type: str, *, sparse: bool = False) -> int:
    """The 32-bit registers per lane of an operand of a warp; an f64 counts as one."""
    m, n, k = shape
    elements = {"a": m * k // (2 if sparse else 1), "b": k * n, "c": m * n}[operand] // 32
    return elements if type == "f64" else elements * BITS[type] // 32
