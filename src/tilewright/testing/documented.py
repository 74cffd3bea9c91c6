"""Documented error bounds by operation.

All bounds are with respect to the correctly rounded result. Their sources are

* the description of Tile IR's `divf` and `tanh`;
* "Mathematical Functions" of the CUDA C++ Programming Guide, for the functions that Tile IR says
  no more about than that they are CUDA's: "Single-Precision" and "Double-Precision Mathematical
  Standard Library Functions with Maximum ULP Error"; for `__expf`, `__fdividef` and `__tanhf`,
  which the fast forms are, "Single-Precision Floating-Point Intrinsic Functions";
* "Floating Point Instructions" of the PTX ISA: `sqrt.approx`, and the same for `ex2.approx` (2
  units), `div.full` (2 units) and `tanh.approx` (2^-11 of the result).

f16 is computed in f32 and rounded: that is one unit.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tilewright.dialects.cuda_tile import floating as d
from tilewright.dialects.cuda_tile.enums import Rounding
from tilewright.ir.attributes import Type
from tilewright.ir.operation import Operation
from tilewright.ir.types import F32, F64
from tilewright.reference.tile import Array, element
from tilewright.testing.compare import EXACT, Tolerance

ULPS: Final[dict[type[Operation], tuple[int, int]]] = {
    d.ExpOp: (2, 1),
    d.Exp2Op: (2, 1),
    d.LogOp: (1, 1),
    d.Log2Op: (1, 1),
    d.SinOp: (2, 2),
    d.CosOp: (2, 2),
    d.TanOp: (4, 2),
    d.SinHOp: (3, 2),
    d.CosHOp: (2, 1),
    d.TanHOp: (2, 1),
    d.Atan2Op: (3, 2),
    d.FPowFOp: (4, 2),
    d.FPowIOp: (4, 2),
    d.RsqrtOp: (2, 1),
}
"""Functions in f32 and f64."""

ROUNDING: Final = 0.5
"""The extra units of a bound that is relative to the exact result."""

FAST_DIVISORS: Final = (2.0**-126, 2.0**126)
"""The divisors for which `divf` with `approx` is within its bound."""


def tolerance_of(op: Operation, *operands: Array) -> Tolerance:
    """The documented tolerance of an operation on floats.

    Some bounds depend on `operands`, the operands in f64.
    """
    mode = getattr(op, "rounding_mode", None)
    if mode is Rounding.APPROX:
        return _fast(op, operands)
    if mode is Rounding.FULL and isinstance(op, d.DivFOp):
        return Tolerance(ulps=2)
    if type(op) not in ULPS:
        return EXACT
    return Tolerance(ulps=documented_ulps(type(op), element(op.results[0])))


def documented_ulps(kind: type[Operation], type: Type) -> int:
    """The documented error of a function in ulp with respect to the correctly rounded result."""
    if kind not in ULPS:
        return 0
    single, double = ULPS[kind]
    if type is F32:
        return single
    return double if type is F64 else 1


def _fast(op: Operation, operands: tuple[Array, ...]) -> Tolerance:
    match op:
        case d.DivFOp():
            low, high = FAST_DIVISORS
            divisor = np.abs(operands[1])
            return Tolerance(ulps=np.where((divisor >= low) & (divisor <= high), 2, np.inf))
        case d.SqrtOp():
            return Tolerance(relative=2.0**-23, ulps=ROUNDING)
        case d.ExpOp():
            return Tolerance(ulps=2 + np.floor(np.abs(1.173 * operands[0])))
        case d.TanHOp():
            return Tolerance(relative=2.0**-11, ulps=ROUNDING)
        case _:
            raise ValueError(f"'{op.name}' has no fast form")
