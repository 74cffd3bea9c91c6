"""Floating-point arithmetic and mathematical functions on tiles, element by element."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

from tilewright.dialects.cuda_tile.base import TileOp
from tilewright.dialects.cuda_tile.constraints import BOOL_TILE, FLOAT_TILE, tile_of
from tilewright.dialects.cuda_tile.enums import Rounding
from tilewright.dialects.cuda_tile.kinds import (
    COMPARISON_ORDERING,
    COMPARISON_PREDICATE,
    ROUNDING,
    ROUNDING_SYNTAX,
)
from tilewright.dialects.cuda_tile.traits import same_shape, tile
from tilewright.dialects.rounding import (
    EXTREMUM_SYNTAX,
    FLUSH_SYNTAX,
    f32_problems,
    flush_problems,
    ieee_roundings,
    rounded_problems,
    rounding_problems,
)
from tilewright.ir import declare as d
from tilewright.ir.traits import COMMUTATIVE, Effects, SameType
from tilewright.ir.types import I1, I8, I16, I32
from tilewright.ir.values import Value

SAME = SameType("lhs", "rhs", "result")
IEEE: Final = ieee_roundings(Rounding)
"""The modes that round to a number of the format, as IEEE 754 says."""


class UnaryFloat(TileOp):
    """Base of the operations from one float tile to another of its type."""

    since = (13, 1)
    effects = Effects.PURE
    traits = (SameType("source", "result"),)
    syntax = "$source attr-dict `:` type($result)"

    source = d.operand(FLOAT_TILE)
    result = d.result(FLOAT_TILE)


class BinaryFloat(TileOp):
    """Base of the operations from two float tiles to one, all of the same type."""

    since = (13, 1)
    effects = Effects.PURE
    traits = (SAME,)
    syntax = "$lhs `,` $rhs attr-dict `:` type($result)"

    lhs = d.operand(FLOAT_TILE)
    rhs = d.operand(FLOAT_TILE)
    result = d.result(FLOAT_TILE)


class RoundedFloat(TileOp):
    """Base of the operations that round as told, and flush subnormal numbers to zero if told.

    `flush_to_zero` takes subnormal operands and gives subnormal results as zeros of their sign.
    """

    since = (13, 1)
    effects = Effects.PURE
    roundings: ClassVar[tuple[Rounding, ...]] = IEEE
    """The modes that the operation knows."""

    rounding_mode = d.attribute(ROUNDING, default=Rounding.NEAREST_EVEN)
    flush_to_zero = d.flag()
    result = d.result(FLOAT_TILE)

    def verify(self) -> Iterator[str]:
        yield from rounded_problems(
            self.rounding_mode, self.roundings, self.flush_to_zero, tile(self.result).element
        )


class RoundedBinaryFloat(RoundedFloat):
    """Base of the four basic operations."""

    traits = (SAME,)
    syntax = f"$lhs `,` $rhs {ROUNDING_SYNTAX} {FLUSH_SYNTAX} attr-dict `:` type($result)"

    lhs = d.operand(FLOAT_TILE)
    rhs = d.operand(FLOAT_TILE)


class FlushableFloat(UnaryFloat):
    """Base of the functions that flush subnormal numbers to zero if told."""

    syntax = f"$source {FLUSH_SYNTAX} attr-dict `:` type($result)"

    flush_to_zero = d.flag()

    def verify(self) -> Iterator[str]:
        yield from flush_problems(self.flush_to_zero, tile(self.result).element)


class FloatExtremum(BinaryFloat):
    """Base of maximum and minimum: positive zero is larger than negative zero.

    If one operand is NaN, the other is the result; with `propagate_nan` it is NaN.
    """

    traits = (SAME, COMMUTATIVE)
    syntax = EXTREMUM_SYNTAX

    propagate_nan = d.flag()
    flush_to_zero = d.flag()

    def verify(self) -> Iterator[str]:
        yield from flush_problems(self.flush_to_zero, tile(self.result).element)


def precision_problems(mode: Rounding, value: Value) -> Iterator[str]:
    """What is wrong with the precision that a function is to have."""
    yield from rounding_problems(mode, (Rounding.FULL, Rounding.APPROX))
    yield from f32_problems("rounding mode approx", mode is Rounding.APPROX, tile(value).element)


class AbsFOp(UnaryFloat):
    """Magnitude: the sign bit is cleared, that of NaN as well."""

    name = "cuda_tile.absf"


class NegFOp(UnaryFloat):
    """Negation: the sign bit is flipped, that of NaN as well."""

    name = "cuda_tile.negf"


class AddFOp(RoundedBinaryFloat):
    """Sum: `result[i] = lhs[i] + rhs[i]`."""

    name = "cuda_tile.addf"
    traits = (SAME, COMMUTATIVE)


class SubFOp(RoundedBinaryFloat):
    """Difference: `result[i] = lhs[i] - rhs[i]`."""

    name = "cuda_tile.subf"


class MulFOp(RoundedBinaryFloat):
    """Product: `result[i] = lhs[i] * rhs[i]`."""

    name = "cuda_tile.mulf"
    traits = (SAME, COMMUTATIVE)


class DivFOp(RoundedBinaryFloat):
    """Quotient: `result[i] = lhs[i] / rhs[i]`.

    For f32, `approx` multiplies by an approximate reciprocal, which fails for very large
    divisors, and `full` is good to two units in the last place everywhere.
    """

    name = "cuda_tile.divf"
    roundings = (*IEEE, Rounding.APPROX, Rounding.FULL)


class FmaOp(RoundedFloat):
    """Product and sum with a single rounding: `result[i] = lhs[i] * rhs[i] + acc[i]`."""

    name = "cuda_tile.fma"
    traits = (SameType("lhs", "rhs", "acc", "result"),)
    syntax = f"$lhs `,` $rhs `,` $acc {ROUNDING_SYNTAX} {FLUSH_SYNTAX} attr-dict `:` type($result)"

    lhs = d.operand(FLOAT_TILE)
    rhs = d.operand(FLOAT_TILE)
    acc = d.operand(FLOAT_TILE)


class RemFOp(BinaryFloat):
    """Remainder of the division whose quotient is cut off: it has the sign of `lhs`."""

    name = "cuda_tile.remf"


class MaxFOp(FloatExtremum):
    """The larger of two numbers."""

    name = "cuda_tile.maxf"


class MinFOp(FloatExtremum):
    """The smaller of two numbers."""

    name = "cuda_tile.minf"


class CmpFOp(TileOp):
    """Comparison: true where the predicate holds between `lhs[i]` and `rhs[i]`.

    The ordering decides where one of them is NaN: `ordered` is false, `unordered` is true.
    """

    name = "cuda_tile.cmpf"
    since = (13, 1)
    effects = Effects.PURE
    traits = (SameType("lhs", "rhs"), same_shape("lhs", "result"))
    syntax = (
        "$comparison_predicate $comparison_ordering $lhs `,` $rhs attr-dict "
        "`:` type($lhs) `->` type($result)"
    )

    comparison_predicate = d.attribute(COMPARISON_PREDICATE)
    comparison_ordering = d.attribute(COMPARISON_ORDERING)
    lhs = d.operand(FLOAT_TILE)
    rhs = d.operand(FLOAT_TILE)
    result = d.result(BOOL_TILE)


class CeilOp(UnaryFloat):
    """The least integer that is not smaller."""

    name = "cuda_tile.ceil"


class FloorOp(UnaryFloat):
    """The greatest integer that is not larger."""

    name = "cuda_tile.floor"


class SqrtOp(RoundedFloat):
    """Square root; NaN for negative numbers."""

    name = "cuda_tile.sqrt"
    traits = (SameType("source", "result"),)
    syntax = (
        f"$source {ROUNDING_SYNTAX} (`flush_to_zero` $flush_to_zero^)? attr-dict `:` type($result)"
    )
    roundings = (*IEEE, Rounding.APPROX)

    source = d.operand(FLOAT_TILE)


class RsqrtOp(FlushableFloat):
    """Reciprocal of the square root."""

    name = "cuda_tile.rsqrt"


class ExpOp(UnaryFloat):
    """Power of e; for f32 an approximation may do."""

    name = "cuda_tile.exp"
    syntax = f"$source {ROUNDING_SYNTAX} attr-dict `:` type($result)"

    rounding_mode = d.attribute(ROUNDING, default=Rounding.FULL, since=(13, 3))

    def verify(self) -> Iterator[str]:
        yield from precision_problems(self.rounding_mode, self.result)


class Exp2Op(FlushableFloat):
    """Power of two."""

    name = "cuda_tile.exp2"


class LogOp(UnaryFloat):
    """Natural logarithm."""

    name = "cuda_tile.log"


class Log2Op(UnaryFloat):
    """Logarithm to the base of two."""

    name = "cuda_tile.log2"


class SinOp(UnaryFloat):
    """Sine of an angle in radians."""

    name = "cuda_tile.sin"


class CosOp(UnaryFloat):
    """Cosine of an angle in radians."""

    name = "cuda_tile.cos"


class TanOp(UnaryFloat):
    """Tangent of an angle in radians."""

    name = "cuda_tile.tan"


class SinHOp(UnaryFloat):
    """Hyperbolic sine."""

    name = "cuda_tile.sinh"


class CosHOp(UnaryFloat):
    """Hyperbolic cosine."""

    name = "cuda_tile.cosh"


class TanHOp(UnaryFloat):
    """Hyperbolic tangent; for f32 an approximation may do."""

    name = "cuda_tile.tanh"
    syntax = f"$source {ROUNDING_SYNTAX} attr-dict `:` type($result)"

    rounding_mode = d.attribute(ROUNDING, default=Rounding.FULL, since=(13, 2))

    def verify(self) -> Iterator[str]:
        yield from precision_problems(self.rounding_mode, self.result)


class Atan2Op(TileOp):
    """Angle whose tangent is `x[i] / y[i]`, in the quadrant that the two signs say.

    The first operand is the numerator, like that of `atan2` in C.
    """

    name = "cuda_tile.atan2"
    since = (13, 2)
    effects = Effects.PURE
    traits = (SameType("x", "y", "result"),)
    syntax = "$x `,` $y attr-dict `:` type($result)"

    x = d.operand(FLOAT_TILE)
    y = d.operand(FLOAT_TILE)
    result = d.result(FLOAT_TILE)


class FPowFOp(TileOp):
    """Power with a float exponent; text before 13.4 calls it `pow`."""

    name = "cuda_tile.fpowf"
    other_names = {"tileiras": "cuda_tile.pow"}  # noqa: RUF012
    since = (13, 1)
    effects = Effects.PURE
    traits = (SameType("source", "exponent", "result"),)
    syntax = "$source `,` $exponent attr-dict `:` type($result)"

    source = d.operand(FLOAT_TILE)
    exponent = d.operand(FLOAT_TILE)
    result = d.result(FLOAT_TILE)


class FPowIOp(TileOp):
    """Power with an integer exponent, which is read as signed."""

    name = "cuda_tile.fpowi"
    since = (13, 4)
    effects = Effects.PURE
    traits = (SameType("source", "result"), same_shape("source", "exponent"))
    syntax = "$source `,` $exponent attr-dict `:` type($source) `,` type($exponent)"

    source = d.operand(FLOAT_TILE)
    exponent = d.operand(tile_of("tile of i1, i8, i16 or i32", I1, I8, I16, I32))
    result = d.result(FLOAT_TILE)
