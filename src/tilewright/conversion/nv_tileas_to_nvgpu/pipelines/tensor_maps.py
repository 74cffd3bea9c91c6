"""Tensor maps that a warp encodes for the views that it copies tiles of.

Lanes write the fields of the maps in shared memory, each one map, and the warp publishes the maps
to a slot in global memory, from where TMA reads them; unless the slot has them already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.targets import target_or_baseline
from tilewright.conversion.nv_tileas_to_nvgpu.context import TensorMapSlot, lowering_context
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    OpFoldResult,
    add,
    as_index,
    as_value,
    constant,
    index_constant,
    multiply,
)
from tilewright.conversion.nv_tileas_to_nvgpu.memory.tile_addresses import MemrefDescriptor
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.tensor_map_keys import TensorMapKey
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.tensor_map_slots import (
    MAP_WORDS,
    acquire_slot,
    release_slot,
    store_key,
)
from tilewright.conversion.nv_tileas_to_nvgpu.predication import is_elected_lane, predicated
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import scratch_buffer
from tilewright.conversion.nv_tileas_to_nvgpu.threads import thread_id
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.casts import ExtUIOp, TruncIOp
from tilewright.dialects.arith.comparison import CmpIOp, SelectOp
from tilewright.dialects.arith.integer import MaxUIOp, MinUIOp, OrIOp, XOrIOp
from tilewright.dialects.cute_nvgpu.tensormap import (
    TensorMapAtOp,
    TensorMapFillOp,
    TensorMapPublishOp,
)
from tilewright.dialects.cute_nvgpu.threads import WarpSyncOp
from tilewright.dialects.elements import pointee_bytes
from tilewright.dialects.gpu.attributes import SHARED_SPACE
from tilewright.dialects.memref.access import StoreOp
from tilewright.dialects.memref.views import ViewOp
from tilewright.dialects.nv_tileas.tensor_map import (
    CreateTensorMapsOp,
    PrefetchTensorMapsOp,
    ReleaseTensorMapsOp,
    memory_order,
)
from tilewright.dialects.nv_tileas.types import TensorMapType, tensor_map
from tilewright.dialects.nvgpu.tma import TmaFenceOp, TmaPrefetchOp
from tilewright.dialects.nvgpu.types import TensorMapDescriptorType
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import DYNAMIC, I1, I32, I64, IntegerType, MemRefType
from tilewright.plans.tensor_maps import descriptor_type
from tilewright.support.diagnostics import Unsupported
from tilewright.support.tensor_map_parameters import LARGEST_EXTENT, OUT_OF_BOUNDS
from tilewright.target.engines import TMA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.values import Value


@converts(CreateTensorMapsOp)
def create_tensor_maps(
    op: CreateTensorMapsOp, new: CreateTensorMapsOp, build: ConversionBuilder
) -> Result:
    """Acquire a slot, and encode the maps there if it has others."""
    missing = target_or_baseline(op).tile_engine_problem
    if missing is not None:
        raise Unsupported(f"'{op.name}' on a GPU without {missing}", op.location)
    types = [tensor_map(map) for map in op.maps]
    views = [build.values(view) for view in op.views]
    tensors = [_tensor(build, *each) for each in zip(types, views, strict=True)]
    kinds = _kinds(tensors)
    key = TensorMapKey(build, [value for tensor in tensors for value in tensor.arguments])
    slot, is_current = acquire_slot(op, build, key)
    order = [number for kind in kinds for number in kind]
    rows = tuple([order.index(number) for number in range(len(tensors))])
    lowering_context(build).tensor_map_slots[op] = slot._replace(rows=rows)
    is_other = build.create(XOrIOp, lhs=is_current, rhs=constant(build, 1, I1)).result
    with predicated(build, is_other):
        _encode(op, build, [[tensors[number] for number in kind] for kind in kinds], slot)
        store_key(op, build, slot, key)
    maps = [
        map_at(build, slot, *each) for each in zip(rows, [t.type for t in tensors], strict=True)
    ]
    for map in maps:
        build.create(TmaFenceOp, tensor_map_descriptor=map)
    return [(map, tensor.beyond) for map, tensor in zip(maps, tensors, strict=True)]


@converts(ReleaseTensorMapsOp)
def release_tensor_maps(
    op: ReleaseTensorMapsOp, new: ReleaseTensorMapsOp, build: ConversionBuilder
) -> Result:
    """Release the slot."""
    assert op.creation is not None
    release_slot(op, build, lowering_context(build).tensor_map_slots[op.creation])
    return []


@converts(PrefetchTensorMapsOp)
def prefetch_tensor_maps(
    op: PrefetchTensorMapsOp, new: PrefetchTensorMapsOp, build: ConversionBuilder
) -> Result:
    """Prefetch the maps; one lane does."""
    with predicated(build, is_elected_lane(op, build)):
        for map, _ in [build.values(map) for map in op.maps]:
            build.create(TmaPrefetchOp, tensor_map_descriptor=map)
    return []


class _Tensor(NamedTuple):
    """The tensor that a map describes; its dimensions are in the order of memory."""

    type: TensorMapDescriptorType
    address: Value
    sizes: Sequence[OpFoldResult]
    """Elements, as i32, at least one."""
    strides: Sequence[OpFoldResult]
    """Bytes, as i64, of all dimensions but the contiguous one."""
    beyond: Value
    """0; of an empty tensor, a coordinate that is out of bounds."""
    arguments: Sequence[Value]
    """What its map depends on at run time: the address, then sizes and strides, as i64."""

    @property
    def box(self) -> tuple[int, ...]:
        """The extents of a box."""
        return self.type.tensor.shape or ()

    @property
    def kind(self) -> tuple[object, ...]:
        """The fields that lanes have in common if they fill their maps at the same time."""
        return len(self.box), self.box[-1], self.type.tensor.element, self.type.swizzle


def _tensor(build: ConversionBuilder, map: TensorMapType, view: Sequence[Value]) -> _Tensor:
    source = map.view.source
    memory, order = MemrefDescriptor(source, view), memory_order(source)
    sizes: list[OpFoldResult] = []
    arguments = [memory.base]
    empty: Value | None = None
    for dimension in order:
        size = memory.sizes[dimension]
        if not isinstance(size, int):
            arguments.append(size)
            short = _saturated(build, size)
            is_zero = _compare(build, CmpIPredicate.EQ, short, 0)
            empty = is_zero if empty is None else _either(build, empty, is_zero)
            # The hardware takes no size of 0.
            size = build.create(MaxUIOp, lhs=short, rhs=constant(build, 1)).result
        sizes.append(min(size, LARGEST_EXTENT) if isinstance(size, int) else size)
    beyond = constant(build, 0)
    if empty is not None:
        beyond = _select(build, empty, constant(build, OUT_OF_BOUNDS), beyond)
    strides: list[OpFoldResult] = []
    for dimension in order[:-1]:
        # The stride along an extent of 1 is never taken, but must be one that the hardware takes.
        stride = TMA.alignment
        if source.shape[dimension] != 1:
            stride = memory.strides[dimension]
            if not isinstance(stride, int):
                arguments.append(stride)
            stride = multiply(build, stride, pointee_bytes(source.element), I64)
        strides.append(stride)
    return _Tensor(descriptor_type(map), memory.base, sizes, strides, beyond, arguments)


def _saturated(build: ConversionBuilder, size: Value) -> Value:
    """A size as i32; a larger one saturates, since no coordinate is beyond the largest."""
    if size.defined_by(ExtUIOp) is None:
        largest = constant(build, LARGEST_EXTENT, I64)
        size = build.create(MinUIOp, lhs=size, rhs=largest).result
    return build.create(TruncIOp, source=size, types=[I32]).result


def _kinds(tensors: Sequence[_Tensor]) -> list[list[int]]:
    """The numbers of the tensors of each kind."""
    kinds: dict[tuple[object, ...], list[int]] = {}
    for number, tensor in enumerate(tensors):
        kinds.setdefault(tensor.kind, []).append(number)
    return list(kinds.values())


def _encode(
    op: CreateTensorMapsOp,
    build: ConversionBuilder,
    kinds: Sequence[Sequence[_Tensor]],
    slot: TensorMapSlot,
) -> None:
    """Zero the maps in shared memory, fill them, and publish them to the slot."""
    storage, lane = _storage(op, build), thread_id(op, build)
    zero, column = constant(build, 0), as_index(build, lane)
    rows = [index_constant(build, row) for row in range(len(op.maps))]
    for row in rows:
        build.create(StoreOp, value=zero, memref=storage, indices=[row, column])
    build.create(WarpSyncOp)
    first = 0
    for tensors in kinds:
        own = as_value(build, add(build, lane, -first))
        with predicated(build, _compare(build, CmpIPredicate.ULT, own, len(tensors))):
            _fill(build, tensors, storage, lane, own)
        first += len(tensors)
    build.create(WarpSyncOp)
    for number, row in enumerate(rows):
        build.create(
            TensorMapPublishOp,
            storage=storage,
            indices=[row, index_constant(build, 0)],
            slots=slot.slots,
            slot_indices=_map_indices(build, slot, number),
        )


def _storage(op: CreateTensorMapsOp, build: ConversionBuilder) -> Value:
    """The words of the maps in shared memory, a row for each map."""
    buffer, start = scratch_buffer(op, build)
    type = MemRefType((len(op.maps), MAP_WORDS), I32, None, SHARED_SPACE)
    shift = index_constant(build, start)
    return build.create(ViewOp, source=buffer, byte_shift=shift, types=[type]).result


def _fill(
    build: ConversionBuilder, tensors: Sequence[_Tensor], storage: Value, lane: Value, own: Value
) -> None:
    """Fill the row of a lane with the map of its own of several tensors."""
    is_own = [_compare(build, CmpIPredicate.EQ, own, n) for n in range(len(tensors) - 1)]

    def choose(choices: Sequence[OpFoldResult], type: IntegerType) -> Value:
        value = as_value(build, choices[-1], type)
        if all(choice == choices[-1] for choice in choices):
            return value
        for condition, choice in zip(is_own, choices, strict=False):
            value = _select(build, condition, as_value(build, choice, type), value)
        return value

    def choose_all(choices: Sequence[Sequence[OpFoldResult]], type: IntegerType) -> list[Value]:
        return [choose(each, type) for each in zip(*choices, strict=True)]

    extents = list(zip(*[tensor.box for tensor in tensors], strict=True))
    box = [each[0] if len(set(each)) == 1 else DYNAMIC for each in extents]
    first = tensors[0].type
    shape = MemRefType(tuple(box), first.tensor.element, None, first.tensor.space)
    build.create(
        TensorMapFillOp,
        storage=storage,
        indices=[as_index(build, lane), index_constant(build, 0)],
        address=choose([tensor.address for tensor in tensors], I64),
        sizes=choose_all([tensor.sizes for tensor in tensors], I32),
        strides=choose_all([tensor.strides for tensor in tensors], I64),
        box=[choose(each, I32) for each in extents if len(set(each)) > 1],
        map=TensorMapDescriptorType(shape, first.swizzle),
    )


def _map_indices(build: ConversionBuilder, slot: TensorMapSlot, row: int) -> list[Value]:
    return [slot.number, index_constant(build, row * MAP_WORDS)]


def map_at(
    build: ConversionBuilder, slot: TensorMapSlot, row: int, type: TensorMapDescriptorType
) -> Value:
    """The map in a row of the slot."""
    indices = _map_indices(build, slot, row)
    return build.create(TensorMapAtOp, slots=slot.slots, indices=indices, types=[type]).tensor_map


def _compare(build: ConversionBuilder, predicate: CmpIPredicate, a: Value, b: int) -> Value:
    return build.create(CmpIOp, predicate=predicate, lhs=a, rhs=constant(build, b)).result


def _either(build: ConversionBuilder, a: Value, b: Value) -> Value:
    return build.create(OrIOp, lhs=a, rhs=b).result


def _select(build: ConversionBuilder, condition: Value, a: Value, b: Value) -> Value:
    return build.create(SelectOp, condition=condition, true_value=a, false_value=b).result


PATTERNS: Final[Patterns] = (create_tensor_maps, prefetch_tensor_maps, release_tensor_maps)
