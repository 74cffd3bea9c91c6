"""Accumulation of the tensor cores: exact terms, aligned and truncated, added, rounded once.

The model of floating-point accumulation, for one element of the result:

1. Multiplications are exact. The exponent of a term a*b is the sum of the operands' exponents; its
   significand lies in [0, 4); a subnormal operand has the exponent of the least normal number.
2. All terms of a step, and the accumulator, are aligned to the greatest exponent among them,
   and bits more than `fraction_bits` below the binary point are truncated.
3. Their sum is exact, and is then normalised: to f32 by truncation (`kept_bits` of the fraction
   remain), to f16 by rounding to nearest even.
4. An instruction accumulates `step` terms at a time; each step's result is the next one's
   accumulator.

If 2 and 3 truncate no bit, the result is the exact one; zero is always positive.

An H200 has no unit for `mma` of fp8, only for `wgmma`: elements become f16, and two f16 mmas are
issued, for the first and the second half of every four elements along K (eight if A is sparse),
the second accumulating on the first; the accumulator is added at the end, rounded to nearest
(`converted` is four or eight).

All this was compared with an H200, bit by bit, on small, large and mixed numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tilewright.ptxsim import rounding
from tilewright.ptxsim.matrix.elements import ELEMENTS, Element
from tilewright.ptxsim.scalar_types import Array

# Elements per pass, so that its arrays stay in the cache.
_AT_ONCE: Final = 1 << 15
# The exponent of zero: less than every other.
_ABSENT: Final = np.int16(-512)


@dataclass(frozen=True, slots=True)
class Adder:
    """The widths of one tensor-core adder; see the module docstring."""

    fraction_bits: int
    kept_bits: int
    step: int
    converted: int = 0


# The adders of an H200, by instruction and optionally type; `f8` stands
# for e4m3 and e5m2.
ADDERS: Final = {
    "mma": Adder(fraction_bits=25, kept_bits=23, step=64),
    "mma f8": Adder(fraction_bits=25, kept_bits=23, step=64, converted=4),
    "mma.sp f8": Adder(fraction_bits=25, kept_bits=23, step=64, converted=8),
    "wmma": Adder(fraction_bits=25, kept_bits=23, step=64),
    "wmma tf32": Adder(fraction_bits=25, kept_bits=23, step=4),
    "wgmma": Adder(fraction_bits=25, kept_bits=23, step=64),
    "wgmma f8": Adder(fraction_bits=13, kept_bits=13, step=64),
}


def adder_for(instruction: str, element: Element) -> Adder:
    """The adder that an instruction uses for an element type."""
    kind = "f8" if element.bits == 8 else element.name
    plain = instruction.removesuffix(".sp")
    return ADDERS.get(f"{instruction} {kind}") or ADDERS.get(f"{plain} {kind}") or ADDERS[plain]


def multiply_add(
    a: Array, b: Array, c: Array, elements: tuple[Element, Element], result: str, adder: Adder
) -> Array:
    """`a @ b.T + c` for stacks of matrices of floats, as a tensor core computes it.

    `a` is (stack, m, k), `b` (stack, n, k), in float64; `c` is (stack, m, n) of float16 or
    float32; the result has the type named by `result`.
    """
    if adder.converted:
        return _multiply_converted(a, b, c, result, adder)
    k = a.shape[2]
    for start in range(0, k, adder.step):
        part = slice(start, start + adder.step)
        accumulator = np.empty(c.shape, np.float16 if result == "f16" else np.float32)
        at_once = max(1, _AT_ONCE // (c.shape[1] * c.shape[2]))
        for first in range(0, len(a), at_once):
            batch = slice(first, first + at_once)
            accumulator[batch] = _step(
                a[batch, :, part],
                b[batch, :, part],
                c[batch],
                elements,
                accumulator.dtype.char,
                adder,
            )
        c = accumulator
    return c


def _multiply_converted(a: Array, b: Array, c: Array, result: str, adder: Adder) -> Array:
    f16_pair = ELEMENTS["f16"], ELEMENTS["f16"]
    plain = replace(adder, converted=0)
    accumulator = np.zeros(c.shape, np.float16 if result == "f16" else np.float32)
    k: int = a.shape[2]
    k_index: Array = np.arange(k) % adder.converted * 2
    for part in (k_index < adder.converted, k_index >= adder.converted):
        accumulator = multiply_add(
            a[:, :, part], b[:, :, part], accumulator, f16_pair, result, plain
        )
    return _canonical(accumulator + c.astype(accumulator.dtype))


def _canonical(values: Array) -> Array:
    """Replace NaNs by the hardware's NaN, and -0 by +0."""
    values = values + values.dtype.type(0)
    bits = values.view(np.uint16 if values.dtype == np.float16 else np.uint32)
    nan = bits.dtype.type(0x7FFF if values.dtype == np.float16 else 0x7FFFFFFF)
    return np.where(np.isnan(values), nan, bits).view(values.dtype)


def _step(
    a: Array, b: Array, c: Array, elements: tuple[Element, Element], code: str, adder: Adder
) -> Array:
    if not (np.isfinite(a).all() and np.isfinite(b).all() and np.isfinite(c).all()):
        return _step_with_specials(a, b, c, elements, code, adder)
    exact = _exact_accumulation(a, b, c, adder)
    if exact is not None:
        return _narrow(exact, code, adder)
    b = np.ascontiguousarray(b.swapaxes(1, 2))
    greatest = _greatest_exponents(a, b, c, elements)
    # After this scaling, the bits to truncate are below the binary point.
    scale = (adder.fraction_bits + 1023 - greatest).astype(np.int64)
    scale = (scale << 52).view(np.float64)
    # Adding zero makes -0 positive.
    accumulator = np.trunc(c * scale) + 0.0
    term = np.empty(c.shape)
    for at in range(a.shape[2]):
        np.multiply(a[:, :, at, None], b[:, None, at, :], out=term)
        np.multiply(term, scale, out=term)
        np.trunc(term, out=term)
        np.add(accumulator, term, out=accumulator)
    np.divide(accumulator, scale, out=accumulator)
    return _narrow(accumulator, code, adder)


def _exact_accumulation(a: Array, b: Array, c: Array, adder: Adder) -> Array | None:
    """The result as a plain matmul, which is much faster, if 2 and 3 truncate no bit; else None.

    All terms are multiples of a unit, and even the sum of their magnitudes fits.
    """
    unit = _unit(a) * _unit(b)
    greatest = a.shape[2] * float(np.abs(a).max()) * float(np.abs(b).max())
    greatest += float(np.abs(c).max())
    if not 0 < greatest <= unit * 2.0 ** min(adder.fraction_bits, adder.kept_bits + 1):
        return None
    wide = c.astype(np.float64)
    units = wide * (1 / unit)
    if not np.array_equal(units, np.rint(units)):
        return None
    # Adding zero makes -0 positive.
    return a @ b.swapaxes(1, 2) + wide + 0.0


def _unit(values: Array) -> float:
    """The greatest power of two of which all numbers are multiples; 1 if all are zero."""
    fractions, exponents = np.frexp(values)
    digits = (fractions * 2.0**53).astype(np.int64)
    lowest = np.frexp((digits & -digits).astype(np.float64))[1] + exponents
    some = lowest[digits != 0]
    return 2.0 ** (int(some.min()) - 54) if some.size else 1.0


def _greatest_exponents(a: Array, b: Array, c: Array, elements: tuple[Element, Element]) -> Array:
    greatest = _exponents_of_accumulators(c)
    a_exponents, b_exponents = _exponents(a, elements[0]), _exponents(b, elements[1])
    exponents = np.empty(c.shape, np.int16)
    for at in range(a.shape[2]):
        np.add(a_exponents[:, :, at, None], b_exponents[:, None, at, :], out=exponents)
        np.maximum(greatest, exponents, out=greatest)
    return greatest


def _narrow(accumulator: Array, code: str, adder: Adder) -> Array:
    if code == "e":
        return accumulator.astype(np.float16) + np.float16(0)
    result = _truncate(accumulator, 52 - adder.kept_bits).astype(np.float32)
    tiny = abs(result) < 2.0**-125
    if tiny.any():
        # Subnormal numbers have fewer bits; for zeros this changes nothing.
        result[tiny] = (np.trunc(accumulator[tiny] * 2.0**149) + 0.0) * 2.0**-149
        result[tiny] = _truncate(result[tiny].astype(np.float64), 52 - adder.kept_bits)
    return result


def _truncate(values: Array, bits: int) -> Array:
    """Clear the last bits of a float64; values out of range of float32 become infinite there."""
    mask = np.uint64((1 << 64) - (1 << bits))
    return (values.view(np.uint64) & mask).view(np.float64)


def _step_with_specials(
    a: Array, b: Array, c: Array, elements: tuple[Element, Element], code: str, adder: Adder
) -> Array:
    plain = a @ b.transpose(0, 2, 1) + c.astype(np.float64)
    a, b, c = (np.where(np.isfinite(values), values, 0) for values in (a, b, c))
    result = _step(a, b, c, elements, code, adder)
    return _canonical(np.where(np.isfinite(plain), result, plain.astype(result.dtype)))


def _exponents(values: Array, element: Element) -> Array:
    """The exponents of numbers; zero gets one less than every other."""
    _, exponents = np.frexp(values)
    floor = np.maximum(exponents - 1, element.least_exponent)
    return np.where(values == 0, _ABSENT, floor).astype(np.int16)


def _exponents_of_accumulators(c: Array) -> Array:
    single = c.astype(np.float32, copy=False)
    biased = (single.view(np.uint32) >> np.uint32(23)).astype(np.int16)
    least = ELEMENTS["f16" if c.dtype == np.float16 else "f32"].least_exponent
    exponents = np.maximum((biased & 0xFF) - 127, least)
    exponents[c == 0] = _ABSENT
    return exponents


def multiply_add_f64(a: Array, b: Array, c: Array) -> Array:
    """`a @ b.T + c` in f64: a chain of fused multiply-adds."""
    accumulator: Array = c.reshape(-1)
    for at in range(a.shape[2]):
        rows = np.broadcast_to(a[:, :, at, None], c.shape).reshape(-1)
        columns = np.broadcast_to(b[:, None, :, at], c.shape).reshape(-1)
        accumulator = _propagate_nan(
            rounding.fma_f64(rows, columns, accumulator), rows, columns, accumulator
        )
    return accumulator.reshape(c.shape)


def _propagate_nan(result: Array, a: Array, b: Array, c: Array) -> Array:
    """Keep the first NaN operand; a NaN that no operand has is negative."""
    nan = np.isnan(result)
    if not nan.any():
        return result
    new: Array = np.full(len(a), 0xFFF8 << 48, np.uint64)
    for operand in (b, a, c):
        new = np.where(np.isnan(operand), operand.view(np.uint64), new)
    return np.where(nan, new, result.view(np.uint64)).view(np.float64)


def multiply_add_integers(a: Array, b: Array, c: Array, saturate: bool) -> Array:
    """`a @ b.T + c` in s32; the accumulator wraps around or saturates."""
    # Dots of int8 are exact in float64.
    accumulator = (a @ b.transpose(0, 2, 1)).astype(np.int64) + c.astype(np.int64)
    if saturate:
        accumulator = np.clip(accumulator, -(1 << 31), (1 << 31) - 1)
    return accumulator.astype(np.uint32).view(np.int32)


def multiply_add_bits(a: Array, b: Array, c: Array, operation: str) -> Array:
    """`c` and the number of ones in `a & b` or `a ^ b`, for matrices of bits."""
    ones = a @ b.transpose(0, 2, 1)
    if operation == "xor":
        ones = a.sum(axis=2)[:, :, None] + b.sum(axis=2)[:, None, :] - 2 * ones
    return (ones.astype(np.int64) + c.astype(np.int64)).astype(np.uint32).view(np.int32)
