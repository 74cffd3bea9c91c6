"""Predication: code that only some threads execute, and the predicates that say which."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    OpFoldResult,
    as_value,
    constant,
)
from tilewright.conversion.nv_tileas_to_nvgpu.threads import replica_mask, thread_id
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.arith.integer import AndIOp
from tilewright.dialects.nv_tileas.attributes import maybe_layout_of
from tilewright.dialects.scf import IfOp, YieldOp
from tilewright.ir.builder import InsertPoint
from tilewright.ir.conversion import ConversionBuilder
from tilewright.ir.operation import Block

if TYPE_CHECKING:
    from collections.abc import Generator

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


def conjunction(build: ConversionBuilder, a: Value | None, b: Value | None) -> Value | None:
    """Whether two predicates hold; one that is absent does."""
    if a is None or b is None:
        return b if a is None else a
    return build.create(AndIOp, lhs=a, rhs=b).result


def is_owner(op: Operation, build: ConversionBuilder, tile: Value) -> Value | None:
    """Whether the thread is the one that acts for its elements; nothing if all threads are."""
    layout = maybe_layout_of(tile)
    mask = (1 << 32) - 1 if layout is None else replica_mask(layout)
    if not mask:
        return None
    number = thread_id(op, build)
    if layout is not None:
        number = build.create(AndIOp, lhs=number, rhs=constant(build, mask)).result
    zero = constant(build, 0)
    return build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=number, rhs=zero).result


@contextmanager
def predicated(build: ConversionBuilder, condition: Value | None) -> Generator[None]:
    """Create what only the threads for which the condition holds do; all of them without one."""
    if condition is None:
        yield
        return
    inside = Block()
    build.create(IfOp, condition=condition, then_region=inside, types=[])
    with build.at(InsertPoint.at_end(inside)):
        yield
        build.create(YieldOp)


def is_thread(op: Operation, number: OpFoldResult, build: ConversionBuilder) -> Value:
    """Whether the thread is the one of that number."""
    mine, other = thread_id(op, build), as_value(build, number)
    return build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=mine, rhs=other).result
