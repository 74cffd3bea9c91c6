"""Integer arithmetic: carries, saturation, mul.hi, division."""

from __future__ import annotations

from typing import Final

import numpy as np

from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.operation import Operation, Read
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, SIGNED, UNSIGNED, Array, ScalarType

_PAIRS: Final = {"u16x2": "u16", "s16x2": "s16"}


def _carry_slot(op: Operation) -> int:
    """The slot of the condition code: one carry bit per thread."""
    return op.layout.extra("%cc", lambda wave: np.zeros(wave.thread_count, np.bool_))


def _paired(read: Read, element: ScalarType) -> Read:
    dtype = element.dtype
    return lambda lanes: np.ascontiguousarray(read(lanes)).view(dtype)


def add(op: Operation, subtract: bool) -> Run:
    """`add`, `sub`, and their forms with carry."""
    takes_carry = op.name.endswith("c")
    gives_carry, saturates = op.flag("cc"), op.flag("sat")
    type = op.type()
    write, first, second = op.write(0, type), op.read(1, type), op.read(2, type)
    if type.name in _PAIRS:
        return _add_pairs(op, type, subtract)
    if takes_carry or gives_carry:
        return _add_with_carry(op, type, subtract, takes_carry, gives_carry)
    if saturates:
        return lambda lanes: write(lanes, _clamped(first(lanes), second(lanes), subtract))
    if subtract:
        return lambda lanes: write(lanes, first(lanes) - second(lanes))
    return lambda lanes: write(lanes, first(lanes) + second(lanes))


def _add_pairs(op: Operation, type: ScalarType, subtract: bool) -> Run:
    element = SCALAR_TYPES[_PAIRS[type.name]]
    write = op.write(0, type)
    first, second = (_paired(op.read(at, type), element) for at in (1, 2))
    sign = element.dtype.type(1)

    def run(lanes: Lanes) -> None:
        a, b = first(lanes), second(lanes)
        write(lanes, (a - b * sign if subtract else a + b).view(type.dtype))

    return run


def _clamped(a: Array, b: Array, subtract: bool) -> Array:
    wide = a.astype(np.int64) - b if subtract else a.astype(np.int64) + b
    limits = np.iinfo(a.dtype)
    return np.clip(wide, limits.min, limits.max).astype(a.dtype)


def _add_with_carry(
    op: Operation, type: ScalarType, subtract: bool, takes: bool, gives: bool
) -> Run:
    plain = SCALAR_TYPES[f"u{type.bits}"]
    write, first, second = op.write(0, plain), op.read(1, plain), op.read(2, plain)
    slot = _carry_slot(op)

    def run(lanes: Lanes) -> None:
        a, b = first(lanes), second(lanes)
        carry = lanes.cells[slot][lanes.select] & takes
        # a - b - borrow is a + ~b + 1 - borrow, and the device keeps the borrow, not its opposite.
        one = carry.astype(a.dtype)
        partial = a - b if subtract else a + b
        over = a < b if subtract else partial < a
        result = partial - one if subtract else partial + one
        over = over | ((partial < one) if subtract else (result < one))
        if gives:
            lanes.cells[slot][lanes.select] = over
        write(lanes, result)

    return run


def high_half(a: Array, b: Array) -> Array:
    """The upper half of the double-width result of `a * b`."""
    bits = 8 * a.dtype.itemsize
    if bits < 64:
        wide = np.int64 if a.dtype.kind == "i" else np.uint64
        return ((a.astype(wide) * b.astype(wide)) >> wide(bits)).astype(a.dtype)
    x, y = a.view(np.uint64), b.view(np.uint64)
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    x0, x1, y0, y1 = x & low, x >> half, y & low, y >> half
    middle = x1 * y0 + ((x0 * y0) >> half)
    other = x0 * y1 + (middle & low)
    high = x1 * y1 + (middle >> half) + (other >> half)
    if a.dtype.kind == "i":
        high = high - np.where(a < 0, y, np.uint64(0)) - np.where(b < 0, x, np.uint64(0))
    return high.view(a.dtype)


def _wider(op: Operation, type: ScalarType) -> ScalarType:
    if type.bits > 32:
        op.fail("expected operands of at most 32 bits")
    return SCALAR_TYPES[f"{'s' if type.is_signed else 'u'}{2 * type.bits}"]


def _multiply(a: Array, b: Array, half: str, wide: ScalarType | None) -> Array:
    if half == "hi":
        return high_half(a, b)
    if wide is not None:
        return a.astype(wide.dtype) * b.astype(wide.dtype)
    return a * b


def multiply(op: Operation) -> Run:
    """`mul.lo`, `mul.hi`, `mul.wide`."""
    half = op.choice("lo", "hi", "wide") or op.fail("expected .lo, .hi or .wide")
    type = op.type("su")
    wide = _wider(op, type) if half == "wide" else None
    write, first, second = op.write(0, wide or type), op.read(1, type), op.read(2, type)
    if half == "lo":
        return lambda lanes: write(lanes, first(lanes) * second(lanes))
    return lambda lanes: write(lanes, _multiply(first(lanes), second(lanes), half, wide))


def multiply_add(op: Operation) -> Run:
    """`mad` and `madc`."""
    half = op.choice("lo", "hi", "wide") or op.fail("expected .lo, .hi or .wide")
    takes, gives, saturates = op.name == "madc", op.flag("cc"), op.flag("sat")
    type = op.type("su")
    wide = _wider(op, type) if half == "wide" else None
    result = wide or type
    write, addend = op.write(0, result), op.read(3, result)
    first, second = op.read(1, type), op.read(2, type)
    if takes or gives:
        slot = _carry_slot(op)

        def run_carry(lanes: Lanes) -> None:
            low_or_high = _multiply(first(lanes), second(lanes), half, wide)
            a, b = (each.view(result.unsigned) for each in (low_or_high, addend(lanes)))
            one = (lanes.cells[slot][lanes.select] & takes).astype(a.dtype)
            partial = a + b
            result_bits = partial + one
            if gives:
                lanes.cells[slot][lanes.select] = (partial < a) | (result_bits < one)
            write(lanes, result_bits.view(result.dtype))

        return run_carry

    def run(lanes: Lanes) -> None:
        low_or_high = _multiply(first(lanes), second(lanes), half, wide)
        if saturates:
            write(lanes, _clamped(low_or_high, addend(lanes), False))
        else:
            write(lanes, low_or_high + addend(lanes))

    return run


def extreme(op: Operation, greater: bool) -> Run:
    """`min` and `max`."""
    relu = op.flag("relu")
    type = op.type()
    element = SCALAR_TYPES[_PAIRS.get(type.name, type.name)]
    write = op.write(0, type)
    first, second = (_paired(op.read(at, type), element) for at in (1, 2))
    pick = np.maximum if greater else np.minimum
    zero = element.dtype.type(0)

    def run(lanes: Lanes) -> None:
        result = pick(first(lanes), second(lanes))
        write(lanes, (np.maximum(result, zero) if relu else result).view(type.dtype))

    return run


def absolute(op: Operation) -> Run:
    """`abs`."""
    type = op.type()
    write, read = op.write(0, type), op.read(1, type)
    return lambda lanes: write(lanes, abs(read(lanes)))


def negate(op: Operation) -> Run:
    """`neg`."""
    type = op.type()
    write, read = op.write(0, type), op.read(1, type)
    return lambda lanes: write(lanes, -read(lanes))


def divide(op: Operation, remainder: bool) -> Run:
    """`div` and `rem`, truncated.

    PTX leaves division by zero undefined; the hardware returns all ones.
    """
    type = op.type()
    write, first, second = op.write(0, type), op.read(1, type), op.read(2, type)
    plain = UNSIGNED[type.bits]

    def run(lanes: Lanes) -> None:
        a, b = np.broadcast_arrays(first(lanes), second(lanes))
        x, y = abs(a).view(plain), abs(b).view(plain)
        by_zero = y == 0
        y = np.where(by_zero, plain.type(1), y)
        magnitude = x % y if remainder else x // y
        negative = a < 0 if remainder else (a < 0) ^ (b < 0)
        signed = np.where(negative, -magnitude, magnitude)
        write(lanes, np.where(by_zero, ~plain.type(0), signed).view(type.dtype))

    return run


@instruction("mul24", "mad24")
def multiply_24(op: Operation) -> Run:
    """Multiply the low 24 bits: the low 32 bits of the 48-bit result, or the high ones."""
    half = op.choice("lo", "hi") or op.fail("expected .lo or .hi")
    saturates = op.flag("sat")
    type = op.type()
    write = op.write(0, type)
    reads = [op.read(at, type) for at in range(1, op.operand_count)]
    shift = 0 if half == "lo" else 16

    def run(lanes: Lanes) -> None:
        a, b = (read(lanes).astype(np.int64) & 0xFFFFFF for read in reads[:2])
        if type.is_signed:
            a, b = ((each ^ 0x800000) - 0x800000 for each in (a, b))
        result = ((a * b) >> shift).astype(np.uint64).astype(UNSIGNED[32]).view(type.dtype)
        if saturates:
            result = _clamped(result, reads[2](lanes), False)
        elif len(reads) > 2:
            result = result + reads[2](lanes)
        write(lanes, result)

    return run


@instruction("sad")
def sum_of_absolute_difference(op: Operation) -> Run:
    """`c + |a - b|`."""
    type = op.type()
    write = op.write(0, type)
    first, second, third = (op.read(at, type) for at in (1, 2, 3))

    def run(lanes: Lanes) -> None:
        a, b = first(lanes), second(lanes)
        write(lanes, third(lanes) + np.where(a < b, b - a, a - b))

    return run


@instruction("dp4a", "dp2a")
def dot_product(op: Operation) -> Run:
    """`dp4a`: dot of four int8 pairs; `dp2a`: of two int16 of `a` with two int8 of `b`."""
    half = op.choice("lo", "hi")
    left, right = op.type("su"), op.type("su")
    if (half is None) != (op.name == "dp4a"):
        op.fail("expected .lo or .hi for dp2a, and neither for dp4a")
    bits = SCALAR_TYPES["b32"]
    result = SCALAR_TYPES["s32" if left.is_signed or right.is_signed else "u32"]
    write, first, second = op.write(0, result), op.read(1, bits), op.read(2, bits)
    third = op.read(3, result)
    left_type = (SIGNED if left.is_signed else UNSIGNED)[8 if op.name == "dp4a" else 16]
    right_type = (SIGNED if right.is_signed else UNSIGNED)[8]

    def run(lanes: Lanes) -> None:
        a = np.ascontiguousarray(lanes.spread(first(lanes))).view(left_type)
        b = np.ascontiguousarray(lanes.spread(second(lanes))).view(right_type).reshape(-1, 4)
        if half is not None:
            b = b[:, :2] if half == "lo" else b[:, 2:]
        terms = a.reshape(lanes.count, -1).astype(np.int64) * b.astype(np.int64)
        accumulator = np.add.reduce(terms, axis=1) + third(lanes)
        write(lanes, accumulator.astype(UNSIGNED[32]).view(result.dtype))

    return run
