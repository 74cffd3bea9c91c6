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
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, Array

ROUNDINGS: Final = ("rn", "rz", "rm", "rp")


class Modifiers:
    """What float instructions have in common: rounding, flushing, clamping, the format."""

    def __init__(self, op: Operation) -> None:
        self.mode = op.choice(*ROUNDINGS) or "rn"
        self.ftz = op.flag("ftz")
        self.saturate = op.flag("sat")
        self.relu = op.flag("relu")
        name = op.choice(*FORMATS)
        if name is None:
            op.unsupported("float type")
        self.format: FloatFormat = FORMATS[name]

    def reader(self, op: Operation, which: int) -> Read:
        """A reader of numbers, flushed if the instruction flushes."""
        read, opened = op.read(which, self.format.type), self.format.open
        if self.ftz and self.format.is_single:
            return lambda lanes: rounding.flush(opened(read(lanes)))
        if self.format.element in ("f32", "f64") and self.format.lanes == 1:
            return read
        return lambda lanes: opened(read(lanes))

    def finish(self, numbers: Array) -> Array:
        """Flush and clamp numbers of the format's own precision."""
        if self.ftz and numbers.dtype == rounding.F32:
            numbers = rounding.flush(numbers)
        if self.saturate:
            numbers = rounding.saturate(numbers)
        if self.relu:
            numbers = np.where(numbers < 0, numbers.dtype.type(0), numbers)
        return numbers

    def close(self, numbers: Array) -> Array:
        """Numbers in float32 or float64 to registers."""
        wide = self.finish(numbers) if self.saturate or self.relu else numbers
        if self.format.element == "f64":
            return wide
        if wide.dtype == rounding.F32:
            return self.format.pack(rounding.canonical(self.finish(wide)))
        closed = self.format.close(wide, self.mode)
        if self.ftz and self.format.is_single:
            closed = self.format.pack(rounding.flush(closed.view(np.float32)))
        return closed


def _sum(mode: str, format: FloatFormat, a: Array, b: Array) -> Array:
    if format.element == "f64":
        return rounding.add_f64(a, b, mode)
    if format.is_single and mode == "rn":
        return a + b
    total = rounding.sum_to_odd(a.astype(np.float64), b.astype(np.float64))
    if mode == "rm":
        # Rounding down, numbers that cancel leave a negative zero, unless both are positive zeros.
        positive = (a == 0) & (b == 0) & ~np.signbit(a) & ~np.signbit(b)
        total = np.where((total == 0) & ~positive, -0.0, total)
    return total


def add(mode: str, format: FloatFormat, a: Array, b: Array) -> Array:
    """`a + b`."""
    return _sum(mode, format, a, b)


def subtract(mode: str, format: FloatFormat, a: Array, b: Array) -> Array:
    """`a - b`."""
    return _sum(mode, format, a, -b)


def multiply(mode: str, format: FloatFormat, a: Array, b: Array) -> Array:
    """`a * b`."""
    if format.element == "f64":
        return rounding.multiply_f64(a, b, mode)
    if format.is_single and mode == "rn":
        return a * b
    return a.astype(np.float64) * b.astype(np.float64)


def fused(mode: str, format: FloatFormat, a: Array, b: Array, c: Array) -> Array:
    """`a * b + c`, rounded once."""
    if format.element == "f64":
        return rounding.fma_f64(a, b, c, mode)
    if format.is_single and mode == "rn":
        return rounding.fma_f32(a, b, c)
    product = a.astype(np.float64) * b.astype(np.float64)
    return _sum(mode, _WIDE, product, c.astype(np.float64))


# Stands for any narrow format in `_sum`: not f64 itself, and never computed in float32.
_WIDE: Final = FORMATS["f16"]

Arithmetic = Callable[..., Array]


def float_arithmetic(op: Operation, function: Arithmetic, sources: int) -> Run:
    """The handler of an instruction whose result is a function of its sources."""
    modifiers = Modifiers(op)
    write = op.write(0, modifiers.format.type)
    reads = [modifiers.reader(op, at + 1) for at in range(sources)]
    mode, format, close = modifiers.mode, modifiers.format, modifiers.close
    if sources == 2:
        first, second = reads
        return lambda lanes: write(
            lanes, close(function(mode, format, first(lanes), second(lanes)))
        )

    def run(lanes: Lanes) -> None:
        write(lanes, close(function(mode, format, *(read(lanes) for read in reads))))

    return run


def extreme(op: Operation, greater: bool) -> Run:
    """`max` and `min` of floats: NaN loses unless `.NaN`, and -0 is less than 0."""
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
        with_nan, without = (np.maximum, np.fmax) if greater else (np.minimum, np.fmin)
        result = with_nan(a, b) if propagate else without(a, b)
        zeros = (a == 0) & (b == 0)
        if zeros.any():
            negative = np.signbit(a) & np.signbit(b) if greater else np.signbit(a) | np.signbit(b)
            zero = np.where(negative, -0.0, 0.0).astype(result.dtype)
            result = np.where(zeros, zero, result)
        return np.where(sign, -abs(result), abs(result)) if xorsign else result

    def run(lanes: Lanes) -> None:
        result, *others = (read(lanes) for read in reads)
        for other in others:
            result = pick(result, other)
        write(lanes, modifiers.close(result))

    return run


def sign_change(op: Operation, function: Callable[[Array, Array], Array]) -> Run:
    """`abs` and `neg` of floats, on the sign bits."""
    ftz = op.flag("ftz")
    format = FORMATS[op.choice(*FORMATS) or op.unsupported("float type")]
    type = SCALAR_TYPES[f"b{format.type.bits}"]
    write, read = op.write(0, type), op.read(1, type)
    width = format.type.bits // format.lanes
    sign = sum(1 << (width * (at + 1) - 1) for at in range(format.lanes))
    signs = type.dtype.type(sign)
    if not (ftz and format.is_single):
        return lambda lanes: write(lanes, function(read(lanes), signs))

    def run(lanes: Lanes) -> None:
        flushed = rounding.flush(np.ascontiguousarray(read(lanes)).view(np.float32))
        write(lanes, function(flushed.view(type.dtype), signs))

    return run
