"""Synchronous wgmma of matrices in shared memory: descriptors, accumulators, mma."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import RANKED_MEMREF, memref
from tilewright.dialects.gpu.attributes import in_shared_memory
from tilewright.dialects.nvgpu.attributes import SWIZZLE
from tilewright.dialects.nvgpu.constraints import (
    ACCUMULATOR,
    MATRIX_DESCRIPTOR,
    TENSOR_MAP,
    bits_of,
    map_problems,
    tensor_map,
)
from tilewright.dialects.nvgpu.types import WarpgroupAccumulatorType, WarpgroupDescriptorType
from tilewright.dialects.nvgpu.warp import INT8_TYPES
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I64_ATTR
from tilewright.ir.operation import Operation
from tilewright.ir.traits import Effects, SameType
from tilewright.ir.types import (
    BF16,
    F8E4M3FN,
    F8E5M2,
    F16,
    F32,
    I32,
    TF32,
    MemRefType,
    VectorType,
)
from tilewright.target.tensor_cores import (
    EITHER_MAJOR_BYTES,
    WGMMA_COLUMNS,
    WGMMA_K_BYTES,
    WGMMA_ROWS,
)

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value

_FP8_TYPES: Final = (F8E4M3FN, F8E5M2)


def has_wgmma(result: Type, a: Type, b: Type) -> bool:
    """Return whether wgmma accumulates these element types of A and B in this type."""
    if a is BF16 or a is TF32:
        return b is a and result is F32
    if a is F16:
        return b is a and result in (F16, F32)
    if a in INT8_TYPES:
        return b in INT8_TYPES and result is I32
    return a in _FP8_TYPES and b in _FP8_TYPES and result in (F16, F32)


def is_either_major(element: Type) -> bool:
    """Return whether wgmma reads a type of its operands in either major."""
    return bits_of(element) == 8 * EITHER_MAJOR_BYTES


def is_wgmma_n(columns: int, a: Type) -> bool:
    """Return whether wgmma has an instruction with this N."""
    if not 8 <= columns <= WGMMA_COLUMNS or columns % 8:
        return False
    return a not in INT8_TYPES or columns in (8, 24) or columns % 16 == 0


def wgmma_k(a: Type) -> int:
    """Return K of one wgmma instruction."""
    return WGMMA_K_BYTES * 8 // (bits_of(a) or 32)


def matrix_of(value: Value) -> MemRefType:
    """Return the memref type of a descriptor."""
    assert isinstance(value.type, WarpgroupDescriptorType)
    return value.type.tensor


def accumulator_of(value: Value) -> VectorType:
    """Return the vector type of an accumulator."""
    assert isinstance(value.type, WarpgroupAccumulatorType)
    return value.type.fragmented


class WarpgroupGenerateDescriptorOp(Operation):
    """Create the descriptor of a matrix in shared memory.

    Its fields follow from the tensor map of the matrix, or from attributes: the leading and the
    stride byte offsets, the base offset within the swizzle pattern in bytes, and the swizzle mode.
    """

    name = "nvgpu.warpgroup.generate.descriptor"
    effects = Effects.PURE
    syntax = (
        "$tensor (`,` $tensor_map^)? attr-dict "
        "`:` type($tensor) (`,` type($tensor_map)^)? `->` type($descriptor)"
    )

    tensor = d.operand(RANKED_MEMREF)
    tensor_map = d.optional_operand(TENSOR_MAP)
    leading_byte_offset = d.optional_attribute(I64_ATTR)
    matrix_stride = d.optional_attribute(I64_ATTR)
    swizzle_base = d.attribute(I64_ATTR, default=0)
    swizzle_mode = d.optional_attribute(SWIZZLE)
    descriptor = d.result(MATRIX_DESCRIPTOR)

    def verify(self) -> Iterator[str]:
        tensor, described = memref(self.tensor), matrix_of(self.descriptor)
        if not in_shared_memory(tensor):
            yield f"expected a matrix in shared memory, got '{tensor}'"
        if tensor.element is not described.element:
            yield f"expected a descriptor of '{tensor.element}', got '{described.element}'"
        if self.tensor_map is not None:
            yield from map_problems(tensor_map(self.tensor_map))
        elif None in (self.leading_byte_offset, self.matrix_stride, self.swizzle_mode):
            fields = "'leading_byte_offset', 'matrix_stride' and 'swizzle_mode'"
            yield f"expected a tensor map, or the attributes {fields}"
        yield from self._field_problems()

    def _field_problems(self) -> Iterator[str]:
        for name, value in (
            ("leading_byte_offset", self.leading_byte_offset),
            ("matrix_stride", self.matrix_stride),
        ):
            if value is not None and (value % 16 or not 0 <= value < 1 << 18):
                yield f"expected '{name}' to be a multiple of 16 below {1 << 18}, got {value}"
        if self.swizzle_base % 128 or not 0 <= self.swizzle_base < 1024:
            base = self.swizzle_base
            yield f"expected 'swizzle_base' to be a multiple of 128 below 1024, got {base}"


class WarpgroupMmaOp(Operation):
    """Compute `D = A * B + C` synchronously; integer accumulators wrap around.

    Matrices are K-major in shared memory, or M- or N-major if they are transposed.
    """

    name = "nvgpu.warpgroup.mma"
    traits = (SameType("matrix_c", "matrix_d"),)
    syntax = (
        "$descriptor_a `,` $descriptor_b `,` $matrix_c attr-dict `:` type($descriptor_a) `,` "
        "type($descriptor_b) `,` type($matrix_c) `->` type($matrix_d)"
    )

    descriptor_a = d.operand(MATRIX_DESCRIPTOR)
    descriptor_b = d.operand(MATRIX_DESCRIPTOR)
    wait_group = d.attribute(I64_ATTR, default=0, spelling="waitGroup")
    transpose_a = d.flag(spelling="transposeA")
    transpose_b = d.flag(spelling="transposeB")
    matrix_c = d.operand(ACCUMULATOR)
    matrix_d = d.result(ACCUMULATOR)

    def verify(self) -> Iterator[str]:
        a, b, c = (
            matrix_of(self.descriptor_a),
            matrix_of(self.descriptor_b),
            accumulator_of(self.matrix_c),
        )
        if self.wait_group:
            group = self.wait_group
            yield f"expected 'waitGroup' 0, since the operation is synchronous, got {group}"
        if len(a.shape or ()) != 2 or len(b.shape or ()) != 2 or len(c.shape) != 2:
            yield f"expected matrices, got '{a}', '{b}' and '{c}'"
            return
        (m, k), (k_of_b, n) = a.shape or (0, 0), b.shape or (0, 0)
        if k != k_of_b or c.shape != (m, n):
            yield f"expected an accumulator of the shape of '{a}' times '{b}', got '{c}'"
        if not has_wgmma(c.element, a.element, b.element):
            yield f"cannot accumulate mma of '{a.element}' and '{b.element}' in '{c.element}'"
            return
        if m % WGMMA_ROWS:
            yield f"expected a multiple of {WGMMA_ROWS} rows, got {m}"
        if not is_wgmma_n(n, a.element):
            yield f"expected a number of columns that wgmma has for '{a.element}', got {n}"
        if k % wgmma_k(a.element):
            yield f"expected K that is a multiple of {wgmma_k(a.element)}, got {k}"
        if (self.transpose_a or self.transpose_b) and not is_either_major(a.element):
            yield f"expected elements of 16 bits to transpose, got '{a.element}'"


class WarpgroupMmaStoreOp(Operation):
    """Store an accumulator; each thread writes its fragment."""

    name = "nvgpu.warpgroup.mma.store"
    effects = Effects.WRITE
    syntax = "$matrix_d `,` $dst_memref attr-dict `:` type($matrix_d) `to` type($dst_memref)"

    matrix_d = d.operand(ACCUMULATOR)
    dst_memref = d.operand(RANKED_MEMREF)

    def verify(self) -> Iterator[str]:
        matrix, target = accumulator_of(self.matrix_d), memref(self.dst_memref)
        if matrix.shape != target.shape or matrix.element is not target.element:
            yield f"expected a memref of the shape and elements of '{matrix}', got '{target}'"


class WarpgroupMmaInitAccumulatorOp(Operation):
    """Create an accumulator of zeros."""

    name = "nvgpu.warpgroup.mma.init.accumulator"
    effects = Effects.PURE
    syntax = "attr-dict `->` type($matrix_c)"

    matrix_c = d.result(ACCUMULATOR)

    def verify(self) -> Iterator[str]:
        type = accumulator_of(self.matrix_c)
        fits = len(type.shape) == 2 and type.shape[0] % WGMMA_ROWS == 0
        if not fits or not is_wgmma_n(type.shape[1], F16) or type.element not in (F16, F32, I32):
            yield f"expected an accumulator that wgmma has, got '{type}'"
