"""Reductions of a vector to one element."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tilewright.dialects.elements import element_of
from tilewright.dialects.inference import InferringOp
from tilewright.dialects.llvm.attributes import FAST_MATH
from tilewright.dialects.llvm.base import IntrinsicOp
from tilewright.dialects.llvm.constraints import ANY, FLOAT, VECTOR
from tilewright.dialects.llvm.flags import FastMathFlags
from tilewright.ir import declare as d
from tilewright.ir.traits import Effects, SameType

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type


class VectorReduction(IntrinsicOp, InferringOp):
    """Base of the reductions of a vector to one element."""

    effects = Effects.PURE

    operand = d.operand(VECTOR)
    res = d.result(ANY)

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        return (element_of(types["operand"][0]),)


class ReduceAddOp(VectorReduction):
    """Sum of integers."""

    name = "llvm.intr.vector.reduce.add"


class ReduceMulOp(VectorReduction):
    """Product of integers."""

    name = "llvm.intr.vector.reduce.mul"


class ReduceAndOp(VectorReduction):
    """Bits that all have."""

    name = "llvm.intr.vector.reduce.and"


class ReduceOrOp(VectorReduction):
    """Bits that one has."""

    name = "llvm.intr.vector.reduce.or"


class ReduceXorOp(VectorReduction):
    """Bits that an odd number has."""

    name = "llvm.intr.vector.reduce.xor"


class ReduceSMaxOp(VectorReduction):
    """The greatest signed integer."""

    name = "llvm.intr.vector.reduce.smax"


class ReduceSMinOp(VectorReduction):
    """The least signed integer."""

    name = "llvm.intr.vector.reduce.smin"


class ReduceUMaxOp(VectorReduction):
    """The greatest integer without a sign."""

    name = "llvm.intr.vector.reduce.umax"


class ReduceUMinOp(VectorReduction):
    """The least integer without a sign."""

    name = "llvm.intr.vector.reduce.umin"


class FloatReduction(VectorReduction):
    """Base of the reductions of floats that may come in any order."""

    fastmath = d.attribute(FAST_MATH, default=FastMathFlags(), spelling="fastmathFlags")


class ReduceFMaxOp(FloatReduction):
    """The greatest float; NaNs lose."""

    name = "llvm.intr.vector.reduce.fmax"


class ReduceFMinOp(FloatReduction):
    """The least float; NaNs lose."""

    name = "llvm.intr.vector.reduce.fmin"


class ReduceFMaximumOp(FloatReduction):
    """The greatest float; a NaN wins."""

    name = "llvm.intr.vector.reduce.fmaximum"


class ReduceFMinimumOp(FloatReduction):
    """The least float; a NaN wins."""

    name = "llvm.intr.vector.reduce.fminimum"


class OrderedReduction(IntrinsicOp):
    """Base of the reductions of floats from a start on, in order unless `reassoc` allows any."""

    effects = Effects.PURE
    traits = (SameType("start_value", "res"),)

    start_value = d.operand(FLOAT)
    input = d.operand(VECTOR)
    fastmath = d.attribute(FAST_MATH, default=FastMathFlags(), spelling="fastmathFlags")
    res = d.result(FLOAT)


class ReduceFAddOp(OrderedReduction):
    """Sum of floats."""

    name = "llvm.intr.vector.reduce.fadd"


class ReduceFMulOp(OrderedReduction):
    """Product of floats."""

    name = "llvm.intr.vector.reduce.fmul"
