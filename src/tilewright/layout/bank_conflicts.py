"""Banks of shared memory: the lanes that access it in one phase."""

from __future__ import annotations

from tilewright.layout.linear import log2
from tilewright.target.arch import REGISTER_BYTES
from tilewright.target.memories import LINE


def phase_lanes(width: int) -> int:
    """How many bits of the lane number take part in one phase of an access of that many bytes.

    >>> phase_lanes(4), phase_lanes(8), phase_lanes(16)
    (5, 4, 3)
    """
    return log2(LINE // max(width, REGISTER_BYTES))
