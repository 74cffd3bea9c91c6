"""Floating-point arithmetic with defined rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tilewright.ptxsim import rounding
from tilewright.ptxsim.float_formats import FORMATS, FloatFormat
from tilewright.ptxsim.isa import Run
from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.operation import Operation, Read
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, UNSIGNED, Array

ROUNDINGS: Final = ("rn", "rz", "rm", "rp")


def numbers(read: Read, format: FloatFormat) -> Read:
    """Read registers as numbers: two per lane if they are packed."""
    decode = format.decode
    if format.lanes > 1:
        return lambda lanes: decode(np.ascontiguousarray(lanes.spread(read(lanes))))
    if format.element in ("f32", "f64"):
        return read
    return lambda lanes: decode(read(lanes))


class Modifiers:
    """Common modifiers of float instructions: rounding, flushing, clamping, the format."""

    def __init__(self, op: Operation) -> None:
        self.mode = op.choice(*ROUNDINGS) or "rn"
        self.ftz = op.flag("ftz")
        self.saturate = op.flag("sat")
        self.relu = op.flag("relu")
        name = op.choice(*FORMATS)
        if name is None:
            op.unsupported("float type")
        self.format: FloatFormat = FORMATS[name]

    def reader(self, op: Operation, operand: int) -> Read:
        """A reader of numbers, flushed with `.ftz`."""
        read = numbers(op.read(operand, self.format.type), self.format)
        if self.ftz:
            tiny = self.format.tiny
            return lambda lanes: rounding.flush(read(lanes), tiny)
        return read

    def finish(self, numbers: Array) -> Array:
        """Flush and clamp results: float32 is already rounded, float64 is not."""
        if self.ftz and numbers.dtype == rounding.F32:
            numbers = rounding.flush(numbers)
        elif self.ftz:
            zero = np.copysign(0.0, numbers)
            numbers = np.where(self.vanishes(numbers), zero, numbers)
        if self.saturate:
            numbers = rounding.saturate(numbers)
        return rounding.relu(numbers) if self.relu else numbers

    def vanishes(self, exact: Array) -> Array:
        """Whether float64 results are flushed."""
        return rounding.vanishes(exact, self.format.tiny, self.format.precision, self.mode)

    def encode(self, numbers: Array) -> Array:
        """Round float32 or float64 numbers and encode them into registers."""
        numbers = self.finish(numbers)
        if self.format.element == "f64":
            return numbers
        if numbers.dtype == rounding.F32:
            return self.format.pack(rounding.canonical(numbers))
        return self.format.encode(numbers, self.mode)


def _add(mode: str, format: FloatFormat, a: Array, b: Array) -> Array:
    if format.is_single and mode == "rn":
        return a + b
    exact = rounding.sum_to_odd(a.astype(np.float64), b.astype(np.float64))
    if mode == "rm":
        # Rounding down, numbers that cancel leave a negative zero, unless both are positive zeros.
        positive = (a == 0) & (b == 0) & ~np.signbit(a) & ~np.signbit(b)
        exact = np.where((exact == 0) & ~positive, -0.0, exact)
    return exact


def add(mode: str, format: FloatFormat, a: Array, b: Array) -> Array:
    """`a + b`."""
    if format.element == "f64":
        return rounding.with_nans(rounding.add_f64(a, b, mode), b, a)
    return _add(mode, format, a, b)


def subtract(mode: str, format: FloatFormat, a: Array, b: Array) -> Array:
    """`a - b`."""
    if format.element == "f64":
        return rounding.with_nans(rounding.add_f64(a, -b, mode), b, a)
    return _add(mode, format, a, -b)


def multiply(mode: str, format: FloatFormat, a: Array, b: Array) -> Array:
    """`a * b`."""
    if format.element == "f64":
        return rounding.with_nans(rounding.multiply_f64(a, b, mode), b, a)
    if format.is_single and mode == "rn":
        return a * b
    return a.astype(np.float64) * b.astype(np.float64)


def fused(mode: str, format: FloatFormat, a: Array, b: Array, c: Array) -> Array:
    """`a * b + c`, rounded once."""
    if format.element == "f64":
        return rounding.with_nans(rounding.fma_f64(a, b, c, mode), b, c, a)
    if format.is_single and mode == "rn":
        return rounding.fma_f32(a, b, c)
    a_times_b = a.astype(np.float64) * b.astype(np.float64)
    return _add(mode, _WIDE, a_times_b, c.astype(np.float64))


# Stands for any narrow format in `_add`: not f64 itself, and never computed in float32.
_WIDE: Final = FORMATS["f16"]

Arithmetic = Callable[..., Array]


def float_arithmetic(op: Operation, function: Arithmetic, sources: int) -> Run:
    """The handler of an instruction whose result is a function of its sources."""
    out_of_bounds = _out_of_bounds(op) if op.flag("oob") else None
    modifiers = Modifiers(op)
    write = op.write(0, modifiers.format.type)
    reads = _narrow_sources(op, modifiers, sources - 1)
    reads += [modifiers.reader(op, at + 1) for at in range(len(reads), sources)]
    mode, format, encode = modifiers.mode, modifiers.format, modifiers.encode
    if modifiers.ftz and format.is_single:
        function = _flushed(function, modifiers)
    if sources == 2:
        first, second = reads
        return lambda lanes: write(
            lanes, encode(function(mode, format, first(lanes), second(lanes)))
        )

    def run(lanes: Lanes) -> None:
        result = function(mode, format, *(read(lanes) for read in reads))
        if out_of_bounds is not None:
            result = np.where(out_of_bounds(lanes), 0.0, result)
        write(lanes, encode(result))

    return run


MIXED: Final = ("add", "sub", "fma")
"""Instructions that may have narrower sources than their f32 result, as in `fma.rn.f32.f16`."""


def _narrow_sources(op: Operation, modifiers: Modifiers, count: int) -> list[Read]:
    """Readers of all sources but the last as f32, if the instruction has narrower sources."""
    is_mixed = op.name in MIXED and modifiers.format.is_single
    name = op.choice("f16", "bf16") if is_mixed else None
    if name is None:
        return []
    format = FORMATS[name]
    return [_single(numbers(op.read(at + 1, format.type), format)) for at in range(count)]


def _single(read: Read) -> Read:
    return lambda lanes: read(lanes).astype(np.float32)


# The NaN that copies fill in for out-of-bounds elements, without its sign.
_OUT_OF_BOUNDS: Final = np.uint16(0x7FF7)


def _out_of_bounds(op: Operation) -> Read:
    """Whether an operand is the out-of-bounds NaN: the result of `.oob` is then zero."""
    type = SCALAR_TYPES["b32" if op.modifiers[-1].endswith("x2") else "b16"]
    first, second = op.read(1, type), op.read(2, type)

    def test(lanes: Lanes) -> Array:
        patterns = (np.ascontiguousarray(read(lanes)).view(np.uint16) for read in (first, second))
        a, b = (each & np.uint16(0x7FFF) == _OUT_OF_BOUNDS for each in patterns)
        return a | b

    return test


def _flushed(function: Arithmetic, modifiers: Modifiers) -> Arithmetic:
    """Wrap a function of f32 to flush results that only rounding made normal."""

    def compute(mode: str, format: FloatFormat, *operands: Array) -> Array:
        result = function(mode, format, *operands)
        if result.dtype != rounding.F32:
            return result
        doubtful = abs(result) == np.float32(rounding.TINY)
        if not doubtful.any():
            return result
        small = modifiers.vanishes(function("exact", format, *operands).astype(np.float64))
        return np.where(doubtful & small, np.copysign(np.float32(0), result), result)

    return compute


def extreme(op: Operation, greater: bool) -> Run:
    """`max` and `min` of floats: NaN only with `.NaN` or if all are NaN; -0 < +0."""
    propagate = op.flag("NaN")
    xorsign = op.flag("xorsign")
    absolute = op.flag("abs")
    modifiers = Modifiers(op)
    write = op.write(0, modifiers.format.type)
    reads = [modifiers.reader(op, at) for at in range(1, op.operand_count)]

    def pick(a: Array, b: Array) -> Array:
        sign = np.signbit(a) ^ np.signbit(b)
        if absolute:
            a, b = abs(a), abs(b)
        result = (np.maximum if greater else np.minimum)(a, b)
        no_a, no_b = np.isnan(a), np.isnan(b)
        if not propagate and (no_a | no_b).any():
            result = np.where(no_a, b, np.where(no_b, a, result))
        result = rounding.with_ordered_zeros(result, a, b, greater=greater)
        if result.dtype == rounding.F64 and modifiers.format.element == "f64":
            result = rounding.with_nans(result, b, a)
        return np.where(sign, -abs(result), abs(result)) if xorsign else result

    def run(lanes: Lanes) -> None:
        result, *others = (read(lanes) for read in reads)
        for other in others:
            result = pick(result, other)
        write(lanes, modifiers.encode(result))

    return run


def sign_change(op: Operation, function: Callable[[Array, Array], Array]) -> Run:
    """`abs` and `neg` of floats, on the sign bits; NaNs are canonicalized as by arithmetic."""
    ftz = op.flag("ftz")
    format = FORMATS[op.choice(*FORMATS) or op.unsupported("float type")]
    type = SCALAR_TYPES[f"b{format.type.bits}"]
    write, read = op.write(0, type), op.read(1, type)
    word = UNSIGNED[format.type.bits // format.lanes]
    sign = word.type(1 << (8 * word.itemsize - 1))
    infinity = word.type(_INFINITY[format.element])
    tiny = word.type(1 << (format.precision - 1))

    def run(lanes: Lanes) -> None:
        bits = np.ascontiguousarray(read(lanes)).view(word)
        size: Array = bits & ~sign
        result = function(bits, sign)
        if ftz:
            result = np.where(size < tiny, result & sign, result)
        nan: Array = size > infinity
        if nan.any():
            kept = bits | tiny >> word.type(1)
            result = np.where(nan, kept if format.element == "f64" else ~sign, result)
        write(lanes, result.view(type.dtype))

    return run


_INFINITY: Final = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF << 52}
