"""Elementwise float arithmetic and mathematical functions on tiles."""

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
"""The rounding modes of IEEE 754."""


class UnaryFloat(TileOp):
    """Base of the unary operations."""

    since = (13, 1)
    effects = Effects.PURE
    traits = (SameType("source", "result"),)
    syntax = "$source attr-dict `:` type($result)"

    source = d.operand(FLOAT_TILE)
    result = d.result(FLOAT_TILE)


class BinaryFloat(TileOp):
    """Base of the binary operations."""

    since = (13, 1)
    effects = Effects.PURE
    traits = (SAME,)
    syntax = "$lhs `,` $rhs attr-dict `:` type($result)"

    lhs = d.operand(FLOAT_TILE)
    rhs = d.operand(FLOAT_TILE)
    result = d.result(FLOAT_TILE)


class RoundedFloat(TileOp):
    """Base of the operations with a rounding mode and a `flush_to_zero` flag.

    `flush_to_zero` replaces subnormal operands and results by zeros of the same sign.
    """

    since = (13, 1)
    effects = Effects.PURE
    roundings: ClassVar[tuple[Rounding, ...]] = IEEE
    """The rounding modes that the operation supports."""

    rounding_mode = d.attribute(ROUNDING, default=Rounding.NEAREST_EVEN)
    flush_to_zero = d.flag()
    result = d.result(FLOAT_TILE)

    def verify(self) -> Iterator[str]:
        yield from rounded_problems(
            self.rounding_mode, self.roundings, self.flush_to_zero, tile(self.result).element
        )


class RoundedBinaryFloat(RoundedFloat):
    """Base of add, sub, mul and div."""

    traits = (SAME,)
    syntax = f"$lhs `,` $rhs {ROUNDING_SYNTAX} {FLUSH_SYNTAX} attr-dict `:` type($result)"

    lhs = d.operand(FLOAT_TILE)
    rhs = d.operand(FLOAT_TILE)


class FlushableFloat(UnaryFloat):
    """Base of the functions with a `flush_to_zero` flag."""

    syntax = f"$source {FLUSH_SYNTAX} attr-dict `:` type($result)"

    flush_to_zero = d.flag()

    def verify(self) -> Iterator[str]:
        yield from flush_problems(self.flush_to_zero, tile(self.result).element)


class FloatExtremum(BinaryFloat):
    """Base of maximum and minimum, which order -0.0 before +0.0.

    If one operand is NaN, the result is the other one, or NaN with `propagate_nan`.
    """

    traits = (SAME, COMMUTATIVE)
    syntax = EXTREMUM_SYNTAX

    propagate_nan = d.flag()
    flush_to_zero = d.flag()

    def verify(self) -> Iterator[str]:
        yield from flush_problems(self.flush_to_zero, tile(self.result).element)


def precision_problems(mode: Rounding, value: Value) -> Iterator[str]:
    """Check the rounding mode of a function."""
    yield from rounding_problems(mode, (Rounding.FULL, Rounding.APPROX))
    yield from f32_problems("rounding mode approx", mode is Rounding.APPROX, tile(value).element)


class AbsFOp(UnaryFloat):
    """Absolute value: clear the sign bit, also of NaN."""

    name = "cuda_tile.absf"


class NegFOp(UnaryFloat):
    """Negation: flip the sign bit, also of NaN."""

    name = "cuda_tile.negf"


class AddFOp(RoundedBinaryFloat):
    """Addition: `result[i] = lhs[i] + rhs[i]`."""

    name = "cuda_tile.addf"
    traits = (SAME, COMMUTATIVE)


class SubFOp(RoundedBinaryFloat):
    """Subtraction: `result[i] = lhs[i] - rhs[i]`."""

    name = "cuda_tile.subf"


class MulFOp(RoundedBinaryFloat):
    """Multiplication: `result[i] = lhs[i] * rhs[i]`."""

    name = "cuda_tile.mulf"
    traits = (SAME, COMMUTATIVE)


class DivFOp(RoundedBinaryFloat):
    """Division: `result[i] = lhs[i] / rhs[i]`.

    For f32, `approx` multiplies by an approximate reciprocal, which is inaccurate for very large
    divisors; `full` has a maximum error of 2 ulp over the full range.
    """

    name = "cuda_tile.divf"
    roundings = (*IEEE, Rounding.APPROX, Rounding.FULL)


class FmaOp(RoundedFloat):
    """Fused multiply-add, rounded once: `result[i] = lhs[i] * rhs[i] + acc[i]`."""

    name = "cuda_tile.fma"
    traits = (SameType("lhs", "rhs", "acc", "result"),)
    syntax = f"$lhs `,` $rhs `,` $acc {ROUNDING_SYNTAX} {FLUSH_SYNTAX} attr-dict `:` type($result)"

    lhs = d.operand(FLOAT_TILE)
    rhs = d.operand(FLOAT_TILE)
    acc = d.operand(FLOAT_TILE)


class RemFOp(BinaryFloat):
    """Remainder of the truncated division: it has the sign of `lhs`."""

    name = "cuda_tile.remf"


class MaxFOp(FloatExtremum):
    """Maximum."""

    name = "cuda_tile.maxf"


class MinFOp(FloatExtremum):
    """Minimum."""

    name = "cuda_tile.minf"


class CmpFOp(TileOp):
    """Comparison: true where the predicate holds between `lhs[i]` and `rhs[i]`.

    If an operand is NaN, an `ordered` comparison is false and an `unordered` one true.
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
    """Round up to an integer."""

    name = "cuda_tile.ceil"


class FloorOp(UnaryFloat):
    """Round down to an integer."""

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
    """Reciprocal square root: `1 / sqrt(source[i])`."""

    name = "cuda_tile.rsqrt"


class ExpOp(UnaryFloat):
    """Natural exponential; `approx` is supported for f32."""

    name = "cuda_tile.exp"
    syntax = f"$source {ROUNDING_SYNTAX} attr-dict `:` type($result)"

    rounding_mode = d.attribute(ROUNDING, default=Rounding.FULL, since=(13, 3))

    def verify(self) -> Iterator[str]:
        yield from precision_problems(self.rounding_mode, self.result)


class Exp2Op(FlushableFloat):
    """Base-2 exponential: `2 ** source[i]`."""

    name = "cuda_tile.exp2"


class LogOp(UnaryFloat):
    """Natural logarithm."""

    name = "cuda_tile.log"


class Log2Op(UnaryFloat):
    """Base-2 logarithm."""

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
    """Hyperbolic tangent; `approx` is supported for f32."""

    name = "cuda_tile.tanh"
    syntax = f"$source {ROUNDING_SYNTAX} attr-dict `:` type($result)"

    rounding_mode = d.attribute(ROUNDING, default=Rounding.FULL, since=(13, 2))

    def verify(self) -> Iterator[str]:
        yield from precision_problems(self.rounding_mode, self.result)


class Atan2Op(TileOp):
    """Two-argument arctangent of `x[i] / y[i]`, in the quadrant of the two signs.

    The first operand is the numerator, as in C.
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
    """Power with a signed integer exponent."""

    name = "cuda_tile.fpowi"
    since = (13, 4)
    effects = Effects.PURE
    traits = (SameType("source", "result"), same_shape("source", "exponent"))
    syntax = "$source `,` $exponent attr-dict `:` type($source) `,` type($exponent)"

    source = d.operand(FLOAT_TILE)
    exponent = d.operand(tile_of("tile of i1, i8, i16 or i32", I1, I8, I16, I32))
    result = d.result(FLOAT_TILE)
