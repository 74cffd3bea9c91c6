"""Float formats: decode bit patterns to exact values, and round exact values to patterns.

A value is a bit pattern, a zero-extended int. `decode` returns its exact value, `encode` converts
an exact value to a pattern. An exact value is `significand * 2**exponent` with integers; results
without such a form (div, sqrt, decimal fractions) are truncated with a sticky bit.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from tilewright.support.bits import mask, sign_bit


class Rounding(Enum):
    """Rounding modes."""

    NEAREST_EVEN = "nearest_even"
    ZERO = "zero"
    NEGATIVE_INF = "negative_inf"
    POSITIVE_INF = "positive_inf"
    NEAREST_AWAY = "nearest_away"


class Specials(Enum):
    """The infinities and NaNs of a format."""

    IEEE = "the top exponent holds infinity (fraction zero) and NaN (all other fractions)"
    NAN_ONLY = "the largest magnitude is NaN, and there is no infinity"
    NONE = "every pattern is a number"


class FloatFormat:
    """One float format: sign, exponent field, mantissa field, from the top bit down.

    An exponent field of zero encodes zero and subnormals; in a format without zero it is a normal
    exponent.
    """

    __slots__ = (
        "bias",
        "exponent_bits",
        "has_zero",
        "infinity",
        "mantissa_bits",
        "max_finite",
        "min_exponent",
        "name",
        "nan",
        "precision",
        "signed",
        "specials",
        "width",
    )

    def __init__(
        self,
        name: str,
        exponent_bits: int,
        mantissa_bits: int,
        bias: int,
        specials: Specials = Specials.IEEE,
        *,
        signed: bool = True,
        has_zero: bool = True,
    ) -> None:
        self.name: Final = name
        self.exponent_bits: Final = exponent_bits
        self.mantissa_bits: Final = mantissa_bits
        self.bias: Final = bias
        self.specials: Final = specials
        self.signed: Final = signed
        self.has_zero: Final = has_zero

        magnitude_bits = exponent_bits + mantissa_bits
        self.width: Final = signed + magnitude_bits
        # Significant bits, and the exponent of the smallest normal number.
        self.precision: Final = mantissa_bits + 1
        self.min_exponent: Final = has_zero - bias

        top = mask(magnitude_bits)
        field = top - mask(mantissa_bits)
        match specials:
            case Specials.IEEE:
                landmarks = field - 1, field, field | 1 << (mantissa_bits - 1)
            case Specials.NAN_ONLY:
                landmarks = top - 1, None, top
            case Specials.NONE:
                landmarks = top, None, None
        # Magnitudes without a sign; `nan` is the canonical NaN.
        max_finite, infinity, nan = landmarks
        self.max_finite: Final = max_finite
        self.infinity: Final = infinity
        self.nan: Final = nan

    @property
    def max_exponent(self) -> int:
        """The exponent of the largest number."""
        return (self.max_finite >> self.mantissa_bits) - self.bias

    @property
    def sign(self) -> int:
        """The mask of the sign bit; zero if the format is unsigned."""
        return sign_bit(self.width) if self.signed else 0

    def signed_pattern(self, magnitude: int, negative: bool) -> int:
        """Combine a magnitude and a sign; an unsigned format drops the sign."""
        return magnitude | self.sign if negative else magnitude

    def __repr__(self) -> str:
        return self.name


def widens(source: FloatFormat, target: FloatFormat) -> bool:
    """Whether every normal number of `source` is a normal number of `target`."""
    return (
        source.precision <= target.precision
        and source.min_exponent >= target.min_exponent
        and source.max_exponent <= target.max_exponent
    )


F16: Final = FloatFormat("f16", exponent_bits=5, mantissa_bits=10, bias=15)
BF16: Final = FloatFormat("bf16", exponent_bits=8, mantissa_bits=7, bias=127)
F32: Final = FloatFormat("f32", exponent_bits=8, mantissa_bits=23, bias=127)
F64: Final = FloatFormat("f64", exponent_bits=11, mantissa_bits=52, bias=1023)
TF32: Final = FloatFormat("tf32", exponent_bits=8, mantissa_bits=10, bias=127)
F8E5M2: Final = FloatFormat("f8E5M2", exponent_bits=5, mantissa_bits=2, bias=15)
F8E4M3FN: Final = FloatFormat(
    "f8E4M3FN", exponent_bits=4, mantissa_bits=3, bias=7, specials=Specials.NAN_ONLY
)
F8E8M0FNU: Final = FloatFormat(
    "f8E8M0FNU",
    exponent_bits=8,
    mantissa_bits=0,
    bias=127,
    specials=Specials.NAN_ONLY,
    signed=False,
    has_zero=False,
)
F4E2M1FN: Final = FloatFormat(
    "f4E2M1FN", exponent_bits=2, mantissa_bits=1, bias=1, specials=Specials.NONE
)
FNV8E5M3FNU: Final = FloatFormat(
    "fnv8E5M3FNU",
    exponent_bits=5,
    mantissa_bits=3,
    bias=15,
    specials=Specials.NAN_ONLY,
    signed=False,
)

FORMATS: Final = {
    format.name: format
    for format in (
        F16, BF16, F32, F64, TF32, F8E4M3FN, F8E5M2, F8E8M0FNU, F4E2M1FN, FNV8E5M3FNU,
    )
}  # fmt: skip


class Kind(Enum):
    """The kinds of exact values."""

    FINITE = "finite"
    INFINITE = "infinite"
    NAN = "nan"


class Exact:
    """The exact value of a pattern: a signed number, an infinity, or NaN.

    The number is `significand * 2**exponent`, negated if `negative`. The form is not normalized.
    """

    __slots__ = ("exponent", "kind", "negative", "significand")

    def __init__(
        self, negative: bool, significand: int, exponent: int, kind: Kind = Kind.FINITE
    ) -> None:
        self.negative: Final = negative
        self.significand: Final = significand
        self.exponent: Final = exponent
        self.kind: Final = kind

    @property
    def is_nan(self) -> bool:
        """Whether this is NaN."""
        return self.kind is Kind.NAN

    @property
    def is_infinite(self) -> bool:
        """Whether this is an infinity."""
        return self.kind is Kind.INFINITE

    @property
    def is_zero(self) -> bool:
        """Whether this is +0 or -0."""
        return self.kind is Kind.FINITE and self.significand == 0

    def __repr__(self) -> str:
        sign = "-" if self.negative else "+"
        if self.kind is not Kind.FINITE:
            return f"{sign}{self.kind.value}"
        return f"{sign}{self.significand} * 2**{self.exponent}"


NAN: Final = Exact(False, 0, 0, Kind.NAN)


def infinity(negative: bool) -> Exact:
    """Return the infinity of a sign."""
    return Exact(negative, 0, 0, Kind.INFINITE)


def nearest_float(number: float) -> float:
    """Convert a Python number to float; integers out of range become infinite."""
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def decode(pattern: int, format: FloatFormat) -> Exact:
    """Return the exact value of a pattern.

    >>> decode(0xC000, F16)
    -1024 * 2**-9
    >>> decode(0x7F, F8E4M3FN)
    +nan
    """
    negative = pattern & format.sign != 0
    magnitude = pattern & ~format.sign
    if magnitude > format.max_finite:
        return infinity(negative) if magnitude == format.infinity else NAN
    field = magnitude >> format.mantissa_bits
    fraction = magnitude & mask(format.mantissa_bits)
    unit = format.min_exponent - format.mantissa_bits
    if format.has_zero and field == 0:
        return Exact(negative, fraction, unit)
    significand = fraction | 1 << format.mantissa_bits
    return Exact(negative, significand, unit + field - format.has_zero)


def encode(
    value: Exact,
    format: FloatFormat,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    *,
    saturate: bool = False,
) -> int:
    """Round a value to a pattern.

    Overflow gives infinity; NaN if the format has no infinity; the largest finite number if it has
    neither, or with `saturate`. Underflow gives zero, or the smallest number if the format has no
    zero. An unrepresentable NaN becomes the largest finite number, and an unrepresentable sign is
    dropped.

    >>> hex(encode(Exact(False, 1, -1), F32))
    '0x3f000000'
    >>> hex(encode(Exact(False, 1, 16), F16)), hex(encode(Exact(False, 1, 16), F16, saturate=True))
    ('0x7c00', '0x7bff')
    """
    if value.is_nan:
        return format.max_finite if format.nan is None else format.nan
    if value.is_infinite:
        magnitude = format.max_finite if saturate else _beyond(format)
    else:
        magnitude = _encode_magnitude(value, format, rounding, saturate)
    return format.signed_pattern(magnitude, value.negative)


def _encode_magnitude(value: Exact, format: FloatFormat, rounding: Rounding, saturate: bool) -> int:
    if value.significand == 0:
        return 0
    top = value.exponent + value.significand.bit_length() - 1
    steps = max(top - format.min_exponent, 0)
    unit = format.min_exponent - format.mantissa_bits + steps
    count = round_shift(value.significand, unit - value.exponent, value.negative, rounding)
    # The leading one of a normal significand adds one to the exponent field, which starts at 1, or
    # at 0 in formats without zero. A significand that rounds up to the next power of two carries
    # into the exponent field.
    magnitude = (steps << format.mantissa_bits) + count
    if not format.has_zero:
        magnitude = max(magnitude - (1 << format.mantissa_bits), 0)
    if magnitude <= format.max_finite:
        return magnitude
    if saturate or _shrinks(rounding, value.negative):
        return format.max_finite
    return _beyond(format)


def _beyond(format: FloatFormat) -> int:
    """Return the magnitude that overflow produces."""
    if format.infinity is not None:
        return format.infinity
    return format.max_finite if format.nan is None else format.nan


def _shrinks(rounding: Rounding, negative: bool) -> bool:
    """Whether a rounding mode never increases the magnitude of a number of this sign."""
    if rounding is Rounding.NEGATIVE_INF:
        return not negative
    return rounding is Rounding.ZERO or (rounding is Rounding.POSITIVE_INF and negative)


def round_shift(significand: int, shift: int, negative: bool, rounding: Rounding) -> int:
    """`significand / 2**shift` as an integer; `negative` is the sign of the whole number.

    >>> [round_shift(n, 2, False, Rounding.NEAREST_EVEN) for n in (5, 6, 7, 10)]
    [1, 2, 2, 2]
    """
    if shift <= 0:
        return significand << -shift
    floor = significand >> shift
    rest = significand - (floor << shift)
    if rest == 0:
        return floor
    return floor + _is_rounded_up(rest, 1 << (shift - 1), floor & 1 == 1, negative, rounding)


def _is_rounded_up(rest: int, half: int, odd: bool, negative: bool, rounding: Rounding) -> bool:
    match rounding:
        # With one significant bit both neighbors are odd; IEEE 754 then takes the larger. So
        # does this test: the larger one is `floor + 1` and even, being the next power of two.
        case Rounding.NEAREST_EVEN:
            return rest > half or (rest == half and odd)
        case Rounding.NEAREST_AWAY:
            return rest >= half
        case Rounding.ZERO | Rounding.NEGATIVE_INF | Rounding.POSITIVE_INF:
            return not _shrinks(rounding, negative)


def ratio(negative: bool, numerator: int, denominator: int, precision: int) -> Exact:
    """Divide with enough bits that rounding to `precision` bits is exact.

    The last bit is sticky: it is set if the division is inexact. It follows two guard bits, so it
    decides ties and directed rounding without creating ties.
    """
    shift = max(precision + 2 + denominator.bit_length() - numerator.bit_length(), 0)
    quotient, rest = divmod(numerator << shift, denominator)
    return Exact(negative, quotient << 1 | (rest != 0), -shift - 1)


def is_nan(pattern: int, format: FloatFormat) -> bool:
    """Whether a pattern is one of the format's NaNs."""
    magnitude = pattern & ~format.sign
    return magnitude > format.max_finite and magnitude != format.infinity


def is_subnormal(pattern: int, format: FloatFormat) -> bool:
    """Whether a pattern is a number other than zero below the smallest normal one."""
    magnitude = pattern & ~format.sign
    return format.has_zero and 0 < magnitude < 1 << format.mantissa_bits
