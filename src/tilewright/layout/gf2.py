"""Linear algebra over bits: vectors are integers, addition is exclusive or."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Basis:
    """An independent set of vectors, grown one by one, which writes others as sums of its members.

    The first vectors offered win, so the order of offers is an order of preference.
    """

    __slots__ = ("_rows", "members")

    def __init__(self, vectors: Iterable[int] = ()) -> None:
        self._rows: dict[int, tuple[int, int]] = {}
        """By leading bit: a reduced vector, and the offers whose sum it is."""
        self.members: list[int] = []
        """The numbers, counted from 0, of the offers that were independent of those before."""
        for number, vector in enumerate(vectors):
            self.offer(number, vector)

    def offer(self, number: int, vector: int) -> bool:
        """Take the vector in if it is independent of the members; say whether it was."""
        rest, sources = self._reduce(vector)
        if not rest:
            return False
        self._rows[rest.bit_length()] = (rest, sources ^ (1 << number))
        self.members.append(number)
        return True

    def _reduce(self, vector: int) -> tuple[int, int]:
        sources = 0
        rows = self._rows
        rest = vector
        lower = vector
        while lower:
            leading = lower.bit_length()
            if leading in rows:
                row, origin = rows[leading]
                rest ^= row
                sources ^= origin
            lower = rest & ((1 << (leading - 1)) - 1)
        return rest, sources

    def __contains__(self, vector: int) -> bool:
        return not self._reduce(vector)[0]

    def __len__(self) -> int:
        return len(self._rows)

    def express(self, vector: int) -> int | None:
        """Which offers sum up to the vector, as a mask of their numbers; None if none do."""
        rest, sources = self._reduce(vector)
        return None if rest else sources


def rank(vectors: Iterable[int]) -> int:
    """How many of the vectors are independent."""
    return len(Basis(vectors))


def combine(vectors: Sequence[int], mask: int) -> int:
    """The sum of the vectors whose numbers are set in the mask."""
    combined = 0
    while mask:
        lowest = mask & -mask
        combined ^= vectors[lowest.bit_length() - 1]
        mask ^= lowest
    return combined


def support(vectors: Iterable[int]) -> int:
    """The bits that are set in any of the vectors."""
    bits = 0
    for vector in vectors:
        bits |= vector
    return bits


def complement(vectors: Iterable[int], bits: int) -> list[int]:
    """Unit vectors that complete the vectors to the whole space of that many bits."""
    basis = Basis(vectors)
    return [1 << bit for bit in range(bits) if basis.offer(bit, 1 << bit)]


def intersection(left: Sequence[int], right: Sequence[int]) -> list[int]:
    """A basis of the vectors that lie in both spans."""
    whole = Basis(left)
    seen = Basis()
    shared: list[int] = []
    for number, vector in enumerate(right, start=len(left)):
        sources = whole.express(vector)
        if sources is None:
            whole.offer(number, vector)
            continue
        # The vector is a sum of left ones and of right ones before it: the left part is shared.
        common = combine(left, sources & ((1 << len(left)) - 1))
        if seen.offer(number, common):
            shared.append(common)
    return shared
