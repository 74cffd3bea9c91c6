"""What one thread found out, for all that must know the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.scratch import is_told, register_bytes
from tilewright.conversion.nv_tileas_to_nvgpu.arithmetic import exclusive_or, multiply
from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import linear
from tilewright.conversion.nv_tileas_to_nvgpu.memory import elements, holder
from tilewright.conversion.nv_tileas_to_nvgpu.moves import where
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import (
    read_shared,
    shared_pointer,
    write_shared,
)
from tilewright.conversion.nv_tileas_to_nvgpu.threads import thread, thread_vectors
from tilewright.conversion.nv_tileas_to_nvgpu.words import from_words, to_words, word_type
from tilewright.dialects.elements import element_of
from tilewright.dialects.gpu.threads import BarrierOp
from tilewright.dialects.nv_tileas.attributes import maybe_layout_of
from tilewright.ir.types import VectorType

if TYPE_CHECKING:
    from tilewright.conversion.nv_tileas_to_nvgpu.arithmetic import Number
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


def told(op: Operation, build: ConversionBuilder, found: Value, result: Value) -> Value:
    """A result that only holders have, for all threads; a vector of one for a scalar result.

    `result` is that of the old program. Where nobody asks, or all threads act, nothing happens.
    """
    layout = maybe_layout_of(result)
    if is_told(op):
        bytes = register_bytes(element_of(result.type))
        numbers = [0]
        own: Number = 0
        if layout is not None:
            own = linear(build, thread(op, build), thread_vectors(layout))
            count = 1 << len(layout.vectors("register"))
            numbers = [layout.packed(register=register) for register in range(count)]
        pointers = [
            shared_pointer(op, build, multiply(build, exclusive_or(build, own, n), bytes))
            for n in numbers
        ]
        with where(build, holder(op, build, result)):
            for pointer, word in zip(pointers, to_words(build, found, bytes), strict=True):
                write_shared(build, pointer, word, bytes)
        build.create(BarrierOp)
        words = [read_shared(build, pointer, word_type(bytes), bytes) for pointer in pointers]
        assert isinstance(found.type, VectorType)
        found = from_words(build, words, found.type)
    return elements(build, found)[0] if layout is None else found
