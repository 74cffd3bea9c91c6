"""mma fragments from shared memory, by ldmatrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import apply_linear
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import OpFoldResult, add, xor
from tilewright.conversion.nv_tileas_to_nvgpu.register_packing import from_words
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import scratch_pointer
from tilewright.conversion.nv_tileas_to_nvgpu.threads import LANE_BITS, thread_id
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import select_registers
from tilewright.dialects.llvm.aggregate import ExtractValueOp
from tilewright.dialects.nvvm.attributes import MMALayout
from tilewright.dialects.nvvm.matrix import LdMatrixOp
from tilewright.layout import gf2

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.operation import Operation
    from tilewright.ir.types import VectorType
    from tilewright.ir.values import Value
    from tilewright.layout.matrices import MatrixAccess


def matrix_pointers(
    op: Operation,
    build: ConversionBuilder,
    access: MatrixAccess,
    warps: Sequence[int],
    start: OpFoldResult = 0,
    *,
    first: int = 0,
) -> list[Value]:
    """The row that each lane addresses, for each instruction of an access.

    The tile begins at the byte `start` of the operation's scratch memory; `first` is the byte
    offset of its first element, which is added bit by bit where memory is swizzled.
    """
    rows = [*access.rows, *access.matrices]
    # Addresses of lanes beyond the matrices are ignored.
    images = [*rows, *[0] * (LANE_BITS - len(rows)), *warps]
    thread_part = apply_linear(build, thread_id(op, build), images)
    thread_bits = gf2.support(images)
    bases: dict[int, OpFoldResult] = {}
    pointers: list[Value] = []
    for number in range(1 << len(access.rest)):
        offset = gf2.combine(access.rest, number) ^ first
        changed = offset & thread_bits
        if changed not in bases:
            bases[changed] = add(build, xor(build, thread_part, changed), start)
        pointers.append(scratch_pointer(op, build, bases[changed], offset ^ changed))
    return pointers


class LdMatrixTile:
    """A thread's registers of a tile in shared memory, loaded by its warp with ldmatrix."""

    __slots__ = ("_access", "_build", "_pointers")

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
        self._pointers = matrix_pointers(op, build, access, warps, start, first=first)

    def read(self, type: VectorType) -> Value:
        """Load all registers."""
        build = self._build
        filled = from_words(build, [w for p in self._pointers for w in self._words(p)], type)
        return select_registers(build, filled, self._access.fill_order(type.shape[0]))

    def _words(self, pointer: Value) -> list[Value]:
        """The registers of a thread, one for each matrix."""
        build, count = self._build, 1 << len(self._access.matrices)
        layout = MMALayout.COL if self._access.transposed else MMALayout.ROW
        loaded = build.create(LdMatrixOp, ptr=pointer, num=count, layout=layout).res
        if count == 1:
            return [loaded]
        return [
            build.create(ExtractValueOp, container=loaded, position=[number]).res
            for number in range(count)
        ]
