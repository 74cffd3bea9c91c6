"""Tiles with one value in all elements, in other shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import literal, splat_of
from tilewright.dialects.nv_tileaa.shape import SplatOp
from tilewright.ir.rules import constant_of

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.values import Value


def is_uniform(tile: Value) -> bool:
    """Whether a tile is a splat, or a constant with one value."""
    return tile.defined_by(SplatOp) is not None or splat_of(constant_of(tile)) is not None


def uniform_tile(tile: Value, type: Type, build: Builder) -> Value:
    """A tile of another type with the value of a uniform one in all elements."""
    op = tile.defining_op()
    if isinstance(op, SplatOp):
        return build.insert(op.like(op.operands, [type])).results[0]
    pattern = splat_of(constant_of(tile))
    assert pattern is not None
    return build.create(ConstantOp, value=literal([pattern], type), types=[type]).result
