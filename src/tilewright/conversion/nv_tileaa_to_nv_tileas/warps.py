"""How many warps a block has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.tile_words import tile_words
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.ir.types import TensorType
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation

FEWEST: Final = 4
MOST: Final = 16
SHARE: Final = 32
"""How many registers of a thread a tile should take at most."""
PRODUCT_SHARE: Final = 64
"""The same where matrices are multiplied: sums stay where they are, and more of them at once
need fewer factors for each."""


def choose_warps(function: Operation, asked: int | None) -> int:
    """As many as were asked for; else four, or more where tiles are large."""
    if asked is not None:
        return asked
    share, largest = SHARE, 1
    for op in function.walk():
        if isinstance(op, DotOp):
            share = PRODUCT_SHARE
        for value in op.results:
            if isinstance(value.type, TensorType):
                largest = max(largest, tile_words(value.type))
    warps = FEWEST
    while warps < MOST and largest > warps * WARP_SIZE * share:
        warps *= 2
    return warps
