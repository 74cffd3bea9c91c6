"""Where the elements of a thread lie in a tile.

The coordinate of a register is the thread's own part, the same for all registers, and a constant
for each register; mostly the two share no bits and add up.
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
    xor,
)
from tilewright.conversion.nv_tileas_to_nvgpu.threads import thread_basis, thread_id
from tilewright.dialects.arith.integer import AddIOp, XOrIOp
from tilewright.dialects.vector.shapes import BroadcastOp
from tilewright.ir.types import I32, VectorType
from tilewright.layout import gf2
from tilewright.layout.linear import REGISTER, unpack

if TYPE_CHECKING:
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


class Coordinate(NamedTuple):
    """A thread's coordinates along one dimension of a tile, as i32."""

    own: OpFoldResult
    """The thread's part."""
    by_register: tuple[int, ...]
    disjoint: bool
    """Whether the two parts share no bits: then the coordinate is their sum."""

    def at(self, build: ConversionBuilder, register: int) -> OpFoldResult:
        """The coordinate of a register."""
        join = add if self.disjoint else xor
        return join(build, self.own, self.by_register[register])

    def vector(self, build: ConversionBuilder) -> Value:
        """The coordinates of all registers."""
        type = VectorType((len(self.by_register),), I32)
        own = build.create(BroadcastOp, source=as_value(build, self.own), types=[type]).result
        if not any(self.by_register):
            return own
        kind = AddIOp if self.disjoint else XOrIOp
        return build.create(kind, lhs=own, rhs=constants(build, self.by_register)).result


def coordinate(
    op: Operation, build: ConversionBuilder, layout: Layout, dimension: int
) -> Coordinate:
    """The coordinates of a thread of an operation's function in a layout."""
    # What is made in a block serves all that follows in it.
    key = (op.parent, layout, dimension)
    coordinates = lowering_context(build).coordinates
    computed = coordinates.get(key)
    if computed is not None:
        return computed
    by_register = tuple([layout.at(register=r)[dimension] for r in range(layout.extent(REGISTER))])
    vectors = [unpack(vector, layout.shape)[dimension] for vector in thread_basis(layout)]
    own = apply_linear(build, thread_id(op, build), vectors)
    reach = gf2.support(vectors)
    disjoint = not any(constant & reach for constant in by_register)
    created = coordinates[key] = Coordinate(own, by_register, disjoint)
    return created


def apply_linear(build: ConversionBuilder, number: Value, vectors: list[int]) -> OpFoldResult:
    """The exclusive or of the vectors whose bits are set in the number.

    Bits that move by the same distance go together, so a run of them costs a mask and a shift.
    """
    masks: dict[int, int] = {}
    for bit, vector in enumerate(vectors):
        for target in range(vector.bit_length()):
            if vector >> target & 1:
                masks[target - bit] = masks.get(target - bit, 0) | 1 << bit
    total: OpFoldResult = 0
    for up, mask in masks.items():
        total = xor(build, total, extract_bits(build, number, mask, up))
    return total
