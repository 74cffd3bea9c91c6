"""Mathematical functions on tiles, element by element.

The `fastmath` flag `afn` selects the approximate variant of a function, if there is one.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.dialects.elements import SameShape, element_of
from tilewright.dialects.nv_tileaa.constraints import FLOAT_TILE, tile_of
from tilewright.dialects.nv_tileaa.floating import BinaryFloat, FloatOp, UnaryFloat
from tilewright.dialects.rounding import FLUSH_SYNTAX, flush_problems
from tilewright.ir import declare as d
from tilewright.ir.traits import ELEMENTWISE, SameType
from tilewright.ir.types import I1, I8, I16, I32


class FlushableFloat(UnaryFloat):
    """Base of the functions with a `flush_to_zero` flag."""

    syntax = f"$source {FLUSH_SYNTAX} attr-dict `:` type($result)"

    flush_to_zero = d.flag()

    def verify(self) -> Iterator[str]:
        yield from flush_problems(self.flush_to_zero, element_of(self.result.type))


class RsqrtOp(FlushableFloat):
    """Reciprocal square root: `1 / sqrt(source[i])`."""

    name = "nv_tileaa.rsqrt"


class Exp2Op(FlushableFloat):
    """Base-2 exponential: `2 ** source[i]`."""

    name = "nv_tileaa.exp2"


class ExpOp(UnaryFloat):
    """Natural exponential: `e ** source[i]`."""

    name = "nv_tileaa.exp"


class LogOp(UnaryFloat):
    """Natural logarithm."""

    name = "nv_tileaa.log"


class Log2Op(UnaryFloat):
    """Base-2 logarithm."""

    name = "nv_tileaa.log2"


class SinOp(UnaryFloat):
    """Sine of an angle in radians."""

    name = "nv_tileaa.sin"


class CosOp(UnaryFloat):
    """Cosine of an angle in radians."""

    name = "nv_tileaa.cos"


class TanOp(UnaryFloat):
    """Tangent of an angle in radians."""

    name = "nv_tileaa.tan"


class SinHOp(UnaryFloat):
    """Hyperbolic sine."""

    name = "nv_tileaa.sinh"


class CosHOp(UnaryFloat):
    """Hyperbolic cosine."""

    name = "nv_tileaa.cosh"


class TanHOp(UnaryFloat):
    """Hyperbolic tangent."""

    name = "nv_tileaa.tanh"


class Atan2Op(BinaryFloat):
    """Two-argument arctangent of `lhs[i] / rhs[i]`, in the quadrant of the two signs."""

    name = "nv_tileaa.atan2"


class FPowFOp(BinaryFloat):
    """Power with a float exponent: `lhs[i] ** rhs[i]`."""

    name = "nv_tileaa.fpowf"


class FPowIOp(FloatOp):
    """Power with a signed integer exponent: `source[i] ** exponent[i]`."""

    name = "nv_tileaa.fpowi"
    traits = (SameType("source", "result"), SameShape("source", "exponent"), ELEMENTWISE)
    syntax = "$source `,` $exponent attr-dict `:` type($source) `,` type($exponent)"

    source = d.operand(FLOAT_TILE)
    exponent = d.operand(tile_of(I1, I8, I16, I32))
