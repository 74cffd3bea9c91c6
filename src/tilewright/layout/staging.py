"""Shared-memory layouts between two register layouts, free of bank conflicts on both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.layout import gf2
from tilewright.layout.bank_conflicts import phase_lanes
from tilewright.layout.linear import LANE, OFFSET, REGISTER, Layout, log2
from tilewright.target.arch import MAX_ACCESS_BYTES, REGISTER_BYTES
from tilewright.target.memories import LINE

if TYPE_CHECKING:
    from collections.abc import Sequence


def staging(source: Layout, destination: Layout, element: int) -> Layout:
    """The memory layout (offset to element) through which one layout becomes the other.

    The lowest bits of the offset are elements that both sides hold in registers of one thread:
    they move as one vector. The highest bits choose the line. Two lanes collide if they differ by
    a sum of line bits, so line bits are chosen outside of what the lanes of either side span:
    first what neither spans, then sums of one vector of each.
    """
    vector = common_vector(source, destination, element)
    return _conflict_free(vector, source, destination, element, element << len(vector))


def copy_staging(source: Layout, copied: int, destination: Layout, element: int) -> Layout:
    """The memory layout that one layout is copied to, and that the other is read from.

    A thread copies its first `copied` registers at once; a reader may take fewer elements at a
    time.
    """
    vector = source.vectors(REGISTER)[: log2(copied)]
    registers = destination.vectors(REGISTER)
    held = next((bit for bit, each in enumerate(vector) if each not in registers), len(vector))
    return _conflict_free(vector, source, destination, element, element << held)


def _conflict_free(
    vector: Sequence[int], source: Layout, destination: Layout, element: int, read: int
) -> Layout:
    """A memory layout with the vector in its lowest bits; accesses of `read` bytes read it."""
    width = element << len(vector)
    writing = source.vectors(LANE)[: phase_lanes(width)]
    reading = destination.vectors(LANE)[: phase_lanes(read)]
    bits = log2(source.size)
    word = [*vector, *_word_bits(vector, writing, reading, width)]
    lines = max(0, bits - max(log2(LINE // element), len(word)))
    high = _line_bits(word, writing, reading, bits)[:lines]
    chosen = gf2.Basis([*word, *high])
    units = (1 << bit for bit in range(bits))
    banks = [v for v in (*writing, *reading, *units) if chosen.offer(0, v)]
    return Layout([(OFFSET, [*word, *banks, *high])], source.shape)


def common_vector(source: Layout, destination: Layout, element: int) -> list[int]:
    """Element bits that one thread holds on both sides, up to the widest access."""
    ours = [v for v in source.vectors(REGISTER) if v]
    theirs = [v for v in destination.vectors(REGISTER) if v]
    common = [v for v in ours if v in theirs]
    # Registers may repeat elements: a dependent vector would take an offset of its own.
    chosen = gf2.Basis()
    shared = [v for v in (*common, *gf2.intersection(ours, theirs)) if chosen.offer(0, v)]
    return shared[: log2(max(1, MAX_ACCESS_BYTES // element))]


def _word_bits(
    vector: Sequence[int], writing: Sequence[int], reading: Sequence[int], width: int
) -> list[int]:
    """Element bits of several lanes that fill a word where one lane's vector does not.

    Lanes of one word never collide, so bits that lanes of both sides span come first.
    """
    missing = log2(REGISTER_BYTES // width) if width < REGISTER_BYTES else 0
    chosen = gf2.Basis(vector)
    candidates = [*gf2.intersection(writing, reading), *writing, *reading]
    return [v for v in candidates if chosen.offer(0, v)][:missing]


def _line_bits(
    word: Sequence[int], writing: Sequence[int], reading: Sequence[int], bits: int
) -> list[int]:
    """Candidates for the bits that choose the line, those without conflicts first."""
    spanned = gf2.Basis(word)
    shared = gf2.intersection([*word, *writing], [*word, *reading])
    common = [v for v in shared if spanned.offer(0, v)]
    only_writing = [v for v in writing if spanned.offer(0, v)]
    beside = gf2.Basis([*word, *common])
    only_reading = [v for v in reading if beside.offer(0, v)]
    free = gf2.complement([*word, *writing, *reading], bits)
    paired = [a ^ b for a, b in zip(only_writing, only_reading, strict=False)]
    count = len(paired)
    left_over = [*only_writing[count:], *only_reading[count:], *only_writing[:count]]
    # What is left over collides on one side; what both sides span collides on both: last.
    return [*free, *paired, *left_over, *common]
