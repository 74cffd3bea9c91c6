"""Iterations of a loop: whether there is one, the last one, and branches on conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.nv_tileaa.attributes import Signedness
from tilewright.dialects.nv_tileaa.integer import AddIOp, AndIOp, CmpIOp, DivIOp, MulIOp, SubIOp
from tilewright.dialects.scf import IfOp, YieldOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block, Region
from tilewright.ir.rules import constant_of
from tilewright.ir.types import IntegerType
from tilewright.transforms.nv_tileaa.scalars import constant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tilewright.dialects.scf import ForOp
    from tilewright.ir.values import Value


def iteration_exists(build: Builder, loop: ForOp, counter: Value) -> Value:
    """Whether a loop has an iteration with a value of its counter, the first one or the next."""
    predicate = CmpIPredicate.ULT if loop.unsigned_cmp else CmpIPredicate.SLT
    return build.create(CmpIOp, lhs=counter, rhs=loop.upper_bound, predicate=predicate).result


def iterations_exist(build: Builder, loop: ForOp, count: int) -> Value:
    """Whether a loop has at least a positive number of iterations."""
    exists = iteration_exists(build, loop, loop.lower_bound)
    if count == 1:
        return exists
    type = loop.step.type
    assert isinstance(type, IntegerType)
    last = constant(build, count - 2, type)
    more = build.create(
        CmpIOp, lhs=last, rhs=_last_number(build, loop), predicate=CmpIPredicate.ULT
    ).result
    return build.create(AndIOp, lhs=exists, rhs=more).result


def last_counter(build: Builder, loop: ForOp) -> Value:
    """The counter of the last iteration of a loop that has one."""
    step = constant_of(loop.step)
    if isinstance(step, IntegerAttr) and step.value == 1:
        return _most(build, loop)
    number = _last_number(build, loop)
    covered = build.create(MulIOp, lhs=number, rhs=loop.step).result
    return build.create(AddIOp, lhs=loop.lower_bound, rhs=covered).result


def _last_number(build: Builder, loop: ForOp) -> Value:
    """The number of the last iteration of a loop that has one, from 0 on.

    The difference of the bounds is taken for unsigned: it may not fit into a signed integer.
    """
    span = build.create(SubIOp, lhs=_most(build, loop), rhs=loop.lower_bound).result
    return build.create(DivIOp, lhs=span, rhs=loop.step, signedness=Signedness.UNSIGNED).result


def _most(build: Builder, loop: ForOp) -> Value:
    """The largest value that the counter may have."""
    assert isinstance(loop.step.type, IntegerType)
    one = constant(build, 1, loop.step.type)
    return build.create(SubIOp, lhs=loop.upper_bound, rhs=one).result


def branch(
    build: Builder,
    condition: Value,
    then: Callable[[Builder], Sequence[Value]],
    otherwise: Callable[[Builder], Sequence[Value]],
) -> Sequence[Value]:
    """Build an `scf.if` of two blocks that yield values; returns its results."""
    blocks = (Block(), Block())
    for block, fill in zip(blocks, (then, otherwise), strict=True):
        inside = Builder(InsertPoint.at_end(block), build.location)
        inside.create(YieldOp, values=fill(inside))
    end = blocks[0].last
    assert end is not None
    types = [value.type for value in end.operands]
    regions = [Region([block]) for block in blocks]
    return build.insert(IfOp([condition], types, {}, regions, build.location)).results
