"""Scratch memory: the shared memory of a CTA that operations exchange data through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.conversion.nv_tileas_to_nvgpu.addresses import shared_pointer
from tilewright.conversion.nv_tileas_to_nvgpu.context import ScratchMemory
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    OpFoldResult,
    add,
    as_value,
    to_i64,
)
from tilewright.conversion.nv_tileas_to_nvgpu.threads import function_context
from tilewright.dialects.arith.casts import IndexCastOp
from tilewright.dialects.gpu.attributes import SHARED_SPACE
from tilewright.dialects.llvm.attribute_names import ALIGN
from tilewright.dialects.llvm.directives import DYNAMIC_INDEX
from tilewright.dialects.llvm.memory import GEPOp, LoadOp, StoreOp
from tilewright.dialects.memref.access import ExtractAlignedPointerAsIndexOp
from tilewright.dialects.nv_tileas.attribute_names import (
    SCRATCH_ALIGNMENT,
    SCRATCH_BYTES,
    SCRATCH_OFFSET,
)
from tilewright.ir.attributes import DictionaryAttr, IntegerAttr
from tilewright.ir.types import I8, I64, MemRefType
from tilewright.support.diagnostics import fail
from tilewright.target.arch import REGISTER_BYTES

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.attributes import Type
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


def scratch_type(function: FuncOp) -> MemRefType | None:
    """The type of a function's scratch buffer; None if it needs none."""
    size = function.attributes.get(SCRATCH_BYTES)
    if not isinstance(size, IntegerAttr) or not size.value:
        return None
    return MemRefType((size.value,), I8, None, SHARED_SPACE)


def scratch_attributes(function: FuncOp) -> DictionaryAttr:
    """The alignment of a function's scratch buffer."""
    aligned = function.attributes.get(SCRATCH_ALIGNMENT)
    return DictionaryAttr(() if aligned is None else {ALIGN: aligned})


def define_scratch(op: FuncOp, buffer: Value, build: ConversionBuilder) -> None:
    """Take the address of the scratch buffer, at the entry of the function."""
    index = build.create(ExtractAlignedPointerAsIndexOp, source=buffer).result
    address = build.create(IndexCastOp, source=index, types=[I64]).result
    pointer = shared_pointer(build, address)
    function_context(op, build).scratch = ScratchMemory(buffer, pointer, address)


def _scratch(op: Operation, build: ConversionBuilder) -> tuple[ScratchMemory, int]:
    """The scratch memory of a function, and the offset of the part that an operation owns.

    The offset is 0 for an operation that owns none, which accesses tiles of other operations.
    """
    scratch = function_context(op, build).scratch
    if scratch is None:
        fail("expected shared memory that 'allocate' has assigned", op.location)
    return scratch, scratch_offset(op)


def scratch_offset(op: Operation) -> int:
    """The byte offset of the scratch memory that an operation owns; 0 if it owns none."""
    offset = op.attributes.get(SCRATCH_OFFSET)
    return offset.value if isinstance(offset, IntegerAttr) else 0


def scratch_pointer(
    op: Operation, build: ConversionBuilder, offset: OpFoldResult, displacement: int = 0
) -> Value:
    """A pointer into the part of the scratch memory that an operation owns.

    `displacement` is the constant part of the offset, which becomes an immediate operand of the
    access.
    """
    scratch, start = _scratch(op, build)
    immediate = start + displacement
    if isinstance(offset, int):
        return _offset_pointer(build, scratch.pointer, offset + immediate)
    pointer = build.create(
        GEPOp,
        base=scratch.pointer,
        indices=[as_value(build, to_i64(build, offset, signed=False), I64)],
        constants=[DYNAMIC_INDEX],
        element=I8,
    ).res
    return _offset_pointer(build, pointer, immediate)


def scratch_buffer(op: Operation, build: ConversionBuilder) -> tuple[Value, int]:
    """The scratch buffer as a memref, and the offset of the part that an operation owns."""
    scratch, start = _scratch(op, build)
    return scratch.buffer, start


def scratch_address(op: Operation, build: ConversionBuilder, offset: Value) -> Value:
    """The address, as an i64, at a byte offset in the scratch memory of the function."""
    scratch, _ = _scratch(op, build)
    offset_i64 = to_i64(build, offset, signed=False)
    return as_value(build, add(build, scratch.address, offset_i64, I64), I64)


def _offset_pointer(build: ConversionBuilder, pointer: Value, bytes: int) -> Value:
    if not bytes:
        return pointer
    return build.create(GEPOp, base=pointer, constants=[bytes], element=I8).res


def load_shared(build: ConversionBuilder, pointer: Value, type: Type, alignment: int) -> Value:
    """Load from shared memory."""
    # LLVM widens narrow loads to whole words, whose other bytes may be uninitialized.
    narrow = alignment < REGISTER_BYTES
    return build.create(
        LoadOp, addr=pointer, alignment=alignment, volatile=narrow, types=[type]
    ).res


def store_shared(build: ConversionBuilder, pointer: Value, value: Value, alignment: int) -> None:
    """Store to shared memory."""
    build.create(StoreOp, value=value, addr=pointer, alignment=alignment)
