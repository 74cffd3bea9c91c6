"""How many warps a block has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.ir.types import TensorType
from tilewright.plans.tile_registers import tile_words
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation

FEWEST: Final = 4
SHARES: Final = {4: 32, 8: 32}
"""How many registers of a thread a tile should take at most, by how many warps there are."""
PRODUCT_SHARES: Final = {4: 64, 8: 128}
"""The same where matrices are multiplied: sums stay where they are, and more of them at once need
fewer factors for each. A thread of 16 warps has but 128 registers."""


def choose_warps(function: Operation, asked: int | None) -> int:
    """As many as were asked for; else four, or more where tiles are large."""
    if asked is not None:
        return asked
    shares, largest = SHARES, 1
    for op in function.walk():
        if isinstance(op, DotOp):
            shares = PRODUCT_SHARES
        for value in op.results:
            if isinstance(value.type, TensorType):
                largest = max(largest, tile_words(value.type))
    warps = FEWEST
    while warps in shares and largest > warps * WARP_SIZE * shares[warps]:
        warps *= 2
    return warps


def threads_of(kernel: FuncOp) -> int:
    """How many threads a block of a kernel is going to have."""
    spec = kernel.kernel_spec
    return choose_warps(kernel, None if spec is None else spec.num_warps) * WARP_SIZE
