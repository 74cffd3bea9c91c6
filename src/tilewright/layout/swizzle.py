"""Swizzled shared memory: 16-byte chunks permuted within rows, as TMA writes and wgmma reads them.

The memory layouts here map the offset of an element to its coordinates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.layout.linear import OFFSET, Layout, log2, pack

if TYPE_CHECKING:
    from collections.abc import Sequence

CHUNK: Final = 16
"""Bytes that stay together."""
SPANS: Final = (128, 64, 32, 16)
"""Bytes of a row of swizzled memory, the widest first; 16 is memory without a swizzle."""


def swizzle(address: int, span: int) -> int:
    """The address where what belongs at `address` lies; the other way round it is the same.

    >>> swizzle(128, 128), swizzle(128 + 16, 128), swizzle(256, 64)
    (144, 128, 288)
    """
    rows = span // CHUNK - 1
    return address ^ ((address >> 7 & rows) << 4)


def row_major(shape: Sequence[int]) -> Layout:
    """Row-major memory."""
    bits = log2(pack([extent - 1 for extent in shape], shape) + 1)
    return Layout([(OFFSET, [1 << bit for bit in range(bits)])], shape)


def swizzled(shape: Sequence[int], element: int, span: int) -> Layout:
    """Rows by columns as boxes of `span` bytes of each row, one box after the other.

    Eight rows of 64 f16: chunk c of row r is chunk c ^ r of its line.

    >>> memory = swizzled((8, 64), element=2, span=128)
    >>> memory.at(offset=64), memory.at(offset=64 + 8)
    ((1, 8), (1, 0))
    """
    rows, columns = shape
    width = min(span // element, columns)
    vectors: list[int] = []
    for bit in range(log2(rows * columns)):
        address = swizzle(element << bit, span) // element
        box, within = divmod(address, rows * width)
        row, column = divmod(within, width)
        vectors.append(pack((row, box * width + column), shape))
    return Layout([(OFFSET, vectors)], shape)
