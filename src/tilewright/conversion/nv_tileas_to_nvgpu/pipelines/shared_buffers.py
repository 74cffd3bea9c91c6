"""Buffers in shared memory: alloc_tensor, read_buffer, accesses to a pipeline stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.addresses import shared_pointer
from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import apply_linear
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    OpFoldResult,
    add,
    as_value,
    multiply,
    to_i64,
    xor,
)
from tilewright.conversion.nv_tileas_to_nvgpu.predication import is_owner, predicated
from tilewright.conversion.nv_tileas_to_nvgpu.register_packing import (
    from_words,
    join_access,
    split_access,
    to_words,
    word_type,
)
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import load_shared, store_shared
from tilewright.conversion.nv_tileas_to_nvgpu.threads import thread_basis, thread_id
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import as_vector, elements
from tilewright.conversion.symbols import Symbols
from tilewright.dialects.elements import element_of
from tilewright.dialects.llvm.conversion import PtrToIntOp
from tilewright.dialects.llvm.types import ArrayType
from tilewright.dialects.nv_tileas.async_copy import AllocTensorOp, ReadBufferOp
from tilewright.dialects.nv_tileas.attributes import maybe_layout_of
from tilewright.dialects.nv_tileas.types import buffer, register_bytes
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import I8, I64, VectorType
from tilewright.layout import gf2
from tilewright.layout.linear import REGISTER
from tilewright.layout.vector_access import contiguous_registers
from tilewright.target.arch import MAX_ACCESS_BYTES

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

ALIGNMENT: Final = 128


def allocate_shared(op: Operation, build: ConversionBuilder, bytes: int) -> Value:
    """Allocate shared memory; gives its address as an i64."""
    pointer = Symbols(op, build).shared("buffer", ArrayType(bytes, I8), ALIGNMENT)
    return build.create(PtrToIntOp, arg=pointer, types=[I64]).res


@converts(AllocTensorOp)
def alloc_tensor(op: AllocTensorOp, new: AllocTensorOp, build: ConversionBuilder) -> Result:
    """Allocate all stages in shared memory."""
    type = buffer(op.result)
    return allocate_shared(op, build, type.stages * type.stage_bytes)


def stage_address(build: ConversionBuilder, base: Value, stage: Value, bytes: int) -> Value:
    """The address of a stage."""
    offset = multiply(build, to_i64(build, stage, signed=False), bytes, I64)
    return as_value(build, add(build, base, offset, I64), I64)


class StageAccess:
    """A thread's accesses to a value in a stage; `value` is one of the old program."""

    __slots__ = ("_build", "_bytes", "_op", "_pointers", "_value")

    def __init__(
        self, op: Operation, build: ConversionBuilder, value: Value, address: Value
    ) -> None:
        self._op, self._build, self._value = op, build, value
        bytes = register_bytes(element_of(value.type))
        layout = maybe_layout_of(value)
        if layout is None:
            self._bytes, self._pointers = bytes, [self._pointer(address, 0, 0, bytes, 0)]
            return
        thread_part = apply_linear(build, thread_id(op, build), thread_basis(layout))
        vector = contiguous_registers(layout, MAX_ACCESS_BYTES // bytes)
        offsets = [layout.packed(register=r) for r in range(0, layout.extent(REGISTER), vector)]
        self._bytes, thread_bits = bytes * vector, gf2.support(thread_basis(layout))
        self._pointers = [
            self._pointer(address, thread_part, offset, bytes, thread_bits) for offset in offsets
        ]

    def _pointer(
        self,
        address: Value,
        thread_part: OpFoldResult,
        register_part: int,
        bytes: int,
        thread_bits: int,
    ) -> Value:
        build = self._build
        if register_part & thread_bits:
            thread_part, register_part = xor(build, thread_part, register_part), 0
        offset = multiply(build, to_i64(build, thread_part, signed=False), bytes, I64)
        start = add(build, address, offset, I64)
        return shared_pointer(build, start, register_part * bytes)

    def write(self, registers: Value) -> None:
        """Store the thread's registers; the owner of each element does."""
        build = self._build
        words = to_words(build, as_vector(build, registers), self._bytes)
        with predicated(build, is_owner(self._op, build, self._value)):
            for number, pointer in enumerate(self._pointers):
                word = join_access(build, words, number, self._bytes)
                store_shared(build, pointer, word, self._bytes)

    def read(self) -> Value:
        """Load the thread's registers."""
        build, word = self._build, word_type(self._bytes)
        words: list[Value] = []
        for pointer in self._pointers:
            loaded = load_shared(build, pointer, word, self._bytes)
            words += split_access(build, loaded, self._bytes)
        (type,) = build.types.convert(self._value.type) or (word,)
        if isinstance(type, VectorType):
            return from_words(build, words, type)
        return elements(build, from_words(build, words, VectorType((1,), type)))[0]


@converts(ReadBufferOp)
def read_buffer(op: ReadBufferOp, new: ReadBufferOp, build: ConversionBuilder) -> Result:
    """Every thread loads its registers."""
    address = stage_address(build, new.source, new.stage, buffer(op.source).stage_bytes)
    return [StageAccess(op, build, op.result, address).read(), ()]


PATTERNS: Final[Patterns] = (
    alloc_tensor,
    read_buffer,
)
