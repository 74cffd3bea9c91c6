"""Tiles of dots without the rows and columns that are out of bounds.

A kernel that decodes one token stores one row of each tile, and the view has an extent of one: all
other rows are computed in vain. Such tiles are halved, as long as their second half is never
stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa import view
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.requests import NUM_CTAS
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.ir.passes import Pass
from tilewright.ir.types import DYNAMIC
from tilewright.support.remark_catalogue import TILES_SHRUNK
from tilewright.support.remarks import Remark
from tilewright.target.tensor_cores import MMA_ROWS

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink
    from tilewright.transforms.tile.closure import Cut


class ShrinkTiles(Pass):
    """Halve tiles of dots whose second half is out of bounds wherever it is stored."""

    name = "shrink-tiles"

    def run(self, op: Operation, sink: Sink) -> None:
        for kernel in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            ctas = max(kernel.asks(NUM_CTAS) or 1, kernel.cluster_size)
            if kernel.is_kernel and ctas == 1:
                self._shrink(kernel, sink)

    def _shrink(self, kernel: FuncOp, sink: Sink) -> None:
        """Halve tiles as often as possible."""
        stores = [op for op in kernel.walk() if isinstance(op, view.TileStoreOp)]
        for store in stores:
            for dim in range(view.tiled_view(store.view).rank):
                old = shape(store.tile.type)[dim]
                while is_half_empty(store, dim) and _halve(kernel, store, dim):
                    pass
                new = shape(store.tile.type)[dim]
                if new < old and sink.wants_remarks:
                    text = f"{old} rows or columns of tiles become {new}"
                    location, name = store.location, kernel.sym_name
                    reason = "others are out of bounds"
                    sink.remark(Remark(TILES_SHRUNK, text, self.name, name, location, reason))


def is_half_empty(store: view.TileStoreOp, dim: int) -> bool:
    """Whether nothing in the second half of any tile along a dimension is in bounds."""
    type = view.tiled_view(store.view)
    if type.sparse == dim:
        return False
    extent = type.source.shape[type.dims[dim]]
    return extent != DYNAMIC and 2 * extent <= type.tile[dim]


def _halve(kernel: FuncOp, store: view.TileStoreOp, dim: int) -> bool:
    """Halve what is stored, and all that is computed for it; False if that is not possible."""
    # Few kernels have such stores.
    from tilewright.transforms.tile.closure import CannotCut, Cut  # noqa: PLC0415
    from tilewright.transforms.tile.control_flow import Scope  # noqa: PLC0415
    from tilewright.transforms.tile.one_part import HALVES, keep_first_part  # noqa: PLC0415

    whole = Cut(Scope.of_function(kernel), HALVES)
    try:
        cut = whole.with_op(store, whole.way_along(store, store.tile, dim))
    except CannotCut:
        return False
    if not _is_worthwhile(cut) or not _is_unobserved(cut):
        return False
    keep_first_part(kernel, cut)
    return True


def _is_worthwhile(cut: Cut) -> bool:
    """Whether dots are halved, and none below the rows of an instruction."""
    dots = [(op, way) for op, way in cut.ways.items() if isinstance(op, DotOp)]
    return bool(dots) and all(shape(op.c.type)[way.axes[op.c]] > MMA_ROWS for op, way in dots)


def _is_unobserved(cut: Cut) -> bool:
    """Whether the second half of no tile that is cut has an effect."""
    from tilewright.transforms.nv_tileaa.cluster_accesses import OBSERVABLE  # noqa: PLC0415

    for op, way in cut.ways.items():
        if isinstance(op, OBSERVABLE) and not (
            isinstance(op, view.TileStoreOp) and is_half_empty(op, way.axes[op.tile])
        ):
            return False
    return True
