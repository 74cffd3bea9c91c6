"""Cases of conversions, against NumPy's tables, Python's integers and exact rounding."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from patterns import Number

from op_cases.floating import exact
from op_cases.kernel import Case, Kernel, deferred, elementwise, tile
from op_cases.numbers import elements, from_integers, integers, rounded, worth
from op_cases.values import ALL_FLOATS, INTEGERS, NUMBERS, POINTERS, Effort
from tilewright.dialects.cuda_tile.enums import Overflow, Rounding, Signedness
from tilewright.ir.types import (
    F8E8M0FNU,
    FNV8E5M3FNU,
    I1,
    I4,
    I64,
    FloatType,
    IntegerType,
)
from tilewright.reference.tile import Array, from_patterns

WITH_I4 = (INTEGERS[0], I4, *INTEGERS[1:])

# What tileirdisasm 13.4.92 takes on `ftof`: N nearest_even, Z zero, - negative_inf, + positive_inf,
# W nearest_away; rows are sources, columns targets in the order of ALL_FLOATS.
MODES = """
    .     NZ    NZ-+W NZ-+W NZ-+W N N Z+ N N
    NZ    .     NZ-+W NZ-+W NZ-+W N N Z+ N N
    NZ    NZ    .     NZ-+W NZW   N N Z+ N N
    NZ    NZ    NZ-+  .     NZ    N N Z+ N N
    NZ    NZ    NZ-+W NZ-+W .     N N Z+ N N
    NZ-+W NZ-+W NZ-+W NZ-+W NZ-+W . N Z+ N N
    NZ-+W NZ-+W NZ-+W NZ-+W NZ-+W N . Z+ N N
    NZ    NZ    NZ    NZ-+W NZ    N N .  N N
    NZ-+W NZ-+W NZ-+W NZ-+W NZ-+W N N Z+ . N
    NZ    NZ-+W NZ-+W NZ-+W NZ-+W N N Z+ N .
"""
LETTERS = {
    "N": Rounding.NEAREST_EVEN,
    "Z": Rounding.ZERO,
    "-": Rounding.NEGATIVE_INF,
    "+": Rounding.POSITIVE_INF,
    "W": Rounding.NEAREST_AWAY,
}


def float_modes() -> Iterator[tuple[FloatType, FloatType, Rounding]]:
    """Every conversion between float types."""
    rows = [line.split() for line in MODES.strip().splitlines()]
    for source, row in zip(ALL_FLOATS, rows, strict=True):
        for target, cell in zip(ALL_FLOATS, row, strict=True):
            if cell != ".":
                yield from ((source, target, LETTERS[letter]) for letter in cell)


def _converted(x: float, target: FloatType, mode: Rounding) -> int:
    """Types of up to eight bits take the largest number for what is too large, also infinity.

    Those without a sign take the magnitude.
    """
    if target in (F8E8M0FNU, FNV8E5M3FNU):
        x = abs(x)
    negative = math.copysign(1, x) < 0
    saturate = target.width <= 8
    return rounded(exact(x), target, mode, negative_zero=negative, saturate=saturate)


def float_to_float(effort: Effort) -> Iterator[Case]:
    """`ftof`."""
    for source, target, mode in float_modes():
        yield _float_to_float(effort, source, target, mode)


@deferred
def _float_to_float(effort: Effort, source: FloatType, target: FloatType, mode: Rounding) -> Case:
    patterns = effort.patterns(source, "ftof", target, mode)
    if target is FNV8E5M3FNU:  # what becomes of negative numbers is not published
        patterns = _positive(patterns, source)
    expected = [_converted(x, target, mode) for x in worth(patterns, source).tolist()]
    end = f"rounding<{mode.keyword}>"
    return _cast("ftof", patterns, source, elements(expected, target), target, end)


def _positive(patterns: Array, source: FloatType) -> Array:
    if source in (F8E8M0FNU, FNV8E5M3FNU):
        return patterns
    return patterns & patterns.dtype.type((1 << (source.width - 1)) - 1)


def _cast(
    name: str, patterns: Array, source: Number, expected: Array, target: Number, end: str = ""
) -> Case:
    types = f"{tile(patterns.shape, source)} -> {tile(patterns.shape, target)}"
    return elementwise(
        name, lambda a: f"{name} {a} {end} : {types}", [(patterns, source)], expected, target
    )


def _whole(x: float, target: IntegerType, *, signed: bool) -> int:
    """The integer part, at most what fits."""
    low, high = 0, (1 << target.width) - 1
    if signed:
        low, high = -(1 << (target.width - 1)), (1 << (target.width - 1)) - 1
    if math.isnan(x):
        return 0
    if math.isinf(x):
        return high if x > 0 else low
    return min(max(math.trunc(x), low), high)


def float_to_int(effort: Effort) -> Iterator[Case]:
    """`ftoi`. Without `saturating` only what fits is defined: the rest is left out.

    One bit says whether there is anything but zero.
    """
    for source in ALL_FLOATS:
        for target in INTEGERS:
            for sign in Signedness:
                for saturating in (False, True):
                    yield _float_to_int(effort, source, target, sign, saturating)


@deferred
def _float_to_int(
    effort: Effort, source: FloatType, target: IntegerType, sign: Signedness, saturating: bool
) -> Case:
    patterns = effort.patterns(source, "ftoi", target, sign, saturating)
    signed = sign is Signedness.SIGNED
    numbers = worth(patterns, source).tolist()
    expected = [_whole(x, target, signed=signed) for x in numbers]
    if target is I1 and not saturating:
        expected = [int(x != 0) for x in numbers]
    elif not saturating:
        fits = [
            math.isfinite(x) and math.trunc(x) == n for x, n in zip(numbers, expected, strict=True)
        ]
        one = int(np.flatnonzero(fits)[0])
        patterns = np.where(fits, patterns, patterns[one])
        expected = [n if fit else expected[one] for n, fit in zip(expected, fits, strict=True)]
    end = f"{sign.keyword}{' saturating' if saturating else ''}"
    return _cast("ftoi", patterns, source, from_integers(expected, target), target, end)


def int_to_float(effort: Effort) -> Iterator[Case]:
    """`itof`."""
    for source in INTEGERS:
        for target in ALL_FLOATS:
            for sign in Signedness:
                if target is not F8E8M0FNU:
                    yield _int_to_float(effort, source, target, sign)


@deferred
def _int_to_float(effort: Effort, source: IntegerType, target: FloatType, sign: Signedness) -> Case:
    patterns = effort.patterns(source, "itof", target, sign)
    if target is FNV8E5M3FNU and sign is Signedness.SIGNED:
        patterns = patterns & patterns.dtype.type((1 << (source.width - 1)) - 1)
    numbers = integers(patterns, source, signed=sign is Signedness.SIGNED)
    saturate = target.width <= 8
    expected = [rounded(Fraction(n), target, saturate=saturate) for n in numbers]
    return _cast("itof", patterns, source, elements(expected, target), target, sign.keyword)


def widths(effort: Effort) -> Iterator[Case]:
    """`exti` and `trunci`."""
    for source in WITH_I4:
        for target in WITH_I4:
            patterns = effort.patterns(source, "width", target)
            if source.width < target.width:
                for sign in Signedness:
                    numbers = integers(patterns, source, signed=sign is Signedness.SIGNED)
                    expected = from_integers(numbers, target)
                    yield _cast("exti", patterns, source, expected, target, sign.keyword)
            elif source.width > target.width:
                for overflow in Overflow:
                    end = "" if overflow is Overflow.NONE else f"overflow<{overflow.keyword}>"
                    expected = from_integers(patterns.tolist(), target)
                    yield _cast("trunci", patterns, source, expected, target, end)


def bitcasts(effort: Effort) -> Iterator[Case]:
    """`bitcast`: the patterns stay."""
    for source in NUMBERS:
        for target in NUMBERS:
            if source.width == target.width:
                patterns = effort.patterns(source, "bitcast", target)
                expected = from_patterns(patterns.copy(), target)
                yield _cast("bitcast", patterns, source, expected, target)


def pointers(effort: Effort) -> Iterator[Case]:
    """Conversions of pointers: addresses stay the same."""
    rng = effort.rng("pointers")
    addresses = rng.integers(0, 1 << 46, 64, dtype=np.int64) * 8
    shape = addresses.shape
    for source in POINTERS:
        for name in ("int_to_ptr", "ptr_to_int"):
            kernel = Kernel(name)
            integer = kernel.load(addresses, I64)
            pointer = kernel.emit(
                f"int_to_ptr {integer} : {tile(shape, I64)} -> {tile(shape, source)}"
            )
            back = kernel.emit(
                f"ptr_to_int {pointer} : {tile(shape, source)} -> {tile(shape, I64)}"
            )
            kernel.store(back, addresses, I64)
            yield kernel.case()
        for target in POINTERS:
            kernel = Kernel("ptr_to_ptr")
            pointer = kernel.load(addresses.view(np.uint64), source)
            types = f"{tile(shape, source)} -> {tile(shape, target)}"
            other = kernel.emit(f"ptr_to_ptr {pointer} : {types}")
            kernel.store(other, addresses.view(np.uint64), target)
            yield kernel.case()


def cases(effort: Effort) -> Iterator[Case]:
    """All cases of this file."""
    for group in (float_to_float, float_to_int, int_to_float, widths, bitcasts, pointers):
        yield from group(effort)
