"""Registers of a thread as the words that memory moves, and back.

Elements side by side in memory go together: 1, 2, 4 or 8 bytes are one integer, 16 are two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.casts import BitcastOp as ArithBitcastOp
from tilewright.dialects.arith.casts import ExtUIOp, TruncIOp
from tilewright.dialects.elements import pointee_bytes, width_of
from tilewright.dialects.vector.elements import FromElementsOp, ToElementsOp
from tilewright.dialects.vector.shapes import BitcastOp
from tilewright.ir.types import I8, I16, I32, I64, IntegerType, VectorType
from tilewright.target.arch import MAX_ACCESS_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.values import Value

_WORDS: Final = {1: I8, 2: I16, 4: I32, 8: I64, 16: I64}
"""The integer that an access of so many bytes moves one or two of."""


def to_words(build: Builder, vector: Value, bytes: int) -> tuple[Value, ...]:
    """All registers of a vector as integers for accesses of so many bytes, in order."""
    type = vector.type
    assert isinstance(type, VectorType)
    if _is_small(type):
        vector = _bitcast(build, vector, _patterns(type))
        type = VectorType(type.shape, I8)
        vector = build.create(ExtUIOp, source=vector, types=[type]).result
    word = _WORDS[bytes]
    count = type.shape[0] * pointee_bytes(type.element) * 8 // word.width
    vector = _bitcast(build, vector, VectorType((count,), word))
    return build.create(ToElementsOp, source=vector, types=[word] * count).elements


def from_words(build: Builder, words: Sequence[Value], type: VectorType) -> Value:
    """The vector of registers that integers from memory hold."""
    word = words[0].type
    whole = VectorType((len(words),), word)
    vector = build.create(FromElementsOp, elements=words, types=[whole]).result
    if not _is_small(type):
        return _bitcast(build, vector, type)
    bytes = _bitcast(build, vector, VectorType(type.shape, I8))
    small = build.create(TruncIOp, source=bytes, types=[_patterns(type)]).result
    return _bitcast(build, small, type)


def _is_small(type: VectorType) -> bool:
    """Whether an element has less than a byte; each has a byte of its own."""
    return width_of(type) < I8.width


def _patterns(type: VectorType) -> VectorType:
    return VectorType(type.shape, IntegerType(width_of(type)))


def _bitcast(build: Builder, vector: Value, type: VectorType) -> Value:
    if vector.type is type:
        return vector
    assert isinstance(vector.type, VectorType)
    if vector.type.shape == type.shape:
        return build.create(ArithBitcastOp, source=vector, types=[type]).result
    return build.create(BitcastOp, source=vector, types=[type]).result


PAIR: Final = VectorType((2,), I64)


def word_type(bytes: int) -> Type:
    """What an access of so many bytes moves."""
    return PAIR if bytes == MAX_ACCESS_BYTES else _WORDS[bytes]


def split_access(build: Builder, moved: Value, bytes: int) -> Sequence[Value]:
    """What one access brought, as words."""
    if bytes == MAX_ACCESS_BYTES:
        return build.create(ToElementsOp, source=moved, types=[I64, I64]).elements
    return (moved,)


def join_access(build: Builder, words: Sequence[Value], number: int, bytes: int) -> Value:
    """What the access of that number takes along."""
    if bytes == MAX_ACCESS_BYTES:
        pair = words[2 * number : 2 * number + 2]
        return build.create(FromElementsOp, elements=pair, types=[PAIR]).result
    return words[number]
