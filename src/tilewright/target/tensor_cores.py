"""Matrix products of the tensor cores: which shapes and element types each instruction takes.

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
"""How many bits of a register an element takes."""

WARPGROUP: Final = 4
"""How many warps execute a wgmma."""
WGMMA_ROWS: Final = 64
"""How many rows of sums one makes."""
WGMMA_COLUMNS: Final = 256
"""How many columns one makes at most."""
WGMMA_DEPTH_BYTES: Final = 32
"""How much of a row of A, and of a column of B, one takes."""


class Product:
    """A family of matrix products: pairs of multiplicands, accumulators, shapes."""

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
        """Whether this family has the product of these types and this shape."""
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
    Product(_same("f16"), ("f16", "f32"), ((16, 8, 8), (16, 8, 16))),
    Product(_same("bf16"), ("f32",), ((16, 8, 8), (16, 8, 16))),
    Product(_same("tf32"), ("f32",), ((16, 8, 4), (16, 8, 8))),
    Product(_same("f64"), ("f64",), ((8, 8, 4),)),
    Product(_same("f64"), ("f64",), ((16, 8, 4), (16, 8, 8), (16, 8, 16)), Feature.F64_MMA),
    Product(_any("s8", "u8"), ("s32",), ((8, 8, 16), (16, 8, 16), (16, 8, 32))),
    Product(_any("s4", "u4"), ("s32",), ((8, 8, 32), (16, 8, 32), (16, 8, 64))),
    Product(_same("b1"), ("s32",), ((8, 8, 128), (16, 8, 128), (16, 8, 256))),
    Product(_any("e4m3", "e5m2"), ("f16", "f32"), ((16, 8, 16), (16, 8, 32)), Feature.FP8),
)
"""`mma.sync`: the products of a warp. The old m8n8k4 of f16 is emulated since sm_80: left out."""

SPARSE_MMA: Final = (
    Product(_same("f16"), ("f16", "f32"), ((16, 8, 16), (16, 8, 32))),
    Product(_same("bf16"), ("f32",), ((16, 8, 16), (16, 8, 32))),
    Product(_same("tf32"), ("f32",), ((16, 8, 8), (16, 8, 16))),
    Product(_any("s8", "u8"), ("s32",), ((16, 8, 32), (16, 8, 64))),
    Product(_any("s4", "u4"), ("s32",), ((16, 8, 64), (16, 8, 128))),
    # LLVM has these of f32 accumulators alone.
    Product(_any("e4m3", "e5m2"), ("f32",), ((16, 8, 64),), Feature.FP8),
)
"""`mma.sp.sync`: A holds two of every four elements, and metadata says which."""

_EIGHTS: Final = tuple(range(8, WGMMA_COLUMNS + 1, 8))
_INTEGER_N: Final = (8, 16, 24, *range(32, WGMMA_COLUMNS + 1, 16))


def _wgmma(extents: Iterable[int], k: int) -> list[Shape]:
    return [(WGMMA_ROWS, n, k) for n in extents]


WGMMA: Final = (
    Product(_same("f16"), ("f16", "f32"), _wgmma(_EIGHTS, 16), Feature.WGMMA),
    Product(_same("bf16"), ("f32",), _wgmma(_EIGHTS, 16), Feature.WGMMA),
    Product(_same("tf32"), ("f32",), _wgmma(_EIGHTS, 8), Feature.WGMMA),
    Product(_any("e4m3", "e5m2"), ("f16", "f32"), _wgmma(_EIGHTS, 32), Feature.WGMMA),
    Product(_any("s8", "u8"), ("s32",), _wgmma(_INTEGER_N, 32), Feature.WGMMA),
    Product(_same("b1"), ("s32",), _wgmma(_INTEGER_N, 256), Feature.WGMMA),
)
"""`wgmma.mma_async`: the products of four warps, B in shared memory, A there or in registers."""

TABLES: Final[Mapping[str, tuple[Product, ...]]] = {
    "mma": MMA,
    "mma.sp": SPARSE_MMA,
    "wgmma": WGMMA,
}


def find_product(
    table: tuple[Product, ...], a: str, b: str, accumulator: str, shape: Shape
) -> Product | None:
    """The family that has a product, or nothing."""
    return next((row for row in table if row.takes(a, b, accumulator, shape)), None)


def fragment_registers(shape: Shape, operand: str, type: str, *, sparse: bool = False) -> int:
    """How many 32-bit registers of a lane a warp's operand takes; f64 counts as one each."""
    m, n, k = shape
    elements = {"a": m * k // (2 if sparse else 1), "b": k * n, "c": m * n}[operand] // 32
    return elements if type == "f64" else elements * BITS[type] // 32
