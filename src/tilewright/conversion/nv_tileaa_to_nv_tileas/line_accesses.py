"""Accesses around dots whose lines are assigned to threads as suits them.

Such dots are those by FMA whose threads have whole columns or rows, and those by mma.sync whose
columns are in an order of their own. Tiles are loaded and stored in the layouts that the dots have,
without a conversion, as long as lanes access whole sectors of memory, and few lines.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from tilewright.conversion.nv_tileaa_to_nv_tileas.coalescing import in_layout
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa import shape
from tilewright.dialects.nv_tileaa.constraints import shape as extents
from tilewright.dialects.nv_tileaa.view import TileLoadOp, TileStoreOp
from tilewright.layout.linear import LANE, REGISTER, WARP, log2
from tilewright.layout.parts import beside
from tilewright.layout.transfer import Move, transfer
from tilewright.schedule.limits import EXCHANGE_COST
from tilewright.target.arch import MAX_ACCESS_BYTES, WARP_SIZE
from tilewright.target.memories import LINE, SECTOR

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tilewright.conversion.nv_tileaa_to_nv_tileas.coalescing import MemoryAccess
    from tilewright.conversion.nv_tileaa_to_nv_tileas.layout_classes import LayoutClasses
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


class LineAccesses:
    """Lets loads and stores take the layouts of lines."""

    __slots__ = ("_accesses", "_classes", "_layouts")

    def __init__(
        self,
        classes: LayoutClasses,
        layouts: dict[Value, Layout],
        accesses: dict[Operation, MemoryAccess],
    ) -> None:
        self._classes, self._layouts, self._accesses = classes, layouts, accesses

    def adopt(self) -> None:
        """Change the layouts and accesses of all loads and stores for which it pays."""
        for op, access in list(self._accesses.items()):
            if isinstance(op, TileLoadOp):
                self._adopt_load(op, access)
            elif isinstance(op, TileStoreOp):
                self._adopt_store(op, access)

    def _adopt_load(self, op: TileLoadOp, access: MemoryAccess) -> None:
        """Load a tile in the layout of its class, or, if it is only sliced, of its slices."""
        tiles, slices = _sliced(op.tile)
        wanted = [self._layout(op.tile)]
        if slices:
            layouts = [beside(self._layout(s.result), extents(s.source.type)) for s in slices]
            wanted = [_vectors_first(layouts[0].reshape(access.layout.shape), access.dim)]
            wanted += [layout.reshape(access.layout.shape) for layout in layouts]
        layout = wanted[0]
        if any(transfer(layout, each).move > Move.REGISTERS for each in wanted):
            return
        direct = in_layout(access, layout)
        held = (*layout.vectors(REGISTER), *layout.vectors(LANE))
        if direct.vector * pointee_bytes(element_of(op.tile.type)) == MAX_ACCESS_BYTES:
            # If two warps share a sector, it is read from memory once.
            held += layout.vectors(WARP)
        if (
            not layout.replicas()
            and _fills_sectors(op.tile, access.dim, layout, held)
            and _saves_conversion(op.tile, direct, access)
        ):
            self._accesses[op] = direct
            for tile in tiles:
                self._layouts[self._classes.of(tile)] = layout.reshape(extents(tile.type))

    def _adopt_store(self, op: TileStoreOp, access: MemoryAccess) -> None:
        """Store a tile in the layout of its class, or in that which it has before a reshape."""
        if self._classes.is_rematerializable(op.tile):
            return
        layout = self._layout(op.tile)
        reshape = op.tile.defining_op()
        is_alone = all(user is op for user in op.tile.users)
        if is_alone and isinstance(reshape, shape.ViewOp | shape.ExpandDimsOp):
            layout = self._layout(reshape.source).reshape(access.layout.shape)
            layout = _vectors_first(layout, access.dim)
        direct = in_layout(access, layout)
        held = (*layout.vectors(REGISTER)[: log2(direct.vector)], *layout.vectors(LANE))
        if not layout.replicas() and _fills_sectors(op.tile, access.dim, layout, held):
            self._accesses[op] = direct
            self._layouts[self._classes.of(op.tile)] = layout

    def _layout(self, tile: Value) -> Layout:
        return self._layouts[self._classes.of(tile)]


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
    stride, extent = prod(layout.shape[dim + 1 :]), layout.shape[dim]
    along = [stride << bit for bit in range(log2(extent))]
    registers = layout.vectors(REGISTER)
    first = list(_leading(along, registers))
    return layout.with_input(REGISTER, [*first, *(v for v in registers if v not in first)])


def _leading(vectors: Iterable[int], held: Sequence[int]) -> Iterator[int]:
    """The vectors up to the first one that is not among those held."""
    for vector in vectors:
        if vector not in held:
            return
        yield vector


def _saves_conversion(tile: Value, direct: MemoryAccess, coalesced: MemoryAccess) -> bool:
    """Whether a load takes no longer than one that is coalesced and then converted."""
    bytes = pointee_bytes(element_of(tile.type))
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


def _fills_sectors(tile: Value, dim: int, layout: Layout, held: Sequence[int]) -> bool:
    """Whether registers and lanes hold whole sectors, or whole rows if these are shorter."""
    stride, extent = prod(layout.shape[dim + 1 :]), layout.shape[dim]
    along = [stride << bit for bit in range(log2(extent))]
    run = 1 << len(list(_leading(along, held)))
    return run == extent or run * pointee_bytes(element_of(tile.type)) >= SECTOR
