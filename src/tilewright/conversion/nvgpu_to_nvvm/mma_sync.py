"""nvgpu.mma.sync to NVVM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.context import lowering_context
from tilewright.conversion.nvgpu_to_nvvm.fragments import members, pack_registers, unpack_registers
from tilewright.conversion.nvgpu_to_nvvm.vector import vector_of
from tilewright.dialects.llvm.types import StructType
from tilewright.dialects.nvgpu.warp import MmaSyncOp, mma_extents
from tilewright.dialects.nvvm.attributes import MMAB1Op, MMALayout, MMAShape, MMAType
from tilewright.dialects.nvvm.matrix import MmaOp, fragment_type
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import (
    BF16,
    F8E4M3FN,
    F8E5M2,
    F16,
    F32,
    F64,
    I1,
    I4,
    I8,
    I32,
    IntegerType,
)
from tilewright.target.tensor_cores import MMA, DotAtom, find_mma

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value

MULTIPLICAND_TYPES: Final[Mapping[Type, MMAType]] = {
    F16: MMAType.F16,
    BF16: MMAType.BF16,
    F32: MMAType.TF32,
    F64: MMAType.F64,
    F8E4M3FN: MMAType.E4M3,
    F8E5M2: MMAType.E5M2,
    I8: MMAType.S8,
    IntegerType(8, "s"): MMAType.S8,
    IntegerType(8, "u"): MMAType.U8,
    I4: MMAType.S4,
    IntegerType(4, "s"): MMAType.S4,
    IntegerType(4, "u"): MMAType.U4,
    I1: MMAType.B1,
}
"""The instruction's types of A and B, by element type."""
ACCUMULATOR_TYPES: Final[Mapping[Type, MMAType]] = {
    F16: MMAType.F16,
    F32: MMAType.F32,
    F64: MMAType.F64,
    I32: MMAType.S32,
}


def missing_mma(
    table: tuple[DotAtom, ...],
    a: MMAType,
    b: MMAType,
    accumulator: MMAType,
    shape: tuple[int, ...],
) -> str | None:
    """Check that a table has an mma of these types and this shape."""
    m, n, k = shape
    if find_mma(table, a.keyword, b.keyword, accumulator.keyword, (m, n, k)) is not None:
        return None
    types = f"{a.keyword} and {b.keyword} to {accumulator.keyword}"
    return f"expected an mma that the hardware has, got {types} with the shape m{m}n{n}k{k}"


@converts(MmaSyncOp)
def mma(op: MmaSyncOp, new: MmaSyncOp, build: ConversionBuilder) -> Result:
    """Lower to `mma.sync`; one-bit operands are combined by `and.popc`."""
    a, b = (
        MULTIPLICAND_TYPES[vector_of(op.matrix_a).element],
        MULTIPLICAND_TYPES[vector_of(op.matrix_b).element],
    )
    accumulator = ACCUMULATOR_TYPES[vector_of(op.matrix_c).element]
    shape = mma_extents(op.mma_shape)
    if (problem := missing_mma(MMA, a, b, accumulator, shape)) is not None:
        return build.reject(problem)
    accumulators = _registers(build, new.matrix_c, fragment_type(accumulator))
    made = build.create(
        MmaOp,
        operand_a=_registers(build, new.matrix_a, fragment_type(a)),
        operand_b=_registers(build, new.matrix_b, fragment_type(b)),
        operand_c=accumulators,
        shape=MMAShape(*shape),
        b1_op=MMAB1Op.AND_POPC if a is MMAType.B1 else None,
        layout_a=MMALayout.ROW,
        layout_b=MMALayout.COL,
        type_a=a,
        type_b=b,
        types=[StructType((fragment_type(accumulator),) * len(accumulators))],
    ).res
    registers = members(build, made)
    result = pack_registers(build, registers, new.matrix_c.type)
    key = (build.point.block, result, fragment_type(accumulator))
    lowering_context(build).fragment_registers[key] = registers
    return result


def _registers(build: ConversionBuilder, vector: Value, part: Type) -> list[Value]:
    """Unpack an operand into registers, once per block."""
    key = (build.point.block, vector, part)
    known = lowering_context(build).fragment_registers
    registers = known.get(key)
    if registers is None:
        registers = known[key] = unpack_registers(build, vector, part)
    return registers


PATTERNS: Final[Patterns] = (mma,)
