"""Warp-wide matrix operations: ldmatrix, mma.sync and sparse mma.sync."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import ANY_VECTOR, INDEX_TYPE, RANKED_MEMREF, memref, vector
from tilewright.dialects.gpu.attributes import in_shared_memory
from tilewright.dialects.memref.access import index_count_problems
from tilewright.dialects.nvgpu.constraints import bits_of
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import ARRAY_ATTR, BOOL_ATTR, I32_ATTR
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.constraints import exactly
from tilewright.ir.operation import Operation
from tilewright.ir.traits import Effects, SameType
from tilewright.ir.types import (
    BF16,
    F8E4M3FN,
    F8E5M2,
    F16,
    F32,
    F64,
    I1,
    I4,
    I8,
    I16,
    I32,
    IntegerType,
    VectorType,
)

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type

INT8_TYPES: Final = (I8, IntegerType(8, "s"), IntegerType(8, "u"))
"""The int8 types; a signless one is signed."""
_INT4_TYPES: Final = (I4, IntegerType(4, "s"), IntegerType(4, "u"))
_MULTIPLICAND_TYPES: Final = (
    (F64,),
    (F32,),
    (F16,),
    (BF16,),
    (F8E4M3FN, F8E5M2),
    INT8_TYPES,
    _INT4_TYPES,
    (I1,),
)
"""Element types of A and B; both are of the same row."""

_ACCUMULATOR_TYPES: Final[dict[Type, tuple[Type, ...]]] = {
    F64: (F64,),
    F32: (F32,),
    BF16: (F32,),
    **dict.fromkeys((*INT8_TYPES, *_INT4_TYPES, I1), (I32,)),
}
"""Accumulator types by element type of A, if not f16 and f32."""


class LdMatrixOp(Operation):
    """Load fragments of 8x8 matrices, in the register layout of mma.sync.

    Each lane gives the address of a row: the first eight lanes for the first matrix, and so on.
    """

    name = "nvgpu.ldmatrix"
    effects = Effects.READ
    syntax = "$src_memref `[` $indices `]` attr-dict `:` type($src_memref) `->` type($res)"

    src_memref = d.operand(RANKED_MEMREF)
    indices = d.operands(INDEX_TYPE)
    transpose = d.attribute(BOOL_ATTR)
    num_tiles = d.attribute(I32_ATTR, spelling="numTiles")
    res = d.result(ANY_VECTOR)

    def verify(self) -> Iterator[str]:
        source, result = memref(self.src_memref), vector(self.res)
        yield from index_count_problems(source, self.indices)
        if not in_shared_memory(source):
            yield f"expected a source in shared memory, got '{source}'"
        if source.element is not result.element:
            yield f"expected a result of '{source.element}' like the source, got '{result}'"
        bits = bits_of(result.element)
        if bits is None or bits > 32:
            yield f"expected elements of at most 32 bits, got '{result.element}'"
            return
        if self.transpose and bits != 16:
            yield f"expected elements of 16 bits to transpose, got '{result.element}'"
        if self.num_tiles not in (1, 2, 4):
            yield f"expected 1, 2 or 4 matrices, got {self.num_tiles}"
        if result.shape != (self.num_tiles, 32 // bits):
            expected = VectorType((max(self.num_tiles, 1), 32 // bits), result.element)
            yield f"expected a result of type '{expected}', got '{result}'"


class MmaOp(Operation):
    """Base of the warp-level mma operations: each lane holds its fragments of A, B and C."""

    effects = Effects.NONE
    traits = (SameType("matrix_c", "res"),)

    matrix_a = d.operand(ANY_VECTOR)
    matrix_b = d.operand(ANY_VECTOR)
    matrix_c = d.operand(ANY_VECTOR)


def mma_extents(elements: tuple[object, ...]) -> tuple[int, ...]:
    """Return M, N and K of `mmaShape`."""
    return tuple([each.value for each in elements if isinstance(each, IntegerAttr)])


def _fragment_problems(name: str, type: VectorType, tiles: int, elements: int) -> Iterator[str]:
    if type.shape != (tiles, elements):
        yield f"expected matrix {name} of shape {tiles}x{elements}, got '{type}'"


def _mma_problems(
    a: VectorType, b: VectorType, c: VectorType, shape: tuple[int, ...], sparsity: int
) -> Iterator[str]:
    """Check the fragments of an mma.

    The instruction shape is a multiple of 8x8 and of 128 bits of K, 256 for f64; a lane holds 32
    bits of each such tile of A and of B, or one f64, and two elements of C.
    """
    element = a.element
    if not any(element in row and b.element in row for row in _MULTIPLICAND_TYPES):
        listed = "i1, i4, i8, f8, f16, bf16, f32 (as tf32) or f64"
        yield f"expected A and B of {listed}, got '{a}' and '{b}'"
        return
    if len(shape) != 3 or min(shape) < 1:
        yield f"expected 'mmaShape' to be three positive numbers, got {list(shape)}"
        return
    if sparsity > 1 and element is F64:
        yield "expected an element type other than f64 for a sparse mma"
        return
    bits = bits_of(element) or 32
    tile_k, lane_elements = (4, 1) if element is F64 else (128 // bits, 32 // bits)
    m, n, k = shape
    if m % 8 or n % 8 or k % (tile_k * sparsity):
        yield f"expected 'mmaShape' in multiples of [8, 8, {tile_k * sparsity}], got {list(shape)}"
        return
    yield from _fragment_problems("A", a, m // 8 * (k // tile_k) // sparsity, lane_elements)
    yield from _fragment_problems("B", b, n // 8 * (k // tile_k), lane_elements)
    yield from _fragment_problems("C", c, m // 8 * (n // 8), 2)
    accumulators = _ACCUMULATOR_TYPES.get(element, (F16, F32))
    if c.element not in accumulators:
        yield f"cannot accumulate mma of '{element}' in '{c.element}'"


class MmaSyncOp(MmaOp):
    """Compute `A * B + C` by one warp; integer accumulators wrap around."""

    name = "nvgpu.mma.sync"
    syntax = (
        "`(` $matrix_a `,` $matrix_b `,` $matrix_c `)` attr-dict "
        "`:` `(` type($matrix_a) `,` type($matrix_b) `,` type($matrix_c) `)` `->` type($res)"
    )

    mma_shape = d.attribute(ARRAY_ATTR, spelling="mmaShape")
    tf32_enabled = d.flag(spelling="tf32Enabled")
    res = d.result(ANY_VECTOR)

    def verify(self) -> Iterator[str]:
        a, b, c = vector(self.matrix_a), vector(self.matrix_b), vector(self.matrix_c)
        yield from _mma_problems(a, b, c, mma_extents(self.mma_shape), 1)
        if self.tf32_enabled and a.element is not F32:
            yield f"expected 'tf32Enabled' only for f32, got '{a.element}'"


def _selectors(a: VectorType, shape: tuple[int, ...]) -> int:
    """Return the number of groups of lanes that can hold the metadata of A.

    Four bits of metadata describe four elements, but two of 32 bits and eight of 4 bits.
    """
    if len(shape) != 3 or min(shape) < 1:
        return 1
    m, _, k = shape
    described = {32: 2, 4: 8}.get(bits_of(a.element) or 0, 4)
    return max(1, 32 * 32 // (m * k * 4 // described))


METADATA: Final = exactly(VectorType((2,), I16), "fixed-length vector of 2 16-bit integers")


class MmaSparseSyncOp(MmaOp):
    """Compute `A * B + C` by one warp with 2:4 sparse A, described by metadata."""

    name = "nvgpu.mma.sp.sync"
    syntax = (
        "`(` $matrix_a `,` $matrix_b `,` $matrix_c `)` `metadata` `(` $sparse_metadata `)` "
        "attr-dict "
        "`:` `(` type($matrix_a) `,` type($matrix_b) `,` type($matrix_c) `)` `->` type($res)"
    )

    sparse_metadata = d.operand(METADATA)
    mma_shape = d.attribute(ARRAY_ATTR, spelling="mmaShape")
    sparsity_selector = d.attribute(I32_ATTR, default=0, spelling="sparsitySelector")
    ordered = d.flag(spelling="orderedMetadata")
    """Whether the indices of the metadata are in order, which may be faster."""
    tf32_enabled = d.flag(spelling="tf32Enabled")
    res = d.result(ANY_VECTOR)

    def verify(self) -> Iterator[str]:
        a, b, c = vector(self.matrix_a), vector(self.matrix_b), vector(self.matrix_c)
        yield from _mma_problems(a, b, c, mma_extents(self.mma_shape), 2)
        if self.tf32_enabled and a.element is not F32:
            yield f"expected 'tf32Enabled' only for f32, got '{a.element}'"
        most = _selectors(a, mma_extents(self.mma_shape)) - 1
        if not 0 <= self.sparsity_selector <= most:
            yield f"expected a sparsity selector from 0 to {most}, got {self.sparsity_selector}"
