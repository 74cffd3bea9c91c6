"""Tiles of elements of half a byte, as the bytes that hold them in pairs, and back."""

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


def apart(build: Builder, bytes: Value, shape: Sequence[int], dim: int) -> Value:
    """The elements that a tile of bytes holds in pairs along a dimension."""
    last = _last(len(shape), dim)
    rows = _permuted(build, bytes, last)
    elements = TensorType((prod(shape),), F4E2M1FN)
    flat = _shaped(build, rows, (prod(shape) // 2,))
    found = build.create(UnpackOp, source=flat, types=[elements]).result
    tile = _shaped(build, found, [shape[each] for each in last])
    return _permuted(build, tile, [last.index(each) for each in range(len(shape))])


def together(build: Builder, tile: Value, dim: int) -> Value:
    """The bytes that hold the elements of a tile in pairs along a dimension."""
    shape = list(extents(tile.type))
    last = _last(len(shape), dim)
    flat = _shaped(build, _permuted(build, tile, last), (prod(shape),))
    type = TensorType((prod(shape) // 2,), I8)
    found = build.create(PackOp, source=flat, types=[type]).result
    shape[dim] //= 2
    rows = _shaped(build, found, [shape[each] for each in last])
    return _permuted(build, rows, [last.index(each) for each in range(len(shape))])


def _last(rank: int, dim: int) -> list[int]:
    """All dimensions in order, but one of them last."""
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
