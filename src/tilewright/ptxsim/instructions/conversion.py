"""`cvt` between integers and floats of all widths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tilewright.ptxsim import rounding
from tilewright.ptxsim.float_formats import FORMATS
from tilewright.ptxsim.instructions.floating import ROUNDINGS
from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.operation import Operation, Read
from tilewright.ptxsim.scalar_types import Array, ScalarType

Convert = Callable[[Array], Array]
_TO_INTEGER: Final[dict[str, Convert]] = {
    "rni": np.rint,
    "rzi": np.trunc,
    "rmi": np.floor,
    "rpi": np.ceil,
}
_LARGEST: Final = {
    "f16": 65504.0,
    "bf16": float(np.ldexp(1.9921875, 127)),
    "tf32": float(np.ldexp(2.0 - 2.0**-10, 127)),
    "f32": float(np.finfo(np.float32).max),
}


class _Modifiers:
    """The modifiers of a conversion."""

    def __init__(self, op: Operation) -> None:
        self.mode = op.choice(*ROUNDINGS, "rna") or "rn"
        self.to_integral = op.choice(*_TO_INTEGER)
        self.ftz = op.flag("ftz")
        self.saturate = op.flag("sat")
        self.relu = op.flag("relu")
        self.finite = op.flag("satfinite")

    def clamp(self, numbers: Array, element: str) -> Array:
        """float64 numbers within the limits that the instruction asks for."""
        if self.saturate:
            numbers = rounding.saturate(numbers)
        if self.relu:
            numbers = np.where(numbers < 0, 0.0, numbers)
        if self.finite:
            largest = _LARGEST[element]
            numbers = np.clip(numbers, -largest, largest)
        return numbers


@instruction("cvt")
def convert(op: Operation) -> Run:
    """`cvt.d.s d, a`; `cvt.f16x2.f32 d, a, b` puts a into the upper half."""
    modifiers = _Modifiers(op)
    target, source = op.type(), op.type()
    write = op.write(0, target)
    if target.name in ("f16x2", "bf16x2") and source.name == "f32":
        high, low = op.read(1, source), op.read(2, source)
        return _convert_pair(modifiers, target, high, low, op)
    read = op.read(1, source)
    function = _conversion(op, modifiers, target, source)
    return lambda lanes: write(lanes, function(read(lanes)))


def _convert_pair(
    modifiers: _Modifiers, target: ScalarType, high: Read, low: Read, op: Operation
) -> Run:
    write, format = op.write(0, target), FORMATS[target.name]

    def run(lanes: Lanes) -> None:
        values = np.empty((lanes.count, 2), np.float64)
        values[:, 0], values[:, 1] = low(lanes), high(lanes)
        numbers = modifiers.clamp(values.reshape(-1), format.element)
        write(lanes, format.close(numbers, modifiers.mode))

    return run


def _conversion(
    op: Operation, modifiers: _Modifiers, target: ScalarType, source: ScalarType
) -> Convert:
    if not target.is_float and not source.is_float:
        return _integer_to_integer(modifiers, target, source)
    if not source.is_float:
        return _integer_to_float(op, modifiers, target)
    opened = _opener(op, modifiers, source)
    if not target.is_float:
        return _float_to_integer(modifiers, target, source, opened)
    return _float_to_float(op, modifiers, target, source, opened)


def _integer_to_integer(modifiers: _Modifiers, target: ScalarType, source: ScalarType) -> Convert:
    dtype = target.dtype
    if not modifiers.saturate:
        return lambda values: values.astype(dtype)
    wanted, given = np.iinfo(dtype), np.iinfo(source.dtype)
    low, high = max(wanted.min, given.min), min(wanted.max, given.max)
    return lambda values: np.clip(values, low, high).astype(dtype)


def _integer_to_float(op: Operation, modifiers: _Modifiers, target: ScalarType) -> Convert:
    close = _closer(op, modifiers, target)

    def run(values: Array) -> Array:
        if values.dtype.itemsize < 8:
            return close(values.astype(np.float64))
        # Two parts that float64 holds exactly; the sum is rounded to odd.
        low = (values & values.dtype.type(0xFFFFFFFF)).astype(np.float64)
        high = (values >> values.dtype.type(32)).astype(np.float64) * 2.0**32
        if target.name != "f64":
            return close(rounding.sum_to_odd(high, low))
        return rounding.add_f64(high, low, modifiers.mode)

    return run


def _opener(op: Operation, modifiers: _Modifiers, source: ScalarType) -> Convert:
    """Source registers to float64."""
    format = FORMATS.get(source.name)
    if format is None or format.lanes != 1:
        op.unsupported(f"from .{source.name}")
    if format.is_single and modifiers.ftz:
        return lambda values: rounding.flush(values).astype(np.float64)
    return lambda values: format.open(values).astype(np.float64, copy=False)


def _closer(op: Operation, modifiers: _Modifiers, target: ScalarType) -> Convert:
    """float64 to target registers, rounded once."""
    if target.name == "tf32":
        return lambda numbers: _tf32(modifiers.clamp(numbers, "tf32"), modifiers.mode)
    format = FORMATS.get(target.name)
    if format is None or format.lanes != 1 or modifiers.mode == "rna":
        op.unsupported(f"to .{target.name}")

    def close(numbers: Array) -> Array:
        closed = format.close(modifiers.clamp(numbers, format.element), modifiers.mode)
        return rounding.flush(closed) if modifiers.ftz and format.is_single else closed

    return close


def _tf32(numbers: Array, mode: str) -> Array:
    """float64 numbers that come from f32, to f32 bits of which the lower 13 are zero."""
    bits = numbers.astype(np.float32).view(np.uint32)
    half, drop = np.uint32(0x1000), np.uint32(0x1FFF)
    if mode == "rn":
        bits = bits + (half - np.uint32(1)) + ((bits >> np.uint32(13)) & np.uint32(1))
    elif mode == "rna":
        bits = bits + half
    return np.where(np.isnan(numbers), np.uint32(0x7FFFFFFF), bits & ~drop)


def _float_to_integer(
    modifiers: _Modifiers, target: ScalarType, source: ScalarType, opened: Convert
) -> Convert:
    integral = _TO_INTEGER[modifiers.to_integral or "rzi"]
    limits = np.iinfo(target.dtype)
    wide = source.bits == 64 or target.bits == 64
    not_a_number = np.array([1 << (target.bits - 1) if wide else 0], target.unsigned)

    def run(values: Array) -> Array:
        numbers = opened(values)
        whole = integral(numbers)
        small, large = whole <= float(limits.min), whole >= float(limits.max)
        inside = ~(small | large | np.isnan(numbers))
        result = np.where(inside, whole, 0.0).astype(target.dtype)
        result = np.where(small, target.dtype.type(limits.min), result)
        result = np.where(large, target.dtype.type(limits.max), result)
        return np.where(np.isnan(numbers), not_a_number.view(target.dtype), result)

    return run


def _float_to_float(
    op: Operation,
    modifiers: _Modifiers,
    target: ScalarType,
    source: ScalarType,
    opened: Convert,
) -> Convert:
    close = _closer(op, modifiers, target)
    integral = _TO_INTEGER[modifiers.to_integral] if modifiers.to_integral else None
    if integral is None and target.name == "f64":
        return lambda values: modifiers.clamp(opened(values), "f64")

    def run(values: Array) -> Array:
        numbers = opened(values)
        return close(numbers if integral is None else _keep_zero(integral, numbers))

    return run


def _keep_zero(integral: Callable[[Any], Array], numbers: Array) -> Array:
    """Rounding to an integer keeps the sign of what becomes zero."""
    return np.copysign(integral(numbers), numbers)
