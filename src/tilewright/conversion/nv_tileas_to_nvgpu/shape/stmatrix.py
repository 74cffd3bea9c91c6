"""mma fragments to shared memory, by stmatrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.conversion.nv_tileas_to_nvgpu.register_packing import to_words
from tilewright.conversion.nv_tileas_to_nvgpu.shape.ldmatrix import matrix_pointers
from tilewright.dialects.nvvm.attributes import MMALayout
from tilewright.dialects.nvvm.matrix import StMatrixOp
from tilewright.target.arch import REGISTER_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.matrices import MatrixAccess


class StMatrixTile:
    """A thread's registers of a tile in an operation's scratch memory, stored with stmatrix."""

    __slots__ = ("_access", "_build", "_pointers")

    def __init__(
        self,
        op: Operation,
        build: ConversionBuilder,
        access: MatrixAccess,
        warps: Sequence[int],
        start: int = 0,
    ) -> None:
        self._access, self._build = access, build
        self._pointers = matrix_pointers(op, build, access, warps, start)

    def write(self, vector: Value) -> None:
        """Store all registers; all lanes of the warp take part."""
        build, count = self._build, 1 << len(self._access.matrices)
        layout = MMALayout.COL if self._access.transposed else MMALayout.ROW
        words = to_words(build, vector, REGISTER_BYTES)
        for number, pointer in enumerate(self._pointers):
            sources = words[number * count : (number + 1) * count]
            build.create(StMatrixOp, ptr=pointer, sources=sources, layout=layout)
