"""Prefetched loads: `cp.async` to shared memory, where each thread reads back its own chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.addresses import global_pointer, shared_pointer
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    add,
    as_value,
    constant,
    multiply,
    to_i64,
)
from tilewright.conversion.nv_tileas_to_nvgpu.memory.tile_addresses import tile_accesses
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.shared_buffers import stage_address
from tilewright.conversion.nv_tileas_to_nvgpu.register_packing import (
    from_words,
    split_access,
    word_type,
)
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import load_shared
from tilewright.conversion.nv_tileas_to_nvgpu.threads import thread_count, thread_id
from tilewright.dialects.arith.comparison import SelectOp
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileas.attributes import layout_of
from tilewright.dialects.nv_tileas.staging import StageLoadOp, TakeStagedOp
from tilewright.dialects.nv_tileas.types import buffer
from tilewright.dialects.nvvm.attributes import LoadCacheModifier
from tilewright.dialects.nvvm.copy import CpAsyncCommitGroupOp, CpAsyncOp, CpAsyncWaitGroupOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import I64, VectorType
from tilewright.layout.linear import REGISTER
from tilewright.target.arch import MAX_ACCESS_BYTES

if TYPE_CHECKING:
    from tilewright.conversion.nv_tileas_to_nvgpu.memory.global_access import VectorAccess
    from tilewright.ir.values import Value


@converts(StageLoadOp)
def stage_load(op: StageLoadOp, new: StageLoadOp, build: ConversionBuilder) -> Result:
    """Every thread issues its copies; elements out of bounds are zero-filled, not read."""
    bytes = op.vector * pointee_bytes(element_of(op.tile))
    accesses = tile_accesses(op, build, op.view, op.indices, op.tile, op.vector, new.condition)
    address = _first_chunk(op, build, new.buffer, new.stage, bytes)
    for number, access in enumerate(accesses):
        build.create(
            CpAsyncOp,
            src=global_pointer(build, access.address, access.offset),
            dst=_chunk(op, build, address, number, bytes),
            size=bytes,
            modifier=LoadCacheModifier.CG if bytes == MAX_ACCESS_BYTES else LoadCacheModifier.CA,
            cp_size=_bytes_read(build, access, bytes),
        )
    build.create(CpAsyncCommitGroupOp)
    return []


def _bytes_read(build: ConversionBuilder, access: VectorAccess, bytes: int) -> Value | None:
    """The bytes to read: none where the predicate is false."""
    if access.predicate is None:
        return None
    return build.create(
        SelectOp,
        condition=access.predicate,
        true_value=constant(build, bytes),
        false_value=constant(build, 0),
    ).result


@converts(TakeStagedOp)
def take_staged(op: TakeStagedOp, new: TakeStagedOp, build: ConversionBuilder) -> Result:
    """Every thread waits for its own copies, and loads its registers."""
    (type,) = build.types.convert(op.result.type) or (I64,)
    assert isinstance(type, VectorType)
    bytes = op.vector * pointee_bytes(element_of(op.result.type))
    build.create(CpAsyncWaitGroupOp, n=op.pending)
    address = _first_chunk(op, build, new.buffer, new.stage, bytes)
    words: list[Value] = []
    for number in range(layout_of(op.result).extent(REGISTER) // op.vector):
        chunk = _chunk(op, build, address, number, bytes)
        words += split_access(build, load_shared(build, chunk, word_type(bytes), bytes), bytes)
    return from_words(build, words, type)


def _first_chunk(
    op: StageLoadOp | TakeStagedOp,
    build: ConversionBuilder,
    buffer_address: Value,
    stage: Value,
    bytes: int,
) -> Value:
    """The address of the thread's first chunk in a stage."""
    base = stage_address(build, buffer_address, stage, buffer(op.buffer).stage_bytes)
    offset = multiply(build, to_i64(build, thread_id(op, build), signed=False), bytes, I64)
    return as_value(build, add(build, base, offset, I64), I64)


def _chunk(
    op: StageLoadOp | TakeStagedOp,
    build: ConversionBuilder,
    address: Value,
    number: int,
    bytes: int,
) -> Value:
    """The address of a chunk: those of all threads with one index are contiguous."""
    return shared_pointer(build, address, number * bytes * thread_count(op))


PATTERNS: Final[Patterns] = (
    stage_load,
    take_staged,
)
