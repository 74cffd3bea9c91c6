"""Loads of a loop of which some are used after the others, as K and V of attention are.

With one stage for each tile, the copies of one kind run while the other is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileas.attributes import CopyEngine
from tilewright.transforms.nv_tileas.copy_groups import retiring_waits
from tilewright.transforms.nv_tileas.pipelined_loads import engine_of, plan_stage
from tilewright.transforms.nv_tileas.stage_uses import outermost, stage_users

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.scf import ForOp
    from tilewright.ir.operation import Operation
    from tilewright.transforms.nv_tileas.pipelined_loads import TileLoad


def late_loads(loop: ForOp, loads: Sequence[TileLoad]) -> list[TileLoad]:
    """The loads that are used after the last read of the others; none if there is no such order.

    All must be copied asynchronously: a tile that passes through registers would wait for memory. A
    dot in flight reads its operands until it is waited for.
    """
    if any(engine_of(load) is not CopyEngine.CP_ASYNC for load in loads):
        return []
    numbers = {op: number for number, op in enumerate(loop.body.block)}
    uses: dict[TileLoad, list[int]] = {}
    for load in loads:
        waits = retiring_waits(loop.body.block, stage_users(load, plan_stage(load)))
        if None in waits:
            return []
        uses[load] = [numbers[op] for op in (*_uses(loop, load), *waits) if op is not None]
    for start in sorted({min(numbers) for numbers in uses.values()})[1:]:
        early = [load for load in loads if min(uses[load]) < start]
        late = [load for load in loads if load not in early]
        # A late tile is waited for after accesses that its token may order after the load.
        if any(load.result_token.is_used for load in late):
            return []
        if all(max(uses[load]) < start for load in early):
            return late
    return []


def first_use(loop: ForOp, loads: Sequence[TileLoad]) -> Operation:
    """The first operation of a loop's body that uses one of some loads."""
    numbers = {op: number for number, op in enumerate(loop.body.block)}
    users = [op for load in loads for op in _uses(loop, load)]
    return min(users, key=lambda op: numbers[op])


def _uses(loop: ForOp, load: TileLoad) -> set[Operation]:
    """The operations of a loop's body that use a load when its stage is read."""
    block = loop.body.block
    return {outermost(block, user) for user in stage_users(load, plan_stage(load))}
