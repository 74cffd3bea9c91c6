"""The lattice of axis facts: how the elements of a tile run along each of its dimensions.

Runs start at multiples of their length, and lengths are powers of two. Along one dimension:

- contiguity `c`: within a run of `c`, each element is its neighbour plus one `unit`: one for
  integers, the size of what they point to for pointers; modulo the width of the elements.
- divisibility `d`: the power of two `d` divides the first element of each run of `c`, wherever it
  stands along the other dimensions; bytes count for pointers.
- constancy `k`: within a run of `k` all elements are equal.

Zero is divisible by everything, so divisors end at `MOST`. A fact is weaker than another if all
its runs are shorter and its divisors smaller; the weakest has ones everywhere.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.types import PtrType

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tilewright.ir.attributes import Type

MOST: Final = 1 << 62
"""The largest divisor that is kept track of."""


class Run(NamedTuple):
    """The facts along one dimension."""

    contiguity: int
    divisibility: int
    constancy: int


ONE: Final = Run(1, 1, 1)


class Axes(NamedTuple):
    """The facts of a tile; a scalar has only a divisor."""

    dims: tuple[Run, ...]
    divisor: int
    """A power of two that divides every element."""
    unit: int = 1

    def start(self, dim: int, length: int) -> int:
        """The divisor of the elements whose coordinate along a dimension is a multiple of a length.

        A start inside of a run is the run's first element plus a multiple of the length.
        """
        run = self.dims[dim]
        if length >= run.contiguity:
            return run.divisibility
        return max(self.divisor, min(run.divisibility, length * self.unit))

    def is_uniform(self, shape: Sequence[int]) -> bool:
        """Whether all elements of a tile of a shape are equal."""
        return all(run.constancy == extent for run, extent in zip(self.dims, shape, strict=True))


def power(number: int) -> int:
    """The largest power of two that divides a number.

    >>> power(24), power(7), power(0) == MOST
    (8, 1, True)
    """
    return min(number & -number, MOST) if number else MOST


def made(dims: Iterable[Run], divisor: int, unit: int = 1) -> Axes:
    """Facts, with all that each says of the others."""
    runs = tuple(dims)
    for run in runs:
        # Within a run, elements differ by multiples of the unit.
        every = run.divisibility if run.contiguity == 1 else min(run.divisibility, unit)
        if every > divisor:
            divisor = every
    if divisor > 1:
        runs = tuple(
            [
                r if r.divisibility >= divisor else Run(r.contiguity, divisor, r.constancy)
                for r in runs
            ]
        )
    return Axes(runs, divisor, unit)


@lru_cache(1024)
def unknown(rank: int, unit: int = 1) -> Axes:
    """The top: nothing is known."""
    return Axes((ONE,) * rank, 1, unit)


@lru_cache(1024)
def uniform(shape: tuple[int, ...], divisor: int, unit: int = 1) -> Axes:
    """All elements are equal, and divisible."""
    return Axes(tuple([Run(1, divisor, power(extent)) for extent in shape]), divisor, unit)


def joined(a: Axes, b: Axes) -> Axes:
    """The join: what holds of both."""
    dims: list[Run] = []
    for dim, (x, y) in enumerate(zip(a.dims, b.dims, strict=True)):
        length = min(x.contiguity, y.contiguity)
        start = min(a.start(dim, length), b.start(dim, length))
        dims.append(Run(length, start, min(x.constancy, y.constancy)))
    return made(dims, min(a.divisor, b.divisor), a.unit)


def unit_of(type: Type) -> int:
    """By how much neighbours differ: one, or the bytes of what pointers point to."""
    element = element_of(type)
    return pointee_bytes(element.pointee) if isinstance(element, PtrType) else 1


def reshaped(a: Axes, before: tuple[int, ...], after: tuple[int, ...]) -> Axes:
    """The same elements in row-major order, in another shape.

    Dimensions are taken together until they have as many elements on both sides; within such a
    group they are laid end to end and cut again.
    """
    dims: list[Run] = []
    for olds, news in _groups(before, after):
        run = _laid_out(a, before, olds)
        dims += _cut(a, run, [after[new] for new in news])
    return made(dims, a.divisor, a.unit)


def _groups(before: Sequence[int], after: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """The least groups of dimensions, of each shape, with equal numbers of elements."""
    groups: list[tuple[list[int], list[int]]] = []
    old = new = 0
    while old < len(before) or new < len(after):
        olds: list[int] = []
        news: list[int] = []
        left = right = 1
        while (old < len(before) or new < len(after)) and (not olds or not news or left != right):
            if new >= len(after) or (left <= right and old < len(before)):
                olds.append(old)
                left *= before[old]
                old += 1
            else:
                news.append(new)
                right *= after[new]
                new += 1
        groups.append((olds, news))
    return groups


def _laid_out(a: Axes, shape: Sequence[int], dims: Sequence[int]) -> Run:
    """Several neighbouring dimensions as one: that of the last, longer where it is constant."""
    inner = [dim for dim in dims if shape[dim] > 1]
    if not inner:
        return Run(1, a.divisor, 1)
    last = a.dims[inner[-1]]
    constancy = 1
    for dim in reversed(inner):
        constancy *= a.dims[dim].constancy
        if a.dims[dim].constancy < shape[dim]:
            break
    return Run(last.contiguity, last.divisibility, constancy)


def _cut(a: Axes, run: Run, extents: Sequence[int]) -> list[Run]:
    """One dimension as several: the last keeps its runs, the others what is equal far and wide."""
    dims: list[Run] = []
    stride = prod(extents)
    line = Axes((run,), a.divisor, a.unit)
    for extent in extents:
        stride //= extent
        constancy = max(min(run.constancy // stride, power(extent)), 1)
        length = min(run.contiguity, power(extent)) if stride == 1 else 1
        divisor = line.start(0, length) if stride == 1 else a.divisor
        dims.append(Run(length, divisor, constancy))
    return dims
