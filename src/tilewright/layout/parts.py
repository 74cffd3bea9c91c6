"""Parts of tiles: a layout of a part, and of the whole that consists of such parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.layout.linear import OFFSET, REGISTER, Layout, log2, pack, repack, unpack

if TYPE_CHECKING:
    from collections.abc import Sequence


def beside(part: Layout, shape: Sequence[int]) -> Layout:
    """The layout of a tile cut into equal parts: registers count the parts.

    >>> part = Layout.build({"register": [], "lane": [(1,), (2,)]}, (4,))
    >>> print(beside(part, (16,)))
    register: (4) (8); lane: (1) (2) -> 16
    """
    counts: list[int] = []
    for dimension in range(len(shape) - 1, -1, -1):
        coordinates = [0] * len(shape)
        for bit in range(log2(part.shape[dimension]), log2(shape[dimension])):
            coordinates[dimension] = 1 << bit
            counts.append(pack(coordinates, shape))
    grown = [(n, [repack(v, part.shape, shape) for v in vectors]) for n, vectors in part.inputs]
    whole = Layout(grown, shape)
    return whole.with_input(REGISTER, [*whole.vectors(REGISTER), *counts])


def inside(whole: Layout, shape: Sequence[int]) -> Layout | None:
    """The layout of one part if registers, and nothing else, count the parts; None otherwise.

    >>> print(inside(Layout.build({"register": [(1,), (4,)], "lane": [(2,)]}, (8,)), (4,)))
    register: (1); lane: (2) -> 4
    """
    inputs: list[tuple[str, list[int]]] = []
    for name, vectors in whole.inputs:
        kept: list[int] = []
        for vector in vectors:
            coordinates = unpack(vector, whole.shape)
            if all(c < e for c, e in zip(coordinates, shape, strict=True)):
                kept.append(pack(coordinates, shape))
            elif name != REGISTER or any(c % e for c, e in zip(coordinates, shape, strict=True)):
                return None
        inputs.append((name, kept))
    return Layout(inputs, shape)


def smem_inside(whole: Layout, shape: Sequence[int]) -> Layout | None:
    """The placement of one part if parts follow each other in shared memory; None otherwise.

    >>> print(smem_inside(Layout.build({"offset": [(0, 1), (1, 1), (2, 0)]}, (4, 2)), (2, 2)))
    offset: (0, 1) (1, 1) -> 2x2
    """
    vectors = [unpack(vector, whole.shape) for vector in whole.vectors(OFFSET)]
    inner = [each for each in vectors if all(c < e for c, e in zip(each, shape, strict=True))]
    outer = vectors[len(inner) :]
    if vectors[: len(inner)] != inner:
        return None
    if any(c % e for each in outer for c, e in zip(each, shape, strict=True)):
        return None
    return Layout([(OFFSET, [pack(each, shape) for each in inner])], shape)
