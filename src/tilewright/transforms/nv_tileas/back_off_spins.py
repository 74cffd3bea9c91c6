"""Loops that wait for another block, as for a lock, sleep after a failed attempt.

An attempt is an atomic operation in the L2 cache. All blocks that wait for locks of an array send
theirs to the same part of it, and so does the block that holds a lock: the attempts of all others
delay its release. The time between attempts doubles from one to the next, so that a short wait
stays short, and a long one leaves the cache to others. Its limit grows with the number of blocks:
few of them hardly delay each other, and would be late after each release. Fewer than four do not
sleep at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.elementwise import is_tile
from tilewright.dialects.arith.integer import MinUIOp
from tilewright.dialects.nv_tileaa.attributes import Signedness
from tilewright.dialects.nv_tileaa.integer import AddIOp, MulIOp, ShRIOp
from tilewright.dialects.nv_tileaa.program import GetNumProgramsOp
from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileas.memory import AtomicCasOp, AtomicRmwOp, LoadOp
from tilewright.dialects.nv_tileas.sync import SleepOp
from tilewright.dialects.scf import ConditionOp, WhileOp, YieldOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.effects import is_pure
from tilewright.ir.types import I32
from tilewright.schedule.limits import LOG2_BLOCKS_OF_SLEEP, LONGEST_SLEEP, SHORTEST_SLEEP
from tilewright.transforms.kernel_pass import KernelPass
from tilewright.transforms.nv_tileaa.scalars import constant

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink


_ATTEMPTS: Final = (AtomicCasOp, AtomicRmwOp, LoadOp)


class BackOffSpins(KernelPass):
    """Sleep between the attempts of loops that do nothing but wait for another block."""

    name = "back-off-spins"
    change = Change.IMPROVE

    def run_on(self, function: FuncOp, sink: Sink) -> None:
        for loop in [inner for inner in function.walk() if isinstance(inner, WhileOp)]:
            if _only_waits(loop):
                _sleep_between_attempts(loop)


def _only_waits(loop: WhileOp) -> bool:
    """Whether a loop attempts to read or to change the same scalar, and does nothing else."""
    before = [op for op in loop.before.block if not isinstance(op, ConditionOp)]
    after = [op for op in loop.after.block if not isinstance(op, YieldOp)]
    attempts = [op for op in before if isinstance(op, _ATTEMPTS)]
    others = [op for op in (*before, *after) if op not in attempts]
    if not attempts or any(op.regions or not is_pure(op) for op in others):
        return False
    if any(attempt.pointers.is_inside(loop) for attempt in attempts):
        return False
    return not any(is_tile(value) for op in before for value in (*op.operands, *op.results))


def _sleep_between_attempts(loop: WhileOp) -> None:
    """Let a loop carry the time that it sleeps if the next attempt fails."""
    build = Builder(InsertPoint.before(loop), loop.location)
    limit = _limit(build)
    before, after = loop.before.clone({}), loop.after.clone({})
    condition, end = before.block.last, after.block.last
    assert condition is not None
    assert end is not None
    duration = before.block.add_argument(I32, loop.location)
    condition.set_operands([*condition.operands, duration])
    inside = Builder(InsertPoint.before(end), loop.location)
    slept = after.block.add_argument(I32, loop.location)
    inside.create(SleepOp, duration=slept)
    twice = inside.create(AddIOp, lhs=slept, rhs=slept).result
    longer = inside.create(MinUIOp, lhs=twice, rhs=limit).result
    end.set_operands([*end.operands, longer])
    shortest = build.create(MinUIOp, lhs=limit, rhs=constant(build, SHORTEST_SLEEP, I32)).result
    initial = [*loop.init_args, shortest]
    types = [*[result.type for result in loop.results], I32]
    made = build.insert(WhileOp(initial, types, loop.attributes, [before, after], loop.location))
    for old, new in zip(loop.results, made.results, strict=False):
        old.replace_all_uses_with(new)
    loop.erase()


def _limit(build: Builder) -> Value:
    """The longest time between attempts, by the number of blocks of the grid."""
    grid = build.create(GetNumProgramsOp, types=[I32, I32, I32])
    blocks = build.create(MulIOp, lhs=grid.x, rhs=grid.y).result
    blocks = build.create(MulIOp, lhs=blocks, rhs=grid.z).result
    bits = constant(build, LOG2_BLOCKS_OF_SLEEP, I32)
    time = build.create(ShRIOp, lhs=blocks, rhs=bits, signedness=Signedness.UNSIGNED).result
    return build.create(MinUIOp, lhs=time, rhs=constant(build, LONGEST_SLEEP, I32)).result
