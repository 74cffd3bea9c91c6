"""Build the coordinates of a tile's elements in the tensor that a view is of, as unsigned i64."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.elements import element_of, with_element
from tilewright.dialects.nv_tileaa.attributes import Signedness
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.conversion import ExtIOp
from tilewright.dialects.nv_tileaa.integer import AddIOp, CmpIOp, MulIOp
from tilewright.dialects.nv_tileaa.shape import BroadcastOp, MakeRangeOp, SplatOp, ViewOp
from tilewright.ir.types import I1, I64, TensorType

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.types import TiledViewType
    from tilewright.ir.builder import Builder
    from tilewright.ir.values import Value


def zero_extended(build: Builder, number: Value) -> Value:
    """Integers of 64 bits, since extents and indices are unsigned."""
    type = with_element(number.type, I64)
    if number.type is type:
        return number
    return build.create(ExtIOp, source=number, signedness=Signedness.UNSIGNED, types=[type]).result


def coordinates(build: Builder, view: TiledViewType, dim: int, index: Value) -> Value:
    """The coordinates of the elements of one tile along a dimension of it."""
    index = zero_extended(build, index)
    if dim == view.sparse:
        return index
    type = TensorType((view.tile[dim],), I64)
    count = build.create(ConstantOp, value=literal([view.counted[dim]], I64), types=[I64]).result
    start = build.create(MulIOp, lhs=index, rhs=count).result
    starts = build.create(SplatOp, source=start, types=[type]).result
    numbers = build.create(MakeRangeOp, types=[type]).result
    return build.create(AddIOp, lhs=starts, rhs=numbers).result


def in_bounds(build: Builder, numbers: Value, size: Value) -> Value:
    """Which of some coordinates are below the extent of the tensor."""
    type = numbers.type
    sizes = build.create(SplatOp, source=size, types=[type]).result
    types = [with_element(type, I1)]
    return build.create(
        CmpIOp, predicate=CmpIPredicate.ULT, lhs=numbers, rhs=sizes, types=types
    ).result


def across_tile(build: Builder, view: TiledViewType, dim: int, line: Value) -> Value:
    """Broadcast what elements along one dimension have to the whole tile."""
    around = tuple([extent if each == dim else 1 for each, extent in enumerate(view.tile)])
    for kind, target in ((ViewOp, around), (BroadcastOp, view.tile)):
        if shape(line.type) != target:
            type = TensorType(target, element_of(line.type))
            line = build.create(kind, source=line, types=[type]).result
    return line
