"""What one thread found out, for all that must know the same."""

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
from tilewright.conversion.nv_tileas_to_nvgpu.threads import thread_basis, thread_id
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import elements
from tilewright.dialects.elements import element_of
from tilewright.dialects.gpu.threads import BarrierOp
from tilewright.dialects.nv_tileas.attributes import maybe_layout_of
from tilewright.ir.types import VectorType
from tilewright.layout.linear import REGISTER
from tilewright.plans.scratch import is_told, register_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import OpFoldResult
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


def broadcast_result(op: Operation, build: ConversionBuilder, found: Value, result: Value) -> Value:
    """A result that only holders have, for all threads; a vector of one for a scalar result.

    `result` is that of the old program. Where nobody asks, or all threads act, nothing happens.
    """
    if is_told(op):
        found = _through_memory(op, build, found, result)
    return elements(build, found)[0] if maybe_layout_of(result) is None else found


def _through_memory(op: Operation, build: ConversionBuilder, found: Value, result: Value) -> Value:
    """Holders write what they found where every thread reads its share."""
    bytes = register_bytes(element_of(result.type))
    pointers = [
        scratch_pointer(op, build, multiply(build, number, bytes))
        for number in _numbers(op, build, maybe_layout_of(result))
    ]
    with predicated(build, is_owner(op, build, result)):
        for pointer, word in zip(pointers, to_words(build, found, bytes), strict=True):
            store_shared(build, pointer, word, bytes)
    build.create(BarrierOp)
    words = [load_shared(build, pointer, word_type(bytes), bytes) for pointer in pointers]
    assert isinstance(found.type, VectorType)
    return from_words(build, words, found.type)


def _numbers(
    op: Operation, build: ConversionBuilder, layout: Layout | None
) -> Iterator[OpFoldResult]:
    """Of the elements that a thread has, register by register; a scalar is the first."""
    if layout is None:
        yield 0
        return
    own = apply_linear(build, thread_id(op, build), thread_basis(layout))
    for register in range(layout.extent(REGISTER)):
        yield xor(build, own, layout.packed(register=register))
