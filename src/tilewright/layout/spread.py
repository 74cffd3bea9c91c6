"""Layouts for plain access: a tile spread over the threads of a CTA, neighbours side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.layout.linear import LANE, REGISTER, WARP, Layout, log2

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LANES: Final = 32


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
    bits = _bits(shape, order)
    registers = _take(bits, log2(vector))
    lanes = _take(bits, log2(LANES), pad=True)
    across = _take(bits, log2(warps), pad=True)
    registers.extend(bits)
    return Layout([(REGISTER, registers), (LANE, lanes), (WARP, across)], shape)


def spread_rows(shape: Sequence[int], warps: int, *, axis: int, vector: int = 1) -> Layout:
    """A layout for a reduction along an axis: each line of it lies within one warp if it can.

    >>> print(spread_rows((8, 64), warps=4, axis=1, vector=2))
    register: (0, 1) (4, 0); lane: (0, 2) (0, 4) (0, 8) (0, 16) (0, 32); warp: (1, 0) (2, 0) -> 8x64
    """
    along = list(_bits([e if d == axis else 1 for d, e in enumerate(shape)], None))
    stride = 1
    for extent in shape[axis + 1 :]:
        stride *= extent
    line = [bit * stride for bit in along] if stride > 1 else along
    others = [bit for bit in _bits(shape, None) if bit not in line]
    registers = line[: log2(vector)]
    rest = line[len(registers) :]
    lanes = rest[: log2(LANES)]
    registers += rest[len(lanes) :]
    while len(lanes) < log2(LANES):
        lanes.append(others.pop(0) if others else 0)
    across = [others.pop(0) if others else 0 for _ in range(log2(warps))]
    return Layout([(REGISTER, registers + others), (LANE, lanes), (WARP, across)], shape)


def _bits(shape: Sequence[int], order: Sequence[int] | None) -> list[int]:
    """The unit vectors of the tile, those of the first dimension of the order in front."""
    dimensions = range(len(shape) - 1, -1, -1) if order is None else order
    strides = list(_strides(shape))
    return [
        strides[dimension] << bit
        for dimension in dimensions
        for bit in range(log2(shape[dimension]))
    ]


def _strides(shape: Sequence[int]) -> Iterator[int]:
    for dimension in range(len(shape)):
        stride = 1
        for extent in shape[dimension + 1 :]:
            stride *= extent
        yield stride


def _take(bits: list[int], count: int, *, pad: bool = False) -> list[int]:
    taken = bits[:count]
    del bits[:count]
    return taken + [0] * (count - len(taken)) if pad else taken
