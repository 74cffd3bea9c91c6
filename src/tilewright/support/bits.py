"""Bit patterns as Python integers: masks, powers of two, two's complement.

A pattern of `width` bits is an int in `range(1 << width)`. `to_signed` and `to_unsigned` are the
only two ways between a pattern and the number that it stands for.
"""

from __future__ import annotations


def mask(width: int) -> int:
    """The pattern of `width` ones.

    >>> hex(mask(12))
    '0xfff'
    """
    return (1 << width) - 1


def sign_bit(width: int) -> int:
    """The pattern whose top bit alone is set.

    >>> hex(sign_bit(8))
    '0x80'
    """
    return 1 << (width - 1)


def to_unsigned(number: int, width: int) -> int:
    """The pattern of any integer, modulo `2**width`.

    >>> to_unsigned(-1, 8), to_unsigned(256, 8)
    (255, 0)
    """
    return number & mask(width)


def to_signed(pattern: int, width: int) -> int:
    """The number that a pattern stands for in two's complement.

    >>> to_signed(0xFF, 8), to_signed(0x7F, 8), to_signed(1, 1)
    (-1, 127, -1)
    """
    return pattern - ((pattern & sign_bit(width)) << 1)


def sign_extend(pattern: int, width: int, to_width: int) -> int:
    """The same two's-complement number in a pattern of `to_width` bits.

    >>> hex(sign_extend(0x80, 8, 16))
    '0xff80'
    """
    return to_unsigned(to_signed(pattern, width), to_width)


def is_power_of_two(number: int) -> bool:
    """Whether the number is 1, 2, 4, 8 and so on.

    >>> [n for n in range(-2, 10) if is_power_of_two(n)]
    [1, 2, 4, 8]
    """
    return number > 0 and number & (number - 1) == 0


def trailing_zeros(number: int) -> int:
    """How often two divides a number other than zero.

    >>> trailing_zeros(96)
    5
    """
    return (number & -number).bit_length() - 1
