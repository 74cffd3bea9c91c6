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

_FUNCTIONS: Final[dict[str, Callable[[Array], Array]]] = {
    "sin": np.sin,
    "cos": np.cos,
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
    """`rcp` and `rsqrt` of f64; the approximate forms look at the upper word and give one."""
    write, read = op.write(0, modifiers.format.type), op.read(1, modifiers.format.type)
    function = _FUNCTIONS[op.name]
    upper = np.uint64(0xFFFFFFFF00000000)

    def run(lanes: Lanes) -> None:
        x = read(lanes)
        if not rough:
            write(lanes, rounding.divide_f64(np.ones_like(x), x, modifiers.mode))
            return
        # Subnormal operands and results are zeros.
        x = _cut(x, upper)
        write(lanes, _cut(function(x), upper))

    return run


def _cut(x: Array, upper: np.uint64) -> Array:
    kept = (x.view(np.uint64) & upper).view(np.float64)
    kept = np.where(np.isnan(x), x, kept)
    return np.where(abs(kept) < np.finfo(np.float64).tiny, np.copysign(0.0, kept), kept)
