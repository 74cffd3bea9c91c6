"""The uses of a pipelined load, and the reads of its tile from a stage in place of the load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.elementwise import is_elementwise, is_tile
from tilewright.analysis.slices import forward_slice
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.memory import CreateMemTokenOp
from tilewright.dialects.nv_tileas.attributes import (
    CopyEngine,
    in_shared_memory,
    laid_out,
    layout_of,
)
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.pipeline import ConsumerReadOp
from tilewright.dialects.nv_tileas.shape import PermuteOp, Rearrangement
from tilewright.ir.operation import Operation
from tilewright.transforms.nv_tileas.rounded_loads import is_only_rounded, is_rounding

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tilewright.dialects.nv_tileas.pipeline import ConsumerWaitOp
    from tilewright.ir.attributes import Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.operation import Block
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout
    from tilewright.transforms.nv_tileas.pipelined_loads import StagePlan, TileLoad


def stage_users(load: TileLoad, plan: StagePlan) -> set[Operation]:
    """The users of a load when its stage is read as planned, up to its dots.

    Fragments are read from the stage as late as a dot multiplies them: see `slice-dots`. What TMA
    copies for no dot is read until it is combined with another tile, such as scores with a bias.
    """
    users = _users(load, plan, is_elementwise)
    if plan.engine is CopyEngine.TMA and not any(isinstance(user, DotOp) for user in users):
        return _users(load, plan, _changes_one_tile)
    return users


def _changes_one_tile(op: Operation) -> bool:
    """Whether an element-wise operation takes a single tile."""
    return is_elementwise(op) and sum(map(is_tile, op.operands)) == 1


def _users(
    load: TileLoad, plan: StagePlan, is_followed: Callable[[Operation], bool]
) -> set[Operation]:
    """The users of a load, and of what some operations compute from it."""
    replaced = set(_replaced_ops(plan))
    is_rounded = plan.engine is CopyEngine.TMA and is_only_rounded(load.results[0])

    def is_replaced(user: Operation) -> bool:
        return user in replaced or (is_rounded and is_rounding(user))

    def is_passed(user: Operation) -> bool:
        return is_replaced(user) or isinstance(user, Rearrangement) or is_followed(user)

    users = {user for _, user in forward_slice([load.results[0]], is_passed)}
    return {user for user in users if not is_replaced(user)}


def outermost(block: Block, op: Operation) -> Operation:
    """The operation of a block that is or contains another."""
    while op.parent is not block and op.parent_op is not None:
        op = op.parent_op
    return op


def _replaced_ops(plan: StagePlan) -> list[Operation]:
    """What reads of a stage replace, users first: conversions, shape operations only for these."""
    replaced: list[Operation] = []
    for use in plan.uses:
        replaced.append(use.convert)
        for op in reversed(use.shape_ops):
            if op not in replaced and all(user in replaced for user in op.result.users):
                replaced.append(op)
    return replaced


def read_stage(
    build: Builder,
    pipeline: Value,
    token: Value,
    loads: Sequence[TileLoad],
    plans: Sequence[StagePlan],
) -> list[Operation]:
    """Read a stage instead of its loads, in the layouts in which they are used.

    Returns the operations that are without a use now, users first.
    """
    replaced: list[Operation] = []
    for number, (load, plan) in enumerate(zip(loads, plans, strict=True)):
        loaded = load.results[0]
        replaced += _replaced_ops(plan)
        for use in plan.uses:
            type = laid_out(element_of(loaded.type), use.layout)
            tile = read_tile(build, pipeline, token, number, load, type)
            for op in use.shape_ops:
                layout = led_on(op, layout_of(tile))
                made = op.like([tile], [laid_out(element_of(tile.type), layout)])
                tile = build.insert(made).results[0]
            use.convert.result.replace_all_uses_with(tile)
        others = [user for user in loaded.users if user not in replaced]
        if others:
            tile = read_tile(build, pipeline, token, number, load, loaded.type)
            for user in others:
                user.replace_operand(loaded, tile)
        # The wait before orders the load before what its token orders after it.
        if load.result_token.is_used:
            before = load.token or build.create(CreateMemTokenOp).result
            load.result_token.replace_all_uses_with(before)
        replaced.append(load)
    return replaced


def read_tile(
    build: Builder, pipeline: Value, token: Value, number: int, load: Operation, type: Type
) -> Value:
    """Read the tile of a load from a stage that is full, with the layout of a type."""
    return build.create(
        ConsumerReadOp,
        pipeline=pipeline,
        token=token,
        number=number,
        types=[type],
        location=load.location,
    ).values[0]


def read_late(wait: ConsumerWaitOp) -> None:
    """Read a stage into registers after the dots that do not need it.

    Tiles that are read before take registers while dots have theirs for accumulators.
    """
    block = wait.parent
    assert block is not None
    order = {op: number for number, op in enumerate(block)}
    first_dot = min((order[op] for op in block if isinstance(op, DotOp)), default=len(order))

    def is_renaming(op: Operation) -> bool:
        """Whether an operation of the block only changes the shape, which costs nothing."""
        return isinstance(op, Rearrangement) and op.parent is block

    for read in [op for op in wait.token.users if isinstance(op, ConsumerReadOp)]:
        if any(map(in_shared_memory, read.values)):
            continue
        users = [user for _, user in forward_slice(read.values, is_renaming)]
        uses = [outermost(block, user) for user in users if not is_renaming(user)]
        first = min(uses, key=order.__getitem__, default=read)
        if order[first] > first_dot:
            for op in (read, *filter(is_renaming, users)):
                op.detach().insert_before(first)


def led_on(op: Rearrangement, layout: Layout) -> Layout:
    """The layout of the result of a shape operation on a source in a layout."""
    if isinstance(op, PermuteOp):
        return layout.permute(op.order)
    return layout.reshape(shape(op.result.type))
