"""Products of warpgroups: the sums that each has, and how factors lie in shared memory for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.layout import gf2
from tilewright.layout.descriptors import GROUP, Descriptor, describe
from tilewright.layout.fragments import wgmma_accumulator
from tilewright.layout.linear import LANE, OFFSET, REGISTER, WARP, Layout, log2, pack, unpack
from tilewright.layout.products import consists_of, fragment_tile, warp_grid
from tilewright.layout.spread import LANES, taken, unit_vectors
from tilewright.layout.swizzle import CHUNK, SPANS, swizzled
from tilewright.target.arch import REGISTER_BYTES
from tilewright.target.tensor_cores import (
    WARPGROUP,
    WGMMA_COLUMNS,
    WGMMA_DEPTH_BYTES,
    WGMMA_ROWS,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

ALIGNMENT: Final = 1024
"""Where a swizzle pattern begins in memory."""
NARROWEST: Final = 32
"""Bytes of the narrowest swizzle."""
SECTOR: Final = 32
"""Bytes that memory moves at least."""
PAIR: Final = 2 * WARPGROUP
"""The warps of two warpgroups: with more, threads have no room for the sums of 256 columns."""


def warpgroup_total(shape: Sequence[int], warps: int) -> Layout:
    """The sums of a product, or of a batch of them, 64 rows a warpgroup.

    Whatever it multiplies, an instruction has 64 rows: so warpgroups lie below each other while
    there are rows, for the wider its columns are, the less often it reads the rows.

    >>> print(warpgroup_total((128, 16), warps=8).only("register", "warp"))
    register: (0, 1) (8, 0) (0, 8); warp: (16, 0) (32, 0) (64, 0) -> 128x16
    """
    grid = warp_grid(shape, (WGMMA_ROWS, GROUP), warps // WARPGROUP, rows=True)
    columns = min(_widest(warps), shape[-1] // grid.across)
    return fragment_tile(wgmma_accumulator(columns), shape, grid, rows=True, columns=True)


def _widest(warps: int) -> int:
    """The most columns of an instruction: the more warps, the fewer registers a thread has."""
    return WGMMA_COLUMNS * PAIR // max(warps, PAIR)


def instruction_columns(total: Layout) -> int | None:
    """How many columns an instruction can make of sums in a layout; nothing if it is not theirs.

    >>> instruction_columns(warpgroup_total((64, 512), warps=4))
    256
    """
    *_, height, width = total.shape
    columns = min(_widest(total.extent(WARP)), width)
    while columns >= GROUP:
        if height >= WGMMA_ROWS and consists_of(total, wgmma_accumulator(columns)):
            return columns if _has_whole_pieces(total, columns) else None
        columns //= 2
    return None


def _has_whole_pieces(total: Layout, columns: int) -> bool:
    """Whether what lies beyond the first piece begins where pieces do."""
    inner = log2(columns // 2)
    beyond = total.vectors(REGISTER)[inner:] + total.vectors(WARP)[log2(WARPGROUP) :]
    places = [unpack(vector, total.shape)[-2:] for vector in beyond]
    return all(row % WGMMA_ROWS == 0 and column % columns == 0 for row, column in places)


class FactorMemory(NamedTuple):
    """A factor in shared memory: matrices of rows (M or N) by K, one behind the other."""

    places: Layout
    """From an element, by matrix, row and place along K, to its offset."""
    shape: tuple[int, int, int]
    descriptor: Descriptor
    run: int
    """How many instructions along K are equally far apart."""
    step: int
    """How far they are, in units of 16 bytes."""

    def start(self, place: Sequence[int], element: int) -> int:
        """Where a part begins that an instruction reads, in units of 16 bytes."""
        return gf2.combine(self.places.columns(), pack(place, self.shape)) * element // CHUNK


def factor_memory(
    shape: tuple[int, int, int], element: int, *, across: bool = False
) -> FactorMemory:
    """Memory for a batch of factors, rows by K, for elements of so many bytes.

    Neighbours are those along K; with `across`, which elements of two bytes may have, rows.

    >>> found = factor_memory((1, 64, 128), element=1)
    >>> found.descriptor, found.run, found.step
    (Descriptor(span=128, leading=16, stride=1024, across=False), 4, 2)
    >>> found = factor_memory((1, 128, 32), element=2, across=True)
    >>> found.descriptor, found.run, found.step
    (Descriptor(span=128, leading=4096, stride=1024, across=True), 2, 128)
    """
    batch, rows, depth = shape
    span = min(SPANS[0], (rows if across else depth) * element)
    if across:
        one = swizzled((depth, rows), element, span).permute((1, 0))
    else:
        one = swizzled((rows, depth), element, span)
    further = [rows * depth << bit for bit in range(log2(batch))]
    places = Layout([(OFFSET, [*one.vectors(OFFSET), *further])], shape).inverse()
    descriptor = describe(one, element)
    count = depth * element // WGMMA_DEPTH_BYTES
    if across:
        step = WGMMA_DEPTH_BYTES // element * span // CHUNK
        return FactorMemory(places, shape, descriptor, count, step)
    return FactorMemory(
        places, shape, descriptor, span // WGMMA_DEPTH_BYTES, WGMMA_DEPTH_BYTES // CHUNK
    )


def best_memory(source: Layout, element: int) -> FactorMemory:
    """Memory that threads which hold a factor in a layout, rows by K, write with wide accesses."""
    batch, rows, depth = source.shape
    along = factor_memory((batch, rows, depth), element)
    if element != 2 or rows * element < NARROWEST:
        return along
    across = factor_memory((batch, rows, depth), element, across=True)
    return max(along, across, key=lambda each: together(source, each, element))


def together(source: Layout, memory: FactorMemory, element: int) -> int:
    """How many registers of every thread lie side by side in memory, up to 16 bytes.

    >>> from tilewright.layout.spread import spread
    >>> rows = spread((1, 64, 128), warps=4, vector=16)
    >>> together(rows, factor_memory((1, 64, 128), element=1), element=1)
    16
    """
    places = source.then(memory.places)
    registers = places.vectors(REGISTER)
    others = (*places.vectors(LANE), *places.vectors(WARP))
    count = 1
    while count * element < CHUNK and count in registers:
        if any(vector & count for vector in others):
            break
        if any(vector & count and vector != count for vector in registers):
            break
        count *= 2
    return count


def blocks(
    shape: Sequence[int], warps: int, dims: tuple[int, int], vector: int, each: int
) -> Layout:
    """Bytes in blocks of a thread: up to `vector` along the first dimension by 4, 8 or 16.

    Threads have `each` of them. Lanes go along the second dimension first, so that what they write
    along it falls into different banks, and then along the first, until they fill a sector.

    >>> found = blocks((128, 64), warps=4, dims=(1, 0), vector=16, each=64)
    >>> print(found.only("register"))
    register: (0, 1) (0, 2) (0, 4) (0, 8) (1, 0) (2, 0) -> 128x64
    >>> print(found.only("lane"))
    lane: (4, 0) (8, 0) (16, 0) (32, 0) (0, 16) -> 128x64
    """
    first, second = (unit_vectors(shape, (dim,)) for dim in dims)
    vector = max(1, min(vector, each // REGISTER_BYTES))
    pack = max(1, min(CHUNK, each // vector, shape[dims[1]]))
    register = taken(first, log2(vector)) + taken(second, log2(pack))
    across = max(0, log2(SECTOR // vector))
    lane = taken(second, log2(LANES) - across)
    others = [dim for dim in range(len(shape)) if dim not in dims]
    rest = first + second + unit_vectors(shape, others)
    lane += taken(rest, log2(LANES) - len(lane), pad=0)
    warp = taken(rest, log2(warps), pad=0)
    return Layout([(REGISTER, register + rest), (LANE, lane), (WARP, warp)], shape)
