"""Matrix multiply-accumulate: `result = lhs @ rhs + acc`, optionally batched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.base import TileOp
from tilewright.dialects.cuda_tile.constraints import I8_TILE, I32_TILE, tile_of
from tilewright.dialects.cuda_tile.kinds import SIGNEDNESS
from tilewright.dialects.cuda_tile.traits import same_element, shape_problems, tile
from tilewright.dialects.cuda_tile.types import FNV8E5M3FNU, TileType
from tilewright.ir import declare as d
from tilewright.ir.traits import Effects, SameType
from tilewright.ir.types import (
    BF16,
    F4E2M1FN,
    F8E4M3FN,
    F8E5M2,
    F8E8M0FNU,
    F16,
    F32,
    F64,
    TF32,
)

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type

ACCUMULATORS: Final[dict[Type, tuple[Type, ...]]] = {
    F8E4M3FN: (F16, F32),
    F8E5M2: (F16, F32),
    F16: (F16, F32),
    BF16: (F32,),
    TF32: (F32,),
    F32: (F32,),
    F64: (F64,),
}
"""The accumulator types of each operand type."""

SCALE_BLOCKS: Final[dict[tuple[Type, Type], tuple[int, ...]]] = {
    (F8E4M3FN, F8E8M0FNU): (32,),
    (F8E5M2, F8E8M0FNU): (32,),
    (F4E2M1FN, F8E4M3FN): (16,),
    (F4E2M1FN, F8E8M0FNU): (16, 32),
    (F4E2M1FN, FNV8E5M3FNU): (16, 32),
}
"""The number of elements that share a scale, by the types of elements and scales."""

MMAF_OPERANDS: Final = tile_of(
    "tile of f16, bf16, f32, f64, tf32, f8E4M3FN or f8E5M2", *ACCUMULATORS
)
MMAF_ACCUMULATORS: Final = tile_of("tile of f16, f32 or f64", F16, F32, F64)
SCALED_OPERANDS: Final = tile_of("tile of f8E4M3FN, f8E5M2 or f4E2M1FN", F8E4M3FN, F8E5M2, F4E2M1FN)
SCALED_ACCUMULATORS: Final = tile_of("tile of f32", F32)
SCALES: Final = tile_of(
    "tile of f8E4M3FN, f8E8M0FNU or fnv8E5M3FNU", F8E4M3FN, F8E8M0FNU, FNV8E5M3FNU
)


def mma_problems(lhs: TileType, rhs: TileType, acc: TileType) -> Iterator[str]:
    """Check the shapes of lhs, rhs and acc."""
    ranks = lhs.rank, rhs.rank, acc.rank
    if ranks not in ((2, 2, 2), (3, 3, 3)):
        actual = ", ".join(map(str, ranks))
        yield f"expected lhs, rhs and acc of rank 2, or all of rank 3, got ranks {actual}"
        return
    *batch, m, k = lhs.shape
    n = rhs.shape[-1]
    yield from shape_problems("rhs", (*batch, k, n), rhs)
    yield from shape_problems("acc", (*batch, m, n), acc)


class MmaOp(TileOp):
    """Base of the matrix multiply-accumulate operations."""

    since = (13, 1)
    effects = Effects.PURE
    traits = (SameType("acc", "result"), same_element("lhs", "rhs"))

    def result_names(self, style: str) -> Iterable[tuple[int, str]]:
        return ((0, "mm"),) if style == "tileiras" else ()


class MmaFOp(MmaOp):
    """Matrix multiply-accumulate of floats.

    `fast_acc` allows an fp8 mma to accumulate with less precision than the type of `acc`.
    """

    name = "cuda_tile.mmaf"
    syntax = (
        "$lhs `,` $rhs `,` $acc (`fast_acc` $fast_acc^)? attr-dict "
        "`:` type($lhs) `,` type($rhs) `,` type($acc)"
    )

    lhs = d.operand(MMAF_OPERANDS)
    rhs = d.operand(MMAF_OPERANDS)
    acc = d.operand(MMAF_ACCUMULATORS)
    fast_acc = d.flag(since=(13, 3))
    result = d.result(MMAF_ACCUMULATORS)

    def verify(self) -> Iterator[str]:
        lhs, acc = tile(self.lhs), tile(self.acc)
        yield from mma_problems(lhs, tile(self.rhs), acc)
        allowed = ACCUMULATORS[lhs.element]
        if acc.element not in allowed:
            expected = " or ".join(map(str, allowed))
            yield f"expected acc of {expected} for lhs of {lhs.element}, got {acc.element}"


class MmaIOp(MmaOp):
    """Matrix multiply-accumulate of int8, signed or unsigned; the accumulator is signed."""

    name = "cuda_tile.mmai"
    syntax = (
        "$lhs `,` $rhs `,` $acc $signedness_lhs $signedness_rhs attr-dict "
        "`:` type($lhs) `,` type($rhs) `,` type($acc)"
    )

    lhs = d.operand(I8_TILE)
    rhs = d.operand(I8_TILE)
    acc = d.operand(I32_TILE)
    signedness_lhs = d.attribute(SIGNEDNESS)
    signedness_rhs = d.attribute(SIGNEDNESS)
    result = d.result(I32_TILE)

    def verify(self) -> Iterator[str]:
        yield from mma_problems(tile(self.lhs), tile(self.rhs), tile(self.acc))


class MmaFScaledOp(MmaOp):
    """Block-scaled matrix multiply-accumulate of fp8 and fp4.

    The scales have the shape of their operand, but one entry for each block of elements along K:
    `lhs[m, k]` is scaled to `lhs[m, k] * lhs_scale[m, k // block]`.
    """

    name = "cuda_tile.mmaf_scaled"
    since = (13, 3)
    traits = (*MmaOp.traits, same_element("lhs_scale", "rhs_scale"))
    syntax = (
        "$lhs `,` $rhs `,` $acc `,` $lhs_scale `,` $rhs_scale attr-dict "
        "`:` type($lhs) `,` type($rhs) `,` type($acc) `,` type($lhs_scale) `,` type($rhs_scale)"
    )

    lhs = d.operand(SCALED_OPERANDS)
    rhs = d.operand(SCALED_OPERANDS)
    acc = d.operand(SCALED_ACCUMULATORS)
    lhs_scale = d.operand(SCALES)
    rhs_scale = d.operand(SCALES)
    result = d.result(SCALED_ACCUMULATORS)

    def verify(self) -> Iterator[str]:
        problems = list(mma_problems(tile(self.lhs), tile(self.rhs), tile(self.acc)))
        yield from problems or self._scale_problems()

    def _scale_problems(self) -> Iterator[str]:
        lhs, scale = tile(self.lhs), tile(self.lhs_scale)
        if scale.rank != lhs.rank:
            yield f"expected lhs_scale of rank {lhs.rank}, got {scale.rank}"
            return
        *batch, m, k = lhs.shape
        n = tile(self.rhs).shape[-1]
        blocks = scale.shape[-1]
        yield from shape_problems("lhs_scale", (*batch, m, blocks), scale)
        yield from shape_problems("rhs_scale", (*batch, blocks, n), tile(self.rhs_scale))
        yield from _block_problems(lhs.element, scale.element, k, blocks)


def _block_problems(element: Type, scale: Type, k: int, blocks: int) -> Iterator[str]:
    allowed = SCALE_BLOCKS.get((element, scale))
    if allowed is None:
        expected = " or ".join(str(s) for e, s in SCALE_BLOCKS if e is element)
        yield f"expected scales of {expected} for elements of {element}, got {scale}"
    elif k not in [blocks * block for block in allowed]:
        expected = " or ".join(map(str, allowed))
        yield (
            f"expected {expected} elements of {element} for each scale of {scale}, "
            f"got {k} for {blocks}"
        )
