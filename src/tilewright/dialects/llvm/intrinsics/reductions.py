"""Reductions of a vector to a scalar."""

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
    """Base of the vector reductions."""

    effects = Effects.PURE

    operand = d.operand(VECTOR)
    res = d.result(ANY)

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        return (element_of(types["operand"][0]),)


class ReduceAddOp(VectorReduction):
    """Integer add reduction."""

    name = "llvm.intr.vector.reduce.add"


class ReduceMulOp(VectorReduction):
    """Integer mul reduction."""

    name = "llvm.intr.vector.reduce.mul"


class ReduceAndOp(VectorReduction):
    """Bitwise and reduction."""

    name = "llvm.intr.vector.reduce.and"


class ReduceOrOp(VectorReduction):
    """Bitwise or reduction."""

    name = "llvm.intr.vector.reduce.or"


class ReduceXorOp(VectorReduction):
    """Bitwise xor reduction."""

    name = "llvm.intr.vector.reduce.xor"


class ReduceSMaxOp(VectorReduction):
    """Signed maximum."""

    name = "llvm.intr.vector.reduce.smax"


class ReduceSMinOp(VectorReduction):
    """Signed minimum."""

    name = "llvm.intr.vector.reduce.smin"


class ReduceUMaxOp(VectorReduction):
    """Unsigned maximum."""

    name = "llvm.intr.vector.reduce.umax"


class ReduceUMinOp(VectorReduction):
    """Unsigned minimum."""

    name = "llvm.intr.vector.reduce.umin"


class FloatReduction(VectorReduction):
    """Base of the float reductions that do not depend on the order."""

    fastmath = d.attribute(FAST_MATH, default=FastMathFlags(), spelling="fastmathFlags")


class ReduceFMaxOp(FloatReduction):
    """Float maximum that ignores NaN."""

    name = "llvm.intr.vector.reduce.fmax"


class ReduceFMinOp(FloatReduction):
    """Float minimum that ignores NaN."""

    name = "llvm.intr.vector.reduce.fmin"


class ReduceFMaximumOp(FloatReduction):
    """Float maximum that propagates NaN."""

    name = "llvm.intr.vector.reduce.fmaximum"


class ReduceFMinimumOp(FloatReduction):
    """Float minimum that propagates NaN."""

    name = "llvm.intr.vector.reduce.fminimum"


class OrderedReduction(IntrinsicOp):
    """Base of the float reductions with a start value, in order unless `reassoc` is set."""

    effects = Effects.PURE
    traits = (SameType("start_value", "res"),)

    start_value = d.operand(FLOAT)
    input = d.operand(VECTOR)
    fastmath = d.attribute(FAST_MATH, default=FastMathFlags(), spelling="fastmathFlags")
    res = d.result(FLOAT)


class ReduceFAddOp(OrderedReduction):
    """Float add reduction."""

    name = "llvm.intr.vector.reduce.fadd"


class ReduceFMulOp(OrderedReduction):
    """Float mul reduction."""

    name = "llvm.intr.vector.reduce.fmul"
