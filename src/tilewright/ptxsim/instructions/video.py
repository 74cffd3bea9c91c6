"""Video instructions (SIMD within a register): `vadd2`, `vabsdiff4`, `vset4`, ...."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.operation import Operation
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, SIGNED, UNSIGNED, Array

Compute = Callable[[Array, Array], Array]
# Computed on int64 elements, which cannot overflow.
_FUNCTIONS: Final[dict[str, Compute]] = {
    "vadd": np.add,
    "vsub": np.subtract,
    # Rounded up, away from zero if `a + b` is negative.
    "vavrg": lambda a, b: (a + b + (a + b >= 0)) >> 1,
    "vabsdiff": lambda a, b: abs(a - b),
    "vmin": np.minimum,
    "vmax": np.maximum,
}
_COMPARISONS: Final[dict[str, Compute]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less,
    "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip
_B32: Final = SCALAR_TYPES["b32"]


def _elements(op: Operation, operand: int, bits: int, signed: bool) -> Callable[[Lanes], Array]:
    read, dtype = op.read(operand, _B32), (SIGNED if signed else UNSIGNED)[bits]

    def elements(lanes: Lanes) -> Array:
        words = np.ascontiguousarray(lanes.spread(read(lanes)))
        return words.view(dtype).reshape(lanes.count, -1).astype(np.int64)

    return elements


def _combine(op: Operation, function: Compute, bits: int, signed: bool, result: bool) -> Run:
    """Apply a function elementwise; `.add` adds the results and `c`, otherwise they are packed."""
    saturates, adds = op.flag("sat"), op.flag("add")
    first, second = _elements(op, 1, bits, signed), _elements(op, 2, bits, op.type().is_signed)
    third, write = op.read(3, _B32), op.write(0, _B32)
    low = -(1 << (bits - 1)) if result else 0
    high = low + (1 << bits) - 1
    word = (SIGNED if result else UNSIGNED)[bits]

    def run(lanes: Lanes) -> None:
        values = function(first(lanes), second(lanes)).astype(np.int64)
        if saturates:
            values = np.clip(values, low, high)
        if not adds:
            write(lanes, np.ascontiguousarray(values.astype(word)).view(np.uint32)[:, 0])
            return
        accumulator = np.add.reduce(values, axis=1) + third(lanes)
        write(lanes, accumulator.astype(np.uint32))

    return run


@instruction(*(f"{name}{count}" for name in _FUNCTIONS for count in (2, 4)))
def compute(op: Operation) -> Run:
    """`vadd4.d.a.b r, a, b, c`."""
    function = _FUNCTIONS[op.name[:-1]]
    result, left = op.type().is_signed, op.type().is_signed
    return _combine(op, function, 32 // int(op.name[-1]), left, result)


@instruction("vset2", "vset4")
def compare(op: Operation) -> Run:
    """`vset4.a.b.cmp r, a, b, c`: 1 per element for which the comparison is true."""
    name = op.choice(*_COMPARISONS)
    if name is None:
        op.fail("expected a comparison")
    left = op.type().is_signed
    return _combine(op, _COMPARISONS[name], 32 // int(op.name[-1]), left, False)
