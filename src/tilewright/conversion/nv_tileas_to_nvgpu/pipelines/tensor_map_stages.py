"""Tensor maps in a stage of a pipeline, by which the warp that encodes them gives them to others.

A stage has the number of the slot that holds the map, and the i32 that is added to a coordinate.
The reader fences: the mbarrier of the stage orders the generic proxy alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.conversion.nv_tileas_to_nvgpu.context import TensorMapSlot, lowering_context
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import as_index
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.tensor_maps import map_at
from tilewright.conversion.nv_tileas_to_nvgpu.predication import predicated
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import (
    load_shared,
    scratch_pointer,
    store_shared,
)
from tilewright.conversion.nv_tileas_to_nvgpu.threads import is_first_thread
from tilewright.conversion.nv_tileas_to_nvgpu.types import descriptor_type
from tilewright.dialects.arith.casts import IndexCastOp
from tilewright.dialects.memref.allocation import GetGlobalOp
from tilewright.dialects.nv_tileas.pipeline import CreatePipelineOp, ProducerWriteOp
from tilewright.dialects.nv_tileas.tensor_map import CreateTensorMapsOp
from tilewright.dialects.nv_tileas.types import tensor_map
from tilewright.dialects.nvgpu.tma import TmaFenceOp
from tilewright.ir.types import I32
from tilewright.support.diagnostics import fail
from tilewright.target.arch import REGISTER_BYTES

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileas.pipeline import ConsumerReadOp
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.values import Value


def write_map(op: ProducerWriteOp, build: ConversionBuilder, map: Value, offset: Value) -> None:
    """Write the slot of a tensor map to a stage, at a byte offset in shared memory."""
    slot, _ = _slot_of(op, build, map)
    _, beyond = build.values(map)
    with predicated(build, is_first_thread(op, build)):
        number = build.create(IndexCastOp, source=slot.number, types=[I32]).result
        for index, value in enumerate((number, beyond)):
            pointer = scratch_pointer(op, build, offset, index * REGISTER_BYTES)
            store_shared(build, pointer, value, REGISTER_BYTES)


def read_map(
    op: ConsumerReadOp, build: ConversionBuilder, map: Value, number: int, offset: Value
) -> tuple[Value, Value]:
    """Read a tensor map from a stage, and let copies of the warp see it."""
    written = _written_map(op, number)
    slot, row = _slot_of(op, build, written)
    global_ = slot.slots.defined_by(GetGlobalOp)
    assert global_ is not None
    slots = build.create(GetGlobalOp, symbol=global_.symbol, types=[slot.slots.type]).result
    own, beyond = (
        load_shared(
            build, scratch_pointer(op, build, offset, index * REGISTER_BYTES), I32, REGISTER_BYTES
        )
        for index in range(2)
    )
    here = TensorMapSlot(slots, as_index(build, own))
    result = map_at(build, here, row, descriptor_type(tensor_map(map)))
    build.create(TmaFenceOp, tensor_map_descriptor=result)
    return result, beyond


def _written_map(op: ConsumerReadOp, number: int) -> Value:
    """The one tensor map that is written to the stages of a pipeline."""
    create = op.pipeline.defined_by(CreatePipelineOp)
    assert create is not None
    writes = [user for user in create.result.users if isinstance(user, ProducerWriteOp)]
    values = [
        value
        for write in writes
        for each, value in zip(write.numbers, write.values, strict=True)
        if each == number
    ]
    if len(set(values)) != 1:
        fail("expected a stage that always holds the same tensor map", op.location)
    return values[0]


def _slot_of(
    op: ProducerWriteOp | ConsumerReadOp, build: ConversionBuilder, map: Value
) -> tuple[TensorMapSlot, int]:
    """The slot of a tensor map, and its row there."""
    creation = map.defined_by(CreateTensorMapsOp)
    slot = None if creation is None else lowering_context(build).tensor_map_slots.get(creation)
    if slot is None:
        fail("expected a tensor map that an agent before this one creates", op.location)
    return slot, slot.rows[map.index]
