"""Approximate functions: computed exactly and rounded, which is within the documented error.

A launch with a perturbation replaces their results by others within that error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tilewright.ptxsim import rounding
from tilewright.ptxsim.instructions.floating import Modifiers
from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.operation import Operation, Read, Write
from tilewright.ptxsim.scalar_types import Array

_PERIODS_PER_RADIAN: Final = np.float64(np.float32(1 / (2 * np.pi)))


def _in_periods(x: Array) -> Array:
    """Divide radians by 2π, truncated to float32 as in hardware: large angles become integers."""
    single = rounding.flush(rounding.narrow(x * _PERIODS_PER_RADIAN, rounding.F32, "rz"))
    return single.astype(np.float64)


def _sine(angle: Array) -> Array:
    """The sine of an angle in multiples of 2π, with exact zeros at multiples of a half."""
    part = np.fmod(angle, 1.0)
    return np.where(part % 0.5 == 0, np.copysign(0.0, angle), np.sin(2 * np.pi * part))


def _quotient(a: Array, b: Array) -> Array:
    """`a * (1 / b)`, where the reciprocal of the largest divisors is zero."""
    large = (np.abs(b) > 2.0**126) & np.isfinite(b)
    return np.where(large, a * np.copysign(0.0, b), a / b)


_UNARY: Final[dict[str, Callable[[Array], Array]]] = {
    "sin": lambda x: np.where(x == 0, x, _sine(_in_periods(x))),
    "cos": lambda x: _sine(np.fmod(_in_periods(x), 1.0) + 0.25),
    "lg2": np.log2,
    "ex2": np.exp2,
    "tanh": np.tanh,
    "rcp": lambda x: 1.0 / x,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
}
_FUNCTIONS: Final[dict[str, Callable[..., Array]]] = {
    **_UNARY,
    "sqrt": np.sqrt,
    "div.approx": _quotient,
    "div.full": np.divide,
}
_EXACT: Final[dict[str, Callable[..., Array]]] = {**_FUNCTIONS, "sin": np.sin, "cos": np.cos}
"""The functions without the range reduction of the hardware."""


@instruction(*_UNARY)
def approximate(op: Operation) -> Run:
    """`sin`, `cos`, `lg2`, `ex2`, `tanh`, `rcp`, `rsqrt`."""
    rough = op.flag("approx")
    modifiers = Modifiers(op)
    if modifiers.format.element == "f64":
        return _double(op, modifiers, rough)
    if op.name == "rcp" and not rough:
        return _reciprocal(op, modifiers)
    return approximation(op, op.name, modifiers, 1)


def approximation(op: Operation, name: str, modifiers: Modifiers, sources: int) -> Run:
    """An approximate function of f16, bf16 or f32."""
    format, function, exact = modifiers.format, _FUNCTIONS[name], _EXACT[name]
    write = op.write(0, format.type)
    reads = [modifiers.reader(op, at + 1) for at in range(sources)]
    key = f"{name}.{format.element}"

    def run(lanes: Lanes) -> None:
        operands = [read(lanes).astype(np.float64) for read in reads]
        result = function(*operands)
        perturbation = lanes.wave.perturbation
        if perturbation is not None:
            result = perturbation.move(
                key, result, exact(*operands), operands, format.precision, format.tiny
            )
        write(lanes, modifiers.encode(result))

    return run


def _reciprocal(op: Operation, modifiers: Modifiers) -> Run:
    write, read, mode = op.write(0, modifiers.format.type), modifiers.reader(op, 1), modifiers.mode

    def run(lanes: Lanes) -> None:
        x = read(lanes)
        write(lanes, modifiers.encode(rounding.divide_f32(np.ones_like(x), x, mode)))

    return run


def _double(op: Operation, modifiers: Modifiers, rough: bool) -> Run:
    """`rcp` and `rsqrt` of f64; `.approx.ftz` reads and writes the upper word only."""
    write, read = op.write(0, modifiers.format.type), op.read(1, modifiers.format.type)
    function = _FUNCTIONS[op.name]
    if rough and modifiers.ftz:
        return _upper_word(op.name, write, read)

    def run(lanes: Lanes) -> None:
        x = read(lanes)
        result = (
            rounding.divide_f64(np.ones_like(x), x, modifiers.mode) if not rough else function(x)
        )
        write(lanes, rounding.with_nans(result, x))

    return run


def _upper_word(name: str, write: Write, read: Read) -> Run:
    function, tiny = _FUNCTIONS[name], float(np.finfo(np.float64).tiny)

    def run(lanes: Lanes) -> None:
        x = _upper(read(lanes))
        result = function(x)
        perturbation = lanes.wave.perturbation
        if perturbation is not None:
            key = f"{name}.upper.f64"
            result = perturbation.move(key, result, result, [x], _UPPER_PRECISION, tiny)
        write(lanes, _upper(result))

    return run


_UPPER_PRECISION: Final = 21
"""The number of significand bits in the upper word of an f64, with the implicit one."""


def _upper(x: Array) -> Array:
    """The upper word, with subnormal numbers flushed to zero and a canonical NaN."""
    bits = np.ascontiguousarray(x).view(np.uint64) & np.uint64(0xFFFFFFFF00000000)
    kept = rounding.flush(bits.view(np.float64), np.finfo(np.float64).tiny)
    return np.where(np.isnan(kept), np.uint64(0x7FFFFFFF00000000), kept.view(np.uint64)).view(
        x.dtype
    )
