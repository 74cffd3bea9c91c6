"""Reads of tiles from the stage of a pipeline, in place of the loads that it copies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.memory import CreateMemTokenOp
from tilewright.dialects.nv_tileas.attributes import in_shared_memory, laid_out, layout_of
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.pipeline import ConsumerReadOp
from tilewright.dialects.nv_tileas.shape import PermuteOp, Rearrangement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileas.pipeline import ConsumerWaitOp
    from tilewright.ir.attributes import Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout
    from tilewright.transforms.nv_tileas.pipelined_loads import StagePlan, TileLoad


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
        stage = _StagedTile(build, pipeline, token, number, load)
        loaded = load.results[0]
        for use in plan.uses:
            tile = stage.read(laid_out(element_of(loaded.type), use.layout))
            for op in use.shape_ops:
                layout = led_on(op, layout_of(tile))
                made = op.like([tile], [laid_out(element_of(tile.type), layout)])
                build.insert(made)
                tile = made.results[0]
            use.convert.result.replace_all_uses_with(tile)
            replaced.append(use.convert)
            for op in reversed(use.shape_ops):
                if op not in replaced and all(user in replaced for user in op.result.users):
                    replaced.append(op)
        others = [user for user in loaded.users if user not in replaced]
        if others:
            tile = stage.read(loaded.type)
            for user in others:
                user.replace_operand(loaded, tile)
        # The wait before orders the load before what its token orders after it.
        if load.result_token.is_used:
            load.result_token.replace_all_uses_with(load.token or _new_token(build))
        replaced.append(load)
    return replaced


def read_late(wait: ConsumerWaitOp) -> None:
    """Read a stage into registers after the dots that do not need it.

    Tiles that are read before take registers while dots have theirs for accumulators.
    """
    block = wait.parent
    assert block is not None
    order = {op: number for number, op in enumerate(block)}
    first_dot = min((order[op] for op in block if isinstance(op, DotOp)), default=len(order))
    for read in [op for op in wait.token.users if isinstance(op, ConsumerReadOp)]:
        if any(map(in_shared_memory, read.values)):
            continue
        renamed, uses = _uses_of(read)
        first = min([_in(block, use) for use in uses], key=order.__getitem__, default=read)
        if order[first] > first_dot:
            for op in (read, *renamed):
                op.detach().insert_before(first)


def _uses_of(read: ConsumerReadOp) -> tuple[list[Operation], list[Operation]]:
    """The shape operations of a block on what is read, which cost nothing, and the uses of all."""
    renamed: list[Operation] = []
    uses: list[Operation] = []
    pending = list(read.values)
    while pending:
        for user in pending.pop(0).users:
            if isinstance(user, Rearrangement) and user.parent is read.parent:
                renamed.append(user)
                pending.append(user.result)
            else:
                uses.append(user)
    return renamed, uses


def _in(block: Block, op: Operation) -> Operation:
    """The operation of a block that is another one, or has it inside."""
    return next(each for each in (op, *op.ancestors()) if each.parent is block)


class _StagedTile:
    """A tile of a stage that is full."""

    __slots__ = ("_build", "_load", "_number", "_pipeline", "_token")

    def __init__(
        self, build: Builder, pipeline: Value, token: Value, number: int, load: TileLoad
    ) -> None:
        self._build, self._pipeline, self._token = build, pipeline, token
        self._number, self._load = number, load

    def read(self, type: Type) -> Value:
        """The tile with the layout of a type."""
        read = self._build.create(
            ConsumerReadOp,
            pipeline=self._pipeline,
            token=self._token,
            number=self._number,
            types=[type],
            location=self._load.location,
        )
        return read.values[0]


def led_on(op: Rearrangement, layout: Layout) -> Layout:
    """The layout of the result of a shape operation on a source in a layout."""
    if isinstance(op, PermuteOp):
        return layout.permute(op.order)
    return layout.reshape(shape(op.result.type))


def _new_token(build: Builder) -> Value:
    return build.create(CreateMemTokenOp).result
