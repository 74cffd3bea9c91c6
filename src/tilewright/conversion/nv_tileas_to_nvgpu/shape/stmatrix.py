"""mma fragments to shared memory, by stmatrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import index_constant
from tilewright.conversion.nv_tileas_to_nvgpu.register_packing import from_words, to_words
from tilewright.conversion.nv_tileas_to_nvgpu.shape.ldmatrix import matrix_rows
from tilewright.dialects.cute_nvgpu.threads import StMatrixOp
from tilewright.dialects.vector.shapes import ShapeCastOp
from tilewright.ir.types import I16, VectorType
from tilewright.target.arch import REGISTER_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.matrices import MatrixAccess


class StMatrixTile:
    """A thread's registers of a tile in an operation's scratch memory, stored with stmatrix."""

    __slots__ = ("_access", "_build", "_rows")

    def __init__(
        self,
        op: Operation,
        build: ConversionBuilder,
        access: MatrixAccess,
        warps: Sequence[int],
        start: int = 0,
    ) -> None:
        self._access, self._build = access, build
        self._rows = matrix_rows(op, build, access, warps, start)

    def write(self, vector: Value) -> None:
        """Store all registers; all lanes of the warp take part."""
        build, count = self._build, 1 << len(self._access.matrices)
        words = to_words(build, vector, REGISTER_BYTES)
        for number, row in enumerate(self._rows):
            own = words[number * count : (number + 1) * count]
            flat = from_words(build, own, VectorType((2 * count,), I16))
            fragments = build.create(ShapeCastOp, source=flat, types=[VectorType((count, 2), I16)])
            build.create(
                StMatrixOp,
                fragments=fragments.result,
                buffer=row,
                indices=[index_constant(build, 0)],
                transpose=self._access.transposed,
            )
