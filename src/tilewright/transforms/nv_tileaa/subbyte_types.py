"""Types of tensors of 4-bit elements as tensors of bytes.

Along one dimension two neighbours share a byte, the first in its low bits. That dimension has an
even extent and the others have even strides, so that no row begins inside of a byte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa.attributes import PaddingValue
from tilewright.dialects.nv_tileaa.types import MemrefType, TiledViewType
from tilewright.ir.types import DYNAMIC, F4E2M1FN, I8

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type

PADDINGS: Final = {PaddingValue.ZERO: 0x00, PaddingValue.NEG_ZERO: 0x88}
"""Supported paddings, as bytes with two elements."""


def paired(type: MemrefType) -> int | None:
    """The dimension along which neighbours share bytes, as far as the type is static.

    Dynamic extents and strides must be even. A stride along an extent of one is never used.
    """
    steps = [dim for dim in range(type.rank) if type.shape[dim] != 1]
    pairs = [dim for dim in steps if type.strides[dim] == 1]
    if type.element is not F4E2M1FN or len(pairs) != 1 or type.shape[pairs[0]] % 2:
        return None
    if any(type.strides[dim] % 2 for dim in steps if dim != pairs[0]):
        return None
    return pairs[0]


def tensor_of_bytes(type: MemrefType) -> MemrefType | None:
    """Half the extent where neighbours share bytes, half the strides elsewhere."""
    along = paired(type)
    if along is None:
        return None
    shape = [_halved(n) if dim == along else n for dim, n in enumerate(type.shape)]
    strides = [n if dim == along else _halved(n) for dim, n in enumerate(type.strides)]
    return MemrefType(tuple(shape), I8, tuple(strides), type.space, type.alias_scope)


def paired_dim(type: TiledViewType) -> int | None:
    """The dimension of a tile along which neighbours share bytes."""
    along = paired(type.source)
    return None if along is None else type.dims.index(along)


def view_of_bytes(type: TiledViewType) -> TiledViewType | None:
    """Tiles of half the extent, half as far apart; they have no padding but zero."""
    source, dim = tensor_of_bytes(type.source), paired_dim(type)
    if source is None or dim is None or tile_problem(type) is not None:
        return None
    tile, steps = list(type.tile), list(type.steps)
    tile[dim] //= 2
    steps[dim] //= 2
    padding = None if type.padding is None else PaddingValue.ZERO
    return TiledViewType(tuple(tile), source, tuple(steps), type.dims, type.sparse, padding)


def in_bytes(type: Type) -> Type | None:
    """The type in bytes; None if it does not change."""
    match type:
        case MemrefType():
            return tensor_of_bytes(type)
        case TiledViewType():
            return view_of_bytes(type)
        case _:
            return None


def tile_problem(type: TiledViewType) -> str | None:
    """The reason why tiles of a view are not supported, if there is one."""
    dim = paired_dim(type)
    if dim is None:
        return "elements of 4 bits in a tensor without a contiguous dimension of even extent"
    if dim == type.sparse:
        return "elements of 4 bits that are picked one by one"
    if type.tile[dim] == 1:
        return "tiles with one of two elements of 4 bits that share a byte"
    if type.steps[dim] % 2:
        return "tiles of elements of 4 bits that begin inside of a byte"
    return None


def _halved(number: int) -> int:
    return number if number == DYNAMIC else max(number // 2, 1)
