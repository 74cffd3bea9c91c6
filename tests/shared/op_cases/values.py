"""What every generator of cases shares: how much to try, and the elements to try it on."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from patterns import Number, edges, every, sample

from tilewright.dialects.cuda_tile.types import PtrType
from tilewright.ir.attributes import Type
from tilewright.ir.types import (
    BF16,
    F4E2M1FN,
    F8E4M3FN,
    F8E5M2,
    F8E8M0FNU,
    F16,
    F32,
    F64,
    FNV8E5M3FNU,
    I1,
    I4,
    I8,
    I16,
    I32,
    I64,
    TF32,
    FloatType,
    IntegerType,
)
from tilewright.reference.tile import Array, from_patterns

INTEGERS = (I1, I8, I16, I32, I64)
FLOATS = (F16, BF16, F32, F64)
ALL_FLOATS = (*FLOATS, TF32, F8E4M3FN, F8E5M2, F8E8M0FNU, F4E2M1FN, FNV8E5M3FNU)
NUMBERS: tuple[Number, ...] = (*INTEGERS, *ALL_FLOATS)
NUMBERS4: tuple[Number, ...] = (I4, *NUMBERS)
POINTERS = tuple(PtrType(pointee) for pointee in NUMBERS)
EVERYTHING: tuple[Type, ...] = (*NUMBERS4, *POINTERS)


class Effort:
    """How many values to try, and where they come from: the same ones in every run."""

    def __init__(self, multiple: int = 1, count: int = 256) -> None:
        self.count = count * multiple

    def rng(self, *about: object) -> np.random.Generator:
        """Random numbers of a case of their own."""
        return np.random.default_rng(zlib.crc32(repr(about).encode()))

    def patterns(self, element: Number, *about: object) -> Array:
        """Patterns of a type: all, if there are few."""
        rng = self.rng(element, *about)
        if element.width <= 8:
            return rng.permutation(np.resize(every(element), max(self.count, 256)))
        chosen = sample(element, self.count, rng)
        special = rng.permutation(edges(element))[: self.count // 2]
        chosen[: len(special)] = special
        return rng.permutation(chosen)

    def tuples(self, types: Sequence[Number], *about: object) -> list[Array]:
        """Operands of types; some of those after the first are close to it."""
        columns = [self.patterns(type, index, *about) for index, type in enumerate(types)]
        rng = self.rng("neighbours", *about)
        for column in columns[1:]:
            if column.dtype == columns[0].dtype and types[0].width > 8:
                close = rng.random(len(column)) < 0.2
                step = rng.integers(0, 3, int(close.sum())).astype(column.dtype)
                column[close] = columns[0][close] ^ step
        return columns


def some_tile(element: Type, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """A tile of any elements, pointers too."""
    count = int(np.prod(shape))
    if isinstance(element, PtrType):
        return (rng.integers(1, 1 << 40, count, dtype=np.uint64) * np.uint64(8)).reshape(shape)
    assert isinstance(element, IntegerType | FloatType)
    return from_patterns(sample(element, count, rng), element).reshape(shape)
