"""Allocations of shared memory: pipelines, buffers, tiles with a placement, and tensor maps.

Unlike scratch memory, which an operation needs while it runs, other operations access them later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.dialects.nv_tileas.async_copy import AllocTensorOp
from tilewright.dialects.nv_tileas.attributes import Residency, in_shared_memory
from tilewright.dialects.nv_tileas.pipeline import CreatePipelineOp
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.dialects.nv_tileas.tensor_map import CreateTensorMapsOp
from tilewright.dialects.nv_tileas.types import buffer, pipeline, stored_bytes
from tilewright.layout.wgmma import ALIGNMENT
from tilewright.support.tensor_map_parameters import MAP_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileas.types import PipelineType
    from tilewright.ir.operation import Operation


def allocated_bytes(op: Operation) -> int:
    """The bytes of shared memory that an operation allocates; 0 for most."""
    match op:
        case CreatePipelineOp():
            return pipeline_memory(pipeline(op.result)).bytes
        case AllocTensorOp() if buffer(op.result).residency is Residency.SHARED:
            return buffer(op.result).stages * buffer(op.result).stage_bytes
        case ConvertLayoutOp() if in_shared_memory(op.result):
            return stored_bytes(op.result.type)
        case CreateTensorMapsOp():
            # Not scratch memory: the other warps do not wait for the one that encodes the maps.
            return MAP_BYTES * len(op.maps)
        case _:
            return 0


class PipelineMemory(NamedTuple):
    """Where the stages of a pipeline lie in its shared memory."""

    offsets: Sequence[int]
    """The byte offset of the first stage of each element."""
    strides: Sequence[int]
    """The bytes from a stage of each element to the next."""
    bytes: int


def pipeline_memory(type: PipelineType) -> PipelineMemory:
    """The stages of each element, one after the other; each aligned for its swizzle."""
    offsets: list[int] = []
    strides: list[int] = []
    end = 0
    for element in type.elements:
        bytes = stored_bytes(element)
        end = aligned(end, ALIGNMENT)
        offsets.append(end)
        strides.append(aligned(bytes, min(ALIGNMENT, 1 << max(bytes - 1, 0).bit_length())))
        end += strides[-1] * type.stages
    return PipelineMemory(offsets, strides, end)


def aligned(bytes: int, alignment: int) -> int:
    """The next multiple of an alignment."""
    return -(-bytes // alignment) * alignment
