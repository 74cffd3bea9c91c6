"""Type constraints of nvgpu's operands, and verifier helpers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tilewright.dialects.gpu.attributes import in_shared_memory, is_shared
from tilewright.dialects.memref.layout import is_contiguous
from tilewright.dialects.nvgpu.attributes import Interleave
from tilewright.dialects.nvgpu.types import (
    DEVICE_ASYNC_TOKEN,
    MBARRIER_TOKEN,
    MBarrierGroupType,
    TensorMapDescriptorType,
    WarpgroupAccumulatorType,
    WarpgroupDescriptorType,
)
from tilewright.ir.constraints import TypeConstraint, exactly, instance_of
from tilewright.ir.types import DYNAMIC, FloatType, IntegerType, MemRefType, memory_bits
from tilewright.target.engines import TMA

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value


def _is_barrier(type: Type) -> bool:
    """Return whether a type is a group of barriers in shared memory."""
    return isinstance(type, MBarrierGroupType) and is_shared(type.memory_space)


BARRIERS: Final = TypeConstraint("mbarrier barrier type", _is_barrier)
BARRIER_TOKEN: Final = exactly(MBARRIER_TOKEN, "mbarrier token")
ASYNC_TOKEN: Final = exactly(DEVICE_ASYNC_TOKEN, "device async token type")
TENSOR_MAP: Final = instance_of(TensorMapDescriptorType, "TensorMap descriptor")
MATRIX_DESCRIPTOR: Final = instance_of(WarpgroupDescriptorType, "Warpgroup matrix descriptor type")
ACCUMULATOR: Final = instance_of(WarpgroupAccumulatorType, "warpgroup accumulator")


def tensor_map(value: Value) -> TensorMapDescriptorType:
    """Return the type of a value that is a tensor map."""
    assert isinstance(value.type, TensorMapDescriptorType)
    return value.type


def bits_of(element: Type) -> int | None:
    """Return the size of an element in memory in bits, or `None` if it is not known."""
    if not isinstance(element, IntegerType | FloatType):
        return None
    return memory_bits(element)


def map_problems(map: TensorMapDescriptorType) -> Iterator[str]:
    """Check the box and the modes of a tensor map."""
    box = map.tensor
    if map.interleave is not Interleave.NONE:
        yield f"expected no interleaving, got {map.interleave.keyword}"
    if not in_shared_memory(box):
        yield f"expected a tensor map of a box in shared memory, got '{box}'"
    shape = box.shape
    if shape is None or DYNAMIC in shape or not 1 <= len(shape) <= TMA.max_rank:
        yield f"expected a box of known shape and rank 1 to {TMA.max_rank}, got '{box}'"
        return
    wrong = next((extent for extent in shape if not 1 <= extent <= TMA.max_extent), None)
    if wrong is not None:
        yield f"expected box extents in 1 to {TMA.max_extent}, got {wrong}"
    bits, span = bits_of(box.element), map.swizzle.span
    if bits is None:
        yield f"expected a box of integers or floats, got '{box}'"
    elif span is not None and shape[-1] * bits > span * 8:
        size = shape[-1] * bits // 8
        yield f"expected a box of at most {span} bytes along its last dimension, got {size}"


def box_problems(map: TensorMapDescriptorType, tile: MemRefType) -> Iterator[str]:
    """Check the memref in shared memory that a TMA copy reads or writes."""
    problems = list(map_problems(map))
    yield from problems
    if problems:
        return
    box = map.tensor
    if not in_shared_memory(tile):
        yield f"expected a memref in shared memory, got '{tile}'"
    if box.element is not tile.element:
        yield f"expected elements of type '{box.element}' like the tensor map, got '{tile.element}'"
    if box.shape != tile.shape:
        yield f"expected a memref of the shape of '{box}', got '{tile}'"
    elif not is_contiguous(tile):
        yield f"expected a contiguous row-major memref, got '{tile}'"


def coordinate_problems(
    map: TensorMapDescriptorType, coordinates: tuple[Value, ...]
) -> Iterator[str]:
    """Check the number of coordinates of a box."""
    rank = len(map.tensor.shape or ())
    if len(coordinates) != rank:
        yield f"expected {rank} coordinates, got {len(coordinates)}"
