"""Loads that happen only under a condition, without a branch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.elements import with_element
from tilewright.dialects.nv_tileaa.integer import AndIOp
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.shape import SelectOp, SplatOp
from tilewright.dialects.nv_tileaa.view import TileLoadOp, tiled_view
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.types import I1, IntegerType, TensorType

if TYPE_CHECKING:
    from tilewright.ir.builder import Builder
    from tilewright.ir.values import Value

OUTSIDE: Final = -1
"""A tile with this number lies outside of every tensor, whatever else its place says."""


def can_be_conditional(load: LoadOp | TileLoadOp) -> bool:
    """Whether there is something to switch a load off by."""
    return isinstance(load, LoadOp) or _switch(load) is not None


def _switch(load: TileLoadOp) -> int | None:
    """The first index that is one number for the whole tile."""
    sparse = tiled_view(load.view).sparse
    found = [number for number in range(len(load.indices)) if number != sparse]
    return found[0] if found else None


def load_if(
    build: Builder, load: LoadOp | TileLoadOp, condition: Value, values: dict[Value, Value]
) -> None:
    """Insert a copy of a load that touches memory only if the condition holds.

    `values` maps operands, and learns the copies of results, which are anything otherwise.
    """
    copy = load.clone(values)
    if isinstance(copy, LoadOp):
        _mask(build, copy, condition)
    else:
        _move_away(build, copy, condition)
    build.insert(copy)


# Law: where its mask is false, a load touches nothing.
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


# Law: a load of a tile outside of its tensor touches nothing; a promise that it is inside goes.
def _move_away(build: Builder, load: TileLoadOp, condition: Value) -> None:
    number = _switch(load)
    assert number is not None
    index = load.indices[number]
    assert isinstance(index.type, IntegerType)
    away = build.create(ConstantOp, value=IntegerAttr(OUTSIDE, index.type), types=[index.type])
    moved = build.create(
        SelectOp, condition=condition, true_value=index, false_value=away.result, types=[index.type]
    ).result
    load.set_operand(1 + number, moved)
    load.sliced = True
    if load.in_bounds is not None:
        load.in_bounds = tuple([*load.in_bounds[:number], 0, *load.in_bounds[number + 1 :]])
