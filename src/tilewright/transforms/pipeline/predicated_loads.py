"""Loads that are executed under a predicate, for an iteration that may not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.elements import with_element
from tilewright.dialects.nv_tileaa.early_execution import scalar_index
from tilewright.dialects.nv_tileaa.integer import AndIOp
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.shape import SelectOp, SplatOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.types import I1, IntegerType, TensorType

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.early_execution import AnyLoad
    from tilewright.dialects.nv_tileaa.view import TileLoadOp
    from tilewright.ir.builder import Builder
    from tilewright.ir.values import Value

OUT_OF_BOUNDS: Final = -1
"""A tile with this index is out of bounds, whatever its other indices are."""


def predicate(build: Builder, load: AnyLoad, condition: Value) -> None:
    """Let a load access no memory if a condition is false; then its results are undefined."""
    if isinstance(load, LoadOp):
        _mask(build, load, condition)
    else:
        _move_out_of_bounds(build, load, condition)


# Law: where its mask is false, a load accesses no memory.
def _mask(build: Builder, load: LoadOp, condition: Value) -> None:
    type = with_element(load.pointers.type, I1)
    mask = condition
    if isinstance(type, TensorType):
        mask = build.create(SplatOp, source=condition, types=[type]).result
    if load.mask is not None:
        mask = build.create(AndIOp, lhs=load.mask, rhs=mask).result
    pointers, other, token = load.pointers, load.other, load.token
    rest = [value for value in (other, token) if value is not None]
    segments = (1, 1, int(other is not None), int(token is not None))
    load.set_operands([pointers, mask, *rest], segments)


# Law: a load of a tile that is out of bounds accesses no memory; an assumption that it is in bounds
# is dropped.
def _move_out_of_bounds(build: Builder, load: TileLoadOp, condition: Value) -> None:
    number = scalar_index(load)
    assert number is not None
    index = load.indices[number]
    assert isinstance(index.type, IntegerType)
    away = build.create(
        ConstantOp, value=IntegerAttr(OUT_OF_BOUNDS, index.type), types=[index.type]
    )
    moved = build.create(
        SelectOp, condition=condition, true_value=index, false_value=away.result, types=[index.type]
    ).result
    load.set_operand(1 + number, moved)
    load.sliced = True
    if load.in_bounds is not None:
        load.in_bounds = tuple([*load.in_bounds[:number], 0, *load.in_bounds[number + 1 :]])
