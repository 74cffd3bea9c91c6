"""`cvt` between integers and floats of all widths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tilewright.ptxsim import rounding
from tilewright.ptxsim.float_formats import FORMATS
from tilewright.ptxsim.instructions.floating import ROUNDINGS
from tilewright.ptxsim.instructions.packed_conversion import LARGEST, convert_pair
from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.operation import Operation
from tilewright.ptxsim.scalar_types import Array, ScalarType

Convert = Callable[[Array], Array]
_TO_INTEGER: Final[dict[str, Convert]] = {
    "rni": np.rint,
    "rzi": np.trunc,
    "rmi": np.floor,
    "rpi": np.ceil,
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
        """Apply saturation, relu and satfinite to float64 numbers."""
        if self.saturate:
            numbers = rounding.saturate(numbers)
        if self.relu:
            numbers = rounding.relu(numbers)
        if self.finite:
            largest = LARGEST[element]
            numbers = np.clip(numbers, -largest, largest)
        return numbers


@instruction("cvt")
def convert(op: Operation) -> Run:
    """`cvt.d.s d, a`."""
    if any(modifier.endswith("x2") for modifier in op.modifiers):
        mode = op.choice(*ROUNDINGS) or "rn"
        return convert_pair(op, op.type(), op.type(), mode)
    modifiers = _Modifiers(op)
    target, source = op.type(), op.type()
    write, read = op.write(0, target), op.read(1, source)
    function = _conversion(op, modifiers, target, source)
    return lambda lanes: write(lanes, function(read(lanes)))


def _conversion(
    op: Operation, modifiers: _Modifiers, target: ScalarType, source: ScalarType
) -> Convert:
    if not target.is_float and not source.is_float:
        return _integer_to_integer(modifiers, target, source)
    if not source.is_float:
        return _integer_to_float(op, modifiers, target)
    if target.name == "tf32":
        if source.name != "f32" or modifiers.mode not in _TF32_HALF:
            op.unsupported(f"from .{source.name} to .tf32")
        return _to_tf32(modifiers)
    decode = _decoder(op, modifiers, source)
    if not target.is_float:
        return _float_to_integer(modifiers, target, source, decode)
    return _float_to_float(op, modifiers, target, source, decode)


def _integer_to_integer(modifiers: _Modifiers, target: ScalarType, source: ScalarType) -> Convert:
    dtype = target.dtype
    if not modifiers.saturate:
        return lambda values: values.astype(dtype)
    wanted, given = np.iinfo(dtype), np.iinfo(source.dtype)
    low, high = max(wanted.min, given.min), min(wanted.max, given.max)
    return lambda values: np.clip(values, low, high).astype(dtype)


def _integer_to_float(op: Operation, modifiers: _Modifiers, target: ScalarType) -> Convert:
    encode = _encoder(op, modifiers, target)

    def run(values: Array) -> Array:
        if values.dtype.itemsize < 8:
            return encode(values.astype(np.float64))
        # Two parts that are exact in float64; their sum is rounded to odd.
        low = (values & values.dtype.type(0xFFFFFFFF)).astype(np.float64)
        high = (values >> values.dtype.type(32)).astype(np.float64) * 2.0**32
        if target.name != "f64":
            return encode(rounding.sum_to_odd(high, low))
        return rounding.add_f64(high, low, modifiers.mode)

    return run


def _decoder(op: Operation, modifiers: _Modifiers, source: ScalarType) -> Convert:
    """Decode source registers to float64."""
    format = FORMATS.get(source.name)
    if format is None or format.lanes != 1:
        op.unsupported(f"from .{source.name}")
    if format.is_single and modifiers.ftz and "f16" not in op.modifiers:
        return lambda values: rounding.flush(rounding.canonical(values)).astype(np.float64)
    return lambda values: format.decode(values).astype(np.float64, copy=False)


def _encoder(op: Operation, modifiers: _Modifiers, target: ScalarType) -> Convert:
    """Round float64 once and encode it into target registers."""
    format = FORMATS.get(target.name)
    unbounded = modifiers.finite and target.name not in LARGEST
    if format is None or format.lanes != 1 or modifiers.mode == "rna" or unbounded:
        op.unsupported(f"to .{target.name}")

    to_bits, element, flushes = format.encode, format.element, modifiers.ftz and format.is_single

    def encode(numbers: Array) -> Array:
        encoded = to_bits(modifiers.clamp(numbers, element), modifiers.mode)
        return rounding.flush(encoded) if flushes else encoded

    return encode


def _to_tf32(modifiers: _Modifiers) -> Convert:
    """Round f32 to tf32: an f32 whose lower 13 bits are zero."""
    step, sign = np.uint32(0x2000), np.uint32(1 << 31)
    infinity = np.uint32(0x7F800000)

    def run(values: Array) -> Array:
        bits = np.ascontiguousarray(values).view(np.uint32)
        nan = np.isnan(values)
        half = _TF32_HALF[modifiers.mode](bits)
        # NaNs are not rounded; `rna` treats them as large numbers.
        bits = np.where(nan, bits, bits + half) & ~(step - np.uint32(1))
        if modifiers.finite:
            bits = np.where((bits & ~sign) >= infinity, bits - step, bits)
        if modifiers.mode != "rna":
            bits = np.where(nan, np.uint32(0x7FFFE000), bits)
        if modifiers.relu:
            bits = np.where((bits & sign) != 0, np.uint32(0), bits)
        return bits

    return run


_TF32_HALF: Final[dict[str, Callable[[Array], Any]]] = {
    "rn": lambda bits: np.uint32(0xFFF) + ((bits >> np.uint32(13)) & np.uint32(1)),
    "rna": lambda bits: np.uint32(0x1000),
    "rz": lambda bits: np.uint32(0),
}


def _float_to_integer(
    modifiers: _Modifiers, target: ScalarType, source: ScalarType, decode: Convert
) -> Convert:
    integral = _TO_INTEGER[modifiers.to_integral or "rzi"]
    limits = np.iinfo(target.dtype)
    wide = source.bits == 64 or target.bits == 64
    not_a_number = np.array([1 << (target.bits - 1) if wide else 0], target.unsigned)

    def run(values: Array) -> Array:
        numbers = decode(values)
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
    decode: Convert,
) -> Convert:
    encode = _encoder(op, modifiers, target)
    integral = _TO_INTEGER[modifiers.to_integral] if modifiers.to_integral else None

    def run(values: Array) -> Array:
        numbers = decode(values)
        encoded = encode(numbers if integral is None else _keep_zero(integral, numbers))
        return keep(values, encoded) if np.isnan(numbers).any() else encoded

    def keep(values: Array, encoded: Array) -> Array:
        kept = _kept_nans(values, target, source, modifiers)
        if kept is None:
            return encoded
        return np.where(kept != 0, kept, encoded.view(kept.dtype)).view(encoded.dtype)

    return run


def _kept_nans(
    values: Array, target: ScalarType, source: ScalarType, modifiers: _Modifiers
) -> Array | None:
    """NaNs that keep their payload (f64, and bf16 to f32), and zero for other lanes."""
    if modifiers.saturate:
        return None
    bits = np.ascontiguousarray(values).view(source.unsigned)
    if source.name == "bf16" and target.name == "f32" and not modifiers.ftz:
        wide = bits.astype(np.uint32) << np.uint32(16)
        return np.where((bits & 0x7FFF) > 0x7F80, wide, np.uint32(0))
    if source.name != "f64" or target.name == "f64":
        return None
    exponent, mantissa = _FIELDS[target.name]
    width = exponent + mantissa
    top = (bits >> np.uint64(63)) << np.uint64(width)
    top |= np.uint64(((1 << (exponent + 1)) - 1) << (mantissa - 1))
    kept = top | (bits & np.uint64((1 << 52) - 1)) >> np.uint64(52 - mantissa)
    return np.where(np.isnan(values), kept, np.uint64(0)).astype(target.unsigned)


_FIELDS: Final = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23)}


def _keep_zero(integral: Callable[[Any], Array], numbers: Array) -> Array:
    """Round to an integer, with the sign of the operand for zeros."""
    return np.copysign(integral(numbers), numbers)
