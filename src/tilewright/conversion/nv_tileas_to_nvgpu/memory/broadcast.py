"""Broadcast of results that only the owners of elements have, through scratch memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import apply_linear
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import multiply, xor
from tilewright.conversion.nv_tileas_to_nvgpu.predication import is_owner, predicated
from tilewright.conversion.nv_tileas_to_nvgpu.register_packing import (
    from_words,
    to_words,
    word_type,
)
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import (
    load_shared,
    scratch_pointer,
    store_shared,
)
from tilewright.conversion.nv_tileas_to_nvgpu.threads import synchronize, thread_basis, thread_id
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import elements
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileas.attributes import maybe_layout_of
from tilewright.ir.types import VectorType
from tilewright.layout.linear import REGISTER
from tilewright.plans.scratch import is_broadcast, register_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import OpFoldResult
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


def broadcast_result(
    op: Operation, build: ConversionBuilder, vector: Value, result: Value
) -> Value:
    """Broadcast a result from the owners of its elements to all threads that need it.

    `result` is that of the old program; the vector of a scalar result has one element. If every
    thread has computed its elements, or no operation uses the result, nothing is emitted.
    """
    if is_broadcast(op):
        vector = _through_memory(op, build, vector, result)
    return elements(build, vector)[0] if maybe_layout_of(result) is None else vector


def _through_memory(op: Operation, build: ConversionBuilder, vector: Value, result: Value) -> Value:
    """Owners store their elements to scratch memory, from which every thread loads."""
    bytes = register_bytes(element_of(result.type))
    pointers = [
        scratch_pointer(op, build, multiply(build, index, bytes))
        for index in _element_indices(op, build, maybe_layout_of(result))
    ]
    with predicated(build, is_owner(op, build, result)):
        for pointer, word in zip(pointers, to_words(build, vector, bytes), strict=True):
            store_shared(build, pointer, word, bytes)
    synchronize(op, build)
    words = [load_shared(build, pointer, word_type(bytes), bytes) for pointer in pointers]
    assert isinstance(vector.type, VectorType)
    return from_words(build, words, vector.type)


def _element_indices(
    op: Operation, build: ConversionBuilder, layout: Layout | None
) -> Iterator[OpFoldResult]:
    """The index of the element in each register of a thread; a scalar has index 0."""
    if layout is None:
        yield 0
        return
    thread_part = apply_linear(build, thread_id(op, build), thread_basis(layout))
    for register in range(layout.extent(REGISTER)):
        yield xor(build, thread_part, layout.packed(register=register))
