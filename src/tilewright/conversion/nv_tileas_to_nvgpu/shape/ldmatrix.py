"""mma fragments from shared memory, by ldmatrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.conversion.nv_tileas_to_nvgpu.addresses import shared_buffer
from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import apply_linear
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    OpFoldResult,
    add,
    index_constant,
    xor,
)
from tilewright.conversion.nv_tileas_to_nvgpu.register_packing import from_words, to_words
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import scratch_pointer
from tilewright.conversion.nv_tileas_to_nvgpu.threads import LANE_BITS, thread_id
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import select_registers
from tilewright.dialects.nvgpu.warp import LdMatrixOp
from tilewright.dialects.vector.shapes import ShapeCastOp
from tilewright.ir.types import I16, VectorType
from tilewright.layout import gf2
from tilewright.layout.matrices import ROW
from tilewright.target.arch import REGISTER_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.matrices import MatrixAccess


def matrix_rows(
    op: Operation,
    build: ConversionBuilder,
    access: MatrixAccess,
    warps: Sequence[int],
    start: OpFoldResult = 0,
    *,
    first: int = 0,
) -> list[Value]:
    """The row of 16-bit elements that each lane addresses, for each instruction of an access.

    The tile begins at the byte `start` of the operation's scratch memory; `first` is the byte
    offset of its first element, which is added bit by bit where memory is swizzled.
    """
    rows = [*access.rows, *access.matrices]
    # Addresses of lanes beyond the matrices are ignored.
    images = [*rows, *[0] * (LANE_BITS - len(rows)), *warps]
    thread_part = apply_linear(build, thread_id(op, build), images)
    thread_bits = gf2.support(images)
    bases: dict[int, OpFoldResult] = {}
    result: list[Value] = []
    for number in range(1 << len(access.rest)):
        offset = gf2.combine(access.rest, number) ^ first
        changed = offset & thread_bits
        if changed not in bases:
            bases[changed] = add(build, xor(build, thread_part, changed), start)
        pointer = scratch_pointer(op, build, bases[changed], offset ^ changed)
        result.append(shared_buffer(build, pointer, ROW // 2, I16))
    return result


class LdMatrixTile:
    """A thread's registers of a tile in shared memory, loaded by its warp with ldmatrix."""

    __slots__ = ("_access", "_build", "_rows")

    def __init__(
        self,
        op: Operation,
        build: ConversionBuilder,
        access: MatrixAccess,
        warps: Sequence[int],
        start: OpFoldResult = 0,
        *,
        first: int = 0,
    ) -> None:
        self._access, self._build = access, build
        self._rows = matrix_rows(op, build, access, warps, start, first=first)

    def read(self, type: VectorType) -> Value:
        """Load all registers."""
        build = self._build
        filled = from_words(build, [word for row in self._rows for word in self._words(row)], type)
        return select_registers(build, filled, self._access.fill_order(type.shape[0]))

    def _words(self, row: Value) -> tuple[Value, ...]:
        """The registers of a thread, one for each matrix."""
        build, count = self._build, 1 << len(self._access.matrices)
        loaded = build.create(
            LdMatrixOp,
            src_memref=row,
            indices=[index_constant(build, 0)],
            transpose=self._access.transposed,
            num_tiles=count,
            types=[VectorType((count, 2), I16)],
        ).res
        flat = build.create(ShapeCastOp, source=loaded, types=[VectorType((2 * count,), I16)])
        return to_words(build, flat.result, REGISTER_BYTES)
