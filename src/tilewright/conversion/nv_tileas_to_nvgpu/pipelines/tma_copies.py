"""TMA copies of tiles into the stages of a pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    OpFoldResult,
    add,
    as_index,
    as_value,
    constant,
    multiply,
)
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.mbarriers import barrier_at
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.multicast import own_part
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.stage_access import cache_policy
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import scratch_buffer
from tilewright.dialects.arith.casts import ExtUIOp, TruncIOp
from tilewright.dialects.arith.integer import MinUIOp
from tilewright.dialects.memref.views import ViewOp
from tilewright.dialects.nv_tileas.tensor_map import boxes_of, tile_order
from tilewright.dialects.nv_tileas.types import tensor_map
from tilewright.dialects.nvgpu.tma import TmaAsyncLoadOp
from tilewright.ir.types import I32, IntegerType
from tilewright.plans.tensor_maps import descriptor_type
from tilewright.support.tensor_map_parameters import COORDINATES

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileas.pipeline import ProducerCopyOp
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.values import Value


def copy_boxes(op: ProducerCopyOp, build: ConversionBuilder, offset: Value, slot: Value) -> None:
    """Copy a tile, box by box, to a byte offset in shared memory; one thread does.

    The mbarrier in the slot counts the bytes that have arrived. A multicast copies a part, to the
    same offset in several CTAs, and the mbarriers in the same slot there count.
    """
    type = tensor_map(op.source)
    map, beyond = build.values(op.source)
    order, counted = tile_order(type.view), type.view.counted
    starts = [_tile_start(build, build.value(op.indices[dim]), counted[dim]) for dim in order]
    starts[0] = add(build, starts[0], beyond)
    boxes, ctas = boxes_of(type).boxes, None
    if op.multicast:
        boxes, start, first, ctas = own_part(op, build)
        starts = [add(build, at, start[dim]) for at, dim in zip(starts, order, strict=True)]
        offset = as_value(build, add(build, offset, first))
    barriers, barrier = barrier_at(op, build, slot)
    buffer, _ = scratch_buffer(op, build)
    target, policy = descriptor_type(type).tensor, cache_policy(op, build)
    for box in boxes:
        shift = as_index(build, as_value(build, add(build, offset, box.offset)))
        inside = [box.start[dim] for dim in order]
        coordinates = [add(build, *pair) for pair in zip(starts, inside, strict=True)]
        build.create(
            TmaAsyncLoadOp,
            tensor_map_descriptor=map,
            # The contiguous dimension is the first.
            coordinates=[as_index(build, as_value(build, each)) for each in reversed(coordinates)],
            barriers=barriers,
            mbar_id=barrier,
            dst=build.create(ViewOp, source=buffer, byte_shift=shift, types=[target]).result,
            multicast_mask=ctas,
            l2_cache_hint=policy,
        )


def _tile_start(build: ConversionBuilder, index: Value, step: int) -> OpFoldResult:
    """The coordinate of a tile along one dimension, as i32, by its index, which is unsigned.

    A tile whose coordinate is too large is out of bounds: the first of these stands for all. Its
    coordinate is negative, as that of a load may be.
    """
    index, type = at_least_i32(build, index)
    first = constant(build, -(-COORDINATES // step), type)
    bounded = build.create(MinUIOp, lhs=index, rhs=first).result
    return multiply(build, as_i32(build, bounded), step)


def at_least_i32(build: ConversionBuilder, index: Value) -> tuple[Value, IntegerType]:
    """Extend an unsigned index to i32, unless it has as many bits."""
    type = index.type
    assert isinstance(type, IntegerType)
    if type.width >= I32.width:
        return index, type
    return build.create(ExtUIOp, source=index, types=[I32]).result, I32


def as_i32(build: ConversionBuilder, index: Value) -> Value:
    """The low bits of an index of at least 32 bits."""
    if index.type is I32:
        return index
    return build.create(TruncIOp, source=index, types=[I32]).result
