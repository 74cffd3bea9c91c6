"""Addresses, which are i64 to a thread, as pointers into a memory space."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import OpFoldResult, add, as_value
from tilewright.dialects.llvm.conversion import IntToPtrOp
from tilewright.dialects.llvm.types import PTR_GLOBAL, PTR_SHARED
from tilewright.ir.types import I64

if TYPE_CHECKING:
    from tilewright.dialects.llvm.types import PointerType
    from tilewright.ir.builder import Builder
    from tilewright.ir.values import Value


def global_pointer(build: Builder, address: OpFoldResult, offset: int = 0) -> Value:
    """A pointer to the byte of global memory at an offset from an address."""
    return _pointer(build, address, offset, PTR_GLOBAL)


def shared_pointer(build: Builder, address: OpFoldResult, offset: int = 0) -> Value:
    """A pointer to the byte of shared memory at an offset from an address."""
    return _pointer(build, address, offset, PTR_SHARED)


def _pointer(build: Builder, address: OpFoldResult, offset: int, type: PointerType) -> Value:
    start = as_value(build, add(build, address, offset, I64), I64)
    return build.create(IntToPtrOp, arg=start, types=[type]).res
