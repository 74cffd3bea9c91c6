"""Parse and print floats as MLIR does: decimal, or the bit pattern in hexadecimal."""

from __future__ import annotations

import re
from typing import Final

from tilewright.support.bits import trailing_zeros
from tilewright.support.floats import Exact, FloatFormat, Kind, decode, encode, ratio

_DECIMAL: Final = re.compile(r"([-+]?)([0-9]+)(?:\.([0-9]*))?(?:[eE]([-+]?[0-9]+))?")

# A tie between two f64 values has at most 767 significant digits: digits after the 800th only
# affect the sticky bit. All formats are within 10**-330 and 10**310, so exponents are clamped, and
# parsing is linear in the length of the text.
_ENOUGH_DIGITS: Final = 800
_HUGE: Final = 310
_TINY: Final = -330


def parse_decimal(text: str, format: FloatFormat) -> int | None:
    """Round a decimal number to the nearest pattern, ties to even.

    Overflow is handled as in `encode`. Return None for a negative number, including -0, if the
    format has no sign.

    >>> from tilewright.support.floats import F32
    >>> parse_decimal("0.1", F32) == 0x3DCCCCCD
    True
    """
    match = _DECIMAL.fullmatch(text)
    if match is None:
        raise ValueError(f"expected a decimal number, got {text!r}")
    sign, whole, fraction, exponent = match.groups()
    negative = sign == "-"
    if negative and not format.signed:
        return None
    fraction = fraction or ""
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return encode(Exact(negative, 0, 0), format)
    scale = _bounded(exponent or "0") - len(fraction)
    return encode(_exact(negative, digits, scale, format.precision), format)


def _bounded(exponent: str) -> int:
    """Parse an exponent and clamp its magnitude."""
    digits = exponent.lstrip("+-0") or "0"
    magnitude = int(digits) if len(digits) < 18 else 10**18
    return -magnitude if exponent.startswith("-") else magnitude


def _exact(negative: bool, digits: str, scale: int, precision: int) -> Exact:
    """`digits * 10**scale`, with a sticky bit if it is not a binary fraction."""
    magnitude = len(digits) + scale
    if magnitude > _HUGE:
        return Exact(negative, 10**_HUGE, 0)
    if magnitude < _TINY:
        return ratio(negative, 1, 10**-_TINY, precision)
    if len(digits) > _ENOUGH_DIGITS:
        sticky = "1" if digits[_ENOUGH_DIGITS:].strip("0") else "0"
        scale += len(digits) - _ENOUGH_DIGITS - 1
        digits = digits[:_ENOUGH_DIGITS] + sticky
    if scale >= 0:
        return Exact(negative, int(digits) * 10**scale, 0)
    return ratio(negative, int(digits), 10**-scale, precision)


def print_decimal(pattern: int, format: FloatFormat) -> str:
    """Print a pattern as MLIR does, so that it round-trips.

    Try in order: scientific notation with six fractional digits; all significant digits in the
    layout of LLVM's `APFloat::toString`; the pattern in hexadecimal, for infinities, NaNs, and
    numbers printed without a decimal point.

    >>> from tilewright.support.floats import F32
    >>> print_decimal(0x3DCCCCCD, F32), print_decimal(0x3FB8AA3B, F32)
    ('1.000000e-01', '1.44269502')
    >>> print_decimal(0x7FC00000, F32), print_decimal(0x4B800000, F32)
    ('0x7FC00000', '0x4B800000')
    """
    value = decode(pattern, format)
    if value.kind is not Kind.FINITE:
        return print_pattern(pattern, format)
    brief = _print_brief(value)
    if parse_decimal(brief, format) == pattern:
        return brief
    full = _print_full(value, format)
    return full if "." in full else print_pattern(pattern, format)


def print_pattern(pattern: int, format: FloatFormat) -> str:
    """Print a pattern in hexadecimal, padded to the width of the format.

    >>> from tilewright.support.floats import F16
    >>> print_pattern(0x1F, F16)
    '0x001F'
    """
    return f"0x{pattern:0{(format.width + 3) // 4}X}"


def _print_brief(value: Exact) -> str:
    sign = "-" if value.negative else ""
    if value.is_zero:
        return f"{sign}0.000000e+00"
    digits, exponent = _significant(value, 6)
    leading = exponent + len(digits) - 1
    return f"{sign}{digits[0]}.{digits[1:]:0<6}e{leading:+03d}"


def _print_full(value: Exact, format: FloatFormat) -> str:
    sign = "-" if value.negative else ""
    # 59/196 approximates log10(2) from below.
    precision = 2 + format.precision * 59 // 196
    digits, exponent = _significant(value, precision)
    return sign + _lay_out(digits, exponent, precision)


def _lay_out(digits: str, exponent: int, precision: int) -> str:
    """Print `digits * 10**exponent` without exponent, unless it needs over three padding zeros."""
    leading = exponent + len(digits) - 1
    if leading < -3 or exponent > 3 or (exponent >= 0 and leading >= precision):
        return f"{digits[0]}.{digits[1:] or '0'}E{leading:+d}"
    if exponent >= 0:
        return digits + "0" * exponent
    if leading >= 0:
        return f"{digits[: leading + 1]}.{digits[leading + 1 :]}"
    return f"0.{'0' * (-leading - 1)}{digits}"


def _significant(value: Exact, precision: int) -> tuple[str, int]:
    """Return at most `precision` significant digits without trailing zeros, and the exponent.

    LLVM shortens numbers in two steps: it divides by a power of ten estimated from the number of
    bits, then rounds the remaining digits half up. If the division leaves exactly `precision`
    digits, the number is truncated.
    """
    number, exponent = _as_decimal(value)
    excess = number.bit_length() - (precision * 196 + 58) // 59
    cut = max(excess * 59 // 196, 0)
    digits, exponent = _strip(str(number // 10**cut), exponent + cut)
    dropped = len(digits) - precision
    if dropped <= 0:
        return digits, exponent
    rounded = int(digits[:precision]) + (digits[precision] >= "5")
    return _strip(str(rounded), exponent + dropped)


def _as_decimal(value: Exact) -> tuple[int, int]:
    """Return the magnitude exactly as an integer times a power of ten."""
    zeros = trailing_zeros(value.significand)
    significand = value.significand >> zeros
    exponent = value.exponent + zeros
    if exponent >= 0:
        return significand << exponent, 0
    return significand * 5**-exponent, exponent


def _strip(digits: str, exponent: int) -> tuple[str, int]:
    stripped = digits.rstrip("0")
    return stripped, exponent + len(digits) - len(stripped)
