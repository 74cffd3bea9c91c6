"""Warp shuffles of vectors of any element type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import constant
from tilewright.conversion.nv_tileas_to_nvgpu.register_packing import from_words, to_words
from tilewright.dialects.arith.casts import ExtUIOp, TruncIOp
from tilewright.dialects.elements import pointee_bytes
from tilewright.dialects.gpu.threads import ShuffleOp
from tilewright.ir.types import I32, VectorType
from tilewright.target.arch import REGISTER_BYTES, WARP_SIZE

if TYPE_CHECKING:
    from tilewright.dialects.gpu.attributes import ShuffleMode
    from tilewright.ir.builder import Builder
    from tilewright.ir.values import Value


def shuffle_registers(build: Builder, vector: Value, mode: ShuffleMode, offset: Value) -> Value:
    """The vector of another lane; unspecified if the source lane is out of range."""
    type = vector.type
    assert isinstance(type, VectorType)
    bytes = min(REGISTER_BYTES, type.shape[0] * pointee_bytes(type.element))
    width = constant(build, WARP_SIZE)
    words: list[Value] = []
    for word in to_words(build, vector, bytes):
        sent = word
        if bytes < REGISTER_BYTES:
            sent = build.create(ExtUIOp, source=word, types=[I32]).result
        shuffle = build.create(ShuffleOp, value=sent, offset=offset, width=width, mode=mode)
        received = shuffle.shuffle_result
        if bytes < REGISTER_BYTES:
            received = build.create(TruncIOp, source=received, types=[word.type]).result
        words.append(received)
    return from_words(build, words, type)
