"""How many warps a block has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa.constraints import count
from tilewright.ir.types import TensorType
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation

FEWEST: Final = 4
MOST: Final = 16
SHARE: Final = 32
"""How many elements of a tile a thread should have at most."""


def choose_warps(function: Operation, asked: int | None) -> int:
    """As many as were asked for; else four, or more where tiles are large."""
    if asked is not None:
        return asked
    tiles = [v.type for op in function.walk() for v in op.results if isinstance(v.type, TensorType)]
    largest = max(map(count, tiles), default=1)
    warps = FEWEST
    while warps < MOST and largest > warps * WARP_SIZE * SHARE:
        warps *= 2
    return warps
