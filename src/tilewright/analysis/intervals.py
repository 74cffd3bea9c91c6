"""Intervals of integers: between which numbers a pattern lies, read as signed and as unsigned.

A pattern of `width` bits lies in an `Interval` if its signed number is in `low` to `high` and its
unsigned number in `ulow` to `uhigh`, ends included. What would leave the type is not known any
more: there is no interval that wraps around.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from tilewright.support.bits import mask, sign_bit, to_signed


class Interval(NamedTuple):
    """Bounds of an integer of `width` bits."""

    width: int
    low: int
    high: int
    ulow: int
    uhigh: int

    @property
    def constant(self) -> int | None:
        """The pattern, if there is but one."""
        return self.ulow if self.ulow == self.uhigh else None

    @property
    def is_natural(self) -> bool:
        """Whether the number is not negative, which makes both readings the same."""
        return self.low >= 0

    def within(self, is_signed: bool) -> tuple[int, int]:
        """The bounds of one reading."""
        return (self.low, self.high) if is_signed else (self.ulow, self.uhigh)


@lru_cache(64)
def anything(width: int) -> Interval:
    """All integers of a width.

    >>> anything(8)
    Interval(width=8, low=-128, high=127, ulow=0, uhigh=255)
    """
    half = sign_bit(width)
    return Interval(width, -half, half - 1, 0, mask(width))


def exactly(pattern: int, width: int) -> Interval:
    """One pattern.

    >>> exactly(255, 8)
    Interval(width=8, low=-1, high=-1, ulow=255, uhigh=255)
    """
    number = to_signed(pattern, width)
    return Interval(width, number, number, pattern, pattern)


def between(
    width: int,
    signed: tuple[int, int] | None = None,
    unsigned: tuple[int, int] | None = None,
) -> Interval:
    """The intersection with bounds; bounds outside of the type, or empty ones, are ignored.

    >>> between(8, signed=(0, 5))
    Interval(width=8, low=0, high=5, ulow=0, uhigh=5)
    >>> between(8, signed=(-1, 5))
    Interval(width=8, low=-1, high=5, ulow=0, uhigh=255)
    >>> between(8, unsigned=(250, 256)) == anything(8)
    True
    """
    _, low, high, ulow, uhigh = anything(width)
    least, most = low, high
    if signed is not None and least <= signed[0] <= signed[1] <= most:
        low, high = signed
    if unsigned is not None and 0 <= unsigned[0] <= unsigned[1] <= uhigh:
        ulow, uhigh = unsigned
    # One reading bounds the other where the sign is known.
    if low >= 0:
        ulow, uhigh = max(ulow, low), min(uhigh, high)
    elif high < 0:
        ulow, uhigh = max(ulow, low + (1 << width)), min(uhigh, high + (1 << width))
    if uhigh <= most:
        low, high = max(low, ulow), min(high, uhigh)
    elif ulow > most:
        low, high = max(low, ulow - (1 << width)), min(high, uhigh - (1 << width))
    if low > high or ulow > uhigh:
        # Only code that never runs, or a violated assumption, has no number at all.
        return anything(width)
    return Interval(width, low, high, ulow, uhigh)


def hull(a: Interval, b: Interval) -> Interval:
    """The join: all that lies in either."""
    return Interval(
        a.width,
        min(a.low, b.low),
        max(a.high, b.high),
        min(a.ulow, b.ulow),
        max(a.uhigh, b.uhigh),
    )


def widened(a: Interval, b: Interval) -> Interval:
    """The hull, with every bound that moved at the next of a few thresholds.

    >>> widened(exactly(0, 32), exactly(1, 32))
    Interval(width=32, low=0, high=127, ulow=0, uhigh=127)
    """
    low = a.low if b.low >= a.low else -_beyond(-b.low - 1) - 1
    high = a.high if b.high <= a.high else _beyond(b.high)
    ulow = a.ulow if b.ulow >= a.ulow else 0
    uhigh = a.uhigh if b.uhigh <= a.uhigh else _beyond(b.uhigh)
    whole = anything(a.width)
    return Interval(
        a.width, max(low, whole.low), min(high, whole.high), ulow, min(uhigh, whole.uhigh)
    )


def _beyond(bound: int) -> int:
    """The largest number of the next width at which a bound may stop."""
    return next(mask(width) for width in (0, 7, 15, 31, 63, 128) if mask(width) >= bound)


def clipped(a: Interval, signed: tuple[int | None, int | None]) -> Interval:
    """The intersection of an interval with signed bounds, of which either may be open."""
    low = a.low if signed[0] is None else max(a.low, signed[0])
    high = a.high if signed[1] is None else min(a.high, signed[1])
    return between(a.width, (low, high), (a.ulow, a.uhigh))
