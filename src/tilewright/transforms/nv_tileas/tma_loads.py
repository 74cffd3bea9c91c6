"""Which loads TMA can copy: tiles of a view, to a placement that boxes of its tensor map fill."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import BlockTileOp, tiled_view
from tilewright.dialects.nv_tileas.attributes import laid_out
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.nv_tileas.tensor_map import boxes_of
from tilewright.dialects.nv_tileas.types import TensorMapType
from tilewright.layout.tma_boxes import NoBoxes
from tilewright.transforms.nv_tileas.pipelined_loads import plan_tma_stage

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileas.memory import TiledStoreOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.transforms.nv_tileas.pipelined_loads import TileLoad

ALIGNMENT: Final = 16
"""Bytes: of the address and the strides of a tensor map."""


def tma_problem(load: TileLoad) -> str | None:
    """Why TMA cannot copy the tile of a load to its stage; None if it can."""
    if not isinstance(load, TiledLoadOp):
        return "its rows have addresses of their own"
    if load.allow_tma is False:
        return "the program forbids it"
    if load.cache is not None:
        return "it has a cache hint"
    if view_ops(load.view) is None:
        return "its view is of memory that a loop or branch computes"
    element = element_of(load.tile.type)
    if load.vector * pointee_bytes(element) < ALIGNMENT:
        return f"its address and strides are not known to be multiples of {ALIGNMENT} bytes"
    plan = plan_tma_stage(load)
    if plan is None:
        return "no dot reads it as TMA would write it"
    try:
        tile = laid_out(element, plan.placement)
        boxes_of(TensorMapType(tiled_view(load.view), tile))
    except NoBoxes as reason:
        return str(reason)
    return None


def view_ops(view: Value) -> set[Operation] | None:
    """The operations that a view depends on; None unless it can be created before all regions."""
    tiled = view.defined_by(BlockTileOp)
    pending = [view if tiled is None else tiled.source]
    ops: set[Operation] = set()
    while pending:
        value = pending.pop()
        block, op = value.parent_block, value.defining_op()
        if block is None or not isinstance(block.parent_op, FuncOp):
            return None
        if op is not None and op not in ops:
            if op.regions:
                return None
            pending += op.operands
            ops.add(op)
    return ops


def hoist_view(access: TiledLoadOp | TiledStoreOp) -> None:
    """Create the view of an access that TMA can execute outside of loops and branches."""
    tiled = access.view.defined_by(BlockTileOp)
    if tiled is None or isinstance(tiled.parent_op, FuncOp):
        return
    outer: Operation = tiled
    while not isinstance(outer.parent_op, FuncOp):
        assert outer.parent_op is not None
        outer = outer.parent_op
    tiled.detach().insert_before(outer)
