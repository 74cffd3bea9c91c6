"""TMA boxes of what a warp holds: how each warp stages its part of a tile that TMA stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.layout import gf2
from tilewright.layout.linear import OFFSET, REGISTER, WARP, Layout, log2
from tilewright.layout.spread import unit_vectors
from tilewright.layout.swizzle import SPANS, swizzle
from tilewright.layout.tma_boxes import PATTERN_ROWS, NoBoxes
from tilewright.target.engines import TMA

if TYPE_CHECKING:
    from collections.abc import Sequence

SHORTEST: Final = 64
"""Bytes of a row that a warp stores: two sectors of memory."""
BOX_BYTES: Final = 2048
"""Bytes of a box beyond which registers select further boxes, rather than add rows."""


class WarpBoxes(NamedTuple):
    """The boxes of each warp."""

    placement: Layout
    """Of the whole tile, as if all of it were staged: box by box, of one warp after the other."""
    box: int
    """Elements of a box."""
    per_warp: int
    """Boxes of each warp."""


def warp_boxes(source: Layout, element: int, order: Sequence[int]) -> WarpBoxes:
    """The boxes that make up what each warp holds of a tile, or `NoBoxes`.

    Elements have `element` bytes; `order` are the dimensions as they are in global memory, the
    contiguous one last. Registers alone select a box, so that all lanes write to each.

    A warp of a wgmma accumulator holds 16 rows, in f16 a box for each 64 columns:

    >>> from tilewright.layout.tma_boxes import tma_boxes
    >>> from tilewright.layout.wgmma import wgmma_tile
    >>> boxes = warp_boxes(wgmma_tile((64, 128), 4), 2, order=(0, 1))
    >>> boxes.box, boxes.per_warp, tma_boxes(boxes.placement, 2, (0, 1)).extents
    (1024, 2, (16, 64))
    """
    if len(source.shape) > TMA.max_rank:
        message = f"expected a tile of rank 1 to {TMA.max_rank}, got {len(source.shape)}"
        raise NoBoxes(message)
    warps = source.vectors(WARP)
    if source.replicas() or any(not each or each & (each - 1) for each in warps):
        raise NoBoxes("expected each element in one warp, and warps that hold whole parts")
    inside = _box_bits(source, element, order)
    rest = [1 << bit for bit in range(log2(source.size)) if 1 << bit not in (*inside, *warps)]
    mask = sum(inside)
    for name, vectors in source.inputs:
        allowed = rest if name == REGISTER else warps if name == WARP else []
        if any(vector & ~mask and vector not in allowed for vector in vectors):
            raise NoBoxes("expected boxes that all lanes of a warp hold a part of")
    span = _row_bytes(source, element, order[-1])
    if element << len(inside) < span * PATTERN_ROWS:
        rows = (element << len(inside)) // span
        message = f"expected boxes of at least {PATTERN_ROWS} rows, got {rows}"
        raise NoBoxes(message)
    # The highest bit of the warp first: rows of several warps are not one box then.
    placement = _placement(source, [*inside, *reversed(warps), *rest], element, span)
    return WarpBoxes(placement, 1 << len(inside), 1 << len(rest))


def _row_bytes(source: Layout, element: int, dimension: int) -> int:
    """The bytes of a box along the contiguous dimension, of which a warp holds at least as many."""
    bytes = element
    for bit in unit_vectors(source.shape, [dimension]):
        if bit in source.vectors(WARP):
            break
        bytes *= 2
    if bytes < SHORTEST:
        message = f"expected {SHORTEST} consecutive bytes in a warp, got {bytes}"
        raise NoBoxes(message)
    return min(bytes, SPANS[0])


def _box_bits(source: Layout, element: int, order: Sequence[int]) -> list[int]:
    """The bits of an element that select it within a box, those of a row first."""
    warps = source.vectors(WARP)
    row = _row_bytes(source, element, order[-1]) // element
    bits = unit_vectors(source.shape, order[-1:])[: log2(row)]
    registers = source.vectors(REGISTER)
    for dimension in reversed(order[:-1]):
        for bit in unit_vectors(source.shape, [dimension])[: log2(TMA.max_extent)]:
            is_large = (element << len(bits)) >= BOX_BYTES
            if bit in warps or (is_large and bit in registers):
                break
            bits.append(bit)
    return bits


def _placement(source: Layout, bits: Sequence[int], element: int, span: int) -> Layout:
    """The memory whose offsets have these bits of an element in order, with swizzled rows."""
    vectors = [
        gf2.combine(bits, swizzle(element << bit, span) // element) for bit in range(len(bits))
    ]
    return Layout([(OFFSET, vectors)], source.shape)
