"""wgmma: the accumulator layout over warpgroups, and operands in swizzled shared memory."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.layout import gf2
from tilewright.layout.descriptors import GROUP, Descriptor, describe
from tilewright.layout.fragments import wgmma_accumulator, wgmma_left
from tilewright.layout.linear import LANE, OFFSET, REGISTER, WARP, Layout, log2, pack, unpack
from tilewright.layout.mma_tiling import consists_of, fragment_tile, warp_grid
from tilewright.layout.spread import taken, unit_vectors
from tilewright.layout.swizzle import CHUNK, SPANS, swizzled
from tilewright.layout.vector_access import contiguous_offsets
from tilewright.target.arch import LANE_BITS, REGISTER_BYTES
from tilewright.target.memories import SECTOR
from tilewright.target.tensor_cores import (
    EITHER_MAJOR_BYTES,
    WARPGROUP,
    WGMMA_COLUMNS,
    WGMMA_K_BYTES,
    WGMMA_ROWS,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

ALIGNMENT: Final = 1024
"""Alignment of a swizzle pattern in shared memory."""
NARROWEST: Final = 32
"""Bytes of the narrowest swizzle."""
MATRIX_RANK: Final = 2
PAIR: Final = 2 * WARPGROUP
"""Warps of two warpgroups: with more, a thread lacks the registers to accumulate N = 256."""


def wgmma_tile(shape: Sequence[int], warps: int) -> Layout:
    """The accumulator of a dot, or of a batch of them, in 64 rows per warpgroup.

    M of an instruction is always 64, so warpgroups are stacked along M while there are rows: the
    larger N, the fewer times A is read.

    >>> print(wgmma_tile((128, 16), warps=8).only("register", "warp"))
    register: (0, 1) (8, 0) (0, 8); warp: (16, 0) (32, 0) (64, 0) -> 128x16
    """
    grid = warp_grid(shape, (WGMMA_ROWS, GROUP), warps // WARPGROUP, rows=True)
    columns = min(_widest(warps), shape[-1] // grid.across)
    return fragment_tile(wgmma_accumulator(columns), shape, grid, rows=True, columns=True)


def left_fragments(
    shape: Sequence[int], accumulator: Sequence[int], bits: int, warps: int
) -> Layout:
    """A of a dot in registers, by the shapes of A and of the accumulator, for `bits` an element.

    >>> print(left_fragments((128, 16), (128, 16), 16, warps=8).only("register", "warp"))
    register: (0, 1) (8, 0) (0, 8); warp: (16, 0) (32, 0) (64, 0) -> 128x16
    """
    grid = warp_grid(accumulator, (WGMMA_ROWS, GROUP), warps // WARPGROUP, rows=True)
    return fragment_tile(wgmma_left(bits), shape, grid, rows=True, columns=False)


def _widest(warps: int) -> int:
    """The largest N of an instruction: the more warps, the fewer registers a thread has."""
    return WGMMA_COLUMNS * PAIR // max(warps, PAIR)


@lru_cache(maxsize=256)
def instruction_columns(accumulator: Layout) -> int | None:
    """The largest N of a wgmma for an accumulator layout; None if the layout is not one of wgmma.

    >>> instruction_columns(wgmma_tile((64, 512), warps=4))
    256
    """
    *_, height, width = accumulator.shape
    columns = min(_widest(accumulator.extent(WARP)), width)
    while columns >= GROUP:
        if height >= WGMMA_ROWS and consists_of(accumulator, wgmma_accumulator(columns)):
            return columns if _has_whole_tiles(accumulator, columns) else None
        columns //= 2
    return None


def _has_whole_tiles(accumulator: Layout, columns: int) -> bool:
    """Whether the accumulator is made of whole instruction tiles."""
    inner = log2(columns // 2)
    beyond = accumulator.vectors(REGISTER)[inner:] + accumulator.vectors(WARP)[log2(WARPGROUP) :]
    starts = [unpack(vector, accumulator.shape)[-2:] for vector in beyond]
    return all(row % WGMMA_ROWS == 0 and column % columns == 0 for row, column in starts)


class OperandSmem(NamedTuple):
    """A wgmma operand in shared memory: a batch of matrices, rows (M or N) by K."""

    offsets: Layout
    """From an element, by matrix, row and k, to its offset."""
    shape: tuple[int, int, int]
    descriptor: Descriptor
    run: int
    """How many consecutive instructions along K have a constant stride."""
    step: int
    """That stride, in units of 16 bytes."""

    @property
    def placement(self) -> Layout:
        """From an offset to the element there, by matrix, row and k."""
        return Layout([(OFFSET, self.offsets.inverse().columns())], self.shape)

    def start(self, coordinates: Sequence[int], element: int) -> int:
        """The start address of an instruction's operand, in units of 16 bytes."""
        return gf2.combine(self.offsets.columns(), pack(coordinates, self.shape)) * element // CHUNK


def operand_smem(shape: tuple[int, int, int], element: int, *, across: bool = False) -> OperandSmem:
    """Shared memory of a batch of operands, rows by K, for elements of `element` bytes.

    The operand is K-major; with `across`, which 16-bit elements may have, M- or N-major.

    >>> smem = operand_smem((1, 64, 128), element=1)
    >>> smem.descriptor, smem.run, smem.step
    (Descriptor(span=128, leading=16, stride=1024, across=False), 4, 2)
    >>> smem = operand_smem((1, 128, 32), element=2, across=True)
    >>> smem.descriptor, smem.run, smem.step
    (Descriptor(span=128, leading=4096, stride=1024, across=True), 2, 128)
    """
    batch, rows, k = shape
    span = min(SPANS[0], (rows if across else k) * element)
    if across:
        one = swizzled((k, rows), element, span).permute((1, 0))
    else:
        one = swizzled((rows, k), element, span)
    further = [rows * k << bit for bit in range(log2(batch))]
    offsets = Layout([(OFFSET, [*one.vectors(OFFSET), *further])], shape).inverse()
    descriptor = describe(one, element)
    count = k * element // WGMMA_K_BYTES
    if across:
        step = WGMMA_K_BYTES // element * span // CHUNK
        return OperandSmem(offsets, shape, descriptor, count, step)
    return OperandSmem(offsets, shape, descriptor, span // WGMMA_K_BYTES, WGMMA_K_BYTES // CHUNK)


def batched(layout: Layout) -> Layout:
    """The layout of a matrix as that of a batch of one; a batch is itself."""
    return layout.expand(0) if len(layout.shape) == MATRIX_RANK else layout


def recognize_operand(placement: Layout, element: int) -> OperandSmem | None:
    """The operand, rows by K, that a placement in shared memory is; None if wgmma reads none.

    >>> memory = operand_smem((1, 128, 32), element=2, across=True)
    >>> recognize_operand(memory.placement, element=2) == memory
    True
    """
    batch, rows, k = placement.shape
    offsets = placement.inverse()
    for across in (False, True) if element == EITHER_MAJOR_BYTES else (False,):
        memory = operand_smem((batch, rows, k), element, across=across)
        if memory.offsets.columns() == offsets.columns():
            return memory
    return None


def best_operand_smem(source: Layout, element: int) -> OperandSmem:
    """The major in which threads that hold an operand, rows by K, write it with wide accesses."""
    batch, rows, k = source.shape
    along = operand_smem((batch, rows, k), element)
    if element != EITHER_MAJOR_BYTES or rows * element < NARROWEST:
        return along
    across = operand_smem((batch, rows, k), element, across=True)
    return max(
        along, across, key=lambda each: contiguous_offsets(source.then(each.offsets), element)
    )


def blocks(
    shape: Sequence[int], warps: int, dims: tuple[int, int], vector: int, each: int
) -> Layout:
    """Blocks of int8 or fp8 per thread: up to `vector` along the first dimension by 4, 8 or 16.

    Threads have `each` of them. Lanes go along the second dimension first, so that what they write
    along it falls into different banks, and then along the first, until they fill a sector.

    >>> layout = blocks((128, 64), warps=4, dims=(1, 0), vector=16, each=64)
    >>> print(layout.only("register"))
    register: (0, 1) (0, 2) (0, 4) (0, 8) (1, 0) (2, 0) -> 128x64
    >>> print(layout.only("lane"))
    lane: (4, 0) (8, 0) (16, 0) (32, 0) (0, 16) -> 128x64
    """
    first, second = (unit_vectors(shape, (dim,)) for dim in dims)
    vector = max(1, min(vector, each // REGISTER_BYTES))
    pack = max(1, min(CHUNK, each // vector, shape[dims[1]]))
    register = taken(first, log2(vector)) + taken(second, log2(pack))
    across = max(0, log2(SECTOR // vector))
    lane = taken(second, LANE_BITS - across)
    others = [dim for dim in range(len(shape)) if dim not in dims]
    rest = first + second + unit_vectors(shape, others)
    lane += taken(rest, LANE_BITS - len(lane), pad=0)
    warp = taken(rest, log2(warps), pad=0)
    return Layout([(REGISTER, register + rest), (LANE, lane), (WARP, warp)], shape)
