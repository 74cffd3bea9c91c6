"""Folds of float arithmetic: exact computation on constants, and the few laws that hold exactly.

Signed zeros and NaNs count: `x + 0.0` is not `x`, since it turns -0.0 into 0.0. All NaNs are one
value. What approximates has no single right result, and stays. Dialects that call their operations
and modes alike have the folds alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from tilewright.dialects.arith.literals import elementwise, splat_of
from tilewright.dialects.elements import element_of
from tilewright.ir.types import FloatType
from tilewright.support.floats import FORMATS, Exact, FloatFormat, Rounding, encode
from tilewright.support.numerics import floating

if TYPE_CHECKING:
    from tilewright.ir.attributes import EnumAttr, Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.rules import Constants, Folded, Folds
    from tilewright.ir.values import Value

Compute: TypeAlias = Callable[..., int]
"""From the patterns of operands, their format and what else matters, to that of the result."""

_MEANINGS: Final[Mapping[str, Compute]] = {
    "AddFOp": floating.add,
    "SubFOp": floating.subtract,
    "MulFOp": floating.multiply,
    "DivFOp": floating.divide,
    "FmaOp": floating.fma,
    "SqrtOp": floating.sqrt,
    "MaxFOp": floating.maximum,
    "MinFOp": floating.minimum,
    "RemFOp": floating.remainder,
    "AbsFOp": floating.absolute,
    "NegFOp": floating.negate,
    "CeilOp": floating.ceil,
    "FloorOp": floating.floor,
}
"""What the operations compute, by the names of their classes."""
_BASIC: Final = (floating.add, floating.subtract, floating.multiply, floating.divide)
_ROUNDED: Final = (floating.fma, floating.sqrt)
_EXTREMES: Final = (floating.maximum, floating.minimum)
_SETTLED: Final[Mapping[Compute, tuple[Compute, ...]]] = {
    floating.absolute: (floating.absolute,),
    floating.ceil: (floating.ceil, floating.floor),
    floating.floor: (floating.ceil, floating.floor),
    floating.negate: (),
}
"""The functions of one operand; on the results of which ones each does nothing more."""


def format_of(type: Type) -> FloatFormat:
    """What the bits of the elements of a float tile mean."""
    element = element_of(type)
    assert isinstance(element, FloatType)
    return FORMATS[element.format]


def roundings_of(modes: type[EnumAttr]) -> dict[EnumAttr, Rounding]:
    """The modes of a dialect that define a result; `approx` and `full` leave a choice."""
    defined = Rounding.__members__
    return {mode: defined[mode.name] for mode in modes if mode.name in defined}


def neutral(compute: Compute, format: FloatFormat, rounding: Rounding) -> int | None:
    """The right operand that leaves any left one as it is, zeros of both signs included."""
    if compute in (floating.multiply, floating.divide):
        return encode(Exact(False, 1, 0), format)
    if compute not in (floating.add, floating.subtract):
        return None
    # Zeros of unlike signs add up to 0.0, but to -0.0 when rounding down.
    negative = (compute is floating.add) != (rounding is Rounding.NEGATIVE_INF)
    return format.sign if negative else 0


class FloatFolds:
    """How the float operations of a dialect fold."""

    __slots__ = ("_approximates", "_meanings", "_roundings")

    def __init__(
        self,
        ops: ModuleType,
        roundings: Mapping[EnumAttr, Rounding],
        approximates: Callable[[Any], bool],
    ) -> None:
        """The module declares the operations; `approximates` tells which define no result."""
        self._meanings: dict[type[Operation], Compute] = {
            getattr(ops, name): meaning for name, meaning in _MEANINGS.items()
        }
        self._roundings = roundings
        self._approximates = approximates

    def folds(self) -> Folds:
        """The folds of all operations."""
        return {kind: self._fold_of(meaning) for kind, meaning in self._meanings.items()}

    def _fold_of(self, meaning: Compute) -> Callable[[Any, Constants], Folded]:
        if meaning in _BASIC:
            return self.basic
        if meaning in _ROUNDED:
            return self.rounded
        if meaning in _EXTREMES:
            return self.extremum
        return self.unary if meaning in _SETTLED else self.remainder

    def rounded(self, op: Any, constants: Constants) -> Folded:
        """Compute on constants, with one rounding."""
        rounding = self._roundings.get(op.rounding_mode)
        if None in constants or rounding is None or self._approximates(op):
            return None
        format, flush = format_of(op.result.type), op.flush_to_zero
        function = self._meanings[type(op)]

        def compute(*operands: int) -> int:
            return function(*operands, format, rounding, flush=flush)

        return elementwise(compute, op.result.type, constants)

    def basic(self, op: Any, constants: Constants) -> Folded:
        """Compute on constants; `x * 1.0`, `x / 1.0`, `x - 0.0` and `x + -0.0` are `x`."""
        rounding = self._roundings.get(op.rounding_mode)
        if constants == (None, None) or rounding is None:
            return None
        meaning = self._meanings[type(op)]
        without = neutral(meaning, format_of(op.result.type), rounding)
        if not op.flush_to_zero:
            commutes = meaning in (floating.add, floating.multiply)
            lhs, rhs = op.operands
            if splat_of(constants[1]) == without:
                return lhs
            if commutes and splat_of(constants[0]) == without:
                return rhs
        return self.rounded(op, constants)

    def extremum(self, op: Any, constants: Constants) -> Folded:
        """Compute on constants; the larger of `x` and `x` is `x`, unless subnormals are flushed."""
        flush, propagate = op.flush_to_zero, op.propagate_nan
        lhs: Value = op.lhs
        if lhs is op.rhs and not flush:
            return lhs
        if None in constants:
            return None
        format, extreme = format_of(op.result.type), self._meanings[type(op)]
        return elementwise(
            lambda a, b: extreme(a, b, format, propagate_nan=propagate, flush=flush),
            op.result.type,
            constants,
        )

    def remainder(self, op: Any, constants: Constants) -> Folded:
        """Compute on constants: the remainder is exact."""
        if None in constants:
            return None
        format = format_of(op.result.type)
        return elementwise(lambda a, b: floating.remainder(a, b, format), op.result.type, constants)

    def unary(self, op: Any, constants: Constants) -> Folded:
        """Compute on constants; `-(-x)` is `x`, and what is rounded or positive already stays."""
        compute = self._meanings[type(op)]
        source: Value = op.source
        inner = source.defining_op()
        before = None if inner is None else self._meanings.get(type(inner))
        if inner is not None and compute is before is floating.negate:
            return inner.operands[0]
        if before in _SETTLED[compute]:
            return source
        if None in constants:
            return None
        format = format_of(op.result.type)
        return elementwise(lambda a: compute(a, format), op.result.type, constants)
