"""Accesses to what warpgroups multiply: factors as their memory wants them, sums as they lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileaa_to_nv_tileas.natural import Access, settled
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.constraints import count, shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.shape import ExpandDimsOp, ViewOp
from tilewright.dialects.nv_tileas.attributes import Atom
from tilewright.layout.warpgroups import SECTOR, blocks
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tilewright.conversion.nv_tileaa_to_nv_tileas.products import Product
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout

ROW_LANES: Final = 4
"""How many lanes hold neighbours in a row of sums."""


def factor_access(
    tile: Value, access: Access, products: Mapping[Operation, Product], warps: int
) -> Access:
    """How a tile is loaded: bytes that wgmma wants side by side, but memory has in rows, in blocks.

    Instructions take bytes with neighbours along K alone. Where memory has others, a thread that
    has a block of both can put them together.
    """
    along = _depth(tile, products)
    if along is None or along == access.dim or pointee_bytes(element_of(tile.type)) > 1:
        return access
    each = count(tile.type) // (warps * WARP_SIZE)
    layout = blocks(shape(tile.type), warps, (access.dim, along), access.vector, each)
    return settled(access, layout)


def _depth(tile: Value, products: Mapping[Operation, Product]) -> int | None:
    """The dimension of a tile along which warpgroups sum up; nothing if it is no factor of one."""
    for value, user in _uses(tile):
        found = products.get(user)
        if isinstance(user, DotOp) and found is not None and found.atom is Atom.WGMMA:
            rank = len(shape(tile.type))
            if value is user.a:
                return rank - 1
            if value is user.b:
                return rank - 2
    return None


def _uses(tile: Value) -> Iterator[tuple[Value, Operation]]:
    """What uses a tile, or the same without extents of one in front, and as what."""
    for user in tile.users:
        yield tile, user
        is_same = isinstance(user, ViewOp | ExpandDimsOp)
        if is_same and shape(tile.type)[-2:] == shape(user.result.type)[-2:]:
            yield from ((user.result, each) for each in user.result.users)


def sums_access(access: Access, tile: Value, sums: Layout) -> Access:
    """How sums are stored that wgmma has left in a layout: from there, or moved before.

    Four lanes have neighbours of a row: if these fill a sector, moving them gains nothing.
    """
    found = settled(access, sums.reshape(shape(tile.type)))
    bytes = found.vector * pointee_bytes(element_of(tile.type))
    return found if ROW_LANES * bytes >= SECTOR else access
