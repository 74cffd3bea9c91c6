"""The coordinates of a thread's elements in a tile.

By linearity of layouts, the coordinate of a register is the XOR of a part that depends on the
thread and a constant that depends on the register; mostly the two share no bits and add up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.conversion.nv_tileas_to_nvgpu.context import lowering_context
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    OpFoldResult,
    add,
    as_value,
    constants,
    extract_bits,
    to_i64,
    xor,
)
from tilewright.conversion.nv_tileas_to_nvgpu.threads import thread_basis, thread_id
from tilewright.dialects.arith.casts import TruncIOp
from tilewright.dialects.arith.integer import AddIOp, XOrIOp
from tilewright.dialects.nvvm.arithmetic import OpaqueOp
from tilewright.dialects.vector.shapes import BroadcastOp
from tilewright.ir.types import I32, I64, VectorType
from tilewright.layout import gf2
from tilewright.layout.linear import REGISTER, unpack

if TYPE_CHECKING:
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


class Coordinate(NamedTuple):
    """A thread's coordinates along one dimension of a tile, as i32."""

    thread_part: OpFoldResult
    """The part that depends on the thread."""
    register_parts: tuple[int, ...]
    """The constant of each register."""
    disjoint: bool
    """Whether the two parts share no bits, so that add serves for XOR."""

    def at(self, build: ConversionBuilder, register: int) -> OpFoldResult:
        """The coordinate of a register."""
        combine = add if self.disjoint else xor
        return combine(build, self.thread_part, self.register_parts[register])

    def vector(self, build: ConversionBuilder) -> Value:
        """The coordinates of all registers."""
        type = VectorType((len(self.register_parts),), I32)
        thread_part = build.create(
            BroadcastOp, source=as_value(build, self.thread_part), types=[type]
        ).result
        if not any(self.register_parts):
            return thread_part
        kind = AddIOp if self.disjoint else XOrIOp
        return build.create(kind, lhs=thread_part, rhs=constants(build, self.register_parts)).result


def coordinate(
    op: Operation,
    build: ConversionBuilder,
    layout: Layout,
    dimension: int,
    *,
    repeated: bool = False,
) -> Coordinate:
    """The coordinates of the thread in a layout, computed once in each block.

    If `repeated`, also in each iteration of a loop, for this operation alone.
    """
    key = (op.parent, layout, dimension)
    coordinates = lowering_context(build).coordinates
    known = None if repeated else coordinates.get(key)
    if known is not None:
        return known
    register_parts = tuple(
        [layout.at(register=r)[dimension] for r in range(layout.extent(REGISTER))]
    )
    images = [unpack(vector, layout.shape)[dimension] for vector in thread_basis(layout)]
    thread_part = apply_linear(build, thread_id(op, build), images)
    thread_bits = gf2.support(images)
    disjoint = not any(constant & thread_bits for constant in register_parts)
    if repeated:
        wide = as_value(build, to_i64(build, as_value(build, thread_part), signed=False), I64)
        copy = build.create(OpaqueOp, arg=wide, repeated=True, types=[I64]).res
        thread_part = build.create(TruncIOp, source=copy, types=[I32]).result
        return Coordinate(thread_part, register_parts, disjoint)
    created = coordinates[key] = Coordinate(thread_part, register_parts, disjoint)
    return created


def apply_linear(build: ConversionBuilder, bits: Value, images: list[int]) -> OpFoldResult:
    """Apply a linear map over GF(2): XOR the images of the bits that are set in an i32.

    Bits that are shifted by the same distance share a mask and a shift.
    """
    masks: dict[int, int] = {}
    for bit, image in enumerate(images):
        for target in range(image.bit_length()):
            if image >> target & 1:
                masks[target - bit] = masks.get(target - bit, 0) | 1 << bit
    result: OpFoldResult = 0
    for shift, mask in masks.items():
        result = xor(build, result, extract_bits(build, bits, mask, shift))
    return result
