"""Numbers with the error that a kernel may have made: a formula computes its own bound.

An estimate is what a kernel should compute, in double precision, and how far off it may be there.
Every operation passes on the errors of its operands, as far as they can move its result, and adds
that of its own rounding in the type in which the kernel computes. So a formula that has the steps
of a kernel gives what comes out, and the bound to judge it by; the order of sums does not matter.
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
    element_held,
    ulp,
)
from tilewright.testing.documented import documented_ulps

HALF: Final = 0.5 + 2.0**-20
"""The units that one rounding costs, and a little for the formula's own."""
APPROXIMATE: Final = 2
"""The units that quotients may be off, of `divf` with `approx` and with `full`."""
SMALLEST: Final = 2.0**-126
"""What `flush_to_zero` takes away is smaller."""

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
"""Functions that only rise or only fall between two numbers that are close."""
GENTLE: Final[dict[str, tuple[type[Operation], Callable[[Array], Array]]]] = {
    "sin": (d.SinOp, np.sin),
    "cos": (d.CosOp, np.cos),
}
"""Functions that move no further than their argument."""
EXACT_ONLY: Final[dict[str, tuple[type[Operation], Callable[..., Array]]]] = {
    "cosh": (d.CosHOp, np.cosh),
    "atan2": (d.Atan2Op, np.arctan2),
    "pow": (d.FPowFOp, np.power),
}
"""Functions of numbers without errors."""


class Estimate:
    """Exact values, how far off they may be, and the type in which they are held."""

    __array_ufunc__ = None  # arrays leave operators to this class
    __slots__ = ("element", "error", "value")

    def __init__(self, value: Any, error: Any = 0.0, element: Type = F32) -> None:
        self.value: Array = np.asarray(value, np.float64)
        self.error: Array = np.broadcast_to(error, self.value.shape)
        self.element = element

    def rounded(self, element: Type) -> Estimate:
        """The same numbers in a type; one rounding, if that is another one."""
        if element is self.element:
            return self
        return _round(self.value, self.error, element)

    def flushed(self) -> Estimate:
        """The same numbers, of which subnormal ones may be zero."""
        return Estimate(self.value, self.error + SMALLEST, self.element)

    def around(self, value: Any) -> Estimate:
        """The same errors around values that were computed in another way."""
        return Estimate(np.asarray(value).reshape(self.value.shape), self.error, self.element)

    def moved(self, move: Callable[[Array], Array]) -> Estimate:
        """The same numbers at other places."""
        return Estimate(move(self.value), move(self.error), self.element)

    def __getitem__(self, index: Any) -> Estimate:
        return self.moved(lambda array: array[index])

    def reshape(self, *shape: int) -> Estimate:
        """The same numbers in another shape."""
        return self.moved(lambda array: array.reshape(shape))

    def swapaxes(self, first: int, second: int) -> Estimate:
        """The same numbers with two axes swapped."""
        return self.moved(lambda array: array.swapaxes(first, second))

    def repeat(self, count: int, axis: int) -> Estimate:
        """Every number several times."""
        return self.moved(lambda array: array.repeat(count, axis))

    def where(self, mask: Array, other: float) -> Estimate:
        """These numbers where a mask holds, and one number elsewhere."""
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
        """The quotient, within so many units of the rounded one."""
        b = self.like(other)
        value, room = self.value / b.value, np.abs(b.value) - b.error
        moved = (self.error + np.abs(value) * b.error) / np.where(room > 0, room, np.nan)
        return _round(value, np.where(room > 0, moved, np.inf), self.element, ulps + HALF)

    def __radd__(self, other: Any) -> Estimate:
        return self + other

    def __rsub__(self, other: Any) -> Estimate:
        return self.like(other) - self

    def __rmul__(self, other: Any) -> Estimate:
        return self * other

    def __rtruediv__(self, other: Any) -> Estimate:
        return self.like(other) / self

    def __matmul__(self, other: Estimate) -> Estimate:
        """A product of matrices, summed up in single precision, or in double precision."""
        sums = F64 if self.element is F64 else F32
        a, b = np.abs(self.value), np.abs(other.value)
        value = self.value @ other.value
        moved = a @ other.error + self.error @ (b + other.error)
        size = (a + self.error) @ (b + other.error)
        return Estimate(value, moved + _sum_error(size, self.value.shape[-1] + 1, sums), sums)

    def sum(self, axis: int = -1) -> Estimate:
        """The sums along an axis, which stays with one entry."""
        size = (np.abs(self.value) + self.error).sum(axis=axis, keepdims=True)
        error = self.error.sum(axis=axis, keepdims=True)
        error = error + _sum_error(size, self.value.shape[axis], self.element)
        return Estimate(self.value.sum(axis=axis, keepdims=True), error, self.element)

    def mean(self, axis: int = -1) -> Estimate:
        """The means along an axis, which stays with one entry."""
        return self.sum(axis) / self.value.shape[axis]

    def max(self, axis: int = -1) -> Estimate:
        """The largest numbers along an axis, which stays with one entry."""
        error = self.error.max(axis=axis, keepdims=True)
        return Estimate(self.value.max(axis=axis, keepdims=True), error, self.element)

    def difference(self, found: Array) -> Difference | None:
        """Where an array that a kernel wrote is further off than it may be."""
        held = self.rounded(element_held(found))
        if held.value.size == found.size:
            held = held.reshape(*found.shape)
        else:
            held = held.moved(lambda array: np.broadcast_to(array, found.shape))
        return array_difference(found, held.value, Tolerance(absolute=held.error))

    def like(self, other: Any) -> Estimate:
        """Another operand, which is exact if it is a plain number or array."""
        if not isinstance(other, Estimate):
            return Estimate(other, 0.0, self.element)
        if other.element is not self.element:
            raise ValueError(f"expected numbers of {self.element}, got {other.element}")
        return other


def given(array: Array) -> Estimate:
    """The elements of an array as they are."""
    element = element_held(array)
    if not isinstance(element, FloatType):
        raise ValueError(f"expected an array of floats, got {array.dtype}")
    return Estimate(widen(array, element), 0.0, element)


def maximum(a: Estimate, b: Estimate) -> Estimate:
    """The larger of two."""
    return Estimate(np.maximum(a.value, b.value), np.maximum(a.error, b.error), a.element)


def apply(name: str, x: Estimate, *others: Any) -> Estimate:
    """A function, within the documented error."""
    operands = [x, *(x.like(other) for other in others)]
    values = [operand.value for operand in operands]
    kind, compute = {**MONOTONE, **GENTLE, **EXACT_ONLY}[name]
    value = compute(*values)
    if name in MONOTONE:
        ends = (np.abs(compute(x.value + sign * x.error) - value) for sign in (-1, 1))
        error = np.where(x.error == 0, 0.0, np.maximum(*ends))
    elif name in GENTLE:
        error = x.error
    elif any(operand.error.any() for operand in operands):
        raise ValueError(f"expected numbers without errors for {name}")
    else:
        error = np.zeros_like(value)
    return _round(value, error, x.element, HALF + documented_ulps(kind, x.element))


def _round(value: Array, error: Array, element: Type, ulps: float = HALF) -> Estimate:
    """What was computed, after a rounding that costs so many units."""
    # Double precision has no wider type to judge it in: the formula rounds as the kernel does.
    ulps = 2 * ulps if element is F64 else ulps
    own = ulps * ulp(np.abs(value) + error, element)
    return Estimate(value, np.where(np.isfinite(value), error + own, 0.0), element)


def _sum_error(size: Array, terms: int, element: Type) -> Array:
    """What any order of adding terms costs, whose magnitudes sum up to `size`."""
    return terms * unit_roundoff(element) * size * (2 if element is F64 else 1)


def _times(a: Array, b: Array) -> Array:
    """A product in which nothing times infinity is nothing."""
    return np.where((a == 0) | (b == 0), 0.0, a * b)
