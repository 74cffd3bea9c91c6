"""Checks of the stages and orders of a pipelined loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa.attribute_names import AT
from tilewright.dialects.nv_tileaa.attributes import AtAttr
from tilewright.dialects.nv_tileaa.early_execution import (
    is_repeatable,
    is_speculatable,
    predicate_problem,
)
from tilewright.dialects.nv_tileaa.loop_schedule import LoopSchedule, used_values
from tilewright.dialects.nv_tileaa.memory import AccessOp, LoadOp
from tilewright.dialects.nv_tileaa.misc import AssumeOp
from tilewright.dialects.nv_tileaa.view import TileLoadOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.types import IntegerType

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from tilewright.dialects.nv_tileaa.loop_schedule import Instance
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Diagnostic


def point_problems(op: Operation) -> Iterator[str | Diagnostic]:
    """Verify the attribute of an operation; with the first one of a loop, the whole loop."""
    loop = op.parent_op
    if not isinstance(op.attributes[AT], AtAttr):
        yield f"attribute '{AT}' failed to satisfy constraint: a stage and an order"
    elif not isinstance(loop, ForOp) or op.is_terminator:
        yield f"expected '{AT}' on an operation of the body of a 'scf.for'"
    elif not _has_points_before(op):
        yield from schedule_problems(LoopSchedule(loop))


def schedule_problems(schedule: LoopSchedule) -> Iterator[Diagnostic]:
    """What is wrong with the stages and orders of a loop."""
    if not isinstance(schedule.loop.induction_variable.type, IntegerType):
        yield schedule.loop.error("expected an integer counter of a pipelined loop, found an index")
    executed: set[tuple[Operation, int]] = set()
    for instance in schedule.instances:
        op, stage, _ = instance
        if AT in op.attributes and not _may_have_point(op):
            yield op.error(f"expected '{AT}' on an operation without effects, or a weak access")
        if stage < 0 and (problem := _early_problem(op)) is not None:
            yield op.error(f"cannot execute it for an iteration that may not exist: {problem}")
        yield from _operand_problems(schedule, instance, executed)
        executed.add((op, stage))


def _operand_problems(
    schedule: LoopSchedule, instance: Instance, executed: Container[tuple[Operation, int]]
) -> Iterator[Diagnostic]:
    """The operands that an operation needs before they are computed."""
    op, stage, order = instance
    for source in [schedule.source(value, stage) for value in used_values(op)]:
        orders, definition = schedule.orders(source.value), source.value.defining_op()
        if not orders or definition is None:
            continue
        first = min(orders)
        # The prologue executes a negative stage for all its iterations before the next stage.
        is_later = stage < first < 0
        if is_later or not (schedule.is_passed(source) or (definition, source.stage) in executed):
            computed = f"computed at stage {first}, order {orders[first]}"
            yield op.error(
                f"stage {stage}, order {order} is before an operand is {computed}",
                definition.note("the operand is computed here"),
            )


def _has_points_before(op: Operation) -> bool:
    before = op.prev
    while before is not None and AT not in before.attributes:
        before = before.prev
    return before is not None


def _may_have_point(op: Operation) -> bool:
    return is_repeatable(op) or (isinstance(op, AccessOp) and op.is_plain)


def _early_problem(op: Operation) -> str | None:
    """Why an operation cannot be executed for an iteration that may not exist."""
    if isinstance(op, LoadOp | TileLoadOp):
        return predicate_problem(op)
    return None if is_speculatable(op) or isinstance(op, AssumeOp) else "it is not pure"
