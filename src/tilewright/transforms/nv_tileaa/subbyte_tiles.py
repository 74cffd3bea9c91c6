"""Packing of tiles of 4-bit elements into bytes, and unpacking."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.constraints import shape as extents
from tilewright.dialects.nv_tileaa.shape import PackOp, PermuteOp, UnpackOp, ViewOp
from tilewright.ir.types import F4E2M1FN, I8, TensorType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.builder import Builder
    from tilewright.ir.values import Value


def unpack_tile(build: Builder, bytes: Value, shape: Sequence[int], dim: int) -> Value:
    """Unpack the elements that a tile of bytes holds in pairs along a dimension."""
    last = _last(len(shape), dim)
    rows = _permuted(build, bytes, last)
    elements = TensorType((prod(shape),), F4E2M1FN)
    flat = _shaped(build, rows, (prod(shape) // 2,))
    unpacked = build.create(UnpackOp, source=flat, types=[elements]).result
    tile = _shaped(build, unpacked, [shape[each] for each in last])
    return _permuted(build, tile, [last.index(each) for each in range(len(shape))])


def pack_tile(build: Builder, tile: Value, dim: int) -> Value:
    """Pack the elements of a tile in pairs along a dimension into bytes."""
    shape = list(extents(tile.type))
    last = _last(len(shape), dim)
    flat = _shaped(build, _permuted(build, tile, last), (prod(shape),))
    type = TensorType((prod(shape) // 2,), I8)
    packed = build.create(PackOp, source=flat, types=[type]).result
    shape[dim] //= 2
    rows = _shaped(build, packed, [shape[each] for each in last])
    return _permuted(build, rows, [last.index(each) for each in range(len(shape))])


def _last(rank: int, dim: int) -> list[int]:
    """All dimensions in order, with one of them moved to the end."""
    return [*(each for each in range(rank) if each != dim), dim]


def _permuted(build: Builder, tile: Value, order: Sequence[int]) -> Value:
    if list(order) == sorted(order):
        return tile
    shape = extents(tile.type)
    type = TensorType(tuple([shape[dim] for dim in order]), element_of(tile.type))
    return build.create(PermuteOp, source=tile, order=list(order), types=[type]).result


def _shaped(build: Builder, tile: Value, shape: Sequence[int]) -> Value:
    if extents(tile.type) == tuple(shape):
        return tile
    type = TensorType(tuple(shape), element_of(tile.type))
    return build.create(ViewOp, source=tile, types=[type]).result
