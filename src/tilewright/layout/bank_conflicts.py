"""How often shared memory must answer one access of a warp: bank conflicts, counted by rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.layout import gf2
from tilewright.layout.linear import log2

if TYPE_CHECKING:
    from collections.abc import Sequence


WORD: Final = 4
"""Bytes of a bank's word."""
LINE: Final = 128
"""Bytes that all banks give at once."""
WIDEST: Final = 16
"""Bytes that one lane moves at once."""


def phase_lanes(width: int) -> int:
    """How many bits of the lane number take part in one phase of an access of that many bytes.

    >>> phase_lanes(4), phase_lanes(8), phase_lanes(16)
    (5, 4, 3)
    """
    return log2(LINE // max(width, WORD))


def wavefronts(lanes: Sequence[int], width: int) -> int:
    """How many answers one access takes: lane bits as byte offsets, `width` bytes a lane.

    Thirty-two words side by side take one; the same bank in every lane takes 32; one word for
    all lanes is a broadcast:

    >>> wavefronts([4, 8, 16, 32, 64], 4), wavefronts([128, 256, 512, 1024, 2048], 4)
    (1, 32)
    >>> wavefronts([0, 0, 0, 0, 0], 4), wavefronts([16, 32, 64, 128, 256], 16)
    (1, 4)
    """
    unit = max(width, WORD)
    together = phase_lanes(width)
    phases = 1 << max(0, len(lanes) - together)
    words = [offset // unit for offset in lanes[:together]]
    banks = [word & (LINE // unit - 1) for word in words]
    return phases << (gf2.rank(words) - gf2.rank(banks))
