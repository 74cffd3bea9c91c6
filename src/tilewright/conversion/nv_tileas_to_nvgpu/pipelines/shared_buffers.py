"""Buffers in shared memory: alloc_tensor, read_buffer."""

from __future__ import annotations

from typing import Final

from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import constant
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.stage_access import (
    StageAccess,
    stage_offset,
)
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import scratch_offset
from tilewright.dialects.nv_tileas.async_copy import AllocTensorOp, ReadBufferOp
from tilewright.dialects.nv_tileas.types import buffer
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import TensorType


@converts(AllocTensorOp)
def alloc_tensor(op: AllocTensorOp, new: AllocTensorOp, build: ConversionBuilder) -> Result:
    """A part of the shared memory of the function, at a byte offset."""
    return constant(build, scratch_offset(op))


@converts(ReadBufferOp)
def read_buffer(op: ReadBufferOp, new: ReadBufferOp, build: ConversionBuilder) -> Result:
    """Every thread loads its registers."""
    type = buffer(op.source)
    offset = stage_offset(build, new.source, new.stage, type.stage_bytes)
    element = TensorType(type.shape, type.element)
    return [StageAccess(op, build, op.result, element, offset).read(), ()]


PATTERNS: Final[Patterns] = (
    alloc_tensor,
    read_buffer,
)
