"""Layouts for plain access: a tile spread over the threads of a CTA, neighbours side by side."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, TypeVar

from tilewright.layout.linear import LANE, REGISTER, WARP, Layout, log2
from tilewright.target.arch import LANE_BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

Bit = TypeVar("Bit")


def spread(
    shape: Sequence[int],
    warps: int,
    *,
    vector: int = 1,
    order: Sequence[int] | None = None,
) -> Layout:
    """Consecutive elements to a register vector, then to lanes, then to warps, then round again.

    `order` lists the dimensions, the one with neighbouring addresses first; row-major if not
    given. Where the tile has fewer elements than threads, lanes and warps repeat it.

    >>> print(spread((4, 32), warps=2, vector=2))
    register: (0, 1); lane: (0, 2) (0, 4) (0, 8) (0, 16) (1, 0); warp: (2, 0) -> 4x32
    >>> print(spread((2,), warps=1))
    lane: (1) (0) (0) (0) (0) -> 2
    """
    bits = unit_vectors(shape, range(len(shape) - 1, -1, -1) if order is None else order)
    registers = taken(bits, log2(vector))
    lanes = taken(bits, LANE_BITS, pad=0)
    across = taken(bits, log2(warps), pad=0)
    registers.extend(bits)
    return Layout([(REGISTER, registers), (LANE, lanes), (WARP, across)], shape)


def unit_vectors(shape: Sequence[int], order: Sequence[int]) -> list[int]:
    """The packed bits of a tile's coordinates, those of the first dimension of the order in front.

    >>> unit_vectors((4, 8), order=(0,)), unit_vectors((4, 8), order=(1, 0))
    ([8, 16], [1, 2, 4, 8, 16])
    """
    strides = [prod(shape[dimension + 1 :]) for dimension in range(len(shape))]
    return [
        strides[dimension] << bit for dimension in order for bit in range(log2(shape[dimension]))
    ]


def taken(bits: list[Bit], count: int, pad: Bit | None = None) -> list[Bit]:
    """The first of some bits, which they leave; `pad` stands for those that are not there.

    >>> bits = [1, 2, 4]
    >>> taken(bits, 2), taken(bits, 2, pad=0), bits
    ([1, 2], [4, 0], [])
    """
    count = max(count, 0)
    first = bits[:count]
    del bits[:count]
    return first if pad is None else first + [pad] * (count - len(first))
