"""Layout conversions of narrow elements within a warp, by shuffles of whole words.

The accumulator of a wgmma as A of the next one is an example. Of a row of fp8, a lane has columns
2q, 2q+1, 2q+8 and 2q+9, and needs columns 4q to 4q+3: those of two lanes, of which each is read by
two others, in different registers. One shuffle would have to send both. But each lane can send one
register first and the other one then, if its readers take theirs in the order that suits it, and
swap registers afterwards.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.layout.linear import LANE, REGISTER, Layout, log2
from tilewright.layout.transfer import Move, transfer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WORD: Final = 4
"""Bytes that a shuffle exchanges."""
MAX_WORDS: Final = 16
"""Of a thread: as many shuffles take as long as a round trip through shared memory."""


class WordExchange(NamedTuple):
    """The layouts of words before and after shuffles, and after registers are swapped."""

    source: Layout
    shuffled: Layout
    target: Layout
    order: tuple[int, ...]
    """For each pair of registers of the destination, its number among those of the words."""


@lru_cache(maxsize=256)
def word_exchange(source: Layout, destination: Layout) -> WordExchange | None:
    """How shuffles of words convert a tile of bytes; None if they cannot, or need not.

    >>> from tilewright.layout.wgmma import left_fragments, wgmma_tile
    >>> fragments = left_fragments((64, 64), (64, 64), 8, warps=4)
    >>> exchange = word_exchange(wgmma_tile((64, 64), warps=4), fragments)
    >>> print(exchange.source.only("register"), "|", exchange.target.only("register"))
    register: (0, 8) (0, 16) (0, 32) -> 64x64 | register: (0, 2) (0, 16) (0, 32) -> 64x64
    """
    held, wanted = source.vectors(REGISTER), destination.vectors(REGISTER)
    together = held[: log2(WORD)]
    if len(held) != len(wanted) or not set(together) <= set(wanted) or held[:1] != wanted[:1]:
        return None
    words, target = (_without(layout, together) for layout in (source, destination))
    if target.extent(REGISTER) > MAX_WORDS or transfer(words, target).move is not Move.SHUFFLES:
        return None
    for shuffled in _variations(target):
        step = transfer(words, shuffled)
        is_single = step.move is Move.SHUFFLES and step.variants == 1
        if is_single and transfer(shuffled, target).move <= Move.REGISTERS:
            return WordExchange(words, shuffled, target, _order(together, target, wanted))
    return None


def _without(layout: Layout, vectors: Sequence[int]) -> Layout:
    """The layout of words, of which the registers with these vectors are one each."""
    inputs = [
        (name, [v for v in own if name != REGISTER or v not in vectors])
        for name, own in layout.inputs
    ]
    return Layout(inputs, layout.shape)


def _variations(layout: Layout) -> Iterator[Layout]:
    """A layout, and those in which a bit of the lane swaps registers."""
    yield layout
    for bit in range(len(layout.vectors(LANE))):
        for register in layout.vectors(REGISTER):
            inputs = [
                (name, [v ^ register if (name, n) == (LANE, bit) else v for n, v in enumerate(own)])
                for name, own in layout.inputs
            ]
            yield Layout(inputs, layout.shape)


def _order(together: Sequence[int], target: Layout, wanted: Sequence[int]) -> tuple[int, ...]:
    """The number of each pair of registers with vectors as `wanted`."""
    present = [*together, *target.vectors(REGISTER)][1:]
    bits = [present.index(vector) for vector in wanted[1:]]
    return tuple(
        sum((pair >> number & 1) << bit for number, bit in enumerate(bits))
        for pair in range(1 << len(bits))
    )
