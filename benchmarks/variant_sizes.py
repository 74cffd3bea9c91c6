"""Variants of kernels, each with sizes to be timed and a small one to check results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from variant_arrays import Arrays

Shape = tuple[int, ...]
Grid = tuple[int] | tuple[int, int] | tuple[int, int, int]


class Step(NamedTuple):
    """The launch of one kernel."""

    kernel: Any
    grid: Grid
    arguments: tuple[Any, ...]


class Runnable(Protocol):
    """Kernels that run one after the other, and their results."""

    @property
    def steps(self) -> Sequence[Step]:
        """The kernels in order."""
        ...

    @property
    def flops(self) -> float:
        """The operations of all kernels."""
        ...

    @property
    def tolerance(self) -> float:
        """The largest difference of a correct result, as a fraction of the largest element."""
        ...

    def compared(self) -> Sequence[tuple[Any, Any]]:
        """Each array that kernels write, with its elements computed in f32."""
        ...


class Size(NamedTuple):
    """The shape of a problem and the tile of a block: M, N, K for a plain GEMM."""

    shape: Shape
    tile: Shape


Build = Callable[[Arrays, Shape, Shape, str], Runnable]
"""Create launches for arrays, a shape, a tile and an element type."""


class Variant(NamedTuple):
    """A kernel, the element type of its operands, and sizes."""

    name: str
    build: Build
    dtype: str
    small: Size
    """Small enough for an interpreter, with tiles that are not all whole where that is allowed."""
    sizes: tuple[Size, ...]


def size(text: str) -> Size:
    """A size from its text, such as `4096x4096x1024 128x128x64`."""
    shape, tile = (tuple(map(int, each.split("x"))) for each in text.split())
    return Size(shape, tile)


def variant(name: str, build: Build, dtype: str, small: str, *timed: str) -> Variant:
    """A variant with its sizes as texts."""
    return Variant(name, build, dtype, size(small), tuple(map(size, timed)))


def ceil_div(extent: int, size: int) -> int:
    """The number of tiles of a size that cover an extent."""
    return -(-extent // size)
