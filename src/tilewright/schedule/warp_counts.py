"""The number of warps of a block, as it is asked for or chosen, and what such a block may hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.elementwise import is_elementwise, is_streamed, is_tile
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.atomics import AtomicOp
from tilewright.dialects.nv_tileaa.integer import CmpIOp
from tilewright.dialects.nv_tileaa.memory import LoadOp, StoreOp
from tilewright.dialects.nv_tileaa.requests import WARPS
from tilewright.dialects.nv_tileaa.shape import Rearrangement
from tilewright.dialects.nv_tileaa.types import PtrType
from tilewright.ir.types import I64
from tilewright.ir.values import Value
from tilewright.schedule.limits import TILE_SHARE
from tilewright.schedule.tile_words import tile_words
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from collections.abc import Set

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation

DEFAULT_WARPS: Final = 4
"""Warps of a block for which no other number is chosen."""
MAX_WARPS: Final = 16
WARP_COUNTS: Final = (1, 2, 4, 8, 16)
"""That a block can have."""


def fixed_warps(kernel: FuncOp) -> int | None:
    """The number of warps that is chosen, or that is asked for, if there is one."""
    spec = kernel.kernel_spec
    chosen = None if spec is None else spec.num_warps
    return kernel.asks(WARPS) if chosen is None else chosen


def threads_of(kernel: FuncOp) -> int:
    """The number of threads of a block, which `plan-kernel` chooses.

    Without that pass, in a pipeline of single passes, it is that of the default number of warps.
    """
    return (fixed_warps(kernel) or DEFAULT_WARPS) * WARP_SIZE


def held_words(kernel: FuncOp) -> int:
    """The 32-bit words of tiles that a block may hold, whether its warps are chosen yet or not.

    Without a number of warps, a block holds its largest tile, or what the default number of warps
    has registers for.
    """
    fixed = fixed_warps(kernel)
    if fixed is not None:
        return TILE_SHARE * WARP_SIZE * fixed
    least, most = (TILE_SHARE * WARP_SIZE * warps for warps in (DEFAULT_WARPS, MAX_WARPS))
    return min(max(least, largest_words(kernel)), most)


def largest_words(kernel: FuncOp) -> int:
    """The 32-bit words of the largest tile that registers hold in a kernel; at least one."""
    largest, addresses = 1, set[Value]()
    for op in reversed([*kernel.walk()]):
        for tile in filter(is_tile, op.results):
            if _is_address(tile, addresses):
                addresses.add(tile)
            elif not is_streamed(tile):
                largest = max(largest, tile_words(tile.type))
    return largest


def _is_address(tile: Value, addresses: Set[Value]) -> bool:
    """Whether a tile of addresses or 64-bit offsets serves accesses, masks and other `addresses`.

    A thread needs the first of each vector, and computes it where it accesses the vector.
    """
    element = element_of(tile.type)
    if element is not I64 and not isinstance(element, PtrType):
        return False
    return all(_takes_address(user, tile, addresses) for user in tile.users)


def _takes_address(user: Operation, tile: Value, addresses: Set[Value]) -> bool:
    if isinstance(user, LoadOp | StoreOp | AtomicOp):
        return tile is user.pointers and tile not in user.operands[1:]
    computes = is_elementwise(user) or isinstance(user, Rearrangement)
    return isinstance(user, CmpIOp) or (computes and user.results[0] in addresses)
