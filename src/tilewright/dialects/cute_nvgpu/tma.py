"""TMA copies and reductions of boxes between global tensors and a stage in shared memory.

One thread issues each. The box starts at the indexed element in shared memory; the first indices
of a multi-stage buffer select the stage. Coordinates and extents have the outermost dimension
first. Stores and reductions complete in bulk groups (`commit` and `wait`), loads at a barrier.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tilewright.dialects.cute_nvgpu.attributes import REDUCTION, Reduction
from tilewright.dialects.elements import (
    I16_TYPE,
    I64_TYPE,
    INDEX_TYPE,
    RANKED_MEMREF,
    memref,
)
from tilewright.dialects.gpu.attributes import in_shared_memory
from tilewright.dialects.memref.access import index_count_problems
from tilewright.dialects.memref.layout import row_major, strides_and_offset
from tilewright.dialects.nvgpu.constraints import (
    BARRIERS,
    TENSOR_MAP,
    coordinate_problems,
    map_problems,
    tensor_map,
)
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I32_ATTR
from tilewright.ir.operation import Operation
from tilewright.ir.types import BF16, F16, FloatType, MemRefType

if TYPE_CHECKING:
    from tilewright.dialects.nvgpu.types import TensorMapDescriptorType
    from tilewright.ir.values import Value


def stage_problems(
    map: TensorMapDescriptorType, buffer: MemRefType, indices: tuple[Value, ...]
) -> Iterator[str]:
    """Check that a buffer holds the box of a tensor map at these indices."""
    problems = list(map_problems(map))
    yield from problems
    if problems:
        return
    yield from index_count_problems(buffer, indices)
    box = map.tensor
    if not in_shared_memory(buffer):
        yield f"expected a buffer in shared memory, got '{buffer}'"
    if box.element is not buffer.element:
        yield f"expected elements of type '{box.element}' like the tensor map, got '{buffer}'"
    if not _holds(buffer, box.shape or ()):
        yield f"expected a buffer that holds a contiguous '{box}', got '{buffer}'"


def _holds(buffer: MemRefType, box: tuple[int, ...]) -> bool:
    """Return whether a box is contiguous in the last dimensions of a buffer."""
    layout = strides_and_offset(buffer)
    if buffer.shape is None or layout is None or len(buffer.shape) < len(box):
        return False
    outer = len(buffer.shape) - len(box)
    tail = buffer.shape[outer:]
    fits = tail[0] >= box[0] and tail[1:] == box[1:]
    return fits and layout[0][outer:] == row_major(tail)


class TmaLoadOp(Operation):
    """Start a copy of a box to a stage, which completes transactions of the barrier.

    With a mask the box is multicast to the same offset in every block of the cluster whose bit is
    set, and signals the barrier at the same offset there.
    """

    name = "cute_nvgpu.tma.load"
    syntax = (
        "$tensor_map `[` $coordinates `]` `,` $barriers `[` $mbar_id `]` `to` "
        "$buffer `[` $indices `]` (`multicast` $multicast_mask^)? (`cache_hint` $cache_hint^)? "
        "attr-dict `:` type($tensor_map) `,` type($barriers) `to` type($buffer)"
    )

    tensor_map = d.operand(TENSOR_MAP)
    coordinates = d.operands(INDEX_TYPE)
    barriers = d.operand(BARRIERS)
    mbar_id = d.operand(INDEX_TYPE)
    buffer = d.operand(RANKED_MEMREF)
    indices = d.operands(INDEX_TYPE)
    multicast_mask = d.optional_operand(I16_TYPE)
    cache_hint = d.optional_operand(I64_TYPE)

    def verify(self) -> Iterator[str]:
        map = tensor_map(self.tensor_map)
        yield from stage_problems(map, memref(self.buffer), self.indices)
        yield from coordinate_problems(map, self.coordinates)


class TmaGlobalWrite(Operation):
    """Base of stores and reductions from a stage to the tensor; part of the next bulk group."""

    buffer = d.operand(RANKED_MEMREF)
    indices = d.operands(INDEX_TYPE)
    tensor_map = d.operand(TENSOR_MAP)
    coordinates = d.operands(INDEX_TYPE)
    cache_hint = d.optional_operand(I64_TYPE)

    def verify(self) -> Iterator[str]:
        map = tensor_map(self.tensor_map)
        yield from stage_problems(map, memref(self.buffer), self.indices)
        yield from coordinate_problems(map, self.coordinates)


class TmaStoreOp(TmaGlobalWrite):
    """Start a copy of a box from a stage to the tensor; elements out of bounds are dropped."""

    name = "cute_nvgpu.tma.store"
    syntax = (
        "$buffer `[` $indices `]` `to` $tensor_map `[` $coordinates `]` "
        "(`cache_hint` $cache_hint^)? attr-dict `:` type($buffer) `to` type($tensor_map)"
    )


class TmaReduceOp(TmaGlobalWrite):
    """Start an elementwise atomic reduction of a box into the tensor."""

    name = "cute_nvgpu.tma.reduce"
    syntax = (
        "$kind $buffer `[` $indices `]` `to` $tensor_map `[` $coordinates `]` "
        "(`cache_hint` $cache_hint^)? attr-dict `:` type($buffer) `to` type($tensor_map)"
    )

    kind = d.attribute(REDUCTION)

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        element = memref(self.buffer).element
        if not isinstance(element, FloatType):
            return
        allowed = [Reduction.ADD]
        if element in (F16, BF16):
            allowed += [Reduction.MIN, Reduction.MAX]
        if self.kind not in allowed:
            yield f"cannot reduce '{element}' by '{self.kind.keyword}'"


class TmaPrefetchOp(Operation):
    """Prefetch a box of the tensor into L2."""

    name = "cute_nvgpu.tma.prefetch"
    syntax = (
        "$tensor_map `[` $coordinates `]` (`cache_hint` $cache_hint^)? attr-dict "
        "`:` type($tensor_map)"
    )

    tensor_map = d.operand(TENSOR_MAP)
    coordinates = d.operands(INDEX_TYPE)
    cache_hint = d.optional_operand(I64_TYPE)

    def verify(self) -> Iterator[str]:
        map = tensor_map(self.tensor_map)
        yield from map_problems(map)
        yield from coordinate_problems(map, self.coordinates)


class TmaCommitOp(Operation):
    """Commit all stores and reductions that this thread started as a bulk group."""

    name = "cute_nvgpu.tma.commit"
    syntax = "attr-dict"


class TmaWaitOp(Operation):
    """Wait until at most `pending` bulk groups of this thread are pending.

    With `read` it waits only until their sources were read, so that the stages can be reused.
    """

    name = "cute_nvgpu.tma.wait"
    syntax = "$pending (`read` $read^)? attr-dict"

    pending = d.attribute(I32_ATTR)
    read = d.flag()

    def verify(self) -> Iterator[str]:
        if self.pending < 0:
            yield f"expected a number of groups, got {self.pending}"
