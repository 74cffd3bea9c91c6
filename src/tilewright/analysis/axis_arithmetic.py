"""Axis facts of arithmetic: a transfer function for each operation, one dimension at a time.

`c`, `d`, `k` are contiguity, divisibility and constancy as `runs` defines them. A run whose first
element is divisible by its length is aligned: it crosses no multiple of a larger power of two, so
neither the end of the type nor that of a divisor's multiples lies inside of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.runs import MOST, Axes, Run, made, power
from tilewright.dialects.arith.attributes import CmpIPredicate

if TYPE_CHECKING:
    from collections.abc import Callable


def aligned(a: Axes, dim: int, width: int) -> int:
    """How long the runs are that cross no multiple of their length, nor the sign's change."""
    run = a.dims[dim]
    return min(run.contiguity, run.divisibility // a.unit or 1, 1 << (width - 1))


def added(a: Axes, b: Axes) -> Axes:
    """c = the runs of one that lie in constant runs of the other; d = what divides both starts."""
    dims: list[Run] = []
    for dim, (x, y) in enumerate(zip(a.dims, b.dims, strict=True)):
        length = max(min(x.contiguity, y.constancy), min(x.constancy, y.contiguity))
        start = min(a.start(dim, length), b.start(dim, length))
        dims.append(Run(length, start, min(x.constancy, y.constancy)))
    return made(dims, min(a.divisor, b.divisor), a.unit)


def subtracted(a: Axes, b: Axes) -> Axes:
    """As a sum, but runs of the second would run down; those of both together stand still."""
    dims: list[Run] = []
    for dim, (x, y) in enumerate(zip(a.dims, b.dims, strict=True)):
        length = min(x.contiguity, y.constancy)
        start = min(a.start(dim, length), b.start(dim, length))
        same = max(min(x.constancy, y.constancy), min(x.contiguity, y.contiguity))
        dims.append(Run(length, start, same))
    return made(dims, min(a.divisor, b.divisor), a.unit)


def pointwise(*operands: Axes, divisor: int = 1) -> Axes:
    """Any function of elements at the same coordinates: equal where all operands are."""
    first, *rest = operands
    if not rest:
        dims = [Run(1, divisor, run.constancy) for run in first.dims]
    else:
        dims = [
            Run(1, divisor, min([run.constancy for run in runs]))
            for runs in zip(*[each.dims for each in operands], strict=True)
        ]
    return Axes(tuple(dims), divisor)


def multiplied(a: Axes, b: Axes) -> Axes:
    """d = the product of what divides all elements of each."""
    return pointwise(a, b, divisor=min(a.divisor * b.divisor, MOST))


def steady(a: Axes, others: Axes, divisor: int, length: Callable[[int], int]) -> Axes:
    """A function that does not change within runs of a length, along each dimension."""
    plain = pointwise(a, others)
    dims = [
        Run(1, divisor, max(run.constancy, min(length(dim), others.dims[dim].constancy)))
        for dim, run in enumerate(plain.dims)
    ]
    return made(dims, divisor)


def divided(a: Axes, b: Axes, width: int) -> Axes:
    """Rounded down, the quotient of an aligned run by what its length divides is constant."""
    return steady(a, b, 1, lambda dim: min(aligned(a, dim, width), b.divisor))


def shifted_right(a: Axes, b: Axes, amount: int, width: int) -> Axes:
    """Division by a power of two, rounded down whatever the sign."""
    by = 1 << amount
    divisor = max(a.divisor >> amount, 1) if a.divisor < MOST else MOST
    return steady(a, b, divisor, lambda dim: min(aligned(a, dim, width), by))


def remainder(a: Axes, b: Axes, width: int) -> Axes:
    """c = aligned runs that divide the divisor; d = what divides both. Signs must not differ."""
    dims: list[Run] = []
    divisor = min(a.divisor, b.divisor)
    for dim, (x, y) in enumerate(zip(a.dims, b.dims, strict=True)):
        length = min(aligned(a, dim, width), b.divisor, y.constancy)
        start = min(a.start(dim, length), b.divisor)
        dims.append(Run(length, start, min(x.constancy, y.constancy)))
    return made(dims, divisor)


def masked(a: Axes, b: Axes, pattern: int, width: int) -> Axes:
    """With ones at the low end, `and` is a remainder; with zeros there, it is rounding down."""
    ones, zeros = power(~pattern), power(pattern)
    divisor = max(a.divisor, zeros)
    dims: list[Run] = []
    for dim, run in enumerate(a.dims):
        length = min(aligned(a, dim, width), ones)
        same = max(run.constancy, min(aligned(a, dim, width), zeros))
        dims.append(Run(length, max(a.start(dim, length), divisor), same))
    return made(dims, divisor)


def conjoined(a: Axes, b: Axes) -> Axes:
    """d = the larger: a bit that is zero on either side is zero."""
    return pointwise(a, b, divisor=max(a.divisor, b.divisor))


def disjoined(a: Axes, b: Axes, width: int) -> Axes:
    """c = aligned runs of one where the other is constant and has zeros in the bits that run."""
    dims: list[Run] = []
    for dim, (x, y) in enumerate(zip(a.dims, b.dims, strict=True)):
        length = max(
            min(aligned(a, dim, width), y.constancy, b.divisor),
            min(aligned(b, dim, width), x.constancy, a.divisor),
        )
        start = min(a.start(dim, length), b.start(dim, length))
        dims.append(Run(length, start, min(x.constancy, y.constancy)))
    return made(dims, min(a.divisor, b.divisor))


_BELOW: Final = frozenset(
    (CmpIPredicate.SLT, CmpIPredicate.SGE, CmpIPredicate.ULT, CmpIPredicate.UGE)
)
_ABOVE: Final = frozenset(
    (CmpIPredicate.SGT, CmpIPredicate.SLE, CmpIPredicate.UGT, CmpIPredicate.ULE)
)


def compared(a: Axes, b: Axes, predicate: CmpIPredicate, width: int) -> Axes:
    """`x < n` is constant on aligned runs of `x` whose length divides a constant `n`."""
    if predicate in _BELOW:
        return steady(a, b, 1, lambda dim: min(aligned(a, dim, width), b.divisor))
    if predicate in _ABOVE:
        return steady(b, a, 1, lambda dim: min(aligned(b, dim, width), a.divisor))
    return pointwise(a, b)


def extended(a: Axes, width: int, is_safe: bool) -> Axes:
    """In more bits a run must not wrap around: aligned ones do not, and those known not to."""
    if is_safe:
        return a
    dims = [
        Run(length, a.start(dim, length), run.constancy)
        for dim, run in enumerate(a.dims)
        for length in (aligned(a, dim, width),)
    ]
    return made(dims, a.divisor)


def moved(pointers: Axes, offsets: Axes, in_bytes: bool) -> Axes:
    """As a sum, of pointers and of offsets that count elements; bytes run only by single bytes."""
    unit = pointers.unit
    if in_bytes and unit > 1:
        scaled = Axes(
            tuple([Run(1, offsets.divisor, run.constancy) for run in offsets.dims]),
            offsets.divisor,
            unit,
        )
    else:
        scaled = Axes(
            tuple(
                [
                    Run(r.contiguity, min(r.divisibility * unit, MOST), r.constancy)
                    for r in offsets.dims
                ]
            ),
            min(offsets.divisor * unit, MOST),
            unit,
        )
    return added(pointers, scaled)


def selected(condition: Axes, a: Axes, b: Axes) -> Axes:
    """The join of both, within runs where the condition is constant."""
    scalar = not condition.dims
    dims: list[Run] = []
    for dim, (x, y) in enumerate(zip(a.dims, b.dims, strict=True)):
        same = MOST if scalar else condition.dims[dim].constancy
        length = min(x.contiguity, y.contiguity, same)
        start = min(a.start(dim, length), b.start(dim, length))
        dims.append(Run(length, start, min(x.constancy, y.constancy, same)))
    return made(dims, min(a.divisor, b.divisor), a.unit)
