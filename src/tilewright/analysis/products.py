"""How products of matrices without tensor cores go through shared memory."""

from __future__ import annotations

from typing import NamedTuple

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileas.attributes import Atom
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.ir.types import FloatType
from tilewright.layout.slabs import slab_depth


class FmaProduct(NamedTuple):
    """A product of batches of matrices, in slabs of its depth."""

    batch: int
    rows: int
    columns: int
    depth: int
    slab: int
    """How deep a slab is."""
    right: int
    """At which byte the slab of B begins."""
    bytes: int
    """How much memory the slabs of both factors take."""

    @staticmethod
    def of(op: DotOp) -> FmaProduct | None:
        """How a product goes about it; nothing if tensor cores make it, or nobody can."""
        element = element_of(op.a.type)
        if op.atom is not Atom.FMA or op.a_scale is not None:
            return None
        if not isinstance(element, FloatType) or element is not element_of(op.c.type):
            return None
        *batch, rows, depth = shape(op.a.type)
        columns = shape(op.b.type)[-1]
        count, size = batch[0] if batch else 1, element.width // 8
        slab = slab_depth(count, rows, columns, depth, size)
        right = max(16, count * rows * slab * size)
        total = right + count * columns * slab * size
        return FmaProduct(count, rows, columns, depth, slab, right, total)
