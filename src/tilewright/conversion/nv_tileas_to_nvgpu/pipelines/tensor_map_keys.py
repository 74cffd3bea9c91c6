"""Keys of tensor maps: the arguments from which the maps in a slot were encoded.

A slot keeps its key. A block whose arguments are the same uses the maps as they are: so do most
blocks of a launch, and of the next one. All else in a map is the same for all users of the slots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    add,
    as_value,
    constant,
    index_constant,
)
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.casts import ExtUIOp, TruncIOp
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.arith.integer import AndIOp, ShRUIOp
from tilewright.dialects.memref.access import LoadOp, StoreOp
from tilewright.ir.types import I32, I64
from tilewright.target.arch import REGISTER_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.conversion.nv_tileas_to_nvgpu.context import TensorMapSlot
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.values import Value

USED: Final = 1
"""Added to the first address of a key, which is then not 0, as the words of an unused slot are."""
VECTOR_WORDS: Final = 4
"""Words of a vector load; the key of a slot starts at a multiple of them."""


class TensorMapKey:
    """The key of all maps of an operation, as words that are compared one by one."""

    __slots__ = ("_build", "_words")

    def __init__(self, build: ConversionBuilder, arguments: Sequence[Value]) -> None:
        """A key of i64 values, of which the first is an address."""
        self._build = build
        first, *others = arguments
        used = as_value(build, add(build, first, USED, I64), I64)
        distinct = dict.fromkeys([used, *[_short(argument) for argument in others]])
        self._words = [word for argument in distinct for word in _words(build, argument)]

    def __len__(self) -> int:
        return len(self._words)

    def matches(self, slot: TensorMapSlot, start: int) -> Value:
        """Whether the words of a slot, from a start on, are those of the key."""
        build, result = self._build, None
        for number, word in enumerate(self._words, start):
            indices = [slot.number, index_constant(build, number)]
            # LLVM does not see that slots are aligned, and would load word by word.
            alignment = None if number % VECTOR_WORDS else VECTOR_WORDS * REGISTER_BYTES
            load = build.create(LoadOp, memref=slot.slots, indices=indices, alignment=alignment)
            kept = load.result
            equal = build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=kept, rhs=word).result
            result = equal if result is None else build.create(AndIOp, lhs=result, rhs=equal).result
        assert result is not None
        return result

    def store(self, slot: TensorMapSlot, start: int) -> None:
        """Store the words in a slot."""
        for number, word in enumerate(self._words, start):
            indices = [slot.number, index_constant(self._build, number)]
            self._build.create(StoreOp, value=word, memref=slot.slots, indices=indices)


def _short(argument: Value) -> Value:
    """The i32 that an argument was extended from, which determines it; or the argument."""
    extension = argument.defined_by(ExtUIOp)
    return extension.source if extension and extension.source.type is I32 else argument


def _words(build: ConversionBuilder, argument: Value) -> list[Value]:
    if argument.type is I32:
        return [argument]
    shift = constant(build, I32.width, I64)
    high = build.create(ShRUIOp, lhs=argument, rhs=shift).result
    return [build.create(TruncIOp, source=part, types=[I32]).result for part in (argument, high)]
