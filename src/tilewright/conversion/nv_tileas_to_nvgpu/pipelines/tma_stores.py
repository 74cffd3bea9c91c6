"""Stores by TMA: each warp writes its boxes of a tile to shared memory, and one lane stores them.

A bulk group belongs to the thread that commits it. `elect.sync` elects the same lane of a warp
every time, so the lane that waits for groups is the one that has committed them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import apply_linear
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    add,
    as_index,
    as_value,
    constant,
    index_constant,
    multiply,
)
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.tma_copies import as_i32, at_least_i32
from tilewright.conversion.nv_tileas_to_nvgpu.predication import (
    conjunction,
    is_elected_lane,
    predicated,
)
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import scratch_buffer, scratch_offset
from tilewright.conversion.nv_tileas_to_nvgpu.shape.stmatrix import StMatrixTile
from tilewright.conversion.nv_tileas_to_nvgpu.shared_tile import SharedTile
from tilewright.conversion.nv_tileas_to_nvgpu.threads import (
    LANE_BITS,
    fence_proxy,
    uniform_thread_id,
)
from tilewright.conversion.nv_tileas_to_nvgpu.types import descriptor_type
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import select_registers
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.cute_nvgpu.attributes import Reduction
from tilewright.dialects.cute_nvgpu.threads import WarpSyncOp
from tilewright.dialects.cute_nvgpu.tma import TmaCommitOp, TmaReduceOp, TmaWaitOp
from tilewright.dialects.elements import pointee_bytes
from tilewright.dialects.memref.views import ViewOp
from tilewright.dialects.nv_tileaa.attributes import RmwMode
from tilewright.dialects.nv_tileas.async_copy import AllocTensorOp
from tilewright.dialects.nv_tileas.async_store import AsyncTiledStoreOp, StoreWaitOp
from tilewright.dialects.nv_tileas.attributes import layout_of
from tilewright.dialects.nv_tileas.tensor_map import tile_order
from tilewright.dialects.nv_tileas.types import tensor_map
from tilewright.dialects.nvgpu.tma import TmaAsyncStoreOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.layout.linear import LANE, REGISTER, WARP, Layout, unpack
from tilewright.layout.matrices import matrix_access
from tilewright.layout.vector_access import contiguous_offsets
from tilewright.plans.tensor_maps import reached_tiles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import OpFoldResult
    from tilewright.ir.values import Value


_REDUCTIONS: Final = {
    RmwMode.ADD: Reduction.ADD,
    RmwMode.ADDF: Reduction.ADD,
    RmwMode.AND: Reduction.AND,
    RmwMode.OR: Reduction.OR,
    RmwMode.XOR: Reduction.XOR,
}


@converts(AsyncTiledStoreOp)
def async_tiled_store(
    op: AsyncTiledStoreOp, new: AsyncTiledStoreOp, build: ConversionBuilder
) -> Result:
    """Store the boxes of the warp one after the other, in the stages of its buffer."""
    store, count = BoxStore(op, build), op.boxes.per_warp
    with predicated(build, is_elected_lane(op, build)):
        store.wait_for_stage()
    for box in range(count):
        # The elected lane has waited for the stage.
        build.create(WarpSyncOp)
        store.write(box, new.tile)
        # TMA reads through the async proxy what all lanes have written.
        fence_proxy(build)
        build.create(WarpSyncOp)
        with predicated(build, is_elected_lane(op, build)):
            store.start(box)
            if box < count - 1:
                store.wait_for_stage()
    return [()]


@converts(StoreWaitOp)
def store_wait(op: StoreWaitOp, new: StoreWaitOp, build: ConversionBuilder) -> Result:
    """Let the lane that has started the stores of the warp wait for them."""
    with predicated(build, is_elected_lane(op, build)):
        build.create(TmaWaitOp, pending=0)
    build.create(WarpSyncOp)
    return []


class BoxStore:
    """The code that stores the boxes of a warp."""

    __slots__ = (
        "_box",
        "_build",
        "_bytes",
        "_offsets",
        "_op",
        "_reached",
        "_stages",
        "_start",
        "_starts",
    )

    def __init__(self, op: AsyncTiledStoreOp, build: ConversionBuilder) -> None:
        self._op, self._build = op, build
        boxes, view = op.boxes, tensor_map(op.map).view
        self._box, self._stages = boxes.box, op.stages
        self._bytes = pointee_bytes(view.source.element)
        allocation = op.buffer.defined_by(AllocTensorOp)
        assert allocation is not None
        self._start = scratch_offset(allocation)
        self._offsets = layout_of(op.tile).then(boxes.placement.inverse())
        self._reached: Value | None = None
        self._starts = self._tile_starts()

    def wait_for_stage(self) -> None:
        """Wait until TMA has read what the next stage had before; it has one group a stage."""
        self._build.create(TmaWaitOp, pending=self._stages - 1, read=True)

    def write(self, box: int, registers: Value) -> None:
        """Write the registers of a box to its stage, by stmatrix if they are mma fragments."""
        op, build, bytes, own = self._op, self._build, self._bytes, self._registers(box)
        offsets = self._stage_offsets()
        start = self._start + self._stage(box)
        access = matrix_access(offsets, bytes)
        vector = select_registers(build, registers, own)
        if access is None or access.transposed:
            width = contiguous_offsets(offsets, bytes)
            SharedTile(op, build, offsets, width, bytes, displacement=start).write(vector)
            return
        warps = [each * bytes for each in offsets.vectors(WARP)]
        StMatrixTile(op, build, access, warps, start).write(vector)

    def start(self, box: int) -> None:
        """Start to store a box, as a bulk group; one lane does."""
        build, op = self._build, self._op
        with predicated(build, self._reached):
            source, map = self._source(box), build.values(op.map)[0]
            coordinates = self._coordinates(box)
            if op.mode is None:
                build.create(
                    TmaAsyncStoreOp, src=source, tensor_map_descriptor=map, coordinates=coordinates
                )
            else:
                build.create(
                    TmaReduceOp,
                    kind=_REDUCTIONS[op.mode],
                    buffer=source,
                    indices=[index_constant(build, 0)] * len(coordinates),
                    tensor_map=map,
                    coordinates=coordinates[::-1],
                )
        # A group without a store, too: stages are counted by groups.
        build.create(TmaCommitOp)

    def _registers(self, box: int) -> list[int]:
        """The registers that belong to a box."""
        warps = len(self._offsets.vectors(WARP))
        return [
            register
            for register in range(self._offsets.extent(REGISTER))
            if self._offsets.packed(register=register) // self._box >> warps == box
        ]

    def _stage(self, box: int) -> int:
        """The byte offset of the stage of a box, from the first one of the warp."""
        return box % self._stages * self._box * self._bytes

    def _stage_offsets(self) -> Layout:
        """The elements of a box in the first stage of each warp."""
        offsets, size = self._offsets, self._box * self._stages
        warps = len(offsets.vectors(WARP))
        registers = [vector for vector in offsets.vectors(REGISTER) if vector < self._box]
        own = [size << bit for bit in range(warps)]
        inputs = [(REGISTER, registers), (LANE, offsets.vectors(LANE)), (WARP, own)]
        return Layout(inputs, (size << warps,))

    def _warp_part(self, images: Sequence[int]) -> OpFoldResult:
        """A number that depends on the warp alone, by what each bit of its index adds."""
        build, bits = self._build, [0] * LANE_BITS
        return apply_linear(build, uniform_thread_id(self._op, build), [*bits, *images])

    def _source(self, box: int) -> Value:
        """The stage of a box in shared memory."""
        build, bytes = self._build, self._stages * self._box * self._bytes
        warps = len(self._offsets.vectors(WARP))
        own = self._warp_part([bytes << bit for bit in range(warps)])
        offset = as_value(build, add(build, own, self._start + self._stage(box)))
        buffer, _ = scratch_buffer(self._op, build)
        type = descriptor_type(tensor_map(self._op.map)).tensor
        shift = as_index(build, offset)
        return build.create(ViewOp, source=buffer, byte_shift=shift, types=[type]).result

    def _tile_starts(self) -> list[OpFoldResult]:
        """The coordinates of the warp's part of the tile, in the order of memory.

        A tile that coordinates do not reach is out of bounds. It is not stored, since the
        coordinates of a store must not be negative; nor is one of an empty tensor, whose map has an
        element.
        """
        op, build, view = self._op, self._build, tensor_map(self._op.map).view
        layout = layout_of(op.tile)
        warps = [unpack(vector, layout.shape) for vector in layout.vectors(WARP)]
        starts: list[OpFoldResult] = []
        for dimension in tile_order(view):
            index, type = at_least_i32(build, build.value(op.indices[dimension]))
            end = constant(build, reached_tiles(view, dimension), type)
            self._require(CmpIPredicate.ULT, index, end)
            tile = multiply(build, as_i32(build, index), view.counted[dimension])
            starts.append(add(build, tile, self._warp_part([each[dimension] for each in warps])))
        _, beyond = build.values(op.map)
        self._require(CmpIPredicate.EQ, beyond, constant(build, 0))
        return starts

    def _require(self, predicate: CmpIPredicate, a: Value, b: Value) -> None:
        """Store the tile only if a comparison holds."""
        holds = self._build.create(CmpIOp, predicate=predicate, lhs=a, rhs=b).result
        self._reached = conjunction(self._build, self._reached, holds)

    def _coordinates(self, box: int) -> list[Value]:
        """The coordinates of a box, the contiguous dimension first."""
        op, build, layout = self._op, self._build, layout_of(self._op.tile)
        inside = layout.at(register=self._registers(box)[0])
        order = tile_order(tensor_map(op.map).view)
        parts = zip(self._starts, [inside[dimension] for dimension in order], strict=True)
        starts = [as_value(build, add(build, *part)) for part in parts]
        return [as_index(build, each) for each in reversed(starts)]


PATTERNS: Final[Patterns] = (async_tiled_store, store_wait)
