"""Asynchronous wgmma: accumulators are threaded through fence, mma, commit and wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.buffers import Buffer
from tilewright.conversion.nvgpu_to_nvvm.fragments import unpack_registers
from tilewright.conversion.nvgpu_to_nvvm.matrix_descriptor import (
    descriptor_fields,
    packed_descriptor,
)
from tilewright.conversion.nvgpu_to_nvvm.numbers import add, as_value
from tilewright.conversion.nvgpu_to_nvvm.warpgroup import WGMMA_TYPES
from tilewright.dialects.cute_nvgpu import wgmma
from tilewright.dialects.nvgpu.warpgroup import wgmma_k
from tilewright.dialects.nvvm import wgmma as nvvm
from tilewright.dialects.nvvm.attributes import (
    MMALayout,
    MMAShape,
    WGMMAScaleIn,
    WGMMAScaleOut,
)
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import I32, VectorType
from tilewright.target.tensor_cores import WGMMA_ROWS

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value


@converts(wgmma.WgmmaDescriptorOp)
def descriptor(
    op: wgmma.WgmmaDescriptorOp, new: wgmma.WgmmaDescriptorOp, build: ConversionBuilder
) -> Result:
    """Build a matrix descriptor: the address combined with constant fields."""
    address = Buffer.of(op.tensor, build).element_address(new.indices, build)
    fields = descriptor_fields(
        op.leading_byte_offset, op.stride_byte_offset, op.base_offset, op.swizzle
    )
    return packed_descriptor(build, address, fields)


def _is_fused_fence(op: wgmma.WgmmaFenceOp) -> bool:
    """Return whether a fence is directly before a wgmma and fences only its accumulator."""
    issue = op.next
    return (
        isinstance(issue, wgmma.WgmmaIssueOp)
        and len(op.outputs) == 1
        and issue.accumulator is op.outputs[0]
    )


@converts(wgmma.WgmmaFenceOp)
def fence(op: wgmma.WgmmaFenceOp, new: wgmma.WgmmaFenceOp, build: ConversionBuilder) -> Result:
    """Lower to `wgmma.fence`; a wgmma directly after it includes the fence."""
    if _is_fused_fence(op):
        return list(new.accumulators)
    types = [value.type for value in new.accumulators]
    return build.create(
        nvvm.WgmmaFenceAlignedOp, accumulators=new.accumulators, apart=op.apart, types=types
    )


@converts(wgmma.WgmmaCommitOp)
def commit(op: wgmma.WgmmaCommitOp, new: wgmma.WgmmaCommitOp, build: ConversionBuilder) -> Result:
    """Lower to `wgmma.commit_group`; a wgmma directly before it includes the commit."""
    if isinstance(op.prev, wgmma.WgmmaIssueOp):
        return ()
    return build.create(nvvm.WgmmaGroupSyncAlignedOp)


@converts(wgmma.WgmmaWaitOp)
def wait(op: wgmma.WgmmaWaitOp, new: wgmma.WgmmaWaitOp, build: ConversionBuilder) -> Result:
    """Lower to `wgmma.wait_group` over the accumulators."""
    types = [value.type for value in new.accumulators]
    return build.create(
        nvvm.WgmmaWaitGroupSyncOp, accumulators=new.accumulators, group=op.pending, types=types
    )


def _advance(build: ConversionBuilder, start: Value, steps: int, by: int) -> list[Value]:
    """Advance a descriptor for each step along K, in units of 16 bytes."""
    return [as_value(build, add(build, start, step * by)) for step in range(steps)]


def _sign(negative: bool) -> WGMMAScaleIn:
    return WGMMAScaleIn.NEG if negative else WGMMAScaleIn.ONE


@converts(wgmma.WgmmaIssueOp)
def issue(op: wgmma.WgmmaIssueOp, new: wgmma.WgmmaIssueOp, build: ConversionBuilder) -> Result:
    """Lower to the wgmma instructions of all K steps, with an adjacent fence and commit.

    A in registers is fenced by the same piece of inline PTX.
    """
    in_registers = isinstance(op.a.type, VectorType)
    before = op.accumulator.defining_op()
    opening = before if isinstance(before, wgmma.WgmmaFenceOp) and _is_fused_fence(before) else None
    return build.create(
        nvvm.WgmmaStepsOp,
        inouts=new.accumulator,
        descriptors_a=[] if in_registers else _advance(build, new.a, op.steps, op.a_step),
        registers_a=unpack_registers(build, new.a, I32) if in_registers else [],
        descriptors_b=_advance(build, new.b, op.steps, op.b_step),
        scale_d=new.accumulate,
        shape=MMAShape(WGMMA_ROWS, op.columns, wgmma_k(op.a_type)),
        type_a=WGMMA_TYPES[op.a_type],
        type_b=WGMMA_TYPES[op.b_type],
        type_d=WGMMA_TYPES[_element(op.accumulator)],
        scale=WGMMAScaleOut.ONE,
        scale_a=_sign(op.negate_a),
        scale_b=_sign(op.negate_b),
        layout_a=MMALayout.COL if op.transpose_a else MMALayout.ROW,
        layout_b=MMALayout.ROW if op.transpose_b else MMALayout.COL,
        # A fence before would leave out what LLVM writes to registers of A after it.
        fence=opening is not None or in_registers,
        apart=opening is not None and opening.apart,
        commit=isinstance(op.next, wgmma.WgmmaCommitOp),
    )


def _element(accumulator: Value) -> Type:
    assert isinstance(accumulator.type, VectorType)
    return accumulator.type.element


PATTERNS: Final[Patterns] = (descriptor, fence, commit, wait, issue)
