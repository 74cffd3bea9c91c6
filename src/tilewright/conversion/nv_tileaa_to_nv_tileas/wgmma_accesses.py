"""Accesses to the operands and accumulators of wgmma, whose layouts differ from coalesced ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.contiguous_dimension import contiguous_dimension
from tilewright.analysis.elementwise import is_elementwise, is_tile
from tilewright.conversion.nv_tileaa_to_nv_tileas.coalescing import MemoryAccess, in_layout
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.constraints import count, shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.shape import ExpandDimsOp, PermuteOp, ViewOp
from tilewright.dialects.nv_tileaa.view import TileLoadOp
from tilewright.dialects.nv_tileas.attributes import Atom
from tilewright.layout.transfer import Move, transfer
from tilewright.layout.wgmma import (
    batched,
    best_operand_smem,
    blocks,
    left_fragments,
)
from tilewright.layout.word_exchange import word_exchange
from tilewright.target.arch import WARP_SIZE
from tilewright.target.memories import SECTOR
from tilewright.target.tensor_cores import EITHER_MAJOR_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tilewright.conversion.nv_tileaa_to_nv_tileas.mma_selection import MmaSelection
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout

ROW_LANES: Final = 4
"""The number of lanes that own neighbouring elements in a row of an accumulator."""


def operand_access(
    tile: Value, access: MemoryAccess, dots: Mapping[Operation, MmaSelection], warps: int
) -> MemoryAccess:
    """The access of a load of A or B: 8-bit elements that are not K-major are loaded in blocks.

    wgmma takes 8-bit operands K-major only. Where memory is contiguous along the other dimension, a
    thread that owns a block of both dimensions can transpose it in registers.
    """
    k = _k_dimension(tile, dots)
    if k is None or k == access.dim or pointee_bytes(element_of(tile.type)) > 1:
        return access
    per_thread = count(tile.type) // (warps * WARP_SIZE)
    layout = blocks(shape(tile.type), warps, (access.dim, k), access.vector, per_thread)
    return in_layout(access, layout)


def operand_placements(op: DotOp, a: Layout, b: Layout) -> tuple[Layout, Layout]:
    """Where wgmma reads A and B in shared memory, given the layouts that they are loaded in.

    Of the majors that wgmma supports, the one that threads can write in wider accesses.
    """
    bytes = pointee_bytes(element_of(op.a.type))
    left = best_operand_smem(batched(a), bytes).placement
    right = best_operand_smem(batched(b).permute((0, 2, 1)), bytes).placement
    return left.reshape(a.shape), right.permute((0, 2, 1)).reshape(b.shape)


def register_operand(op: DotOp, a: Layout, warps: int) -> Layout | None:
    """The fragments that A of wgmma stays in registers in, given its layout; None if it does not.

    It does where threads need nothing, or little, that others have; and where element-wise
    operations lie between a load and the dot, or a transposition that wgmma cannot do: the load is
    read from its stage in fragments then.
    """
    bytes = pointee_bytes(element_of(op.a.type))
    fragments = left_fragments(shape(op.a.type), shape(op.c.type), 8 * bytes, warps)
    if becomes_fragments(a, fragments, bytes):
        return fragments
    return None if loaded_source(op) is None else fragments


def loaded_source(op: DotOp) -> Value | None:
    """The loaded tile that A of wgmma is computed from beside the dot, by element-wise operations;
    or by a transposition that wgmma cannot do. None if there is none."""
    is_k_major = contiguous_dimension(op.a) == len(shape(op.a.type)) - 1
    is_transposed = pointee_bytes(element_of(op.a.type)) != EITHER_MAJOR_BYTES and not is_k_major
    return _loaded_tile(op.a, op.parent, permuted=is_transposed)


def becomes_fragments(accumulator: Layout, fragments: Layout, bytes: int) -> bool:
    """Whether a tile in the layout of an accumulator becomes A in registers without memory.

    Threads have what they need, or of 8-bit elements some lanes of a warp exchange a few words.
    """
    if transfer(accumulator, fragments).move <= Move.REGISTERS:
        return True
    return bytes == 1 and word_exchange(accumulator, fragments) is not None


def _loaded_tile(tile: Value, block: Block | None, *, permuted: bool) -> Value | None:
    """The tile that is loaded in a block, of which element-wise operations make another; or
    permutations of its elements if `permuted`."""
    pending, seen = [tile], {tile}
    while pending:
        op = pending.pop().defining_op()
        if op is None or op.parent is not block:
            continue
        if not is_elementwise(op) and not (permuted and isinstance(op, PermuteOp | ViewOp)):
            continue
        sources = {value: None for value in op.operands if is_tile(value)}
        for source in map(_reshaped, sources):
            if isinstance(source.defining_op(), LoadOp | TileLoadOp):
                return source
        pending += [source for source in sources if source not in seen]
        seen |= sources.keys()
    return None


def _reshaped(tile: Value) -> Value:
    """The tile that reshapes of leading dimensions make another of, which a stage is read as."""
    while isinstance(op := tile.defining_op(), ViewOp | ExpandDimsOp):
        if shape(op.source.type)[-2:] != shape(tile.type)[-2:]:
            break
        tile = op.source
    return tile


def _k_dimension(tile: Value, dots: Mapping[Operation, MmaSelection]) -> int | None:
    """The K dimension of a tile that is A or B of a wgmma; nothing for other tiles."""
    for value, user in _uses(tile):
        selection = dots.get(user)
        if isinstance(user, DotOp) and selection is not None and selection.atom is Atom.WGMMA:
            rank = len(shape(tile.type))
            if value is user.a:
                return rank - 1
            if value is user.b:
                return rank - 2
    return None


def _uses(tile: Value) -> Iterator[tuple[Value, Operation]]:
    """The operand and user of each use of a tile, also through reshapes of leading dimensions."""
    for user in tile.users:
        yield tile, user
        is_reshape = isinstance(user, ViewOp | ExpandDimsOp)
        if is_reshape and shape(tile.type)[-2:] == shape(user.result.type)[-2:]:
            yield from ((user.result, each) for each in user.result.users)


def accumulator_access(access: MemoryAccess, tile: Value, accumulator: Layout) -> MemoryAccess:
    """The access of a store of a wgmma accumulator: in its layout, unless that wastes bandwidth.

    Four lanes own neighbouring elements of a row: if these fill a sector, a layout conversion would
    gain nothing.
    """
    direct = in_layout(access, accumulator.reshape(shape(tile.type)))
    bytes = direct.vector * pointee_bytes(element_of(tile.type))
    return direct if ROW_LANES * bytes >= SECTOR else access
