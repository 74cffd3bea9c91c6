"""`cvt` to and from pairs: f16 and bf16, floats of at most 8 bits, saturated integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilewright.ptxsim import rounding
from tilewright.ptxsim.float_formats import FORMATS, FloatFormat
from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.mini_floats import MINI_FLOATS, MiniFloat, Scale
from tilewright.ptxsim.operation import Operation, Read
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, UNSIGNED, Array, ScalarType

# Encodes float64 numbers, two per lane with the lower one first, into registers.
Encode = Callable[[Array], Array]


def convert_pair(op: Operation, target: ScalarType, source: ScalarType, mode: str) -> Run:
    """`cvt.x2.f32 d, a, b` puts a into the upper half; other sources are pairs themselves."""
    if not target.name.endswith("x2") or "f32x2" in (target.name, source.name):
        op.unsupported(f"from .{source.name} to .{target.name}")
    relu, finite = op.flag("relu"), op.flag("satfinite")
    write, numbers = op.write(0, target), _reader(op, source)
    encode = _encoder(op, target, mode, finite)

    def run(lanes: Lanes) -> None:
        values = numbers(lanes)
        write(lanes, encode(rounding.relu(values) if relu else values))

    return run


def _reader(op: Operation, source: ScalarType) -> Read:
    """Read the pairs of numbers of the sources as one vector."""
    if source.name == "f32":
        high, low = op.read(1, source), op.read(2, source)

        def read_two(lanes: Lanes) -> Array:
            values = np.empty((lanes.count, 2), np.float64)
            values[:, 0], values[:, 1] = low(lanes), high(lanes)
            return values.reshape(-1)

        return read_two
    if not source.name.endswith("x2"):
        op.unsupported(f"from .{source.name}")
    read = op.read(1, source)
    if source.name in FORMATS:
        format = FORMATS[source.name]
        return lambda lanes: format.decode(read(lanes)).astype(np.float64, copy=False)
    mini = _mini(op, source)
    return lambda lanes: mini.decode(_patterns(read(lanes), mini.bits))


def _mini(op: Operation, type: ScalarType) -> MiniFloat | Scale:
    name = type.name.removesuffix("x2")
    if name == "ue8m0":
        return Scale()
    return MINI_FLOATS.get(name) or op.unsupported(f".{type.name}")


def _patterns(registers: Array, bits: int) -> Array:
    """The two patterns of every register, lower half first."""
    raw = np.ascontiguousarray(registers).view(np.uint8)
    if bits != 4:
        return raw
    return np.stack((raw & np.uint8(15), raw >> np.uint8(4)), axis=1).reshape(-1)


def _encoder(op: Operation, target: ScalarType, mode: str, finite: bool) -> Encode:
    if target.name in FORMATS:
        return _wide_encoder(FORMATS[target.name], mode, finite)
    mini = _mini(op, target)
    if isinstance(mini, Scale):
        return lambda values: mini.encode(values, mode).view(target.dtype)
    if mini.bits != 4:
        return lambda values: mini.encode(values).view(target.dtype)

    def encode(values: Array) -> Array:
        pairs = mini.encode(values).reshape(-1, 2)
        return pairs[:, 0] | pairs[:, 1] << np.uint8(4)

    return encode


def _wide_encoder(format: FloatFormat, mode: str, finite: bool) -> Encode:
    largest = LARGEST[format.element]

    def encode(values: Array) -> Array:
        return format.encode(np.clip(values, -largest, largest) if finite else values, mode)

    return encode


LARGEST = {
    "f16": 65504.0,
    "bf16": float(np.ldexp(1.9921875, 127)),
    "f32": float(np.finfo(np.float32).max),
}


@instruction("cvt.pack.sat")
def pack_integers(op: Operation) -> Run:
    """`cvt.pack.sat.u8.s32.b32 d, a, b, c`: pack a above b, clamped, with c in the upper bits."""
    element = op.choice("u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2")
    if element is None:
        op.fail("expected the type of the results")
    source, rest = op.type(), op.optional_type()
    bits, signed = int(element[1:]), element[0] == "s"
    low = -(1 << (bits - 1)) if signed else 0
    high = (1 << (bits - signed)) - 1
    mask = np.int64((1 << bits) - 1)
    write = op.write(0, SCALAR_TYPES["b32"])
    first, second = op.read(1, source), op.read(2, source)
    third = op.read(3, SCALAR_TYPES["b32"]) if rest is not None else None

    def run(lanes: Lanes) -> None:
        upper, lower = (
            np.clip(read(lanes).astype(np.int64), low, high) & mask for read in (first, second)
        )
        whole = upper << np.int64(bits) | lower
        if third is not None:
            whole = whole | third(lanes).astype(np.int64) << np.int64(2 * bits)
        write(lanes, whole.astype(UNSIGNED[32]))

    return run
