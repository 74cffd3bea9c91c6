"""Operands of FMA dots in shared memory: slices of K, stored one after the other.

For each k, a slice holds all rows of A or all columns of B contiguously. Both operands are batches
of matrices here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.layout.linear import LANE, OFFSET, Layout, log2, pack, unpack

if TYPE_CHECKING:
    from collections.abc import Sequence

LIMIT: Final = 16 * 1024
"""Bytes that one slice of both operands should take at most."""
VECTOR: Final = 2
"""Low bits of the index in a line that are not swizzled, so that vectors can be read."""
SWIZZLED: Final = 3
"""How many further bits are swizzled with k."""


def slice_extent(line: int, k: int) -> int:
    """The extent along K of a slice of the operands, which take `line` bytes at one k.

    >>> slice_extent(1024, 64), slice_extent(40, 16)
    (16, 16)
    """
    while k > 1 and line * k > LIMIT:
        k //= 2
    return k


def slice_smem(operand: Layout, along: int, extent: int) -> Layout:
    """The offsets of an operand's elements, slice after slice; `along` is its K dimension.

    Lanes that hold one line at several k of a slice would write to one bank, so the index in the
    line is swizzled with the bits of k that lanes hold. All slices have the same swizzle, since a
    thread reads each of them at the same offsets.

    >>> rows = Layout.build({"lane": [(0, 0, 1), (0, 0, 2), (0, 8, 0)]}, (1, 16, 4))
    >>> slice_smem(rows, 2, 4).vectors("element")
    (20, 40, 1, 2, 4, 8)
    >>> slice_smem(rows, 2, 2).vectors("element")
    (20, 32, 1, 2, 4, 8)
    """
    shape = operand.shape
    line = 3 - along
    strides = [0, 0, 0]
    strides[line], strides[0], strides[along] = 1, shape[line], shape[line] * shape[0]
    swizzles = _swizzles(operand, along, log2(shape[line]), extent)
    vectors: list[int] = []
    for bit in range(log2(operand.size)):
        coordinates = unpack(1 << bit, shape)
        offset = sum(c * s for c, s in zip(coordinates, strides, strict=True))
        vectors.append(offset ^ swizzles.get(coordinates[along], 0))
    return Layout([("element", vectors)], (operand.size,))


def placement(operand: Layout, along: int) -> Layout:
    """A tile in shared memory, offset to element, in which all of an operand is one slice.

    >>> rows = Layout.build({"lane": [(0, 0, 1), (0, 0, 2), (0, 8, 0)]}, (1, 16, 4))
    >>> print(placement(rows, 2))
    offset: (0, 1, 0) (0, 2, 0) (0, 4, 0) (0, 8, 0) (0, 4, 1) (0, 8, 2) -> 1x16x4
    """
    offsets = slice_smem(operand, along, operand.shape[along])
    return Layout([(OFFSET, offsets.inverse().columns())], operand.shape)


def _swizzles(operand: Layout, along: int, bits: int, extent: int) -> dict[int, int]:
    """By bit of k, the bit of the index in a line that it flips."""
    held = [unpack(vector, operand.shape)[along] for vector in operand.vectors(LANE)]
    single = [k for k in held if 0 < k < extent and not k & (k - 1)]
    targets = range(VECTOR, min(VECTOR + SWIZZLED, bits))
    return {k: 1 << target for k, target in zip(single, targets, strict=False)}


def element_offset(memory: Layout, shape: Sequence[int], coordinates: Sequence[int]) -> int:
    """The offset of an element of an operand of that shape."""
    return memory.packed(element=pack(coordinates, shape))
