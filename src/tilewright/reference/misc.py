"""Promises, which are checked here, and printing."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.dialects.cuda_tile import misc as d
from tilewright.dialects.cuda_tile.attributes import BoundedAttr, DivByAttr, SameElementsAttr
from tilewright.dialects.cuda_tile.core import ConstantOp
from tilewright.dialects.cuda_tile.types import PtrType, TensorViewType
from tilewright.ir.types import F4E2M1FN
from tilewright.ir.values import Value
from tilewright.reference.access import NO_TOKEN, Token
from tilewright.reference.batch import Batch
from tilewright.reference.errors import Fault
from tilewright.reference.meanings import meaning
from tilewright.reference.printing import format_tiles
from tilewright.reference.tile import Array, element, per_block, signed, stride_in_memory, unsigned
from tilewright.reference.view import Tensor


@meaning(d.AssumeOp)
def assume(op: d.AssumeOp, at: Batch) -> Any:
    """The value itself, of which the promise must hold."""
    value, predicate = at[op.value], op.predicate
    if op.value.defined_by(ConstantOp) is not None:
        return value  # cuTile promises what it likes of strides that no access ever uses
    if isinstance(predicate, BoundedAttr):
        holds = _is_bounded(signed(value), predicate)
    elif isinstance(predicate, SameElementsAttr):
        holds = _has_same_elements(value, predicate.values)
    else:
        assert isinstance(predicate, DivByAttr)
        holds = _is_divisible(_numbers(op.value, value), predicate, _rise(op.value))
    if not holds.all():
        gist = f"promises that {_spelled(predicate)}, which does not hold"
        at.require(op, holds, Fault.ASSUMPTION, gist)
    return value


def _spelled(predicate: BoundedAttr | SameElementsAttr | DivByAttr) -> str:
    return f"{predicate.spelling}{predicate.print(None)}"  # pyright: ignore


def _is_bounded(value: Array, predicate: BoundedAttr) -> Array:
    holds = np.ones(value.shape, np.bool_)
    if predicate.lower is not None:
        holds &= value >= predicate.lower
    if predicate.upper is not None:
        holds &= value <= predicate.upper
    return holds


def _has_same_elements(value: Array, group: tuple[int, ...]) -> Array:
    """Whether every element is the first one of its group."""
    first = value
    for axis, size in enumerate(group, start=1):
        if size > 1:
            places = np.arange(int(value.shape[axis]))
            first = first.take(places - places % size, axis=axis)
    return value == first


def _numbers(value: Value, found: Any) -> Array:
    """What must be divisible: integers, or addresses in bytes."""
    if isinstance(value.type, TensorViewType):
        tensor: Tensor = found
        return tensor.base >> np.uint64(value.type.element is F4E2M1FN)
    type = element(value)
    if isinstance(type, PtrType):
        return found >> np.uint64(type.pointee is F4E2M1FN)
    return unsigned(found)


def _rise(value: Value) -> int:
    """How much larger the next element of a group is: one, or the size of what is pointed to."""
    if isinstance(value.type, TensorViewType):
        return 0
    type = element(value)
    return stride_in_memory(type.pointee) if isinstance(type, PtrType) else 1


def _is_divisible(number: Array, predicate: DivByAttr, rise: int) -> Array:
    low_bits = number.dtype.type(min(predicate.divisor - 1, np.iinfo(number.dtype).max))
    if not predicate.every or predicate.along is None:
        return (number & low_bits) == 0
    axis = predicate.along + 1
    places = np.arange(int(number.shape[axis]))
    starts = places - places % predicate.every
    first = number.take(starts, axis=axis)
    shape = [1] * number.ndim
    shape[axis] = -1
    expected = first + ((places - starts) * rise).astype(number.dtype).reshape(shape)
    return ((first & low_bits) == 0) & (number == expected)


@meaning(d.PrintTkoOp)
def print_tko(op: d.PrintTkoOp, at: Batch) -> Token:
    """Prints in every block, one after the other."""
    tiles = [per_block(at[value], at.count) for value in op.args]
    types = [element(value) for value in op.args]
    for lane in range(at.count):
        at.machine.write(format_tiles(op.format, [tile[lane] for tile in tiles], types))
    return at.get(op.token) or NO_TOKEN
