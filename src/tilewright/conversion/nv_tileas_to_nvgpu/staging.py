"""Tiles on their way through shared memory: each thread's pieces lie side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.addresses import global_pointer, shared_pointer
from tilewright.conversion.nv_tileas_to_nvgpu.arithmetic import (
    add,
    constant,
    multiply,
    value_of,
    widened,
)
from tilewright.conversion.nv_tileas_to_nvgpu.buffers import stage_address
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import read_shared
from tilewright.conversion.nv_tileas_to_nvgpu.threads import thread, thread_count
from tilewright.conversion.nv_tileas_to_nvgpu.views import places
from tilewright.conversion.nv_tileas_to_nvgpu.words import from_words, taken_apart, word_type
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
    from tilewright.conversion.nv_tileas_to_nvgpu.access import Place
    from tilewright.ir.values import Value


@converts(StageLoadOp)
def stage_load(op: StageLoadOp, new: StageLoadOp, build: ConversionBuilder) -> Result:
    """Every thread starts its copies; of what is not there no byte is read, and all are zero."""
    bytes = op.vector * pointee_bytes(element_of(op.tile))
    where = places(op, build, op.view, op.indices, op.tile, op.vector, new.condition)
    at = _start(op, build, new.room, new.stage, bytes)
    for number, place in enumerate(where):
        build.create(
            CpAsyncOp,
            src=global_pointer(build, place.address, place.offset),
            dst=_piece(op, build, at, number, bytes),
            size=bytes,
            modifier=LoadCacheModifier.CG if bytes == MAX_ACCESS_BYTES else LoadCacheModifier.CA,
            cp_size=_read(build, place, bytes),
        )
    build.create(CpAsyncCommitGroupOp)
    return []


def _read(build: ConversionBuilder, place: Place, bytes: int) -> Value | None:
    """How many bytes are read."""
    if place.predicate is None:
        return None
    return build.create(
        SelectOp,
        condition=place.predicate,
        true_value=constant(build, bytes),
        false_value=constant(build, 0),
    ).result


@converts(TakeStagedOp)
def take_staged(op: TakeStagedOp, new: TakeStagedOp, build: ConversionBuilder) -> Result:
    """Every thread waits for its own copies, and reads its registers."""
    (type,) = build.types.convert(op.result.type) or (I64,)
    assert isinstance(type, VectorType)
    bytes = op.vector * pointee_bytes(element_of(op.result.type))
    build.create(CpAsyncWaitGroupOp, n=op.pending)
    at = _start(op, build, new.room, new.stage, bytes)
    words: list[Value] = []
    for number in range(layout_of(op.result).extent(REGISTER) // op.vector):
        piece = _piece(op, build, at, number, bytes)
        words += taken_apart(build, read_shared(build, piece, word_type(bytes), bytes), bytes)
    return from_words(build, words, type)


def _start(
    op: StageLoadOp | TakeStagedOp, build: ConversionBuilder, room: Value, stage: Value, bytes: int
) -> Value:
    """Where the thread's first piece of a stage lies."""
    base = stage_address(build, room, stage, buffer(op.room).stage_bytes)
    own = multiply(build, widened(build, thread(op, build), signed=False), bytes, I64)
    return value_of(build, add(build, base, own, I64), I64)


def _piece(
    op: StageLoadOp | TakeStagedOp, build: ConversionBuilder, at: Value, number: int, bytes: int
) -> Value:
    """Pieces of one number of all threads lie in a row."""
    return shared_pointer(build, at, number * bytes * thread_count(op))


PATTERNS: Final[Patterns] = (stage_load, take_staged)
