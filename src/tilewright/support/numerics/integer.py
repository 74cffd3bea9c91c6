"""Tile IR integer operations on patterns of `width` bits.

Arithmetic wraps modulo `2**width`. The `..._overflows` functions say whether the exact result lies
outside the signed or the unsigned range, that is, whether `no_signed_wrap` or
`no_unsigned_wrap` is violated. None is undefined behavior.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.support.bits import mask, sign_bit, to_signed, to_unsigned
from tilewright.support.floats import Rounding


def number(a: int, width: int, *, signed: bool) -> int:
    """The number that a pattern stands for; an i1 is 0 or 1 unsigned, 0 or -1 signed."""
    return to_signed(a, width) if signed else a


def fits(exact: int, width: int, *, signed: bool) -> bool:
    """Whether a number lies in the range of `width` bits."""
    if signed:
        return -sign_bit(width) <= exact < sign_bit(width)
    return 0 <= exact <= mask(width)


def add(a: int, b: int, width: int) -> int:
    """`a + b`."""
    return to_unsigned(a + b, width)


def add_overflows(a: int, b: int, width: int, *, signed: bool) -> bool:
    """Whether `a + b` wraps."""
    exact = number(a, width, signed=signed) + number(b, width, signed=signed)
    return not fits(exact, width, signed=signed)


def subtract(a: int, b: int, width: int) -> int:
    """`a - b`."""
    return to_unsigned(a - b, width)


def subtract_overflows(a: int, b: int, width: int, *, signed: bool) -> bool:
    """Whether `a - b` wraps."""
    exact = number(a, width, signed=signed) - number(b, width, signed=signed)
    return not fits(exact, width, signed=signed)


def multiply(a: int, b: int, width: int) -> int:
    """`a * b`, the low half of the result."""
    return to_unsigned(a * b, width)


def multiply_overflows(a: int, b: int, width: int, *, signed: bool) -> bool:
    """Whether `a * b` wraps."""
    exact = number(a, width, signed=signed) * number(b, width, signed=signed)
    return not fits(exact, width, signed=signed)


def multiply_high(a: int, b: int, width: int) -> int:
    """The high half of the unsigned multiplication."""
    return a * b >> width


def negate(a: int, width: int) -> int:
    """`-a`; the smallest signed number is its own negation."""
    return to_unsigned(-a, width)


def negate_overflows(a: int, width: int, *, signed: bool) -> bool:
    """Whether `-a` wraps."""
    return not fits(-number(a, width, signed=signed), width, signed=signed)


def absolute(a: int, width: int) -> int:
    """`|a|` of a signed number, to be read unsigned, so that it always fits."""
    return abs(to_signed(a, width))


def divide(
    a: int, b: int, width: int, *, signed: bool, rounding: Rounding = Rounding.ZERO
) -> int | None:
    """`a / b` rounded to an integer: toward zero, down, or up.

    Undefined where `b` is zero, and where the quotient does not fit: the smallest signed number
    by -1.
    """
    x, y = number(a, width, signed=signed), number(b, width, signed=signed)
    if y == 0:
        return None
    match rounding:
        case Rounding.NEGATIVE_INF:
            quotient = x // y
        case Rounding.POSITIVE_INF:
            quotient = -(-x // y)
        case Rounding.ZERO:
            quotient = _truncated_quotient(x, y)
        case Rounding.NEAREST_EVEN | Rounding.NEAREST_AWAY:
            raise ValueError(f"expected an integer division to round one way, got {rounding.value}")
    return to_unsigned(quotient, width) if fits(quotient, width, signed=signed) else None


def remainder(a: int, b: int, width: int, *, signed: bool) -> int | None:
    """The remainder of division toward zero, with the sign of `a`; undefined if `b` is zero."""
    x, y = number(a, width, signed=signed), number(b, width, signed=signed)
    if y == 0:
        return None
    return to_unsigned(x - _truncated_quotient(x, y) * y, width)


def _truncated_quotient(x: int, y: int) -> int:
    magnitude = abs(x) // abs(y)
    return magnitude if (x < 0) == (y < 0) else -magnitude


def maximum(a: int, b: int, width: int, *, signed: bool) -> int:
    """The larger of two."""
    return a if number(a, width, signed=signed) >= number(b, width, signed=signed) else b


def minimum(a: int, b: int, width: int, *, signed: bool) -> int:
    """The smaller of two."""
    return a if number(a, width, signed=signed) <= number(b, width, signed=signed) else b


def dot(
    a: Sequence[int],
    b: Sequence[int],
    c: int,
    width: int,
    sum_width: int,
    *,
    signed: tuple[bool, bool],
) -> int:
    """`a[0] * b[0] + a[1] * b[1] + ... + c`, in the width of `c`; each operand has a signedness."""
    left, right = (
        [number(x, width, signed=s) for x in xs] for xs, s in zip((a, b), signed, strict=True)
    )
    return to_unsigned(c + sum(x * y for x, y in zip(left, right, strict=True)), sum_width)


def shift_left(a: int, amount: int, width: int) -> int:
    """`a * 2**amount`; an amount of `width` or more leaves zero.

    The amount is unsigned in both shifts. Large amounts are not specified; this is what PTX does.
    """
    return to_unsigned(a << amount, width) if amount < width else 0


def shift_left_overflows(a: int, amount: int, width: int, *, signed: bool) -> bool:
    """Whether `a * 2**amount` wraps."""
    exact = number(a, width, signed=signed) << min(amount, width)
    return not fits(exact, width, signed=signed)


def shift_right(a: int, amount: int, width: int, *, signed: bool) -> int:
    """`a / 2**amount` rounded down; an amount of `width` or more leaves copies of the sign."""
    return to_unsigned(number(a, width, signed=signed) >> min(amount, width), width)


def bitwise_and(a: int, b: int) -> int:
    """The bits set in both."""
    return a & b


def bitwise_or(a: int, b: int) -> int:
    """The bits set in either."""
    return a | b


def bitwise_xor(a: int, b: int) -> int:
    """The bits set in one alone."""
    return a ^ b
