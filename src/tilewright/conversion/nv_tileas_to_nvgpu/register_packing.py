"""Packing a thread's elements into the words that memory accesses take, and unpacking them.

Elements that are contiguous in memory share an access: of 1, 2, 4 or 8 bytes, one integer; of 16
bytes, a pair of i64.
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
"""The integer type of a word, by the bytes of an access."""


def to_words(build: Builder, vector: Value, bytes: int) -> tuple[Value, ...]:
    """Pack the elements of a vector into words for accesses of `bytes` bytes."""
    type = vector.type
    assert isinstance(type, VectorType)
    if _is_sub_byte(type):
        vector = _bitcast(build, vector, _integers(type))
        type = VectorType(type.shape, I8)
        vector = build.create(ExtUIOp, source=vector, types=[type]).result
    word = _WORDS[bytes]
    count = type.shape[0] * pointee_bytes(type.element) * 8 // word.width
    vector = _bitcast(build, vector, VectorType((count,), word))
    return build.create(ToElementsOp, source=vector, types=[word] * count).elements


def from_words(build: Builder, words: Sequence[Value], type: VectorType) -> Value:
    """Unpack words into the elements of a vector."""
    word = words[0].type
    packed = VectorType((len(words),), word)
    vector = build.create(FromElementsOp, elements=words, types=[packed]).result
    if not _is_sub_byte(type):
        return _bitcast(build, vector, type)
    bytes = _bitcast(build, vector, VectorType(type.shape, I8))
    narrow = build.create(TruncIOp, source=bytes, types=[_integers(type)]).result
    return _bitcast(build, narrow, type)


def _is_sub_byte(type: VectorType) -> bool:
    """Whether elements are narrower than a byte; then each is padded to one."""
    return width_of(type) < I8.width


def _integers(type: VectorType) -> VectorType:
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
    """The type of the value of an access of `bytes` bytes."""
    return PAIR if bytes == MAX_ACCESS_BYTES else _WORDS[bytes]


def split_access(build: Builder, value: Value, bytes: int) -> Sequence[Value]:
    """The words of the value of one access."""
    if bytes == MAX_ACCESS_BYTES:
        return build.create(ToElementsOp, source=value, types=[I64, I64]).elements
    return (value,)


def join_access(build: Builder, words: Sequence[Value], number: int, bytes: int) -> Value:
    """The value of the `number`th access, from the words of all."""
    if bytes == MAX_ACCESS_BYTES:
        pair = words[2 * number : 2 * number + 2]
        return build.create(FromElementsOp, elements=pair, types=[PAIR]).result
    return words[number]
