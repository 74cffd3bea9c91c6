"""Approximate functions: the exact value rounded, which is within every documented error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tilewright.ptxsim import rounding
from tilewright.ptxsim.instructions.floating import Modifiers
from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.operation import Operation
from tilewright.ptxsim.scalar_types import Array

_TURN: Final = np.float64(np.float32(1 / (2 * np.pi)))


def _turns(x: Array) -> Array:
    """An angle in turns, as a float32 that is cut off: large angles are whole turns."""
    single = rounding.flush(rounding.narrow(x * _TURN, rounding.F32, "rz"))
    return single.astype(np.float64)


def _sine(turns: Array) -> Array:
    """Exact zeros at halves of turns, which have the sign of the angle."""
    part = np.fmod(turns, 1.0)
    return np.where(part % 0.5 == 0, np.copysign(0.0, turns), np.sin(2 * np.pi * part))


_FUNCTIONS: Final[dict[str, Callable[[Array], Array]]] = {
    "sin": lambda x: np.where(x == 0, x, _sine(_turns(x))),
    "cos": lambda x: _sine(np.fmod(_turns(x), 1.0) + 0.25),
    "lg2": np.log2,
    "ex2": np.exp2,
    "tanh": np.tanh,
    "rcp": lambda x: 1.0 / x,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
}


@instruction(*_FUNCTIONS)
def approximate(op: Operation) -> Run:
    """`sin`, `cos`, `lg2`, `ex2`, `tanh`, `rcp`, `rsqrt`."""
    rough = op.flag("approx")
    modifiers = Modifiers(op)
    function = _FUNCTIONS[op.name]
    if modifiers.format.element == "f64":
        return _double(op, modifiers, rough)
    write, read = op.write(0, modifiers.format.type), modifiers.reader(op, 1)
    if op.name == "rcp" and not rough:
        return _reciprocal(op, modifiers)
    return lambda lanes: write(lanes, modifiers.close(function(read(lanes).astype(np.float64))))


def _reciprocal(op: Operation, modifiers: Modifiers) -> Run:
    write, read, mode = op.write(0, modifiers.format.type), modifiers.reader(op, 1), modifiers.mode

    def run(lanes: Lanes) -> None:
        x = read(lanes)
        write(lanes, modifiers.close(rounding.divide_f32(np.ones_like(x), x, mode)))

    return run


def _double(op: Operation, modifiers: Modifiers, rough: bool) -> Run:
    """`rcp` and `rsqrt` of f64; what flushes looks at the upper word and gives one."""
    write, read = op.write(0, modifiers.format.type), op.read(1, modifiers.format.type)
    function = _FUNCTIONS[op.name]
    if rough and modifiers.ftz:
        return lambda lanes: write(lanes, _upper(function(_upper(read(lanes)))))

    def run(lanes: Lanes) -> None:
        x = read(lanes)
        result = (
            rounding.divide_f64(np.ones_like(x), x, modifiers.mode) if not rough else function(x)
        )
        write(lanes, rounding.with_nans(result, x))

    return run


def _upper(x: Array) -> Array:
    """The upper word; subnormal numbers are zeros, and there is one NaN."""
    bits = np.ascontiguousarray(x).view(np.uint64) & np.uint64(0xFFFFFFFF00000000)
    kept = rounding.flush(bits.view(np.float64), np.finfo(np.float64).tiny)
    return np.where(np.isnan(kept), np.uint64(0x7FFFFFFF00000000), kept.view(np.uint64)).view(
        x.dtype
    )
