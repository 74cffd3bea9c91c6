"""Predication: code that only some threads execute, and the predicates that say which."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tilewright.analysis.targets import target_or_baseline
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    OpFoldResult,
    as_value,
    constant,
)
from tilewright.conversion.nv_tileas_to_nvgpu.threads import replica_mask, thread_id
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.arith.integer import AndIOp
from tilewright.dialects.cute_nvgpu.threads import ElectOneOp, WarpSyncOp
from tilewright.dialects.nv_tileas.attributes import maybe_layout_of
from tilewright.dialects.scf import IfOp, YieldOp
from tilewright.ir.builder import InsertPoint
from tilewright.ir.conversion import ConversionBuilder
from tilewright.ir.operation import Block
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from collections.abc import Generator

    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


def conjunction(build: ConversionBuilder, a: Value | None, b: Value | None) -> Value | None:
    """The AND of two predicates, of which None is true."""
    if a is None or b is None:
        return b if a is None else a
    return build.create(AndIOp, lhs=a, rhs=b).result


def is_owner(op: Operation, build: ConversionBuilder, tile: Value | Type) -> Value | None:
    """Whether the thread owns its elements of a tile; None if every thread does.

    Of all replicas of an element, the owner is the one that stores, updates or prints it.
    """
    layout = maybe_layout_of(tile)
    mask = (1 << 32) - 1 if layout is None else replica_mask(layout)
    if not mask:
        return None
    bits = thread_id(op, build)
    if layout is not None:
        bits = build.create(AndIOp, lhs=bits, rhs=constant(build, mask)).result
    zero = constant(build, 0)
    return build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=bits, rhs=zero).result


@contextmanager
def predicated(build: ConversionBuilder, condition: Value | None) -> Generator[None]:
    """Emit code under a condition, by `scf.if`; without one, unconditionally."""
    if condition is None:
        yield
        return
    body = Block()
    build.create(IfOp, condition=condition, then_region=body, types=[])
    with build.at(InsertPoint.at_end(body)):
        yield
        build.create(YieldOp)


def is_elected_lane(op: Operation, build: ConversionBuilder) -> Value:
    """Whether the thread is the one lane of its warp, which must be converged, that acts for all.

    `elect.sync` lets ptxas know that one lane executes what follows; before sm_90 it is lane 0.
    """
    if target_or_baseline(op).elects_lanes:
        return build.create(ElectOneOp).result
    lane, zero = constant(build, WARP_SIZE - 1), constant(build, 0)
    bits = build.create(AndIOp, lhs=thread_id(op, build), rhs=lane).result
    return build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=bits, rhs=zero).result


@contextmanager
def elected_after_all(op: Operation, build: ConversionBuilder) -> Generator[None]:
    """Emit code that one lane executes after all lanes of its warp have come here.

    If the code right before is such, too, the lane of that one executes both.
    """
    end = _end_of_elected(build)
    if end is not None:
        with build.at(InsertPoint.before(end)):
            yield
        return
    build.create(WarpSyncOp)
    with predicated(build, is_elected_lane(op, build)):
        yield


def _end_of_elected(build: ConversionBuilder) -> Operation | None:
    """The end of the code right before, if an elected lane executes it after all lanes."""
    last = build.point.block.last
    if build.point.anchor is not None or not isinstance(last, IfOp):
        return None
    elect = last.condition.defined_by(ElectOneOp)
    if elect is None or not isinstance(elect.prev, WarpSyncOp):
        return None
    return last.then_region.block.terminator


def is_thread(op: Operation, id: OpFoldResult, build: ConversionBuilder) -> Value:
    """Whether the thread has this id."""
    own, wanted = thread_id(op, build), as_value(build, id)
    return build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=own, rhs=wanted).result
