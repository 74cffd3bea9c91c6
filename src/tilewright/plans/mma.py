"""How factors of products of matrices go through shared memory."""

from __future__ import annotations

from typing import NamedTuple

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileas.attributes import Atom, layout_of
from tilewright.dialects.nv_tileas.matrix import DotOp, Instruction, wgmma_instruction
from tilewright.ir.types import FloatType
from tilewright.layout.fma_smem import slice_extent
from tilewright.layout.linear import Layout
from tilewright.layout.wgmma import OperandSmem, best_operand_smem
from tilewright.target.tensor_cores import BITS


class FmaDotPlan(NamedTuple):
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
    def of(op: DotOp) -> FmaDotPlan | None:
        """How a product goes about it; nothing if tensor cores make it, or nobody can."""
        element = element_of(op.a.type)
        if op.atom is not Atom.FMA or op.a_scale is not None:
            return None
        if not isinstance(element, FloatType) or element is not element_of(op.c.type):
            return None
        *batch, rows, depth = shape(op.a.type)
        columns = shape(op.b.type)[-1]
        count, size = batch[0] if batch else 1, element.width // 8
        slab = slice_extent(count, rows, columns, depth, size)
        right = max(16, count * rows * slab * size)
        total = right + count * columns * slab * size
        return FmaDotPlan(count, rows, columns, depth, slab, right, total)


class WgmmaDotPlan(NamedTuple):
    """A product of warpgroups: both factors lie in shared memory, rows (M or N) by K."""

    instruction: Instruction
    left: OperandSmem
    right: OperandSmem
    element: int
    """Bytes of an element of the factors."""
    start: int
    """At which byte B begins."""
    bytes: int
    """How much memory both factors take."""

    @staticmethod
    def of(op: DotOp) -> WgmmaDotPlan | None:
        """How a product goes about it; nothing if it is not one of warpgroups."""
        instruction = wgmma_instruction(op) if op.atom is Atom.WGMMA else None
        if instruction is None:
            return None
        element = BITS[instruction.a] // 8
        left, right = operand_layouts(op)
        start = left.size * element
        return WgmmaDotPlan(
            instruction,
            best_operand_smem(left, element),
            best_operand_smem(right, element),
            element,
            start,
            start + right.size * element,
        )


def operand_layouts(op: DotOp) -> tuple[Layout, Layout]:
    """The layouts of both factors as batches of matrices, rows (M or N) by K."""
    left, right = layout_of(op.a), layout_of(op.b)
    if len(left.shape) == 2:
        left, right = left.expand(0), right.expand(0)
    return left, right.permute((0, 2, 1))
