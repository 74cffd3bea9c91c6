"""Logic, shifts and bit fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.operation import Operation
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, Array
from tilewright.ptxsim.syntax import Pair

_U32: Final = SCALAR_TYPES["u32"]
_LOGIC: Final[dict[str, Callable[[Array, Array], Array]]] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


@instruction(*_LOGIC)
def logic(op: Operation) -> Run:
    """`and`, `or`, `xor`, of bits and of predicates."""
    type, function = op.type("bsup"), _LOGIC[op.name]
    write, first, second = op.write(0, type), op.read(1, type), op.read(2, type)
    return lambda lanes: write(lanes, function(first(lanes), second(lanes)))


@instruction("not")
def invert(op: Operation) -> Run:
    """`~a`."""
    type = op.type("bsup")
    write, read = op.write(0, type), op.read(1, type)
    return lambda lanes: write(lanes, ~read(lanes))


@instruction("cnot")
def c_not(op: Operation) -> Run:
    """1 if a is zero, else 0."""
    type = op.type("bsu")
    write, read = op.write(0, type), op.read(1, type)
    return lambda lanes: write(lanes, read(lanes) == 0)


def shift_left(a: Array, amount: Array) -> Array:
    """`a << amount`; zero if the amount exceeds the width."""
    bits = 8 * a.dtype.itemsize
    shifted = a << (amount & (bits - 1)).astype(a.dtype)
    return np.where(amount < bits, shifted, a.dtype.type(0))


def shift_right(a: Array, amount: Array) -> Array:
    """`a >> amount`; the sign or zero if the amount exceeds the width."""
    last = 8 * a.dtype.itemsize - 1
    if a.dtype.kind == "i":
        return a >> np.minimum(amount, amount.dtype.type(last)).astype(a.dtype)
    shifted = a >> (amount & last).astype(a.dtype)
    return np.where(amount <= last, shifted, a.dtype.type(0))


@instruction("shl", "shr")
def shift(op: Operation) -> Run:
    """`a << b` and `a >> b`, with large amounts clamped."""
    type = op.type("bsu")
    function = shift_left if op.name == "shl" else shift_right
    write, read, amount = op.write(0, type), op.read(1, type), op.read(2, _U32)
    return lambda lanes: write(lanes, function(read(lanes), amount(lanes)))


@instruction("shf")
def funnel_shift(op: Operation) -> Run:
    """Shift `b:a`, and return 32 of the 64 bits."""
    left = op.choice("l", "r") == "l"
    clamp = op.choice("clamp", "wrap") == "clamp"
    type = op.type("bsu")
    write = op.write(0, _U32)
    low, high, amount = (op.read(at, _U32) for at in (1, 2, 3))
    if type.bits != 32:
        op.unsupported(type.name)

    def run(lanes: Lanes) -> None:
        whole = (high(lanes).astype(np.uint64) << np.uint64(32)) | low(lanes)
        n = amount(lanes)
        n = (np.minimum(n, np.uint32(32)) if clamp else n & np.uint32(31)).astype(np.uint64)
        shifted = (whole << n) >> np.uint64(32) if left else whole >> n
        write(lanes, shifted.astype(np.uint32))

    return run


@instruction("lop3")
def three_input_logic(op: Operation) -> Run:
    """Any function of three bits, as a truth table; optionally test the result."""
    combine = op.choice("or", "and")
    type = op.type("bsu")
    target = op.operand(0)
    write = op.write(target.first if isinstance(target, Pair) else target, type)
    test = op.write(target.second, SCALAR_TYPES["pred"]) if isinstance(target, Pair) else None
    reads = [op.read(at, type) for at in (1, 2, 3)]
    table = op.constant(4)
    also = op.predicate(5) if combine else None

    def run(lanes: Lanes) -> None:
        a, b, c = (read(lanes) for read in reads)
        result = np.zeros(1, type.dtype)
        for row in range(8):
            if table >> row & 1:
                term = a if row & 4 else ~a
                term = term & (b if row & 2 else ~b)
                result = result | (term & (c if row & 1 else ~c))
        write(lanes, result)
        if test is not None and also is not None:
            some = result != 0
            test(lanes, (some | also(lanes)) if combine == "or" else (some & also(lanes)))

    return run


def _field(position: Array, length: Array, bits: int) -> tuple[Array, Array]:
    """Position and length of a bit field: the operands' low 8 bits, all for 64 bits."""
    if bits == 64:
        return np.minimum(position, np.uint32(255)), np.minimum(length, np.uint32(255))
    return position & np.uint32(0xFF), length & np.uint32(0xFF)


def _ones(count: Array, dtype: np.dtype[np.unsignedinteger]) -> Array:
    """A mask of the `count` lowest bits."""
    bits = 8 * dtype.itemsize
    partial = (dtype.type(1) << (count & (bits - 1)).astype(dtype)) - dtype.type(1)
    return np.where(count >= bits, ~dtype.type(0), partial)


@instruction("bfe")
def extract_field(op: Operation) -> Run:
    """The bit field of `a` at position `b` with `c` bits, sign- or zero-extended."""
    type = op.type("bsu")
    plain = SCALAR_TYPES[f"u{type.bits}"]
    write, read = op.write(0, plain), op.read(1, plain)
    start, length = op.read(2, _U32), op.read(3, _U32)
    last = np.uint32(type.bits - 1)

    def run(lanes: Lanes) -> None:
        a = read(lanes)
        position, count = _field(start(lanes), length(lanes), type.bits)
        mask = _ones(count, plain.dtype)
        result = shift_right(a, position) & mask
        if type.is_signed:
            # The sign is the field's last bit, or the register's if the field exceeds it.
            sign_bit = np.minimum(position + count - np.uint32(1), last)
            sign = shift_right(a, sign_bit) & plain.dtype.type(1)
            extend: Array = (sign != 0) & (count != 0)
            covered = _ones(
                np.minimum(count, np.uint32(type.bits) - np.minimum(position, last)), plain.dtype
            )
            inside = np.where(position > last, plain.dtype.type(0), covered)
            result = np.where(extend, (result & inside) | ~inside, result)
        write(lanes, result)

    return run


@instruction("bfi")
def insert_field(op: Operation) -> Run:
    """Insert the low `d` bits of `a` into `b` at position `c`."""
    type = SCALAR_TYPES[f"u{op.type('bsu').bits}"]
    write, source, base = op.write(0, type), op.read(1, type), op.read(2, type)
    start, length = op.read(3, _U32), op.read(4, _U32)

    def run(lanes: Lanes) -> None:
        position, count = _field(start(lanes), length(lanes), type.bits)
        mask = shift_left(_ones(count, type.dtype), position)
        moved = shift_left(source(lanes), position)
        write(lanes, (base(lanes) & ~mask) | (moved & mask))

    return run


def highest_bit(a: Array) -> Array:
    """The index of the highest one of unsigned numbers; -1 for zero."""
    if a.dtype.itemsize < 8:
        return np.frexp(a.astype(np.float64))[1].astype(np.int64) - 1
    upper = highest_bit((a >> np.uint64(32)).astype(np.uint32))
    lower = highest_bit((a & np.uint64(0xFFFFFFFF)).astype(np.uint32))
    return np.where(upper >= 0, upper + 32, lower)


@instruction("bfind")
def find_bit(op: Operation) -> Run:
    """The index of the highest bit that differs from the sign, or the shift that normalizes it."""
    shift_amount = op.flag("shiftamt")
    type = op.type("bsu")
    write, read, plain = op.write(0, _U32), op.read(1, type), type.unsigned

    def run(lanes: Lanes) -> None:
        a = read(lanes)
        if type.is_signed:
            a = np.where(a < 0, ~a, a)
        position = highest_bit(a.view(plain))
        if shift_amount:
            position = np.where(position < 0, -1, type.bits - 1 - position)
        write(lanes, position.astype(np.uint32))

    return run


@instruction("clz")
def count_leading_zeros(op: Operation) -> Run:
    """Count leading zeros."""
    type = op.type("bsu")
    write, read = op.write(0, _U32), op.read(1, type)
    top = type.bits - 1
    return lambda lanes: write(lanes, (top - highest_bit(read(lanes))).astype(np.uint32))


@instruction("popc")
def count_ones(op: Operation) -> Run:
    """Population count."""
    type = op.type("bsu")
    write, read = op.write(0, _U32), op.read(1, type)
    return lambda lanes: write(lanes, np.bitwise_count(read(lanes)))


_SWAPS: Final = (
    (1, 0x5555555555555555),
    (2, 0x3333333333333333),
    (4, 0x0F0F0F0F0F0F0F0F),
)


@instruction("brev")
def reverse_bits(op: Operation) -> Run:
    """The bits in reverse order."""
    type = op.type("bsu")
    write, read, dtype = op.write(0, type), op.read(1, type), type.dtype
    full = (1 << type.bits) - 1

    def run(lanes: Lanes) -> None:
        a = read(lanes).byteswap()
        for amount, pattern in _SWAPS:
            mask, n = dtype.type(pattern & full), dtype.type(amount)
            a = ((a >> n) & mask) | ((a & mask) << n)
        write(lanes, a)

    return run


@instruction("fns")
def find_nth_set(op: Operation) -> Run:
    """`fns d, mask, base, offset`: the index of the offset-th one from the base."""
    op.type("bsu")
    write, masks, bases = op.write(0, _U32), op.read(1, _U32), op.read(2, _U32)
    offsets = op.read(3, SCALAR_TYPES["s32"])

    def one(mask: int, base: int, offset: int) -> int:
        if offset == 0:
            return base if mask >> (base & 31) & 1 else 0xFFFFFFFF
        step = 1 if offset > 0 else -1
        indices = range(base, 32) if offset > 0 else range(base, -1, -1)
        ones = [index for index in indices if mask >> index & 1]
        count = offset * step
        return ones[count - 1] if count <= len(ones) else 0xFFFFFFFF

    def run(lanes: Lanes) -> None:
        columns = [lanes.spread(read(lanes)).tolist() for read in (masks, bases, offsets)]
        write(lanes, np.array([one(*row) for row in zip(*columns, strict=True)], np.uint32))

    return run


_PERMUTE_MODES: Final = ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")


@instruction("prmt")
def permute_bytes(op: Operation) -> Run:
    """Select four of the eight bytes of `b:a`; bit 3 of a selector replicates the byte's sign."""
    op.type("bsu")
    mode = op.choice(*_PERMUTE_MODES)
    write = op.write(0, _U32)
    low, high, control = (op.read(at, _U32) for at in (1, 2, 3))

    def run(lanes: Lanes) -> None:
        whole = (high(lanes).astype(np.uint64) << np.uint64(32)) | low(lanes)
        select = control(lanes)
        result = np.zeros(1, np.uint64)
        for at in range(4):
            choice = _choice(mode, select, at).astype(np.uint64)
            byte = (whole >> ((choice & np.uint64(7)) * np.uint64(8))) & np.uint64(0xFF)
            sign = np.where(byte & np.uint64(0x80), np.uint64(0xFF), np.uint64(0))
            byte = np.where(choice & np.uint64(8), sign, byte)
            result = result | (byte << np.uint64(8 * at))
        write(lanes, result.astype(np.uint32))

    return run


def _choice(mode: str | None, select: Array, at: int) -> Array:
    """The selector of byte `at` of the result."""
    if mode is None:
        return (select >> np.uint32(4 * at)) & np.uint32(0xF)
    n = select & np.uint32(3)
    byte = np.uint32(at)
    if mode == "f4e":
        return n + byte
    if mode == "b4e":
        return (n - byte) & np.uint32(7)
    if mode == "rc8":
        return n
    if mode == "ecl":
        return np.maximum(n, byte)
    if mode == "ecr":
        return np.minimum(n, byte)
    return (n & np.uint32(1)) * np.uint32(2) + (byte & np.uint32(1))


@instruction("bmsk")
def bit_mask(op: Operation) -> Run:
    """A mask of `b` ones from bit `a`."""
    clamp = op.choice("clamp", "wrap") == "clamp"
    op.type("bsu")
    write, start, length = op.write(0, _U32), op.read(1, _U32), op.read(2, _U32)

    def run(lanes: Lanes) -> None:
        position, count = start(lanes), length(lanes)
        if not clamp:
            position, count = position & np.uint32(31), count & np.uint32(31)
        ones = _ones(np.minimum(count, np.uint32(32)), np.dtype(np.uint32))
        write(lanes, shift_left(ones, position))

    return run


@instruction("szext")
def extend(op: Operation) -> Run:
    """Sign- or zero-extend the low `b` bits of `a`."""
    clamp = op.choice("clamp", "wrap") == "clamp"
    type = op.type("bsu")
    write, read, length = op.write(0, _U32), op.read(1, _U32), op.read(2, _U32)

    def run(lanes: Lanes) -> None:
        a, count = np.broadcast_arrays(read(lanes), length(lanes))
        count = np.minimum(count, np.uint32(32)) if clamp else count & np.uint32(31)
        mask = _ones(count, np.dtype(np.uint32))
        sign = shift_right(a, np.maximum(count, np.uint32(1)) - np.uint32(1)) & np.uint32(1)
        negative = type.is_signed & (sign != 0) & (count != 0)
        write(lanes, np.where(negative, a | ~mask, a & mask))

    return run
