"""Compare elements of arrays with `support.numerics`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from patterns import Number

from tilewright.ir.types import FloatType
from tilewright.reference.tile import Array, format_of, from_patterns, to_patterns
from tilewright.support.floats import is_nan

Scalar = Callable[..., int | bool | None]
FEW = 4096
"""This many elements, the first ones, are checked in any case."""
BLOCK, CHECKED = 64, 8
"""The size of a block of the others, and how many of it `make test` checks: around its start."""


class Amount:
    """Whether all elements are checked, or some of them where there are many."""

    all_elements = True

    @classmethod
    def thinned(cls, patterns: Array) -> Array:
        """The patterns to check."""
        if cls.all_elements or len(patterns) <= FEW:
            return patterns
        at = np.arange(len(patterns))
        return patterns[(at < FEW) | ((at + CHECKED // 2) % BLOCK < CHECKED)]


def check_elements(
    computed: Callable[..., Array],
    specified: Scalar,
    operands: Sequence[tuple[Array, Number]],
    result: Number,
) -> None:
    """Check every element of an array function against the scalar function of its patterns.

    `None` of the scalar function matches any result; all NaNs are equal.
    """
    operands = [(Amount.thinned(patterns), type) for patterns, type in operands]
    elements = [from_patterns(patterns, type) for patterns, type in operands]
    with np.errstate(all="ignore"):
        actual = to_patterns(np.ascontiguousarray(computed(*elements)), result).tolist()
    columns = [patterns.tolist() for patterns, _ in operands]
    expected = list(map(specified, *columns))
    if actual == expected:
        return
    for got, wanted, *row in zip(actual, expected, *columns, strict=True):
        if got != wanted and wanted is not None:
            words = [hex(pattern) for pattern in row]
            assert _both_nan(got, int(wanted), result), (words, hex(got), hex(wanted))


def _both_nan(a: int, b: int, type: Number) -> bool:
    if not isinstance(type, FloatType):
        return False
    return is_nan(a, format_of(type)) and is_nan(b, format_of(type))
