"""The emission table of the NVVM dialect: every operation is an intrinsic or assembly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from tilewright.emit.llvm.nvvm_access import ACCESS_ROWS
from tilewright.emit.llvm.nvvm_arithmetic import ARITHMETIC_ROWS
from tilewright.emit.llvm.nvvm_copy import COPY_ROWS
from tilewright.emit.llvm.nvvm_matrix import MATRIX_ROWS
from tilewright.emit.llvm.nvvm_multimem import MULTIMEM_ROWS
from tilewright.emit.llvm.nvvm_sync import SYNC_ROWS
from tilewright.emit.llvm.nvvm_tma import TMA_ROWS
from tilewright.support.diagnostics import InternalError, Unsupported

if TYPE_CHECKING:
    from tilewright.dialects.nvvm.base import NvvmOp
    from tilewright.emit.llvm.function import Emit, FunctionWriter
    from tilewright.emit.llvm.rows import Row

ROWS: Final[Mapping[type[NvvmOp], Row]] = {
    **ACCESS_ROWS,
    **MULTIMEM_ROWS,
    **SYNC_ROWS,
    **COPY_ROWS,
    **TMA_ROWS,
    **MATRIX_ROWS,
    **ARITHMETIC_ROWS,
}


def find_row(op: NvvmOp) -> Emit:
    """Look up the emitter of an operation; raises `Unsupported` if the target lacks it."""
    row = ROWS.get(type(op))
    if row is None:
        raise InternalError(f"'{op.name}' has no row in the emission table", op.location)
    emit = row.emit

    def checked(w: FunctionWriter, op: NvvmOp) -> None:
        feature = row.feature(op)
        if feature not in w.arch.features:
            raise Unsupported(f"'{op.name}' on {w.arch.name}: needs {feature.value}", op.location)
        emit(w, op)

    return checked
