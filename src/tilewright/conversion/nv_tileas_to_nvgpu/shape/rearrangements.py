"""view, expand_dims, broadcast, permute: registers of a thread in another order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import parity
from tilewright.conversion.nv_tileas_to_nvgpu.threads import thread_basis, thread_id
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import select_registers
from tilewright.dialects.arith.comparison import SelectOp
from tilewright.dialects.nv_tileas import shape
from tilewright.dialects.nv_tileas.attributes import in_shared_memory, layout_of
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import VectorType
from tilewright.layout.linear import REGISTER, log2
from tilewright.layout.transfer import transfer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


def rearrange_registers(
    op: Operation, build: ConversionBuilder, vector: Value, source: Layout, target: Layout
) -> Value:
    """Convert a tile between layouts in which each thread holds the same elements.

    Register `r` of the result is register `c[r] ^ f(thread)` of the source, for constants `c`
    and a linear `f`: registers are swapped where a bit of `f` is set, then selected by `c`.
    """
    origin = transfer(source, target).origin
    count = source.extent(REGISTER)
    images = [vector & (count - 1) for vector in thread_basis(origin)]
    vector = swap_registers(op, build, vector, images)
    constants = [origin.packed(register=r) & (count - 1) for r in range(target.extent(REGISTER))]
    return select_registers(build, vector, constants)


def swap_registers(
    op: Operation, build: ConversionBuilder, vector: Value, images: Sequence[int]
) -> Value:
    """Permute registers `r` to `r ^ f(thread)`, where `images` are those of the bits under `f`."""
    assert isinstance(vector.type, VectorType)
    count = vector.type.shape[0]
    for bit in range(log2(count)):
        mask = sum(1 << number for number, image in enumerate(images) if image >> bit & 1)
        if mask:
            swapped = select_registers(build, vector, [r ^ 1 << bit for r in range(count)])
            condition = parity(build, thread_id(op, build), mask)
            vector = build.create(
                SelectOp, condition=condition, true_value=swapped, false_value=vector
            ).result
    return vector


@converts(shape.ViewOp, shape.ExpandDimsOp, shape.BroadcastOp, shape.PermuteOp)
def rearrangement(
    op: shape.Rearrangement, new: shape.Rearrangement, build: ConversionBuilder
) -> Result:
    """Only registers are renumbered: each thread already holds its elements of the result.

    A tile in shared memory stays where it is.
    """
    if in_shared_memory(op.source):
        return new.source
    source_layout = op.led_back(layout_of(op.result))
    return rearrange_registers(op, build, new.source, layout_of(op.source), source_layout)


PATTERNS: Final[Patterns] = (rearrangement,)
