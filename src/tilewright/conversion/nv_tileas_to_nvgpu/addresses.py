"""Addresses, which are i64 to a thread, as pointers into a memory space."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import OpFoldResult, add, as_value
from tilewright.dialects.cute_nvgpu.copies import BufferAtOp
from tilewright.dialects.gpu.attributes import SHARED_SPACE, AddressSpace
from tilewright.dialects.llvm.conversion import IntToPtrOp
from tilewright.dialects.llvm.types import PTR_GLOBAL, PTR_SHARED
from tilewright.ir.types import I64, MemRefType

if TYPE_CHECKING:
    from tilewright.dialects.llvm.types import PointerType
    from tilewright.ir.attributes import Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.values import Value


def global_pointer(build: Builder, address: OpFoldResult, offset: int = 0) -> Value:
    """A pointer to the byte of global memory at an offset from an address."""
    return _pointer(build, address, offset, PTR_GLOBAL)


def shared_pointer(build: Builder, address: OpFoldResult, offset: int = 0) -> Value:
    """A pointer to the byte of shared memory at an offset from an address."""
    return _pointer(build, address, offset, PTR_SHARED)


def global_buffer(build: Builder, pointer: Value, count: int, element: Type) -> Value:
    """The elements at a pointer to global memory, as a memref."""
    return _buffer(build, pointer, MemRefType((count,), element, None, AddressSpace.GLOBAL))


def shared_buffer(build: Builder, pointer: Value, count: int, element: Type) -> Value:
    """The elements at a pointer to shared memory, as a memref."""
    return _buffer(build, pointer, MemRefType((count,), element, None, SHARED_SPACE))


def _buffer(build: Builder, pointer: Value, type: MemRefType) -> Value:
    return build.create(BufferAtOp, address=pointer, types=[type]).buffer


def _pointer(build: Builder, address: OpFoldResult, offset: int, type: PointerType) -> Value:
    start = as_value(build, add(build, address, offset, I64), I64)
    return build.create(IntToPtrOp, arg=start, types=[type]).res
