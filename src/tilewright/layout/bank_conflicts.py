"""How often shared memory must answer one access of a warp: bank conflicts, counted by rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.layout.linear import log2

if TYPE_CHECKING:
    pass


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
