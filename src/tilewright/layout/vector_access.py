"""Vectorized accesses: which registers of a thread hold contiguous elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.layout import gf2
from tilewright.layout.linear import LANE, REGISTER, WARP, log2
from tilewright.target.arch import MAX_ACCESS_BYTES

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


def contiguous_offsets(offsets: Layout, element: int) -> int:
    """How many registers of each thread are contiguous in memory, up to the widest access.

    `offsets` maps registers, lanes and warps to offsets; an element has `element` bytes. Nothing
    else may change the bits within an access, so that it is aligned.
    """
    registers = offsets.vectors(REGISTER)
    others = (*offsets.vectors(LANE), *offsets.vectors(WARP))
    count = 1
    while count * element < MAX_ACCESS_BYTES and count in registers:
        if any(vector & count for vector in others):
            break
        if any(vector & count and vector != count for vector in registers):
            break
        count *= 2
    return count


def copied_registers(offsets: Layout, limit: int) -> int:
    """How many of a thread's first registers are contiguous in memory, at most `limit`.

    Unlike `contiguous_offsets`, in the order of the registers: a copy takes them in that order from
    another memory where they are contiguous too.
    """
    registers = offsets.vectors(REGISTER)
    others = (*offsets.vectors(LANE), *offsets.vectors(WARP))
    count, bit = 1, 0
    while count < limit and bit < len(registers) and registers[bit] == count:
        rest = (*others, *registers[:bit], *registers[bit + 1 :])
        if any(vector & count for vector in rest):
            break
        count, bit = 2 * count, bit + 1
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
