"""Loads of a loop of which some are used after the others, as K and V of attention are.

With one stage for each tile, the copies of one kind run while the other is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileas.attributes import CopyEngine
from tilewright.transforms.nv_tileas.copy_groups import retiring_waits
from tilewright.transforms.nv_tileas.pipelined_loads import plan_stage
from tilewright.transforms.nv_tileas.stage_reads import outermost, stage_users

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.scf import ForOp
    from tilewright.ir.operation import Operation
    from tilewright.transforms.nv_tileas.pipelined_loads import StagePlan, StagePlans, TileLoad


def late_loads(loop: ForOp, plans: StagePlans) -> dict[TileLoad, StagePlan]:
    """The loads that are used after the last read of the others; none if there is no such order.

    All must be copied asynchronously: a tile that passes through registers would wait for memory. A
    dot in flight reads its operands until it is waited for.
    """
    if any(plan.engine is not CopyEngine.CP_ASYNC for plan in plans.values()):
        return {}
    block = loop.body.block
    numbers = {op: number for number, op in enumerate(block)}
    uses: dict[TileLoad, list[int]] = {}
    for load, plan in plans.items():
        users = stage_users(load, plan)
        waits = retiring_waits(block, users)
        if None in waits:
            return {}
        finished = [*(outermost(block, user) for user in users), *waits]
        uses[load] = [numbers[op] for op in finished if op is not None]
    for start in sorted({min(numbers) for numbers in uses.values()})[1:]:
        early = [load for load in plans if min(uses[load]) < start]
        late = {load: plan for load, plan in plans.items() if load not in early}
        # A late tile is waited for after accesses that its token may order after the load.
        if any(load.result_token.is_used for load in late):
            return {}
        if all(max(uses[load]) < start for load in early):
            return late
    return {}


def first_use(loop: ForOp, loads: Sequence[TileLoad]) -> Operation:
    """The first operation of a loop's body that uses one of some loads."""
    block = loop.body.block
    numbers = {op: number for number, op in enumerate(block)}
    users = [user for load in loads for user in stage_users(load, plan_stage(load))]
    return min([outermost(block, user) for user in users], key=lambda op: numbers[op])
