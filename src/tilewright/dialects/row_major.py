"""Where the elements of a tile are, row by row: what moves elements of constants counts with it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product


def strides(shape: Sequence[int]) -> list[int]:
    """How far apart neighbours along each dimension are."""
    found = [1] * len(shape)
    for dim in range(len(shape) - 1, 0, -1):
        found[dim - 1] = found[dim] * shape[dim]
    return found


def offsets(shape: Sequence[int], steps: Sequence[int], start: int = 0) -> list[int]:
    """Where the elements of a tile are in one whose neighbours are `steps` apart."""
    walks = [range(0, extent * step, step) if step else [0] * extent
             for extent, step in zip(shape, steps, strict=True)]  # fmt: skip
    return [start + sum(place) for place in product(*walks)]


def repeated(shape: Sequence[int]) -> list[int]:
    """Steps that stay in place along dimensions of extent one."""
    return [0 if extent == 1 else step for extent, step in zip(shape, strides(shape), strict=True)]


def part_start(
    whole: Sequence[int], part: Sequence[int], indices: Sequence[int | None]
) -> int | None:
    """Where a part begins in a tile that is cut into such parts; none if unknown, or outside."""
    start = 0
    for extent, size, step, index in zip(whole, part, strides(whole), indices, strict=True):
        if index is None or (index + 1) * size > extent:
            return None
        start += index * size * step
    return start


def alternated(left: Sequence[int], right: Sequence[int], run: int, other: int) -> list[int]:
    """Runs of two lists by turns: tiles that follow each other along an inner dimension."""
    joined: list[int] = []
    for turn in range(len(left) // run):
        joined += left[turn * run : (turn + 1) * run]
        joined += right[turn * other : (turn + 1) * other]
    return joined


def replaced(whole: Sequence[int], part: Sequence[int], places: Sequence[int]) -> list[int]:
    """A list in which some elements are others."""
    changed = list(whole)
    for place, element in zip(places, part, strict=True):
        changed[place] = element
    return changed
