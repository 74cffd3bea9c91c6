"""Tiles as bytes: the layout of the bytes that hold the elements of a layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.layout.linear import REGISTER, Layout, log2
from tilewright.layout.spread import spread

if TYPE_CHECKING:
    from collections.abc import Sequence

BYTE = 8


def packing_source(shape: Sequence[int], bits: int, warps: int) -> Layout:
    """A layout in which every byte's elements are neighbouring registers of one thread."""
    return spread(shape, warps, vector=max(1, BYTE // bits))


def packed(source: Layout, bits: int) -> Layout:
    """The layout of the bytes of a tile of rank 1 whose elements have that many bits.

    >>> line = Layout.build({"register": [(1,)], "lane": [(2,), (4,)]}, (8,))
    >>> print(packed(line, 16))
    register: (1) (2); lane: (4) (8) -> 16
    >>> print(packed(line, 4))
    lane: (1) (2) -> 4
    """
    if bits >= BYTE:
        ratio = bits // BYTE
        grown = [(name, [v * ratio for v in vectors]) for name, vectors in source.inputs]
        inner = [1 << bit for bit in range(log2(ratio))]
        whole = Layout(grown, (source.size * ratio,))
        return whole.with_input(REGISTER, [*inner, *whole.vectors(REGISTER)])
    share = BYTE // bits
    shrunk = [(name, [v // share for v in vectors]) for name, vectors in source.inputs]
    return Layout(shrunk, (source.size // share,)).distinct_registers()


def unpacked(bytes: Layout, bits: int) -> Layout:
    """The layout of elements of fewer bits than a byte, where the bytes are that hold them.

    >>> line = Layout.build({"register": [(1,)], "lane": [(2,), (4,)]}, (8,))
    >>> print(unpacked(line, 4))
    register: (1) (2); lane: (4) (8) -> 16
    """
    # They lie in a byte as bytes lie in an element that is as many times as large.
    return packed(bytes, BYTE * BYTE // bits)
