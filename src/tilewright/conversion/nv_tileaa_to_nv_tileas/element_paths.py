"""Paths of elements from loads to dots, between dots and to stores, bit by bit.

Rearrangements and element-wise operations map each bit of the packed index of an element to an
index in their result: its image. Images of all bits say where a tile has the elements of another.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.elementwise import is_elementwise, is_tile
from tilewright.dialects.nv_tileaa import shape
from tilewright.dialects.nv_tileaa.constraints import shape as extents
from tilewright.dialects.nv_tileaa.view import TileLoadOp, TileStoreOp
from tilewright.layout.linear import log2, pack, repack, unpack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

SEARCH_LIMIT: Final = 64
"""The most tiles that are visited from one."""


class Use(NamedTuple):
    """A use of a tile, or of one that has its elements in another order."""

    user: Operation
    tile: Value
    images: list[int]
    """By bit of the packed index in the first tile, the packed index in the tile that is used."""


def uses_of(value: Value) -> Iterator[Use]:
    """The operations that use the elements of a tile, other than to rearrange or compute them."""
    pending, seen = [(value, _units(value))], {value}
    while pending:
        tile, images = pending.pop()
        for user in tile.users:
            moved = _forward(user, images)
            if moved is None:
                yield Use(user, tile, images)
                continue
            for result in user.results:
                if result not in seen and len(seen) <= SEARCH_LIMIT:
                    seen.add(result)
                    pending.append((result, moved))


def stored_images(value: Value) -> list[int] | None:
    """By bit of the packed index, the packed index in a tile that is stored.

    None if the tile is not stored, or not only rearranged on its way there.
    """
    uses = (use.images for use in uses_of(value) if isinstance(use.user, TileStoreOp))
    return next(uses, None)


def stored_order(value: Value) -> list[int] | None:
    """The bits of the packed index of an element, in their order in a tile that is stored."""
    images = stored_images(value)
    if images is None:
        return None
    return [1 << bit for bit in sorted(range(len(images)), key=images.__getitem__)]


def loaded_images(value: Value) -> list[int] | None:
    """By bit of the packed index, the packed index in the loaded tile that a tile is a part of."""
    images = _units(value)
    while True:
        op = value.defining_op()
        match op:
            case TileLoadOp():
                return images
            case shape.ViewOp() | shape.ExpandDimsOp():
                value = op.source
            case shape.PermuteOp():
                inverse = [op.order.index(dim) for dim in range(len(op.order))]
                images = _permuted(images, extents(op.result.type), inverse)
                value = op.source
            case shape.ExtractSliceOp():
                part, whole = extents(op.result.type), extents(op.source.type)
                images = [repack(image, part, whole) for image in images]
                value = op.source
            case _:
                return None


def _units(value: Value) -> list[int]:
    return [1 << bit for bit in range(log2(prod(extents(value.type))))]


def _permuted(images: list[int], source: tuple[int, ...], order: list[int]) -> list[int]:
    result = [source[dim] for dim in order]
    coordinates = [unpack(image, source) for image in images]
    return [pack([each[dim] for dim in order], result) for each in coordinates]


def _forward(op: Operation, images: list[int]) -> list[int] | None:
    """The packed indices of elements after a shape or element-wise operation; None for others."""
    match op:
        case shape.ViewOp() | shape.ExpandDimsOp():
            return images
        case shape.PermuteOp():
            return _permuted(images, extents(op.source.type), list(op.order))
        case shape.CatOp():
            source, result = extents(op.lhs.type), extents(op.result.type)
            return [repack(image, source, result) for image in images]
        case _ if is_elementwise(op) and all(is_tile(result) for result in op.results):
            return images
        case _:
            return None
