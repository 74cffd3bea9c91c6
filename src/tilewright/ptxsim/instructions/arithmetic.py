"""Instructions that integers and floats share: add, sub, mul, mad, div, min, max, ..."""

from __future__ import annotations

import numpy as np

from tilewright.ptxsim import rounding
from tilewright.ptxsim.float_formats import FORMATS
from tilewright.ptxsim.instructions import floating, integer
from tilewright.ptxsim.instructions.approximations import approximation
from tilewright.ptxsim.instructions.floating import Modifiers
from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.operation import Operation
from tilewright.ptxsim.scalar_types import Array


def is_float(op: Operation) -> bool:
    """Whether the operands are floats."""
    return any(modifier in FORMATS for modifier in op.modifiers)


@instruction("add", "addc")
def add(op: Operation) -> Run:
    """`a + b`."""
    if is_float(op):
        return floating.float_arithmetic(op, floating.add, 2)
    return integer.add(op, subtract=False)


@instruction("sub", "subc")
def sub(op: Operation) -> Run:
    """`a - b`."""
    if is_float(op):
        return floating.float_arithmetic(op, floating.subtract, 2)
    return integer.add(op, subtract=True)


@instruction("mul")
def mul(op: Operation) -> Run:
    """`a * b`."""
    if is_float(op):
        return floating.float_arithmetic(op, floating.multiply, 2)
    return integer.multiply(op)


@instruction("mad", "madc", "fma")
def mad(op: Operation) -> Run:
    """`a * b + c`."""
    if is_float(op):
        return floating.float_arithmetic(op, floating.fused, 3)
    return integer.multiply_add(op)


@instruction("min")
def minimum(op: Operation) -> Run:
    """`min(a, b)`."""
    return floating.extreme(op, False) if is_float(op) else integer.extreme(op, False)


@instruction("max")
def maximum(op: Operation) -> Run:
    """`max(a, b)`."""
    return floating.extreme(op, True) if is_float(op) else integer.extreme(op, True)


def _clear(bits: Array, sign: Array) -> Array:
    return bits & ~sign


@instruction("abs")
def absolute(op: Operation) -> Run:
    """`|a|`."""
    return floating.sign_change(op, _clear) if is_float(op) else integer.absolute(op)


@instruction("neg")
def negate(op: Operation) -> Run:
    """`-a`."""
    return floating.sign_change(op, np.bitwise_xor) if is_float(op) else integer.negate(op)


@instruction("div")
def divide(op: Operation) -> Run:
    """`a / b`."""
    if not is_float(op):
        return integer.divide(op, remainder=False)
    form = op.choice("approx", "full")
    if form is not None:
        return approximation(op, f"div.{form}", Modifiers(op), 2)

    def quotient(mode: str, format: object, a: Array, b: Array) -> Array:
        if mode == "exact":
            return a.astype(np.float64) / b.astype(np.float64)
        if a.dtype == rounding.F32:
            return rounding.divide_f32(a, b, mode)
        return rounding.with_nans(rounding.divide_f64(a, b, mode), a, b)

    return floating.float_arithmetic(op, quotient, 2)


@instruction("rem")
def remainder(op: Operation) -> Run:
    """`a % b`."""
    return integer.divide(op, remainder=True)


@instruction("sqrt")
def square_root(op: Operation) -> Run:
    """The square root."""
    if op.flag("approx"):
        return approximation(op, "sqrt", Modifiers(op), 1)

    def root(mode: str, format: object, a: Array) -> Array:
        if a.dtype == rounding.F32:
            return rounding.sqrt_f32(a, mode)
        return rounding.with_nans(rounding.sqrt_f64(a, mode), a)

    return floating.float_arithmetic(op, root, 1)
