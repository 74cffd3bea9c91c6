"""Constants, integer arithmetic, and tiles in another order or shape, that passes build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.elements import element_of, extents_of, with_element
from tilewright.dialects.nv_tileaa import integer
from tilewright.dialects.nv_tileaa.attributes import Signedness
from tilewright.dialects.nv_tileaa.shape import PermuteOp, ViewOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.types import I1, I64, TensorType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.types import IntegerType
    from tilewright.ir.values import Value


def constant(build: Builder, number: int, type: IntegerType) -> Value:
    """A scalar."""
    return build.create(ConstantOp, value=IntegerAttr(number, type), types=[type]).result


def permuted(build: Builder, tile: Value, order: Sequence[int]) -> Value:
    """A tile with its dimensions in another order."""
    if list(order) == sorted(order):
        return tile
    extents = extents_of(tile.type)
    type = TensorType(tuple([extents[dim] for dim in order]), element_of(tile.type))
    return build.create(PermuteOp, source=tile, order=list(order), types=[type]).result


def reshaped(build: Builder, tile: Value, extents: Sequence[int]) -> Value:
    """A tile with other extents, and its elements in the same row-major order."""
    if extents_of(tile.type) == tuple(extents):
        return tile
    type = TensorType(tuple(extents), element_of(tile.type))
    return build.create(ViewOp, source=tile, types=[type]).result


class Arithmetic:
    """Builds arithmetic on unsigned integers: scalars, or tiles element by element."""

    __slots__ = ("build",)

    def __init__(self, build: Builder) -> None:
        self.build = build

    def constant(self, value: int, type: Type = I64) -> Value:
        """A number, or a tile of it."""
        return self.build.create(ConstantOp, value=literal([value], type), types=[type]).result

    def add(self, lhs: Value, rhs: Value) -> Value:
        """Addition."""
        return self.build.create(integer.AddIOp, lhs=lhs, rhs=rhs).result

    def subtract(self, lhs: Value, rhs: Value) -> Value:
        """Subtraction."""
        return self.build.create(integer.SubIOp, lhs=lhs, rhs=rhs).result

    def multiply(self, lhs: Value, rhs: Value) -> Value:
        """Multiplication."""
        return self.build.create(integer.MulIOp, lhs=lhs, rhs=rhs).result

    def divide(self, lhs: Value, rhs: Value) -> Value:
        """Division, rounded down."""
        unsigned = Signedness.UNSIGNED
        return self.build.create(integer.DivIOp, lhs=lhs, rhs=rhs, signedness=unsigned).result

    def shift_right(self, lhs: Value, rhs: Value) -> Value:
        """Shift to the right, with zeros from the left."""
        unsigned = Signedness.UNSIGNED
        return self.build.create(integer.ShRIOp, lhs=lhs, rhs=rhs, signedness=unsigned).result

    def conjunction(self, lhs: Value, rhs: Value) -> Value:
        """Bitwise and."""
        return self.build.create(integer.AndIOp, lhs=lhs, rhs=rhs).result

    def disjunction(self, lhs: Value, rhs: Value) -> Value:
        """Bitwise or."""
        return self.build.create(integer.OrIOp, lhs=lhs, rhs=rhs).result

    def compare(self, predicate: CmpIPredicate, lhs: Value, rhs: Value) -> Value:
        """Comparison."""
        types = [with_element(lhs.type, I1)]
        return self.build.create(
            integer.CmpIOp, predicate=predicate, lhs=lhs, rhs=rhs, types=types
        ).result

    def is_zero(self, number: Value) -> Value:
        """Whether a number is zero."""
        return self.compare(CmpIPredicate.EQ, number, self.constant(0, number.type))
