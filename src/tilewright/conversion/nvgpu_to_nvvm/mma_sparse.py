"""nvgpu.mma.sp.sync to inline assembly, as upstream MLIR lowers it."""

from __future__ import annotations

from itertools import count, islice
from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.fragments import (
    members,
    pack_registers,
    same_bits,
    unpack_registers,
)
from tilewright.conversion.nvgpu_to_nvvm.mma_sync import (
    ACCUMULATOR_TYPES,
    MULTIPLICAND_TYPES,
    missing_mma,
)
from tilewright.conversion.nvgpu_to_nvvm.vector import vector_of
from tilewright.dialects.llvm.calls import InlineAsmOp
from tilewright.dialects.llvm.types import StructType
from tilewright.dialects.nvgpu.warp import MmaSparseSyncOp, mma_extents
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import F32, I32
from tilewright.target.tensor_cores import SPARSE_MMA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nvvm.attributes import MMAType


def _instruction(op: MmaSparseSyncOp, a: MMAType, b: MMAType, accumulator: MMAType) -> str:
    m, n, k = mma_extents(op.mma_shape)
    types = ".".join([type.keyword for type in (accumulator, a, b, accumulator)])
    ordered = "::ordered_metadata" if op.ordered else ""
    return f"mma.sp{ordered}.sync.aligned.m{m}n{n}k{k}.row.col.{types}"


def _operands(sizes: Sequence[int]) -> list[str]:
    """Format register lists such as `{$0, $1}` of these sizes, numbered consecutively."""
    numbers = count()
    return [
        f"{{{', '.join([f'${number}' for number in islice(numbers, size)])}}}" for size in sizes
    ]


@converts(MmaSparseSyncOp)
def sparse(op: MmaSparseSyncOp, new: MmaSparseSyncOp, build: ConversionBuilder) -> Result:
    """Lower to one instruction; registers are 32-bit integers except f32 accumulators."""
    a, b = (
        MULTIPLICAND_TYPES[vector_of(op.matrix_a).element],
        MULTIPLICAND_TYPES[vector_of(op.matrix_b).element],
    )
    accumulator = ACCUMULATOR_TYPES[vector_of(op.matrix_c).element]
    shape = mma_extents(op.mma_shape)
    if (problem := missing_mma(SPARSE_MMA, a, b, accumulator, shape)) is not None:
        return build.reject(problem)
    register, letter = (F32, "f") if vector_of(new.matrix_c).element is F32 else (I32, "r")
    first = unpack_registers(build, new.matrix_a, I32)
    second = unpack_registers(build, new.matrix_b, I32)
    accumulators = unpack_registers(build, new.matrix_c, register)
    metadata = same_bits(build, new.sparse_metadata, I32)
    groups = ", ".join(_operands([len(accumulators), len(first), len(second), len(accumulators)]))
    last = 2 * len(accumulators) + len(first) + len(second)
    bits = ["r"] * (len(first) + len(second))
    instruction = _instruction(op, a, b, accumulator)
    made = build.create(
        InlineAsmOp,
        args=[*first, *second, *accumulators, metadata],
        asm_string=f"{instruction} {groups}, ${last}, {op.sparsity_selector};",
        constraints=",".join(
            [f"={letter}"] * len(accumulators) + bits + [letter] * len(accumulators) + ["r"]
        ),
        convergent=True,
        types=[StructType((register,) * len(accumulators))],
    ).outputs[0]
    return pack_registers(build, members(build, made), new.matrix_c.type)


PATTERNS: Final[Patterns] = (sparse,)
