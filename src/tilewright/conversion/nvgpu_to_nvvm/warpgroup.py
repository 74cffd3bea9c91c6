"""nvgpu.warpgroup.mma to `wgmma`; initialization and stores of its accumulators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.buffers import Buffer, offset_address
from tilewright.conversion.nvgpu_to_nvvm.elementwise import lanes, result_type
from tilewright.conversion.nvgpu_to_nvvm.fragments import members
from tilewright.conversion.nvgpu_to_nvvm.gpu import linear_thread_id
from tilewright.conversion.nvgpu_to_nvvm.numbers import add, constant, mul, resized
from tilewright.conversion.nvgpu_to_nvvm.wgmma_descriptor import Fields, advance_descriptor
from tilewright.dialects.llvm.aggregate import InsertValueOp
from tilewright.dialects.llvm.arithmetic import AndOp, LShrOp, MulOp, OrOp
from tilewright.dialects.llvm.constants import PoisonOp, ZeroOp
from tilewright.dialects.llvm.memory import StoreOp
from tilewright.dialects.llvm.types import StructType
from tilewright.dialects.nvgpu import warpgroup
from tilewright.dialects.nvgpu.attributes import Swizzle
from tilewright.dialects.nvgpu.warpgroup import (
    WarpgroupGenerateDescriptorOp,
    accumulator_of,
    matrix_of,
    wgmma_k,
)
from tilewright.dialects.nvvm import wgmma
from tilewright.dialects.nvvm.attributes import (
    MMALayout,
    MMAShape,
    WGMMAScaleIn,
    WGMMAScaleOut,
    WGMMAType,
)
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import (
    BF16,
    F8E4M3FN,
    F8E5M2,
    F16,
    F32,
    I8,
    I32,
    I64,
    TF32,
    IntegerType,
    VectorType,
)
from tilewright.target.tensor_cores import WGMMA_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value

WGMMA_TYPES: Final[Mapping[Type, WGMMAType]] = {
    F16: WGMMAType.F16,
    BF16: WGMMAType.BF16,
    TF32: WGMMAType.TF32,
    F8E4M3FN: WGMMAType.E4M3,
    F8E5M2: WGMMAType.E5M2,
    I8: WGMMAType.S8,
    IntegerType(8, "s"): WGMMAType.S8,
    IntegerType(8, "u"): WGMMAType.U8,
    F32: WGMMAType.F32,
    I32: WGMMAType.S32,
}
"""The instruction's type of each element type."""


@converts(warpgroup.WarpgroupMmaInitAccumulatorOp)
def init_accumulator(
    op: warpgroup.WarpgroupMmaInitAccumulatorOp,
    new: warpgroup.WarpgroupMmaInitAccumulatorOp,
    build: ConversionBuilder,
) -> Result:
    """Lower to an accumulator of zeros."""
    type = result_type(op, build)
    if type is None:
        return build.reject(f"expected an accumulator that wgmma has, got '{op.matrix_c.type}'")
    return build.create(ZeroOp, types=[type])


def _problem(descriptor: Value, instructions: int, transposed: bool) -> str | None:
    """Check that the parts of an operand can be addressed by its descriptor."""
    source = descriptor.defining_op()
    if not isinstance(source, WarpgroupGenerateDescriptorOp):
        known = instructions == 1
        return None if known else f"expected a descriptor of '{WarpgroupGenerateDescriptorOp.name}'"
    # The descriptor fields differ for transposed operands without swizzle.
    if transposed and source.tensor_map is not None and Fields.of(source).swizzle is Swizzle.NONE:
        return "expected a tensor map with a swizzle for a transposed matrix"
    return None


def _start_offsets(descriptor: Value, blocks: int, steps: int, transposed: bool) -> list[list[int]]:
    """Return the byte offset of each block of 64 rows and each K step."""
    source = descriptor.defining_op()
    if not isinstance(source, WarpgroupGenerateDescriptorOp):
        return [[0]]
    fields = Fields.of(source)
    return [
        [fields.offset(block, step, transposed=transposed) for step in range(steps)]
        for block in range(blocks)
    ]


@converts(warpgroup.WarpgroupMmaOp)
def mma(
    op: warpgroup.WarpgroupMmaOp, new: warpgroup.WarpgroupMmaOp, build: ConversionBuilder
) -> Result:
    """Lower to fence, wgmmas, commit and wait: none is in flight before or after.

    Fence and wait take and return the accumulators, so that no code in between touches their
    registers, and no other wgmma shares them. An instruction takes 64 rows and 32 bytes of K.
    """
    a = matrix_of(op.descriptor_a)
    (rows, k), element = a.shape or (0, 0), a.element
    blocks, steps = rows // WGMMA_ROWS, k // wgmma_k(element)
    problem = _problem(op.descriptor_a, blocks * steps, op.transpose_a)
    problem = problem or _problem(op.descriptor_b, steps, op.transpose_b)
    if problem is not None:
        return build.reject(problem)
    starts_a = _start_offsets(op.descriptor_a, blocks, steps, op.transpose_a)
    starts_b = _start_offsets(op.descriptor_b, 1, steps, op.transpose_b)
    accumulators = [new.matrix_c] if blocks == 1 else members(build, new.matrix_c)
    types = [block.type for block in accumulators]
    fenced = build.create(
        wgmma.WgmmaFenceAlignedOp, accumulators=accumulators, apart=True, types=types
    )
    accumulators = list(fenced.outputs)
    shape = MMAShape(WGMMA_ROWS, accumulator_of(op.matrix_c).shape[1], wgmma_k(element))
    for block, step in [(block, step) for block in range(blocks) for step in range(steps)]:
        accumulators[block] = build.create(
            wgmma.WgmmaMmaAsyncOp,
            inouts=accumulators[block],
            descriptor_a=advance_descriptor(build, new.descriptor_a, starts_a[block][step]),
            descriptor_b=advance_descriptor(build, new.descriptor_b, starts_b[0][step]),
            shape=shape,
            type_a=WGMMA_TYPES[element],
            type_b=WGMMA_TYPES[matrix_of(op.descriptor_b).element],
            type_d=WGMMA_TYPES[accumulator_of(op.matrix_c).element],
            scale_d=WGMMAScaleOut.ONE,
            scale_a=WGMMAScaleIn.ONE,
            scale_b=WGMMAScaleIn.ONE,
            layout_a=MMALayout.COL if op.transpose_a else MMALayout.ROW,
            layout_b=MMALayout.ROW if op.transpose_b else MMALayout.COL,
        ).res
    build.create(wgmma.WgmmaGroupSyncAlignedOp)
    done = build.create(wgmma.WgmmaWaitGroupSyncOp, accumulators=accumulators, group=0, types=types)
    return _joined(build, done.outputs, new.matrix_c.type)


def _joined(build: ConversionBuilder, blocks: Sequence[Value], type: Type) -> Value:
    """Build an accumulator from its blocks of 64 rows."""
    if len(blocks) == 1:
        return blocks[0]
    accumulator: Value = build.create(PoisonOp, types=[type]).res
    for index, block in enumerate(blocks):
        accumulator = build.create(
            InsertValueOp, container=accumulator, value=block, position=[index]
        ).res
    return accumulator


def _bits(build: ConversionBuilder, value: Value, start: int, count: int, step: int) -> Value:
    """Extract bits of a number and multiply them by a power of two."""
    shifted = build.create(LShrOp, lhs=value, rhs=constant(build, start, I32)).res
    mask = constant(build, (1 << count) - 1, I32)
    part = build.create(AndOp, lhs=shifted, rhs=mask).res
    return build.create(MulOp, lhs=part, rhs=constant(build, step, I32)).res


@converts(warpgroup.WarpgroupMmaStoreOp)
def store(
    op: warpgroup.WarpgroupMmaStoreOp,
    new: warpgroup.WarpgroupMmaStoreOp,
    build: ConversionBuilder,
) -> Result:
    """Store the accumulator elements of each thread.

    A warp holds 16 rows: a lane two of them, eight apart, and two of every eight columns.
    """
    thread = linear_thread_id(build)
    warp, eighth = _bits(build, thread, 5, 2, 16), _bits(build, thread, 2, 3, 1)
    row = resized(build, build.create(OrOp, lhs=warp, rhs=eighth).res, I64)
    column = resized(build, _bits(build, thread, 0, 2, 2), I64)
    buffer = Buffer.of(op.dst_memref, build)
    first = buffer.element_address([row, column], build)
    down, right = buffer.strides
    for (below, beside), element in _fragment(build, new.matrix_d):
        offset = add(build, mul(build, below, down), mul(build, beside, right))
        address = offset_address(first, offset, buffer.element, build)
        build.create(StoreOp, value=element, addr=address)
    return ()


def _fragment(
    build: ConversionBuilder, accumulator: Value
) -> Iterator[tuple[tuple[int, int], Value]]:
    """Yield the elements of a thread with their row and column offsets."""
    parts = members(build, accumulator)
    nested = isinstance(parts[0].type, StructType)
    for block, registers in enumerate(
        [members(build, each) for each in parts] if nested else [parts]
    ):
        for number, element in enumerate(_elements(build, registers)):
            pair, half = divmod(number, 2)
            yield (block * WGMMA_ROWS + pair % 2 * 8, pair // 2 * 8 + half), element


def _elements(build: ConversionBuilder, registers: list[Value]) -> list[Value]:
    """Return the elements in registers; two f16 share one."""
    if not isinstance(registers[0].type, VectorType):
        return registers
    return [element for register in registers for element in lanes(build, register)]


PATTERNS: Final[Patterns] = (init_accumulator, mma, store)
