"""Numbers with error bounds: a formula computes its own bound.

An estimate is the exact result of a kernel in f64, with a bound of its error. Every operation
propagates the errors of its operands and adds its own rounding error in the type in which the
kernel computes. So a formula with the steps of a kernel yields the expected result and its bound;
the order of accumulation does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tilewright.dialects.cuda_tile import floating as d
from tilewright.ir.attributes import Type
from tilewright.ir.operation import Operation
from tilewright.ir.types import F32, F64, FloatType
from tilewright.reference.numerics.rounding import widen
from tilewright.reference.tile import Array
from tilewright.testing.bounds import unit_roundoff
from tilewright.testing.compare import (
    Difference,
    Tolerance,
    array_difference,
    element_type,
    ulp,
)
from tilewright.testing.documented import documented_ulps

HALF: Final = 0.5 + 2.0**-20
"""The ulps of one rounding, with a little extra for the formula's own."""
APPROXIMATE: Final = 2
"""The ulps of `divf` with `approx` and with `full`."""
SMALLEST: Final = 2.0**-126
"""`flush_to_zero` flushes smaller numbers."""

MONOTONE: Final[dict[str, tuple[type[Operation], Callable[[Array], Array]]]] = {
    "exp": (d.ExpOp, np.exp),
    "exp2": (d.Exp2Op, np.exp2),
    "log": (d.LogOp, np.log),
    "log2": (d.Log2Op, np.log2),
    "sinh": (d.SinHOp, np.sinh),
    "tan": (d.TanOp, np.tan),
    "tanh": (d.TanHOp, np.tanh),
    "rsqrt": (d.RsqrtOp, lambda x: 1 / np.sqrt(x)),
    "sqrt": (d.SqrtOp, np.sqrt),
}
"""Functions that are monotone between two close numbers."""
LIPSCHITZ: Final[dict[str, tuple[type[Operation], Callable[[Array], Array]]]] = {
    "sin": (d.SinOp, np.sin),
    "cos": (d.CosOp, np.cos),
}
"""Functions with a Lipschitz constant of one."""
EXACT_ONLY: Final[dict[str, tuple[type[Operation], Callable[..., Array]]]] = {
    "cosh": (d.CosHOp, np.cosh),
    "atan2": (d.Atan2Op, np.arctan2),
    "pow": (d.FPowFOp, np.power),
}
"""Functions evaluated on exact operands only."""


class Estimate:
    """Exact values, their error bounds, and their type in the kernel."""

    __array_ufunc__: None = None  # arrays leave operators to this class
    __slots__ = ("element", "error", "value")

    def __init__(self, value: Any, error: Any = 0.0, element: Type = F32) -> None:
        self.value: Array = np.asarray(value, np.float64)
        self.error: Array = np.broadcast_to(error, self.value.shape)
        self.element = element

    def rounded(self, element: Type) -> Estimate:
        """Round to a type, if it is another one."""
        if element is self.element:
            return self
        return _round(self.value, self.error, element)

    def flushed(self) -> Estimate:
        """Allow subnormal numbers to be flushed to zero."""
        return Estimate(self.value, self.error + SMALLEST, self.element)

    def around(self, value: Any) -> Estimate:
        """The same errors around values computed in another way."""
        return Estimate(np.asarray(value).reshape(self.value.shape), self.error, self.element)

    def rearranged(self, rearrange: Callable[[Array], Array]) -> Estimate:
        """Rearrange the elements."""
        return Estimate(rearrange(self.value), rearrange(self.error), self.element)

    def __getitem__(self, index: Any) -> Estimate:
        return self.rearranged(lambda array: array[index])

    def reshape(self, *shape: int) -> Estimate:
        """Reshape."""
        return self.rearranged(lambda array: array.reshape(shape))

    def swapaxes(self, first: int, second: int) -> Estimate:
        """Swap two axes."""
        return self.rearranged(lambda array: array.swapaxes(first, second))

    def repeat(self, count: int, axis: int) -> Estimate:
        """Repeat elements along an axis."""
        return self.rearranged(lambda array: array.repeat(count, axis))

    def masked(self, mask: Array, other: float) -> Estimate:
        """These numbers where a mask is true, and one number elsewhere."""
        value, error = np.where(mask, self.value, other), np.where(mask, self.error, 0.0)
        return Estimate(value, error, self.element)

    def __neg__(self) -> Estimate:
        return Estimate(-self.value, self.error, self.element)

    def __add__(self, other: Any) -> Estimate:
        b = self.like(other)
        return _round(self.value + b.value, self.error + b.error, self.element)

    def __sub__(self, other: Any) -> Estimate:
        return self + -self.like(other)

    def __mul__(self, other: Any) -> Estimate:
        b = self.like(other)
        error = _times(np.abs(self.value), b.error) + _times(self.error, np.abs(b.value) + b.error)
        return _round(self.value * b.value, error, self.element)

    def __truediv__(self, other: Any) -> Estimate:
        return self.over(other)

    def over(self, other: Any, ulps: float = 0) -> Estimate:
        """Divide, within `ulps` of the correctly rounded result."""
        b = self.like(other)
        value, margin = self.value / b.value, np.abs(b.value) - b.error
        propagated = (self.error + np.abs(value) * b.error) / np.where(margin > 0, margin, np.nan)
        return _round(value, np.where(margin > 0, propagated, np.inf), self.element, ulps + HALF)

    def __radd__(self, other: Any) -> Estimate:
        return self + other

    def __rsub__(self, other: Any) -> Estimate:
        return self.like(other) - self

    def __rmul__(self, other: Any) -> Estimate:
        return self * other

    def __rtruediv__(self, other: Any) -> Estimate:
        return self.like(other) / self

    def __matmul__(self, other: Estimate) -> Estimate:
        """Matmul, accumulated in f32, or in f64."""
        accumulator = F64 if self.element is F64 else F32
        a, b = np.abs(self.value), np.abs(other.value)
        value = self.value @ other.value
        propagated = a @ other.error + self.error @ (b + other.error)
        size = (a + self.error) @ (b + other.error)
        error = propagated + _sum_error(size, self.value.shape[-1] + 1, accumulator)
        return Estimate(value, error, accumulator)

    def sum(self, axis: int = -1) -> Estimate:
        """Sum along an axis, keeping the dimension."""
        size = (np.abs(self.value) + self.error).sum(axis=axis, keepdims=True)
        error = self.error.sum(axis=axis, keepdims=True)
        error = error + _sum_error(size, self.value.shape[axis], self.element)
        return Estimate(self.value.sum(axis=axis, keepdims=True), error, self.element)

    def mean(self, axis: int = -1) -> Estimate:
        """Mean along an axis, keeping the dimension."""
        return self.sum(axis) / self.value.shape[axis]

    def max(self, axis: int = -1) -> Estimate:
        """Maximum along an axis, keeping the dimension."""
        error = self.error.max(axis=axis, keepdims=True)
        return Estimate(self.value.max(axis=axis, keepdims=True), error, self.element)

    def difference(self, actual: Array) -> Difference | None:
        """Compare with an array that a kernel wrote."""
        rounded = self.rounded(element_type(actual))
        if rounded.value.size == actual.size:
            rounded = rounded.reshape(*actual.shape)
        else:
            rounded = rounded.rearranged(lambda array: np.broadcast_to(array, actual.shape))
        return array_difference(actual, rounded.value, Tolerance(absolute=rounded.error))

    def like(self, other: Any) -> Estimate:
        """Convert an operand; plain numbers and arrays are exact."""
        if not isinstance(other, Estimate):
            return Estimate(other, 0.0, self.element)
        if other.element is not self.element:
            raise ValueError(f"expected numbers of {self.element}, got {other.element}")
        return other


def given(array: Array) -> Estimate:
    """The elements of an array, exact."""
    element = element_type(array)
    if not isinstance(element, FloatType):
        raise ValueError(f"expected an array of floats, got {array.dtype}")
    return Estimate(widen(array, element), 0.0, element)


def maximum(a: Estimate, b: Estimate) -> Estimate:
    """Maximum."""
    return Estimate(np.maximum(a.value, b.value), np.maximum(a.error, b.error), a.element)


def apply(name: str, x: Estimate, *others: Any) -> Estimate:
    """Apply a function, within the documented error."""
    operands = [x, *(x.like(other) for other in others)]
    values = [operand.value for operand in operands]
    kind, compute = {**MONOTONE, **LIPSCHITZ, **EXACT_ONLY}[name]
    value = compute(*values)
    if name in MONOTONE:
        ends = (np.abs(compute(x.value + sign * x.error) - value) for sign in (-1, 1))
        error = np.where(x.error == 0, 0.0, np.maximum(*ends))
    elif name in LIPSCHITZ:
        error = x.error
    elif any(operand.error.any() for operand in operands):
        raise ValueError(f"expected numbers without errors for {name}")
    else:
        error = np.zeros_like(value)
    return _round(value, error, x.element, HALF + documented_ulps(kind, x.element))


def _round(value: Array, error: Array, element: Type, ulps: float = HALF) -> Estimate:
    """Add the error of a rounding of `ulps`."""
    # There is no type wider than f64: the formula rounds as the kernel does.
    ulps = 2 * ulps if element is F64 else ulps
    own = ulps * ulp(np.abs(value) + error, element)
    return Estimate(value, np.where(np.isfinite(value), error + own, 0.0), element)


def _sum_error(size: Array, terms: int, element: Type) -> Array:
    """The error of adding terms in any order, whose magnitudes add up to `size`."""
    return terms * unit_roundoff(element) * size * (2 if element is F64 else 1)


def _times(a: Array, b: Array) -> Array:
    """Multiply, where zero times infinity is zero."""
    return np.where((a == 0) | (b == 0), 0.0, a * b)
