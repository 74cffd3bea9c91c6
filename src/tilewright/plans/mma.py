"""Plans of dots whose operands go through shared memory: FMA loops and wgmma."""

from __future__ import annotations

from typing import Final, NamedTuple

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileas.attributes import Atom, in_shared_memory
from tilewright.dialects.nv_tileas.matrix import (
    DotOp,
    Instruction,
    wgmma_instruction,
    wgmma_operands,
)
from tilewright.ir.types import F8E4M3FN, F8E5M2, FloatType
from tilewright.layout.fma_smem import slice_extent
from tilewright.layout.wgmma import OperandSmem
from tilewright.target.tensor_cores import BITS

PROMOTED: Final = (F8E4M3FN, F8E5M2)
"""Operands whose accumulators are too imprecise to carry over all of K, unless `fast_acc` is set:
partial accumulators, of intervals of K, are added to those in f32."""
PROMOTED_COLUMNS: Final = 128
"""How many columns are promoted at a time: their partial accumulators take extra registers."""


class FmaDotPlan(NamedTuple):
    """A dot without tensor cores: FMAs over slices of K in shared memory."""

    batch: int
    rows: int
    columns: int
    k: int
    """The extent of the K dimension."""
    k_slice: int
    """The extent of K of one slice."""
    right: int
    """The byte offset of the slice of B."""
    bytes: int
    """Bytes of shared memory of a slice of both operands."""

    @staticmethod
    def of(op: DotOp) -> FmaDotPlan | None:
        """The plan of a dot; None if tensor cores compute it, or if its types have no FMA."""
        element = element_of(op.a.type)
        if op.atom is not Atom.FMA or op.a_scale is not None:
            return None
        if not isinstance(element, FloatType) or element is not element_of(op.c.type):
            return None
        *batch, rows, k = shape(op.a.type)
        columns = shape(op.b.type)[-1]
        count, size = batch[0] if batch else 1, element.width // 8
        k_slice = slice_extent(count, rows, columns, k, size)
        right = max(16, count * rows * k_slice * size)
        bytes = right + count * columns * k_slice * size
        return FmaDotPlan(count, rows, columns, k, k_slice, right, bytes)


def is_promoted(op: DotOp, instruction: Instruction) -> bool:
    """Whether partial accumulators start at zero, and are added to those of the dot.

    The program says so, or those of the instruction are too imprecise to carry over all of K.
    """
    return op.promoted or (instruction.a in ("e4m3", "e5m2") and not op.fast_acc)


class WgmmaDotPlan(NamedTuple):
    """A dot by wgmma: operands in shared memory, rows (M or N) by K."""

    instruction: Instruction
    left: OperandSmem | None
    """A; None if it is in registers."""
    right: OperandSmem
    element: int
    """Bytes of an operand element."""

    @staticmethod
    def of(op: DotOp) -> WgmmaDotPlan | None:
        """The plan of a dot; None if it does not use wgmma."""
        instruction = wgmma_instruction(op) if op.atom is Atom.WGMMA else None
        if instruction is None:
            return None
        left, right = wgmma_operands(op)
        if right is None or (left is None and in_shared_memory(op.a)):
            return None
        return WgmmaDotPlan(instruction, left, right, BITS[instruction.a] // 8)
