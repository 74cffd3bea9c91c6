"""Which loads TMA can copy: tiles of a view, to a placement that boxes of its tensor map fill.

CTAs of a cluster that load the same tile multicast it: each copies a part of the tile to the stages
of all of them, so that L2 is read once.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from tilewright.analysis.ranges import Ranges
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.attribute_names import CLUSTER_SHARED
from tilewright.dialects.nv_tileaa.misc import AssumeOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import BlockTileOp, MakeMemrefOp, tiled_view
from tilewright.dialects.nv_tileas.attribute_names import MULTICAST
from tilewright.dialects.nv_tileas.attributes import laid_out
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.nv_tileas.pipeline import ranks_within
from tilewright.dialects.nv_tileas.tensor_map import boxes_of, part_boxes
from tilewright.dialects.nv_tileas.types import TensorMapType
from tilewright.dialects.scf import IfOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.effects import is_pure
from tilewright.layout.tma_boxes import NoBoxes
from tilewright.plans.tensor_maps import limit_problem
from tilewright.target.engines import TMA
from tilewright.transforms.nv_tileas.pipelined_loads import plan_tma_stage

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileas.memory import TiledAtomicRmwOp, TiledStoreOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.types import TensorType
    from tilewright.ir.values import Value
    from tilewright.transforms.nv_tileas.pipelined_loads import TileLoad

HOISTED: Final = (AssumeOp, MakeMemrefOp)
"""Operations besides pure ones that a branch needs not keep: assumptions are dropped, and a view of
any memory is harmless where nothing accesses it."""


class TmaLoads:
    """The loads of a function that TMA can copy, as long as the function is not changed."""

    def __init__(self, function: FuncOp) -> None:
        self._function = function

    # Few functions have a load that TMA could copy otherwise.
    @cached_property
    def _ranges(self) -> Ranges:
        return Ranges(self._function)

    def problem(self, load: TileLoad) -> str | None:
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
        if load.vector * pointee_bytes(element) < TMA.alignment:
            return f"its address and strides are not known to be multiples of {TMA.alignment} bytes"
        plan = plan_tma_stage(load)
        if plan is None:
            return "nothing reads it as TMA would write it"
        try:
            boxes_of(TensorMapType(tiled_view(load.view), laid_out(element, plan.placement)))
        except NoBoxes as reason:
            return str(reason)
        return limit_problem(load.view, load.indices, self._ranges)


def view_ops(view: Value) -> set[Operation] | None:
    """The operations that a view depends on; None unless it can be created before all regions.

    Those in branches can be executed where the branch is not taken.
    """
    tiled = view.defined_by(BlockTileOp)
    pending = [view if tiled is None else tiled.source]
    ops: set[Operation] = set()
    while pending:
        value = pending.pop()
        block, op = value.parent_block, value.defining_op()
        around = None if block is None else block.parent_op
        while isinstance(around, IfOp):
            if op is None or not (is_pure(op) or isinstance(op, HOISTED)):
                return None
            around = around.parent_op
        if not isinstance(around, FuncOp):
            return None
        if op is not None and op not in ops:
            if op.regions:
                return None
            pending += op.operands
            ops.add(op)
    return ops


def shared_ranks(load: TileLoad) -> int:
    """The bits of the rank in which CTAs differ that load the same tile; 0 if there are none."""
    return _mask(load, CLUSTER_SHARED)


def multicast_of(load: TiledLoadOp) -> int:
    """The bits of the rank in which CTAs differ that multicast a tile; 0 if none do."""
    return _mask(load, MULTICAST)


def _mask(load: TileLoad, name: str) -> int:
    mask = load.attributes.get(name)
    return mask.value if isinstance(mask, IntegerAttr) else 0


def multicast_ranks(load: TiledLoadOp, tile: TensorType) -> int:
    """The bits of the rank in which CTAs differ that can multicast a tile to each other.

    They are fewer than those of the CTAs that share it if it has not enough boxes for all.
    """
    mask = shared_ranks(load)
    while mask:
        try:
            part_boxes(TensorMapType(tiled_view(load.view), tile, len(ranks_within(mask))))
        except NoBoxes:
            mask ^= 1 << (mask.bit_length() - 1)
        else:
            break
    return mask


# Law: an assumption of a branch need not hold where the branch is not taken.
def hoist_view(access: TiledLoadOp | TiledStoreOp | TiledAtomicRmwOp) -> None:
    """Create the view of an access that TMA can execute outside of loops and branches.

    What it is computed from is hoisted with it, without the assumptions of branches.
    """
    _hoist(access.view.defining_op())


def _hoist(op: Operation | None) -> None:
    if op is None or not _is_nested(op):
        return
    for operand in op.operands:
        value = operand
        while isinstance(assumption := value.defining_op(), AssumeOp) and _is_nested(assumption):
            value = assumption.value
        if value is not operand:
            op.replace_operand(operand, value)
        _hoist(value.defining_op())
    outer = next(each for each in op.ancestors() if isinstance(each.parent_op, FuncOp))
    op.detach().insert_before(outer)


def _is_nested(op: Operation) -> bool:
    """Whether an operation is inside of a loop or branch."""
    return not isinstance(op.parent_op, FuncOp)
