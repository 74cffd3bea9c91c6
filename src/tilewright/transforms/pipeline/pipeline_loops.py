"""Software pipelining: the expansion of loops whose operations have stages and orders.

No stage is chosen here. `prefetch-loads` and `rotate-dots` write the stages of operations, or the
text of a program has them. Stages in shared memory are another thing: `schedule-loops` chooses how
many there are, and `materialize-schedule` calls the same expander (`expansion`) for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa.attribute_names import CONTINUES
from tilewright.dialects.nv_tileaa.loop_schedule import LoopSchedule, is_pipelined
from tilewright.dialects.nv_tileaa.schedule_problems import schedule_problems
from tilewright.dialects.scf import ForOp
from tilewright.ir.passes import Pass
from tilewright.support.diagnostics import UserError
from tilewright.transforms.pipeline.chains import chain_problem, expand_chain, next_loop
from tilewright.transforms.pipeline.expansion import expand

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink


class PipelineLoops(Pass):
    """Expand the loops whose operations have stages and orders.

    Stages start one after the other in a prologue, and end in an epilogue. A loop that continues
    the one before it takes over its pipeline.
    """

    name = "pipeline-loops"
    is_required = True

    def run(self, op: Operation, sink: Sink) -> None:
        # The operations of a loop are copied, and with them the loops inside of it.
        while loops := [loop for loop in op.walk() if isinstance(loop, ForOp)]:
            pipelined = next(filter(is_pipelined, loops), None)
            if pipelined is None:
                return
            pipeline(pipelined)


def pipeline(loop: ForOp) -> None:
    """Expand a loop by the stages and orders of its operations, and one that continues it."""
    schedule = _schedule(loop)
    if CONTINUES in loop.attributes:
        expected = "a pipelined loop before it, which continues no other"
        raise UserError([loop.error(f"expected {expected}, since it has '{CONTINUES}'")])
    following = next_loop(loop)
    if following is None or CONTINUES not in following.attributes:
        expand(schedule)
        return
    second = _schedule(following)
    if (problem := chain_problem(schedule, second)) is not None:
        raise UserError([following.error(f"cannot continue the loop before it: {problem}")])
    expand_chain(schedule, second)


def _schedule(loop: ForOp) -> LoopSchedule:
    schedule = LoopSchedule(loop)
    if problems := list(schedule_problems(schedule)):
        raise UserError(problems)
    return schedule
