"""The number of warps of a block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.targets import target_or_baseline
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.ir.types import TensorType
from tilewright.plans.tile_registers import accumulator_words, tile_words
from tilewright.target.arch import WARP_SIZE
from tilewright.target.features import Feature

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation

FEWEST: Final = 4
SHARES: Final = {4: 32, 8: 32}
"""By number of warps, the registers per thread of the largest tile above which warps double."""
DOT_SHARES: Final = {4: 64, 8: 128}
"""The same with dots: accumulators stay in registers, and larger ones need fewer operand loads per
element. A thread of 16 warps has at most 128 registers."""


def choose_warps(function: Operation, asked: int | None) -> int:
    """The number that was asked for; else four, or more where tiles are large."""
    if asked is not None:
        return asked
    has_dots, largest, accumulators = False, 1, 0
    for op in function.walk():
        if isinstance(op, DotOp):
            has_dots = True
            accumulators = max(accumulators, accumulator_words(op.result.type))
        for value in op.results:
            if isinstance(value.type, TensorType):
                largest = max(largest, tile_words(value.type))
    warps = warps_for(largest, has_dots=has_dots)
    is_small = accumulators <= FEWEST * WARP_SIZE * DOT_SHARES[FEWEST]
    if warps > FEWEST or is_small or Feature.WGMMA not in target_or_baseline(function):
        return warps
    # Two warpgroups copy while the dots of both are in flight, also where the registers of one
    # would hold the accumulators.
    return 2 * FEWEST


def warps_for(largest: int, *, has_dots: bool) -> int:
    """The number of warps for a largest tile of `largest` 32-bit words."""
    shares = DOT_SHARES if has_dots else SHARES
    warps = FEWEST
    while warps in shares and largest > warps * WARP_SIZE * shares[warps]:
        warps *= 2
    return warps


def threads_of(kernel: FuncOp) -> int:
    """The number of threads of a block of a kernel."""
    spec = kernel.kernel_spec
    return choose_warps(kernel, None if spec is None else spec.num_warps) * WARP_SIZE
