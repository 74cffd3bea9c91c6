"""ldmatrix and stmatrix: accesses of a warp as 8x8 matrices of 16-bit elements."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from tilewright.layout.linear import LANE, REGISTER, Layout, log2
from tilewright.layout.staging import common_vector, staging
from tilewright.target.arch import REGISTER_BYTES

ROW: Final = 16
"""Bytes of a matrix row, which must be contiguous and aligned."""


class MatrixAccess(NamedTuple):
    """How the lanes address the rows, and which registers the matrices fill."""

    transposed: bool
    rows: tuple[int, ...]
    """Byte offsets by the three bits of the row number, which are the lowest bits of the lane."""
    matrices: tuple[int, ...]
    """Byte offsets by the bits of the matrix number, at most two: x1, x2 or x4."""
    rest: tuple[int, ...]
    """Byte offsets by the register bits that further instructions serve."""
    pair: int | None = None
    """Of transposed bytes, the register bit that chooses one of the two in a 16-bit element."""

    def fill_order(self, count: int) -> list[int]:
        """For each of `count` registers, its number in the order in which ldmatrix fills them.

        It fills both bytes of a 16-bit element at once: their bit is the lowest one there.
        """
        if self.pair is None:
            return list(range(count))
        low = (1 << self.pair) - 1
        return [
            (number >> self.pair & 1) | (number & low) << 1 | (number & ~(2 * low + 1))
            for number in range(count)
        ]


@lru_cache(maxsize=256)
def matrix_memory(source: Layout, wanted: Layout, element: int) -> Layout | None:
    """The memory (offset to element) from which ldmatrix reads a layout; None if it cannot.

    It is written in whole rows, so a thread of the source must hold them. Reading is free of bank
    conflicts as eight lanes that read a row each would be, which is what ldmatrix does.
    """
    if element > REGISTER_BYTES:
        return None
    packed = log2(REGISTER_BYTES // element)
    registers, lanes = wanted.vectors(REGISTER), wanted.vectors(LANE)
    straight = ([*registers[:packed], *lanes[:2]], lanes[2:5])
    # Bytes are transposed in pairs, which a thread of the source holds.
    pair = list(source.vectors(REGISTER)[:1]) if element == 1 else []
    apart = [vector for vector in registers if vector not in pair]
    turned = ([*pair, *lanes[2:5]], (*apart[:1], *lanes[:2]))
    for row, choosing in (straight, turned):
        further = [v for v in registers if v not in (*row, *choosing)]
        rows = Layout([(REGISTER, row), (LANE, [*choosing, *further[:2]])], wanted.shape)
        if common_vector(source, rows, element) != row:
            continue
        memory = staging(source, rows, element)
        if matrix_access(wanted.then(memory.inverse()), element) is not None:
            return memory
    return None


def exchange_memory(source: Layout, wanted: Layout, element: int) -> Layout | None:
    """The memory that stmatrix writes and ldmatrix reads; None if either cannot.

    No thread of either layout holds a whole row: four lanes do, a word each, and the same ones on
    both sides, as of an accumulator that becomes A of the next dot.
    """
    if element >= REGISTER_BYTES:
        # A word is a vector of its own: registers need not be rearranged for wider accesses.
        return None
    packed = log2(REGISTER_BYTES // element)
    row = _lane_row(source, packed)
    if row != _lane_row(wanted, packed):
        return None
    memory = staging(_rows(source, row), _rows(wanted, row), element).inverse()
    accesses = [matrix_access(each.then(memory), element) for each in (source, wanted)]
    is_straight = all(each is not None and not each.transposed for each in accesses)
    return memory.inverse() if is_straight else None


def _lane_row(layout: Layout, packed: int) -> list[int]:
    """The elements of a row of a matrix that is not transposed: a word in each of four lanes."""
    return [*layout.vectors(REGISTER)[:packed], *layout.vectors(LANE)[:2]]


def _rows(layout: Layout, row: list[int]) -> Layout:
    """The rows of a layout's matrices, as if each lane had one, eight lanes those of a matrix."""
    registers = [v for v in layout.vectors(REGISTER) if v not in row]
    choosing = [*layout.vectors(LANE)[2:5], *registers[:2]]
    return Layout([(REGISTER, row), (LANE, choosing)], layout.shape)


def matrix_access(offsets: Layout, element: int) -> MatrixAccess | None:
    """The access of registers and lanes to elements at these offsets; None if it does not fit.

    An A operand of mma.sync from row-major f16 memory, 16 elements a row, is one ldmatrix.x4:

    >>> from tilewright.layout.fragments import mma_left
    >>> from tilewright.layout.swizzle import row_major
    >>> matrix_access(mma_left(16).then(row_major((16, 16)).inverse()), element=2)
    MatrixAccess(transposed=False, rows=(32, 64, 128), matrices=(256, 16), rest=(), pair=None)
    """
    if element > REGISTER_BYTES:
        return None
    registers = [vector * element for vector in offsets.vectors(REGISTER)]
    lanes = [vector * element for vector in offsets.vectors(LANE)]
    return _straight(registers, lanes, element) or _transposed(registers, lanes, element)


def _straight(registers: list[int], lanes: list[int], element: int) -> MatrixAccess | None:
    """Four lanes share a row of memory, a word each; three lane bits choose the row."""
    packed = log2(REGISTER_BYTES // element)
    if registers[:packed] != [element << bit for bit in range(packed)]:
        return None
    if lanes[:2] != [REGISTER_BYTES, 2 * REGISTER_BYTES]:
        return None
    return _access(registers[packed:], lanes[2:], transposed=False)


def _transposed(registers: list[int], lanes: list[int], element: int) -> MatrixAccess | None:
    """Eight lanes share a row of memory, two bytes each; pair and two lane bits choose the row."""
    pair: int | None = None
    if element == 1 and 1 in registers:
        pair = registers.index(1)
        registers, element = [*registers[:pair], *registers[pair + 1 :]], 2
    if element * 2 != REGISTER_BYTES or not registers:
        return None
    if lanes[2:] != [element, 2 * element, 4 * element]:
        return None
    return _access(registers[1:], [registers[0], *lanes[:2]], transposed=True, pair=pair)


def _access(
    further: list[int], rows: list[int], *, transposed: bool, pair: int | None = None
) -> MatrixAccess | None:
    if any(offset % ROW for offset in (*further, *rows)):
        return None
    return MatrixAccess(transposed, tuple(rows), tuple(further[:2]), tuple(further[2:]), pair)
