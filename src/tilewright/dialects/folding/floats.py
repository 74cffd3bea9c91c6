"""Folds of float arithmetic: computation on constants, and identities that hold exactly.

Signed zeros and NaNs count: `x + 0.0` is not `x`, since -0.0 + 0.0 is 0.0. NaN payloads do
not. Approximate operations have no single correct result, and are not folded. cuda_tile and
nv_tileaa share the folds: their operation classes and rounding modes have the same names.
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
"""Compute the bit pattern of a result from those of the operands, the format and the modes."""

_FUNCTIONS: Final[Mapping[str, Compute]] = {
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
"""The functions that the operations compute, by class name."""
_BASIC: Final = (floating.add, floating.subtract, floating.multiply, floating.divide)
_ROUNDED: Final = (floating.fma, floating.sqrt)
_EXTREMES: Final = (floating.maximum, floating.minimum)
_IDEMPOTENT_ON: Final[Mapping[Compute, tuple[Compute, ...]]] = {
    floating.absolute: (floating.absolute,),
    floating.ceil: (floating.ceil, floating.floor),
    floating.floor: (floating.ceil, floating.floor),
    floating.negate: (),
}
"""The unary functions; each maps to those on whose results it is the identity."""


def format_of(type: Type) -> FloatFormat:
    """The float format of the elements of a tile."""
    element = element_of(type)
    assert isinstance(element, FloatType)
    return FORMATS[element.format]


def roundings_of(modes: type[EnumAttr]) -> dict[EnumAttr, Rounding]:
    """The rounding modes of a dialect, without the approximations `approx` and `full`."""
    defined = Rounding.__members__
    return {mode: defined[mode.name] for mode in modes if mode.name in defined}


def right_identity(compute: Compute, format: FloatFormat, rounding: Rounding) -> int | None:
    """The right identity of an operation, which holds for zeros of both signs, or `None`."""
    if compute in (floating.multiply, floating.divide):
        return encode(Exact(False, 1, 0), format)
    if compute not in (floating.add, floating.subtract):
        return None
    # 0.0 + -0.0 is 0.0, but -0.0 when rounding down.
    negative = (compute is floating.add) != (rounding is Rounding.NEGATIVE_INF)
    return format.sign if negative else 0


class FloatFolds:
    """The folds of the float operations of a dialect."""

    __slots__ = ("_approximates", "_functions", "_roundings")

    def __init__(
        self,
        ops: ModuleType,
        roundings: Mapping[EnumAttr, Rounding],
        approximates: Callable[[Any], bool],
    ) -> None:
        """`ops` declares the operations; `approximates` returns whether one is approximate."""
        self._functions: dict[type[Operation], Compute] = {
            getattr(ops, name): function for name, function in _FUNCTIONS.items()
        }
        self._roundings = roundings
        self._approximates = approximates

    def folds(self) -> Folds:
        """The folds of all operations."""
        return {kind: self._fold_of(function) for kind, function in self._functions.items()}

    def _fold_of(self, function: Compute) -> Callable[[Any, Constants], Folded]:
        if function in _BASIC:
            return self.basic
        if function in _ROUNDED:
            return self.rounded
        if function in _EXTREMES:
            return self.extremum
        return self.unary if function in _IDEMPOTENT_ON else self.remainder

    def rounded(self, op: Any, constants: Constants) -> Folded:
        """Compute on constants, with one rounding."""
        rounding = self._roundings.get(op.rounding_mode)
        if None in constants or rounding is None or self._approximates(op):
            return None
        format, flush = format_of(op.result.type), op.flush_to_zero
        function = self._functions[type(op)]

        def compute(*operands: int) -> int:
            return function(*operands, format, rounding, flush=flush)

        return elementwise(compute, op.result.type, constants)

    def basic(self, op: Any, constants: Constants) -> Folded:
        """Compute on constants; `x * 1.0`, `x / 1.0`, `x - 0.0` and `x + -0.0` are `x`."""
        rounding = self._roundings.get(op.rounding_mode)
        if constants == (None, None) or rounding is None:
            return None
        function = self._functions[type(op)]
        identity = right_identity(function, format_of(op.result.type), rounding)
        if not op.flush_to_zero:
            commutes = function in (floating.add, floating.multiply)
            lhs, rhs = op.operands
            if splat_of(constants[1]) == identity:
                return lhs
            if commutes and splat_of(constants[0]) == identity:
                return rhs
        return self.rounded(op, constants)

    def extremum(self, op: Any, constants: Constants) -> Folded:
        """Compute on constants; `max(x, x)` is `x`, unless subnormals are flushed."""
        flush, propagate = op.flush_to_zero, op.propagate_nan
        lhs: Value = op.lhs
        if lhs is op.rhs and not flush:
            return lhs
        if None in constants:
            return None
        format, extreme = format_of(op.result.type), self._functions[type(op)]
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
        """Compute on constants; `-(-x)` is `x`; drop repetitions such as `abs(abs(x))`."""
        compute = self._functions[type(op)]
        source: Value = op.source
        inner = source.defining_op()
        before = None if inner is None else self._functions.get(type(inner))
        if inner is not None and compute is before is floating.negate:
            return inner.operands[0]
        if before in _IDEMPOTENT_ON[compute]:
            return source
        if None in constants:
            return None
        format = format_of(op.result.type)
        return elementwise(lambda a: compute(a, format), op.result.type, constants)
