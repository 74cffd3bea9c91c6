"""Assumptions, which are checked here, and printing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tilewright.dialects.assumptions import Assumption, Bounded, DivBy, SameElements
from tilewright.dialects.cuda_tile import misc as d
from tilewright.dialects.cuda_tile.core import ConstantOp
from tilewright.dialects.cuda_tile.types import TensorViewType
from tilewright.dialects.nv_tileaa.types import MemrefType
from tilewright.ir.attributes import Attribute
from tilewright.ir.operation import Operation
from tilewright.ir.types import F4E2M1FN
from tilewright.ir.values import Value
from tilewright.reference.access import NO_TOKEN, Token
from tilewright.reference.batch import Batch, element_at
from tilewright.reference.errors import Fault
from tilewright.reference.evaluators import evaluator
from tilewright.reference.printing import format_tiles
from tilewright.reference.tile import (
    Array,
    Pointer,
    element,
    per_block,
    signed,
    stride_in_memory,
    unsigned,
)
from tilewright.reference.tiling import Tensor


@evaluator(d.AssumeOp)
def assume(op: d.AssumeOp, at: Batch) -> Any:
    """Check an assumption, and return its value."""
    if op.value.defined_by(ConstantOp) is None:
        check_assumption(op, at, op.value, op.predicate)
    return at[op.value]


def check_assumption(op: Operation, at: Batch, of: Value, predicate: Attribute) -> None:
    """Report an assumption about a value that does not hold.

    Constants are not checked: cuTile makes assumptions about strides that no access uses.
    """
    value = at[of]
    if isinstance(predicate, Bounded):
        holds = _is_bounded(signed(value), predicate)
    elif isinstance(predicate, SameElements):
        holds = _has_same_elements(value, predicate.values)
    else:
        assert isinstance(predicate, DivBy)
        holds = _is_divisible(_numbers(of, value), predicate, _increment(of))
    if not holds.all():
        gist = f"assumes that {_spelled(predicate)}, which does not hold"
        at.require(op, holds, Fault.ASSUMPTION, gist, _assumed(of, value))


def _assumed(of: Value, value: Any) -> Callable[[tuple[int, ...]], str]:
    """Describe the value that violates an assumption; addresses are hexadecimal."""
    is_address = isinstance(of.type, TensorViewType | MemrefType)
    is_address = is_address or isinstance(element(of), Pointer)
    numbers = _numbers(of, value) if is_address else signed(value)

    def describe(first: tuple[int, ...]) -> str:
        number = int(element_at(numbers, first))
        return f": got {number:#x}" if is_address else f": got {number}"

    return describe


def _spelled(predicate: Assumption) -> str:
    name = predicate.mnemonic.rpartition(".")[2]
    return f"{name}{predicate.print(None)}"


def _is_bounded(value: Array, predicate: Bounded) -> Array:
    holds = np.ones(value.shape, np.bool_)
    if predicate.lower is not None:
        holds &= value >= predicate.lower
    if predicate.upper is not None:
        holds &= value <= predicate.upper
    return holds


def _has_same_elements(value: Array, group: tuple[int, ...]) -> Array:
    """Whether every element equals the first one of its group."""
    first = value
    for axis, size in enumerate(group, start=1):
        if size > 1:
            indices = np.arange(int(value.shape[axis]))
            first = first.take(indices - indices % size, axis=axis)
    return value == first


def _numbers(value: Value, content: Any) -> Array:
    """The numbers that must be divisible: integers, or byte addresses."""
    if isinstance(value.type, TensorViewType | MemrefType):
        tensor: Tensor = content
        return tensor.base >> np.uint64(value.type.element is F4E2M1FN)
    type = element(value)
    if isinstance(type, Pointer):
        return content >> np.uint64(type.pointee is F4E2M1FN)
    return unsigned(content)


def _increment(value: Value) -> int:
    """The difference of consecutive elements of a group: one, or the pointee's size."""
    if isinstance(value.type, TensorViewType | MemrefType):
        return 0
    type = element(value)
    return stride_in_memory(type.pointee) if isinstance(type, Pointer) else 1


def _is_divisible(number: Array, predicate: DivBy, increment: int) -> Array:
    low_bits = number.dtype.type(min(predicate.divisor - 1, np.iinfo(number.dtype).max))
    if not predicate.every or predicate.along is None:
        return (number & low_bits) == 0
    axis = predicate.along + 1
    indices = np.arange(int(number.shape[axis]))
    starts = indices - indices % predicate.every
    first = number.take(starts, axis=axis)
    shape = [1] * number.ndim
    shape[axis] = -1
    expected = first + ((indices - starts) * increment).astype(number.dtype).reshape(shape)
    return ((first & low_bits) == 0) & (number == expected)


@evaluator(d.PrintTkoOp)
def print_tko(op: d.PrintTkoOp, at: Batch) -> Token:
    """Print in every block, one after the other."""
    write_tiles(at, op.format, op.args)
    return at.get(op.token) or NO_TOKEN


def write_tiles(at: Batch, format: str, values: Sequence[Value]) -> None:
    """Print tiles of every block, one after the other."""
    tiles = [per_block(at[value], at.count) for value in values]
    types = [element(value) for value in values]
    for lane in range(at.count):
        at.machine.write(format_tiles(format, [tile[lane] for tile in tiles], types))
