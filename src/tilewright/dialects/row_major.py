"""Row-major index arithmetic, to fold shape operations on constants."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product


def strides(shape: Sequence[int]) -> list[int]:
    """The row-major strides of a shape."""
    result = [1] * len(shape)
    for dim in range(len(shape) - 1, 0, -1):
        result[dim - 1] = result[dim] * shape[dim]
    return result


def offsets(shape: Sequence[int], steps: Sequence[int], start: int = 0) -> list[int]:
    """The linear offsets of the elements of a strided tile, in row-major order."""
    by_dim = [range(0, extent * step, step) if step else [0] * extent
              for extent, step in zip(shape, steps, strict=True)]  # fmt: skip
    return [start + sum(each) for each in product(*by_dim)]


def broadcast_strides(shape: Sequence[int]) -> list[int]:
    """Row-major strides, with stride 0 along dimensions of extent one."""
    return [0 if extent == 1 else step for extent, step in zip(shape, strides(shape), strict=True)]


def slice_start(
    whole: Sequence[int], part: Sequence[int], indices: Sequence[int | None]
) -> int | None:
    """The linear offset of a slice in a tile; `None` if unknown or out of bounds.

    The tile is divided into slices of shape `part`, which `indices` counts.
    """
    start = 0
    for extent, size, step, index in zip(whole, part, strides(whole), indices, strict=True):
        if index is None or (index + 1) * size > extent:
            return None
        start += index * size * step
    return start


def concatenate(left: Sequence[int], right: Sequence[int], run: int, other: int) -> list[int]:
    """Concatenate tiles along a dimension by interleaving contiguous runs of `run` and `other`."""
    joined: list[int] = []
    for row in range(len(left) // run):
        joined += left[row * run : (row + 1) * run]
        joined += right[row * other : (row + 1) * other]
    return joined


def replaced(whole: Sequence[int], part: Sequence[int], indices: Sequence[int]) -> list[int]:
    """A copy of `whole` with the elements at `indices` replaced by `part`."""
    changed = list(whole)
    for index, element in zip(indices, part, strict=True):
        changed[index] = element
    return changed
