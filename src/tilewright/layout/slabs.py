"""Factors of products in shared memory: slabs of their depth, one behind the other.

For one place along the depth, a slab has all rows of A or all columns of B side by side, where
every thread finds those that it multiplies. Both are batches of matrices here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.layout.linear import LANE, Layout, log2, pack, unpack

if TYPE_CHECKING:
    from collections.abc import Sequence

LIMIT: Final = 16 * 1024
"""Bytes that the slabs of both factors should take at most."""
VECTOR: Final = 2
"""Bits of the place in a line that stay as they are, so that vectors can be read."""
SWIZZLED: Final = 3
"""How many further bits change with the depth."""


def slab_depth(batch: int, rows: int, columns: int, depth: int, element: int) -> int:
    """How deep slabs of A and B are.

    >>> slab_depth(1, 128, 128, 64, 4), slab_depth(1, 2, 8, 16, 4)
    (16, 16)
    """
    line = batch * (rows + columns) * element
    while depth > 1 and line * depth > LIMIT:
        depth //= 2
    return depth


def slab_memory(factor: Layout, along: int, slab: int) -> Layout:
    """Where the elements of a factor lie, slab behind slab; `along` is its dimension of depth.

    Lanes that hold one line at several depths of a slab would write to one bank: what their
    numbers along the depth contribute is added to the place in the line. All slabs have one
    order, since a thread reads each of them at the same places.

    >>> rows = Layout.build({"lane": [(0, 0, 1), (0, 0, 2), (0, 8, 0)]}, (1, 16, 4))
    >>> slab_memory(rows, 2, 4).vectors("element")
    (20, 40, 1, 2, 4, 8)
    >>> slab_memory(rows, 2, 2).vectors("element")
    (20, 32, 1, 2, 4, 8)
    """
    shape = factor.shape
    line = 3 - along
    strides = [0, 0, 0]
    strides[line], strides[0], strides[along] = 1, shape[line], shape[line] * shape[0]
    changes = _changes(factor, along, log2(shape[line]), slab)
    vectors: list[int] = []
    for bit in range(log2(factor.size)):
        place = unpack(1 << bit, shape)
        offset = sum(c * s for c, s in zip(place, strides, strict=True))
        vectors.append(offset ^ changes.get(place[along], 0))
    return Layout([("element", vectors)], (factor.size,))


def _changes(factor: Layout, along: int, bits: int, slab: int) -> dict[int, int]:
    """By depth, the bits of the place in a line that change."""
    held = [unpack(vector, factor.shape)[along] for vector in factor.vectors(LANE)]
    single = [depth for depth in held if 0 < depth < slab and not depth & (depth - 1)]
    targets = range(VECTOR, min(VECTOR + SWIZZLED, bits))
    return {depth: 1 << target for depth, target in zip(single, targets, strict=False)}


def line_offset(memory: Layout, shape: Sequence[int], place: Sequence[int]) -> int:
    """The offset of an element of a factor of that shape."""
    return memory.packed(element=pack(place, shape))
