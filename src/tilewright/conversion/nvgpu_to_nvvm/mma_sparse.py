"""nvgpu's sparse products of a warp: assembly, since nvgpu knows no operation of NVVM for them."""

from __future__ import annotations

from itertools import count, islice
from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.fragments import (
    members,
    put_together,
    same_bits,
    taken_apart,
)
from tilewright.conversion.nvgpu_to_nvvm.mma_sync import FACTORS, SUMS, missing_product
from tilewright.conversion.nvgpu_to_nvvm.vector import vector_of
from tilewright.dialects.llvm.calls import InlineAsmOp
from tilewright.dialects.llvm.types import StructType
from tilewright.dialects.nvgpu.warp import MmaSparseSyncOp, shape_of_product
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import F32, I32
from tilewright.target.tensor_cores import SPARSE_MMA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nvvm.attributes import MMAType


def _instruction(op: MmaSparseSyncOp, a: MMAType, b: MMAType, sum: MMAType) -> str:
    m, n, k = shape_of_product(op.mma_shape)
    types = ".".join([type.keyword for type in (sum, a, b, sum)])
    ordered = "::ordered_metadata" if op.ordered else ""
    return f"mma.sp{ordered}.sync.aligned.m{m}n{n}k{k}.row.col.{types}"


def _operands(sizes: Sequence[int]) -> list[str]:
    """`{$0, $1}` and so on: lists of so many registers each, numbered through."""
    numbers = count()
    return [
        f"{{{', '.join([f'${number}' for number in islice(numbers, size)])}}}" for size in sizes
    ]


@converts(MmaSparseSyncOp)
def sparse(op: MmaSparseSyncOp, new: MmaSparseSyncOp, build: ConversionBuilder) -> Result:
    """One instruction; all registers but those of f32 sums hold bits."""
    a, b = FACTORS[vector_of(op.matrix_a).element], FACTORS[vector_of(op.matrix_b).element]
    sum = SUMS[vector_of(op.matrix_c).element]
    shape = shape_of_product(op.mma_shape)
    if (problem := missing_product(SPARSE_MMA, a, b, sum, shape)) is not None:
        return build.reject(problem)
    register, letter = (F32, "f") if vector_of(new.matrix_c).element is F32 else (I32, "r")
    first = taken_apart(build, new.matrix_a, I32)
    second = taken_apart(build, new.matrix_b, I32)
    sums = taken_apart(build, new.matrix_c, register)
    metadata = same_bits(build, new.sparse_metadata, I32)
    groups = ", ".join(_operands([len(sums), len(first), len(second), len(sums)]))
    last = 2 * len(sums) + len(first) + len(second)
    bits = ["r"] * (len(first) + len(second))
    made = build.create(
        InlineAsmOp,
        args=[*first, *second, *sums, metadata],
        asm_string=f"{_instruction(op, a, b, sum)} {groups}, ${last}, {op.sparsity_selector};",
        constraints=",".join([f"={letter}"] * len(sums) + bits + [letter] * len(sums) + ["r"]),
        convergent=True,
        types=[StructType((register,) * len(sums))],
    ).outputs[0]
    return put_together(build, members(build, made), new.matrix_c.type)


PATTERNS: Final[Patterns] = (sparse,)
