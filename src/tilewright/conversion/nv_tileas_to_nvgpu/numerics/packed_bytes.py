"""Operations on int8, four in a word at a time: conversions to f16, and shifts.

A byte below the bits 0x64 is the f16 number 1024 plus the byte. So the bytes of a word become two
pairs of f16 by two byte permutations, and 1024 is subtracted from a pair at a time, exactly; of
signed bytes with their highest bit flipped, 1152. Conversion instructions would take one byte each,
and others to extract it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.numerics.rounding import call_intrinsic
from tilewright.conversion.nv_tileas_to_nvgpu.register_packing import from_words, to_words
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import splat_constant
from tilewright.dialects.arith.floating import SubFOp
from tilewright.dialects.arith.integer import AndIOp, ShRUIOp, XOrIOp
from tilewright.dialects.elements import with_element
from tilewright.dialects.vector.shapes import BitcastOp
from tilewright.ir.types import F16, I8, I32, VectorType

if TYPE_CHECKING:
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.values import Value

WORD: Final = 4
"""Bytes of a word."""
HIGH_BYTES: Final = 0x64646464
"""The upper byte of 1024 in f16, four times."""
HIGHEST_BITS: Final = 0x80808080
LOWEST_BITS: Final = 0x01010101
PRMT: Final = "llvm.nvvm.prmt"
PAIRS: Final = (0x4140, 0x4342)
"""Selectors of `prmt`: bytes 0 and 1 of a word, or 2 and 3, each below a byte of another word."""
BIAS: Final = {False: 0x6400, True: 0x6480}
"""What is subtracted, in f16, by whether the bytes are signed: 1024 or 1152."""


def are_whole_words(vector: Value) -> bool:
    """Whether a thread's elements are int8 that fill words."""
    type = vector.type
    return isinstance(type, VectorType) and type.element is I8 and type.shape[0] % WORD == 0


def bytes_to_f16(build: ConversionBuilder, bytes: Value, *, signed: bool) -> Value:
    """The numbers of a vector of whole words of int8, in f16."""
    high = splat_constant(build, HIGH_BYTES, I32)
    selectors = [splat_constant(build, each, I32) for each in PAIRS]
    pairs: list[Value] = []
    for word in to_words(build, bytes, WORD):
        if signed:
            flipped = splat_constant(build, HIGHEST_BITS, I32)
            word = build.create(XOrIOp, lhs=word, rhs=flipped).result
        pairs += [call_intrinsic(build, PRMT, I32, word, high, each) for each in selectors]
    type = with_element(bytes.type, F16)
    assert isinstance(type, VectorType)
    numbers, bias = from_words(build, pairs, type), splat_constant(build, BIAS[signed], type)
    return build.create(SubFOp, lhs=numbers, rhs=bias).result


def shift_bytes_right(build: ConversionBuilder, bytes: Value, count: int) -> Value:
    """Shift each element of a vector of whole words of int8 right, by less than its width.

    What a word shifts from one byte into the next is masked out.
    """
    assert isinstance(bytes.type, VectorType)
    type = VectorType((bytes.type.shape[0] // WORD,), I32)
    words = build.create(BitcastOp, source=bytes, types=[type]).result
    by = splat_constant(build, count, type)
    shifted = build.create(ShRUIOp, lhs=words, rhs=by).result
    mask = splat_constant(build, LOWEST_BITS * (0xFF >> count), type)
    kept = build.create(AndIOp, lhs=shifted, rhs=mask).result
    return build.create(BitcastOp, source=kept, types=[bytes.type]).result
