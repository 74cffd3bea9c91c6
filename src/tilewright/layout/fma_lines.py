"""FMA dots in which each thread computes whole columns, or whole rows, of the result.

The line of B (or A) that a column (or row) takes is in registers of the same thread, all of K, and
the other operand is the same for all lanes of a warp: one address of shared memory at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.layout import gf2
from tilewright.layout.linear import LANE, REGISTER, WARP, Layout, log2, pack, unpack
from tilewright.layout.spread import taken
from tilewright.target.arch import LANE_BITS, WARP_SIZE

if TYPE_CHECKING:
    from collections.abc import Sequence

COLUMNS: Final = 2
"""The dimension of the columns of a result; a thread that has whole ones holds B."""
ROWS: Final = 1
"""The dimension of the rows of a result; a thread that has whole ones holds A."""
FEWEST_LINES: Final = 2
"""How many lines a thread needs at least, since each load of the other operand serves all."""
MOST_REGISTERS: Final = 32
"""The most registers that the lines of the operand take, and those of the result."""


class LineTiling(NamedTuple):
    """The layouts of a dot whose threads have whole lines of the result and of one operand."""

    along: int
    """The dimension that the lines are counted along: `COLUMNS` or `ROWS`."""
    accumulator: Layout
    operand: Layout
    """B if threads have columns, A if they have rows."""


def line_tiling(
    shape: Sequence[int],
    k: int,
    warps: int,
    *,
    is_shared: Sequence[bool] = (False, False),
    order: Sequence[int] | None = None,
) -> LineTiling | None:
    """Columns for each thread, or rows; None if threads would have too few or too many elements.

    `is_shared` says of A and of B whether all matrices of a batch have the same one. A thread then
    has lines of several matrices, so that what it loads of that operand serves all of them; else it
    has neighbouring lines of one. `order` lists the bits of the packed index of an element by
    their importance for lanes, those of neighbours in memory first.

    >>> tiling = line_tiling((4, 64), k=8, warps=1)
    >>> print(tiling.accumulator.only("register"), "|", tiling.operand.only("register"))
    register: (0, 1) (1, 0) (2, 0) -> 4x64 | register: (0, 1) (1, 0) (2, 0) (4, 0) -> 8x64
    """
    *batch, height, width = shape
    whole = (batch[0] if batch else 1, height, width)
    for along in (COLUMNS, ROWS):
        lines = whole[0] * whole[along] // (WARP_SIZE * warps)
        longest = max(k, whole[ROWS + COLUMNS - along])
        shared = is_shared[0 if along == COLUMNS else 1]
        # All lanes of a warp read the same element of the other operand.
        is_uniform = shared or whole[along] >= lines * WARP_SIZE
        if is_uniform and lines >= FEWEST_LINES and lines * longest <= MOST_REGISTERS:
            return _tiling(whole, k, warps, along, len(shape), shared, order)
    return None


def _tiling(
    whole: tuple[int, int, int],
    k: int,
    warps: int,
    along: int,
    rank: int,
    is_shared: bool,
    order: Sequence[int] | None,
) -> LineTiling:
    bits = [_unit(whole, along, bit) for bit in range(log2(whole[along]))]
    matrices = [_unit(whole, 0, bit) for bit in range(log2(whole[0]))]
    count = len(bits) + len(matrices) - LANE_BITS - log2(warps)
    register = taken(matrices, count) if is_shared else []
    register += taken(bits, count - len(register))
    others = [*bits, *matrices]
    if order is not None:
        others.sort(key=order.index)
    lane = taken(others, LANE_BITS)
    across = ROWS + COLUMNS - along
    held = [_unit(whole, across, bit) for bit in range(log2(whole[across]))]
    inputs = [(REGISTER, [*register, *held]), (LANE, lane), (WARP, others)]
    accumulator = Layout(inputs, whole)
    extents = (whole[0], k, whole[2]) if along == COLUMNS else (whole[0], whole[1], k)
    along_k = [_unit(extents, across, bit) for bit in range(log2(k))]

    def moved(vectors: Sequence[int]) -> list[int]:
        return [pack(unpack(vector, whole), extents) for vector in vectors]

    inputs = [
        (REGISTER, [*moved(register), *along_k]),
        (LANE, moved(lane)),
        (WARP, moved(others)),
    ]
    operand = Layout(inputs, extents)
    if rank == 3:
        return LineTiling(along, accumulator, operand)
    return LineTiling(along, accumulator.reshape(whole[1:]), operand.reshape(extents[1:]))


def _unit(shape: Sequence[int], dimension: int, bit: int) -> int:
    coordinates = [0] * len(shape)
    coordinates[dimension] = 1 << bit
    return pack(coordinates, shape)


class HeldOperand(NamedTuple):
    """An operand that each thread holds as its accumulators need it."""

    by_accumulator: Sequence[int]
    """The contribution of each bit of the accumulator's register to the operand's register."""
    by_k: Sequence[int]
    """The contribution of each bit of k."""

    def register(self, accumulator: int, k: int) -> int:
        """The register of the operand that an accumulator takes at a k."""
        return gf2.combine(self.by_accumulator, accumulator) ^ gf2.combine(self.by_k, k)


def held_operand(accumulators: Layout, operand: Layout, k_dimension: int) -> HeldOperand | None:
    """How each thread holds what its accumulators need of an operand; None if some does not.

    Both are batches of matrices; an operand of one matrix is that of the whole batch.

    >>> tiling = line_tiling((1, 4, 64), k=8, warps=1)
    >>> held = held_operand(tiling.accumulator, tiling.operand, k_dimension=1)
    >>> [held.register(accumulator, 5) for accumulator in (0, 1, 2, 3)]
    [10, 11, 10, 11]
    """

    def needed(vector: int) -> int:
        coordinates = list(unpack(vector, accumulators.shape))
        coordinates[k_dimension] = 0
        coordinates[0] %= operand.shape[0]
        return pack(coordinates, operand.shape)

    for name in (LANE, WARP):
        if [needed(v) for v in accumulators.vectors(name)] != list(operand.vectors(name)):
            return None
    basis = gf2.Basis(operand.vectors(REGISTER))
    bits = range(log2(operand.shape[k_dimension]))
    units = [_unit(operand.shape, k_dimension, bit) for bit in bits]
    by_accumulator = _expressed(basis, [needed(v) for v in accumulators.vectors(REGISTER)])
    by_k = _expressed(basis, units)
    return None if by_accumulator is None or by_k is None else HeldOperand(by_accumulator, by_k)


def held_layout(accumulators: Layout, k: int, k_dimension: int) -> Layout:
    """The layout of an operand of which each thread holds what its accumulators need, all of K.

    >>> blocks = Layout.build({"register": [(0, 0, 1)], "lane": [(0, 1, 0), (1, 0, 0)]}, (2, 2, 2))
    >>> print(held_layout(blocks, k=2, k_dimension=1))
    register: (0, 0, 1) (0, 1, 0); lane: (0, 0, 0) (1, 0, 0) -> 2x2x2
    """
    extents = list(accumulators.shape)
    extents[k_dimension] = k

    def needed(name: str) -> list[int]:
        vectors: list[int] = []
        for vector in accumulators.vectors(name):
            coordinates = list(unpack(vector, accumulators.shape))
            coordinates[k_dimension] = 0
            vectors.append(pack(coordinates, extents))
        return vectors

    along_k = [_unit(extents, k_dimension, bit) for bit in range(log2(k))]
    register = [vector for vector in needed(REGISTER) if vector]
    inputs = [(REGISTER, [*register, *along_k]), (LANE, needed(LANE)), (WARP, needed(WARP))]
    return Layout(inputs, extents)


def _expressed(basis: gf2.Basis, vectors: Sequence[int]) -> list[int] | None:
    """Which registers each vector is the sum of; None if one is of none."""
    sources = [basis.express(vector) for vector in vectors]
    solved = [each for each in sources if each is not None]
    return solved if len(solved) == len(sources) else None
