"""Branches, returns, exits, traps."""

from __future__ import annotations

import numpy as np

from tilewright.ptxsim.isa import Run, control, instruction
from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.operation import Operation
from tilewright.ptxsim.program import Segment, Transfer
from tilewright.ptxsim.scalar_types import SCALAR_TYPES
from tilewright.ptxsim.scheduler import Group, Scheduler
from tilewright.ptxsim.syntax import Label, Name, NameTable
from tilewright.ptxsim.vectors import distinct


def _segment(op: Operation) -> Segment:
    assert op.segment is not None, "control flow is decoded within its segment"
    return op.segment


def _target(op: Operation, name: str) -> Segment:
    label = op.site.scope.find(name)
    if not isinstance(label, Label):
        op.fail(f"expected a label, got '{name}'")
    return _segment(op).code.at(label.index)


@control("bra")
def branch(op: Operation) -> Transfer:
    """`bra target`."""
    op.ignore("uni")
    operand = op.operand(0)
    target = _target(op, operand.text if isinstance(operand, Name) else "")
    _segment(op).targets = (target,)
    return lambda scheduler, group: group.move(target)


@control("brx.idx")
def branch_by_index(op: Operation) -> Transfer:
    """`brx.idx index, table`: branch through a table, per thread."""
    op.ignore("uni")
    index = op.read(0, SCALAR_TYPES["u32"])
    operand = op.operand(1)
    table = op.site.scope.find(operand.text) if isinstance(operand, Name) else None
    if not isinstance(table, NameTable):
        op.fail("expected a table of branch targets")
    targets = [_target(op, name) for name in table.names]
    _segment(op).targets = tuple(targets)
    site = op.site

    def transfer(scheduler: Scheduler, group: Group) -> Group | None:
        indices = group.lanes.spread(index(group.lanes))
        bad = indices >= len(targets)
        if bad.any():
            thread = int(group.lanes.threads[np.argmax(bad)])
            text = f"expected an index below {len(targets)}, got {int(indices[np.argmax(bad)])}"
            group.lanes.wave.violation(text, site, thread)
        first, *others = distinct(indices)
        for other in others:
            scheduler.add(group.part(indices == other).move(targets[int(other)]))
        return (group.part(indices == first) if others else group).move(targets[int(first)])

    return transfer


def _exit(scheduler: Scheduler, group: Group) -> Group | None:
    scheduler.exit(group)
    return None


@control("exit")
def exit_thread(op: Operation) -> Transfer:
    """`exit`."""
    return _exit


@control("ret")
def return_to_caller(op: Operation) -> Transfer:
    """`ret`: return after the call, or exit from the kernel."""
    op.ignore("uni")

    def transfer(scheduler: Scheduler, group: Group) -> Group | None:
        if not group.stack:
            return _exit(scheduler, group)
        back = group.stack[-1]
        back.deliver(group.lanes)
        lanes = Lanes(group.lanes.wave, back.frame, group.lanes.threads)
        return Group(back.segment, lanes, group.stack[:-1], group.epoch, group.budget)

    return transfer


@control("trap")
def trap(op: Operation) -> Transfer:
    """`trap`: the kernel is aborted."""
    site = op.site

    def transfer(scheduler: Scheduler, group: Group) -> Group | None:
        wave = group.lanes.wave
        wave.violation("the kernel aborts itself", site, int(group.lanes.threads[0]))

    return transfer


@instruction("brkpt", "pmevent")
def nothing(op: Operation) -> Run:
    """Ignore hints to tools."""
    op.rest()
    op.ignore_operands()
    return lambda lanes: None
