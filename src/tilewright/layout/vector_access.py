"""Vectorized accesses: which registers of a thread hold contiguous elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.layout import gf2
from tilewright.layout.linear import REGISTER, log2

if TYPE_CHECKING:
    from tilewright.layout.linear import Layout


def contiguous_registers(layout: Layout, limit: int) -> int:
    """How many of a thread's first registers hold contiguous elements, at most `limit`."""
    count = 1
    for vector in layout.vectors(REGISTER):
        if vector != count or count >= limit:
            break
        count *= 2
    return count


def vector_order(offsets: Layout, vector: int) -> list[int]:
    """An order of the registers in which those of each vector access are contiguous.

    `offsets` maps registers to elements of memory, `vector` is the number of elements of an access.
    """
    basis = gf2.Basis(offsets.vectors(REGISTER))
    masks: list[int] = []
    independent = gf2.Basis()
    for bit in range(log2(vector)):
        mask = basis.express(1 << bit)
        assert mask is not None
        independent.offer(bit, mask)
        masks.append(mask)
    for bit in range(len(offsets.vectors(REGISTER))):
        if independent.offer(len(masks), 1 << bit):
            masks.append(1 << bit)
    return [gf2.combine(masks, number) for number in range(offsets.extent(REGISTER))]
