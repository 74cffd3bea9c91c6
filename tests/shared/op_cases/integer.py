"""Cases of integer arithmetic and logic, against Python's integers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from op_cases.floating import RELATIONS
from op_cases.kernel import Case, elementwise, tile
from op_cases.numbers import from_integers, integers
from op_cases.values import INTEGERS, Effort
from tilewright.dialects.cuda_tile.enums import Overflow, Rounding, Signedness
from tilewright.ir.types import I1, IntegerType
from tilewright.reference.tile import Array

Row = Sequence[int]
Formula = Callable[..., int]
OVERFLOWS = (Overflow.NONE, Overflow.NO_SIGNED_WRAP, Overflow.NO_UNSIGNED_WRAP, Overflow.NO_WRAP)


def _columns(effort: Effort, element: IntegerType, arity: int, *about: object) -> list[Array]:
    """Operands; every third of the second is small, as shifts and divisors are."""
    columns = effort.tuples([element] * arity, *about)
    if arity == 2 and element is not I1:
        small = columns[1].dtype.type(element.width - 1)
        columns[1][::3] &= small
    return columns


def _case(
    name: str,
    columns: Sequence[Array],
    element: IntegerType,
    numbers: Sequence[int],
    modifiers: str = "",
) -> Case:
    type = tile(columns[0].shape, element)
    return elementwise(
        name,
        lambda *names: f"{name} {', '.join(names)} {modifiers} : {type}",
        [(column, element) for column in columns],
        from_integers(numbers, element),
        element,
    )


def _shift(a: int, amount: int, width: int) -> int:
    return a << amount if amount < width else 0


def overflowing(effort: Effort) -> Iterator[Case]:
    """Wrapping arithmetic, with and without overflow flags, which a run without checks ignores."""
    table: dict[str, Formula] = {
        "addi": lambda a, b, width: a + b,
        "subi": lambda a, b, width: a - b,
        "muli": lambda a, b, width: a * b,
        "shli": _shift,
    }
    for name, formula in table.items():
        for element in INTEGERS:
            for overflow in OVERFLOWS:
                columns = _columns(effort, element, 2, name, overflow)
                rows = zip(*(integers(c, element, signed=False) for c in columns), strict=True)
                expected = [formula(*row, element.width) for row in rows]
                yield _case(name, columns, element, expected, _modifier(overflow))


def _modifier(overflow: Overflow) -> str:
    return "" if overflow is Overflow.NONE else f"overflow<{overflow.keyword}>"


def unary(effort: Effort) -> Iterator[Case]:
    """`negi` and `absi`."""
    for element in INTEGERS:
        (column,) = _columns(effort, element, 1, "unary")
        numbers = integers(column, element, signed=True)
        for overflow in (Overflow.NONE, Overflow.NO_SIGNED_WRAP, Overflow.NO_WRAP):
            yield _case("negi", [column], element, [-n for n in numbers], _modifier(overflow))
        yield _case("absi", [column], element, [abs(n) for n in numbers])


def unsigned(effort: Effort) -> Iterator[Case]:
    """`mulhii` and bitwise operations."""
    table: dict[str, Formula] = {
        "mulhii": lambda a, b, width: a * b >> width,
        "andi": lambda a, b, width: a & b,
        "ori": lambda a, b, width: a | b,
        "xori": lambda a, b, width: a ^ b,
    }
    for name, formula in table.items():
        for element in INTEGERS:
            columns = _columns(effort, element, 2, name)
            rows = zip(*(integers(c, element, signed=False) for c in columns), strict=True)
            yield _case(name, columns, element, [formula(*row, element.width) for row in rows])


def quotient(a: int, b: int, mode: Rounding) -> int:
    """Integer division in a rounding mode, based on Python's floor division."""
    if mode is Rounding.NEGATIVE_INF:
        return a // b
    if mode is Rounding.POSITIVE_INF:
        return -(-a // b)
    return a // b if (a < 0) == (b < 0) else -(-a // b)


def _defined(columns: list[Array], element: IntegerType, signed: bool) -> list[Array]:
    """Operands of a division without those for which it is undefined."""
    a, b = columns
    b = np.where(b == 0, b.dtype.type(1), b)
    least, all_ones = 1 << (element.width - 1), (1 << element.width) - 1
    if signed:  # the quotient of the least number and -1 does not fit
        a = np.where((a == least) & (b == all_ones), a.dtype.type(0), a)
    return [a, b]


def divisions(effort: Effort) -> Iterator[Case]:
    """`divi` and `remi`."""
    modes = (Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF)
    for element in INTEGERS:
        for sign in Signedness:
            signed = sign is Signedness.SIGNED
            for mode in modes if signed else (modes[0], modes[2]):
                columns = _columns(effort, element, 2, "divi", sign, mode)
                columns = _defined(columns, element, signed)
                rows = zip(*(integers(c, element, signed=signed) for c in columns), strict=True)
                expected = [quotient(a, b, mode) for a, b in rows]
                modifiers = f"{sign.keyword} rounding<{mode.keyword}>"
                yield _case("divi", columns, element, expected, modifiers)
            columns = _defined(_columns(effort, element, 2, "remi", sign), element, signed)
            rows = zip(*(integers(c, element, signed=signed) for c in columns), strict=True)
            expected = [a - quotient(a, b, Rounding.ZERO) * b for a, b in rows]
            yield _case("remi", columns, element, expected, sign.keyword)


def signed(effort: Effort) -> Iterator[Case]:
    """Operations with a signedness."""
    table: dict[str, Formula] = {
        "maxi": lambda a, b, width: max(a, b),
        "mini": lambda a, b, width: min(a, b),
        "shri": lambda a, b, width: a >> (b % (1 << width)),
    }
    for name, formula in table.items():
        for element in INTEGERS:
            for sign in Signedness:
                columns = _columns(effort, element, 2, name, sign)
                is_signed = sign is Signedness.SIGNED
                numbers = [integers(c, element, signed=is_signed) for c in columns]
                expected = [formula(*row, element.width) for row in zip(*numbers, strict=True)]
                yield _case(name, columns, element, expected, sign.keyword)


def comparisons(effort: Effort) -> Iterator[Case]:
    """Comparisons."""
    for element in INTEGERS:
        for sign in Signedness:
            for predicate, holds in RELATIONS.items():
                columns = _columns(effort, element, 2, "cmpi", sign, predicate)
                is_signed = sign is Signedness.SIGNED
                numbers: list[Any] = [integers(c, element, signed=is_signed) for c in columns]
                expected = list(map(holds, *numbers))
                types = f"{tile(columns[0].shape, element)} -> {tile(columns[0].shape, I1)}"
                yield elementwise(
                    "cmpi",
                    lambda x, y, word=predicate.keyword, end=f"{sign.keyword} : {types}": (
                        f"cmpi {word} {x}, {y}, {end}"
                    ),
                    [(column, element) for column in columns],
                    np.array(expected),
                    I1,
                )


def cases(effort: Effort) -> Iterator[Case]:
    """All cases of this file."""
    for group in (overflowing, unary, unsigned, divisions, signed, comparisons):
        yield from group(effort)
