"""Constant tiles: matching and construction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from tilewright.dialects.arith.literals import splat_of
from tilewright.dialects.cuda_tile.constraints import NUMBER_TILE
from tilewright.dialects.cuda_tile.core import ConstantOp
from tilewright.dialects.cuda_tile.enums import Signedness
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.ir.attributes import DenseElementsAttr, element_bytes
from tilewright.ir.rules import constant_of
from tilewright.ir.types import I1, FloatType, IntegerType
from tilewright.support.bits import mask, to_signed

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.values import Value


def number(type: Type) -> IntegerType | FloatType:
    """The element type of a tile of numbers."""
    assert isinstance(type, TileType)
    return cast("IntegerType | FloatType", type.element)


def width(type: Type) -> int:
    """The bit width of the elements of a tile."""
    return number(type).width


def is_signed(signedness: Signedness) -> bool:
    """Whether a signedness is signed."""
    return signedness is Signedness.SIGNED


def dense(constant: Attribute | None) -> DenseElementsAttr | None:
    """The elements of a constant tile, if it is one."""
    return constant if isinstance(constant, DenseElementsAttr) else None


def splat_value(value: Value) -> int | None:
    """The bit pattern of a splat constant, or `None`."""
    return splat_of(constant_of(value))


def is_true(value: Value) -> bool:
    """Whether a tile of i1 is the constant true."""
    return number(value.type) is I1 and splat_value(value) == 1


def signed_value(value: Value) -> int | None:
    """The signed value of a splat constant, or `None`."""
    pattern = splat_value(value)
    return None if pattern is None else to_signed(pattern, width(value.type))


def splat(pattern: int, type: Type) -> DenseElementsAttr:
    """A splat of a bit pattern."""
    return dense_of([pattern], type)


def ones(type: Type) -> int:
    """The bit pattern of an element with all bits set."""
    return mask(width(type))


def dense_of(patterns: Iterable[int], type: Type) -> DenseElementsAttr:
    """A tile of elements in row-major order; a single one is a splat."""
    size = element_bytes(number(type))
    return DenseElementsAttr(b"".join([p.to_bytes(size, "little") for p in patterns]), type)


def materialize(value: Attribute, type: Type, build: Builder) -> ConstantOp | None:
    """Materialize a constant; `None` for i4 and pointers, which have no constants."""
    if not isinstance(value, DenseElementsAttr) or not NUMBER_TILE.accepts(type):
        return None
    return build.create(ConstantOp, value=value, types=[type])
