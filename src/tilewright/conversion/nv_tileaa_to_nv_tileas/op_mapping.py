"""The `nv_tileas` operation for each `nv_tileaa` operation that does not stay what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.nv_tileaa import (
    aggregate,
    atomics,
    matrix,
    memory,
    misc,
    multimem,
    queue,
    shape,
    view,
)
from tilewright.dialects.nv_tileaa.constraints import shape as extents
from tilewright.dialects.nv_tileas import agents as new_agents
from tilewright.dialects.nv_tileas import aggregate as new_aggregate
from tilewright.dialects.nv_tileas import matrix as new_matrix
from tilewright.dialects.nv_tileas import memory as new_memory
from tilewright.dialects.nv_tileas import multimem as new_multimem
from tilewright.dialects.nv_tileas import shape as new_shape
from tilewright.dialects.nv_tileas import sync as new_sync
from tilewright.ir.attributes import DenseElementsAttr
from tilewright.ir.operation import Region

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout

TILEAS_OPS: Final[dict[type[Operation], type[Operation]]] = {
    shape.SplatOp: new_shape.SplatOp,
    shape.MakeRangeOp: new_shape.MakeRangeOp,
    shape.ViewOp: new_shape.ViewOp,
    shape.ExpandDimsOp: new_shape.ExpandDimsOp,
    shape.BroadcastOp: new_shape.BroadcastOp,
    shape.PermuteOp: new_shape.PermuteOp,
    shape.CatOp: new_shape.CatOp,
    shape.ExtractOp: new_shape.ExtractOp,
    shape.ExtractSliceOp: new_shape.ExtractSliceOp,
    shape.InsertSliceOp: new_shape.InsertSliceOp,
    shape.HistogramOp: new_shape.HistogramOp,
    shape.PackOp: new_shape.PackOp,
    shape.UnpackOp: new_shape.UnpackOp,
    aggregate.YieldOp: new_aggregate.YieldOp,
    aggregate.ReduceOp: new_aggregate.ReduceOp,
    aggregate.ScanOp: new_aggregate.ScanOp,
    aggregate.GenerateOp: new_aggregate.GenerateOp,
    matrix.DotOp: new_matrix.DotOp,
    memory.LoadOp: new_memory.LoadOp,
    memory.StoreOp: new_memory.StoreOp,
    atomics.AtomicRmwOp: new_memory.AtomicRmwOp,
    atomics.AtomicCasOp: new_memory.AtomicCasOp,
    view.TiledLoadOp: new_memory.TiledLoadOp,
    view.TiledStoreOp: new_memory.TiledStoreOp,
    view.GatherLoadOp: new_memory.GatherLoadOp,
    view.ScatterStoreOp: new_memory.ScatterStoreOp,
    view.TiledAtomicRmwOp: new_memory.TiledAtomicRmwOp,
    multimem.MultimemLoadReduceOp: new_multimem.MultimemLoadReduceOp,
    multimem.MultimemReduceOp: new_multimem.MultimemReduceOp,
    multimem.MultimemStoreOp: new_multimem.MultimemStoreOp,
    queue.ExecuteOp: new_agents.ExecuteOp,
    misc.PrintOp: new_sync.PrintOp,
    misc.AssertOp: new_sync.AssertOp,
}
"""Operations that are not in this table stay what they are, on tiles with layouts."""


def with_layouts(op: Operation, operands: Sequence[Value], types: Sequence[Type]) -> Operation:
    """An operation on tiles with layouts, with empty regions in place of its own."""
    kind = TILEAS_OPS.get(type(op), type(op))
    attributes = op.attributes.copy()
    if isinstance(op, ConstantOp) and isinstance(op.value, DenseElementsAttr):
        attributes["value"] = DenseElementsAttr(op.value.data, types[0])
    return kind(
        operands,
        types,
        attributes,
        [Region() for _ in op.regions],
        op.location,
        (),
        op.schema.group_sizes(op) if kind.schema.has_segments else None,
    )


def source_layout(op: Operation, layout: Layout) -> Layout:
    """The layout of the source of a shape operation that a result in a layout corresponds to."""
    source = extents(op.operands[0].type)
    match op:
        case shape.PermuteOp():
            return layout.permute([op.order.index(dim) for dim in range(len(op.order))])
        case shape.BroadcastOp():
            return layout.resize(source)
        case _:
            return layout.reshape(source)
