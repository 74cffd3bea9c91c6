"""Plans of dots: operands in shared memory, and accumulators of wgmma in registers.

ptxas takes a value computed from a register after an in-place wgmma for equal to one computed from
it before, if everything else is the same (`wgmma-in-place` of docs/ptxas-defects.md). So an
accumulator that another operation reads must not share its registers with the next wgmma.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.dialects.arith.literals import splat_of
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.constraints import count, shape
from tilewright.dialects.nv_tileas.attributes import Atom, in_shared_memory, layout_of
from tilewright.dialects.nv_tileas.matrix import (
    DotOp,
    Instruction,
    async_instruction,
    wgmma_operands,
)
from tilewright.dialects.nv_tileas.shape import SplatOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.rules import constant_of
from tilewright.ir.types import F8E4M3FN, F8E5M2, FloatType
from tilewright.ir.values import BlockArgument
from tilewright.layout.fma_lines import held_operand
from tilewright.layout.fma_smem import slice_extent
from tilewright.layout.wgmma import OperandSmem, batched
from tilewright.target.tensor_cores import BITS

if TYPE_CHECKING:
    from tilewright.analysis.ranges import Ranges
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.fma_lines import HeldOperand

PROMOTED: Final = (F8E4M3FN, F8E5M2)
"""Operands whose accumulators are too imprecise to carry over all of K, unless `fast_acc` is set:
partial accumulators, of intervals of K, are added to those in f32."""
PROMOTION_INTERVAL: Final = 128
"""How far along K the instruction accumulates fp8, with 14 bits of mantissa, before the partial
accumulator is added to the f32 one."""
PROMOTED_COLUMNS: Final = 128
"""How many columns are promoted at a time: their partial accumulators take extra registers."""


class FmaDotPlan(NamedTuple):
    """A dot without tensor cores: FMAs over slices of K; operands that are not in registers of the
    threads that need them, nor in shared memory, are staged there."""

    k: int
    """The extent of the K dimension."""
    k_slice: int
    """The extent of K of one slice."""
    a: HeldOperand | None
    """How threads hold A; None if they read it from shared memory."""
    b: HeldOperand | None
    right: int
    """The byte offset of the staged slice of B."""
    bytes: int
    """Bytes of shared memory of a slice of the operands that are staged."""

    @staticmethod
    def of(op: DotOp) -> FmaDotPlan | None:
        """The plan of a dot; None if tensor cores compute it, or if its types have no FMA."""
        element = element_of(op.a.type)
        if op.atom is not Atom.FMA or op.a_scale is not None:
            return None
        if not isinstance(element, FloatType) or element is not element_of(op.c.type):
            return None
        k, size = shape(op.a.type)[-1], element.width // 8
        a, b = _held(op.c, op.a, 2), _held(op.c, op.b, 1)
        left = 0 if a or in_shared_memory(op.a) else _line_bytes(op.a, k, size)
        right = 0 if b or in_shared_memory(op.b) else _line_bytes(op.b, k, size)
        k_slice = slice_extent(left + right, k)
        start = max(16, left * k_slice) if left else 0
        return FmaDotPlan(k, k_slice, a, b, start, start + right * k_slice)


def _held(accumulator: Value, operand: Value, k_dimension: int) -> HeldOperand | None:
    if in_shared_memory(operand):
        return None
    accumulators = batched(layout_of(accumulator))
    return held_operand(accumulators, batched(layout_of(operand)), k_dimension)


def _line_bytes(operand: Value, k: int, element: int) -> int:
    """The bytes of an operand at one k."""
    return count(operand.type) // k * element


def is_promoted(op: DotOp, instruction: Instruction) -> bool:
    """Whether partial accumulators start at zero, and are added to those of the dot.

    The program says so, or those of the instruction are too imprecise to carry over all of K. A dot
    of one interval that starts at zero has nothing to add them to.
    """
    if op.promoted or op.fast_acc or instruction.a not in ("e4m3", "e5m2"):
        return op.promoted
    return shape(op.a.type)[-1] > PROMOTION_INTERVAL or not starts_at_zero(op)


def starts_at_zero(op: DotOp) -> bool:
    """Whether the initial accumulator of a dot is zero."""
    if op.overwrites:
        return True
    source = op.c.defining_op()
    scalar = source.source if isinstance(source, SplatOp) else op.c
    return splat_of(constant_of(scalar)) == 0


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
        instruction = async_instruction(op)
        if instruction is None:
            return None
        left, right = wgmma_operands(op)
        if right is None or (left is None and in_shared_memory(op.a)):
            return None
        return WgmmaDotPlan(instruction, left, right, BITS[instruction.a] // 8)


def is_read_elsewhere(op: DotOp) -> bool:
    """Whether another operation than the dot reads, or may read, its initial accumulator."""
    if _has_others(op.c, op):
        return True
    loop = _loop_of(op.c)
    if loop is None:
        producer = op.c.defining_op()
        return not isinstance(producer, DotOp) and constant_of(op.c) is None
    last = loop.body.block.last
    assert last is not None
    passed = last.operands[op.c.index - 1]
    return not isinstance(passed.defining_op(), DotOp) or _has_others(passed, last)


def is_carried(op: DotOp, ranges: Ranges) -> bool:
    """Whether a dot accumulates over the iterations of a loop that stays a loop.

    Then each element has a register of its own. Elsewhere several may hold the same constant: LLVM
    replaces a loop that runs at most once by its body, which it may see from bounds that are not
    constant, and ptxas unrolls loops whose trip count is known.
    """
    loop = _loop_of(op.c)
    if loop is None or constant_of(loop.upper_bound) is not None:
        return False
    bounds = (loop.lower_bound, loop.step, loop.upper_bound)
    first, step, end = (ranges.of(value).within(not loop.unsigned_cmp) for value in bounds)
    is_known = first[0] == first[1] and step[0] == step[1]
    return is_known and end[1] > first[0] + step[0]


def _has_others(value: Value, user: Operation) -> bool:
    return any(each is not user for each in value.users)


def _loop_of(value: Value) -> ForOp | None:
    """The loop that carries a value from iteration to iteration."""
    loop = value.owner.parent_op if isinstance(value, BlockArgument) else None
    return loop if isinstance(loop, ForOp) and value in loop.carried else None
