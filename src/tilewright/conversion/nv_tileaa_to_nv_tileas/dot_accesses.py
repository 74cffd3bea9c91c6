"""Loads and stores around dots, in the layouts that dots have instead of coalesced ones.

wgmma takes 8-bit operands K-major only, and its accumulators are stored as they are where that
wastes no bandwidth.

Other dots assign lines to threads as suits them: those by FMA whose threads have whole columns or
rows, and those by mma.sync whose columns are in an order of their own. Tiles are loaded and stored
in the layouts that they have, without a conversion, as long as lanes access whole sectors of
memory, and few lines.
"""

from __future__ import annotations

from itertools import takewhile
from math import prod
from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileaa_to_nv_tileas.coalescing import in_layout
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa import shape
from tilewright.dialects.nv_tileaa.constraints import count
from tilewright.dialects.nv_tileaa.constraints import shape as extents
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.view import TileLoadOp, TileStoreOp
from tilewright.dialects.nv_tileas.attributes import Atom
from tilewright.layout.linear import LANE, REGISTER, WARP, log2
from tilewright.layout.parts import beside
from tilewright.layout.transfer import Move, transfer
from tilewright.layout.wgmma import blocks
from tilewright.schedule.limits import EXCHANGE_COST
from tilewright.target.arch import MAX_ACCESS_BYTES, WARP_SIZE
from tilewright.target.memories import LINE, SECTOR

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tilewright.conversion.nv_tileaa_to_nv_tileas.coalescing import MemoryAccess
    from tilewright.conversion.nv_tileaa_to_nv_tileas.layout_solver import LayoutAssignment
    from tilewright.conversion.nv_tileaa_to_nv_tileas.mma_selection import MmaSelection
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout

ROW_LANES: Final = 4
"""The number of lanes that own neighbouring elements in a row of an accumulator."""


def operand_access(
    access: MemoryAccess, dots: Mapping[Operation, MmaSelection], warps: int
) -> MemoryAccess:
    """The access of a load of A or B: 8-bit elements that are not K-major are loaded in blocks.

    wgmma takes 8-bit operands K-major only. Where memory is contiguous along the other dimension, a
    thread that owns a block of both dimensions can transpose it in registers.
    """
    tile, k = access.tile, _k_dimension(access.tile, dots)
    if k is None or k == access.dim or pointee_bytes(element_of(tile.type)) > 1:
        return access
    per_thread = count(tile.type) // (warps * WARP_SIZE)
    layout = blocks(extents(tile.type), warps, (access.dim, k), access.vector, per_thread)
    return in_layout(access, layout)


def _k_dimension(tile: Value, dots: Mapping[Operation, MmaSelection]) -> int | None:
    """The K dimension of a tile that is A or B of a wgmma; nothing for other tiles."""
    for value, user in _uses(tile):
        selection = dots.get(user)
        if isinstance(user, DotOp) and selection is not None and selection.atom is Atom.WGMMA:
            rank = len(extents(tile.type))
            if value is user.a:
                return rank - 1
            if value is user.b:
                return rank - 2
    return None


def _uses(tile: Value) -> Iterator[tuple[Value, Operation]]:
    """The operand and user of each use of a tile, also through reshapes of leading dimensions."""
    for user in tile.users:
        yield tile, user
        is_reshape = isinstance(user, shape.ViewOp | shape.ExpandDimsOp)
        if is_reshape and extents(tile.type)[-2:] == extents(user.result.type)[-2:]:
            yield from ((user.result, each) for each in user.result.users)


def accumulator_access(access: MemoryAccess, accumulator: Layout) -> MemoryAccess | None:
    """The access of a store of a wgmma accumulator in its layout; None if that wastes bandwidth.

    Four lanes own neighbouring elements of a row: if these fill a sector, a layout conversion would
    gain nothing.
    """
    direct = in_layout(access, accumulator.reshape(extents(access.tile.type)))
    bytes = direct.vector * pointee_bytes(element_of(access.tile.type))
    return direct if ROW_LANES * bytes >= SECTOR else None


def adopt_lines(assignment: LayoutAssignment) -> None:
    """Let all loads and stores for which it pays take the layouts of lines."""
    for op, access in list(assignment.accesses.items()):
        if isinstance(op, TileLoadOp):
            _adopt_load(op, access, assignment)
        elif isinstance(op, TileStoreOp):
            _adopt_store(op, access, assignment)


def _adopt_load(op: TileLoadOp, access: MemoryAccess, assignment: LayoutAssignment) -> None:
    """Load a tile in the layout of its class, or, if it is only sliced, of its slices."""
    tiles, slices = _sliced(op.tile)
    wanted = [assignment.layout(op.tile)]
    if slices:
        layouts = [beside(assignment.layout(s.result), extents(s.source.type)) for s in slices]
        layouts = [layout.reshape(access.layout.shape) for layout in layouts]
        wanted = [_vectors_first(layouts[0], access.dim), *layouts]
    layout = wanted[0]
    if any(transfer(layout, each).move > Move.REGISTERS for each in wanted):
        return
    direct = in_layout(access, layout)
    held = (*layout.vectors(REGISTER), *layout.vectors(LANE))
    if direct.vector * pointee_bytes(element_of(op.tile.type)) == MAX_ACCESS_BYTES:
        # If two warps share a sector, it is read from memory once.
        held += layout.vectors(WARP)
    if _fills_sectors(direct, held) and _saves_conversion(direct, access):
        assignment.accesses[op] = direct
        for tile in tiles:
            assignment.assign(tile, layout.reshape(extents(tile.type)))


def _adopt_store(op: TileStoreOp, access: MemoryAccess, assignment: LayoutAssignment) -> None:
    """Store a tile in the layout of its class, or in that which it has before a reshape."""
    if assignment.classes.is_rematerializable(op.tile):
        return
    layout = assignment.layout(op.tile)
    reshape = op.tile.defining_op()
    is_alone = all(user is op for user in op.tile.users)
    if is_alone and isinstance(reshape, shape.ViewOp | shape.ExpandDimsOp):
        layout = assignment.layout(reshape.source).reshape(access.layout.shape)
        layout = _vectors_first(layout, access.dim)
    direct = in_layout(access, layout)
    if _fills_sectors(
        direct, (*layout.vectors(REGISTER)[: log2(direct.vector)], *layout.vectors(LANE))
    ):
        assignment.accesses[op] = direct
        assignment.assign(op.tile, layout)


def _sliced(tile: Value) -> tuple[list[Value], list[shape.ExtractSliceOp]]:
    """A tile and its reshapes, and the slices of them; nothing if any has another use."""
    tiles, slices = [tile], list[shape.ExtractSliceOp]()
    for each in tiles:
        for user in each.users:
            if isinstance(user, shape.ExtractSliceOp):
                slices.append(user)
            elif isinstance(user, shape.ViewOp | shape.ExpandDimsOp):
                tiles.append(user.result)
            else:
                return [], []
    return (tiles, slices) if slices else ([], [])


def _vectors_first(layout: Layout, dim: int) -> Layout:
    """The same layout with registers that are contiguous along a dimension in front."""
    registers = layout.vectors(REGISTER)
    first = list(_leading(layout, dim, registers))
    return layout.with_input(REGISTER, [*first, *(v for v in registers if v not in first)])


def _leading(layout: Layout, dim: int, held: Sequence[int]) -> Iterator[int]:
    """The vectors along a dimension up to the first one that is not among those held."""
    stride = prod(layout.shape[dim + 1 :])
    along = (stride << bit for bit in range(log2(layout.shape[dim])))
    return takewhile(held.__contains__, along)


def _saves_conversion(direct: MemoryAccess, coalesced: MemoryAccess) -> bool:
    """Whether a load takes no longer than one that is coalesced and then converted."""
    bytes = pointee_bytes(element_of(direct.tile.type))
    exchanged = _lines(direct.layout.extent(REGISTER) * bytes * WARP_SIZE)
    converted = _line_accesses(coalesced, bytes) + 2 * exchanged + EXCHANGE_COST
    return _line_accesses(direct, bytes) <= converted


def _line_accesses(access: MemoryAccess, bytes: int) -> int:
    """How many lines all load instructions of a warp access, in a tile that is dense in memory."""
    lanes = access.layout.vectors(LANE)
    lines = 1 << sum(lane * bytes >= LINE for lane in lanes)
    lines = max(lines, _lines(access.vector * bytes << len(lanes)))
    return access.layout.extent(REGISTER) // access.vector * lines


def _lines(bytes: int) -> int:
    return -(-bytes // LINE)


def _fills_sectors(access: MemoryAccess, held: Sequence[int]) -> bool:
    """Whether registers and lanes hold whole sectors, or whole rows if these are shorter.

    No element may be held twice.
    """
    layout, bytes = access.layout, pointee_bytes(element_of(access.tile.type))
    run = 1 << len(list(_leading(layout, access.dim, held)))
    is_filled = run == layout.shape[access.dim] or run * bytes >= SECTOR
    return is_filled and not layout.replicas()
