"""Float arithmetic of nv_tileaa: arith and math to nearest even, nvvm instructions otherwise.

f16 and bf16 have instructions for nearest even alone. In other modes they go through f32: rounding
twice in the same direction is rounding once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from tilewright.conversion.nv_tileas_to_nvgpu.numerics.normalized_weights import (
    are_normalized_weights,
)
from tilewright.conversion.nv_tileas_to_nvgpu.numerics.rounding import (
    call_intrinsic,
    cast_float,
    round_to_16_bits,
)
from tilewright.conversion.nv_tileas_to_nvgpu.numerics.shared_divisors import divide_by_shared
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import map_elements
from tilewright.dialects.arith import floating as arith
from tilewright.dialects.arith.comparison import CmpFOp
from tilewright.dialects.elements import element_of
from tilewright.dialects.math import ops as math
from tilewright.dialects.nv_tileaa import floating as tileaa
from tilewright.dialects.nv_tileaa.attributes import RoundingMode
from tilewright.dialects.nvvm import arithmetic as nvvm
from tilewright.dialects.nvvm.attributes import RoundingMode as Direction
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.conversion_builder import ConversionPattern
from tilewright.ir.types import BF16, F16, F32

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tilewright.ir.builder import Builder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

FLOATS_OF_16_BITS: Final = (F16, BF16)
_DIRECTIONS: Final = {
    RoundingMode.NEAREST_EVEN: Direction.RN,
    RoundingMode.ZERO: Direction.RZ,
    RoundingMode.NEGATIVE_INF: Direction.RM,
    RoundingMode.POSITIVE_INF: Direction.RP,
}
_NEAREST: Final[dict[type[Operation], type[Operation]]] = {
    tileaa.AddFOp: arith.AddFOp,
    tileaa.SubFOp: arith.SubFOp,
    tileaa.MulFOp: arith.MulFOp,
    tileaa.FmaOp: math.FmaOp,
}
"""Operations that every type has, rounded to nearest even."""
_UNARY: Final[dict[type[Operation], type[Operation]]] = {
    tileaa.AbsFOp: math.AbsFOp,
    tileaa.NegFOp: arith.NegFOp,
    tileaa.CeilOp: math.CeilOp,
    tileaa.FloorOp: math.FloorOp,
}
Rounded: TypeAlias = "tileaa.RoundedBinaryFloat | tileaa.FmaOp | tileaa.SqrtOp"


@converts(*_NEAREST)
def nearest(op: Any, new: Operation, build: ConversionBuilder) -> Result:
    """Every type has it, rounded to nearest even without flush-to-zero; flags carry over."""
    if op.rounding_mode is not RoundingMode.NEAREST_EVEN or op.flush_to_zero:
        return None
    kind = _NEAREST[type(op)]
    names = [field.name for field in kind.schema.operands]
    operands: dict[str, Any] = dict(zip(names, new.operands, strict=True))
    return build.create(kind, **operands, fastmath=op.fastmath)


@converts(tileaa.DivFOp)
def divide(op: tileaa.DivFOp, new: tileaa.DivFOp, build: ConversionBuilder) -> Result:
    """Rounded to nearest even; f32 is wide enough to divide f16 and bf16 with double rounding."""
    if op.rounding_mode is not RoundingMode.NEAREST_EVEN or op.flush_to_zero:
        return None
    element = element_of(new.lhs.type)
    operands = [cast_float(build, operand, _computed(element)) for operand in (new.lhs, new.rhs)]
    quotient = divide_by_shared(build, *operands, are_bounded=are_normalized_weights(op))
    if quotient is None:
        quotient = build.create(arith.DivFOp, lhs=operands[0], rhs=operands[1]).result
    return cast_float(build, quotient, element)


def _computed(element: Any) -> Any:
    return F32 if element in FLOATS_OF_16_BITS else element


@converts(tileaa.AddFOp, tileaa.SubFOp, tileaa.MulFOp, tileaa.DivFOp, tileaa.FmaOp, tileaa.SqrtOp)
def rounded(op: Rounded, new: Rounded, build: ConversionBuilder) -> Result:
    """One instruction for each element, with the rounding mode."""
    element = element_of(op.result.type)
    operands = [cast_float(build, operand, _computed(element)) for operand in new.operands]
    compute = _instruction(op, build)
    result = map_elements(build, compute, *operands)
    return (
        round_to_16_bits(build, result, element, op.rounding_mode)
        if element in FLOATS_OF_16_BITS
        else result
    )


def _instruction(op: Rounded, build: Builder) -> Callable[[Sequence[Value]], Value]:
    """The function that emits the instruction for one element."""
    ftz = op.flush_to_zero
    direction = _DIRECTIONS.get(op.rounding_mode)
    if direction is None:
        return _approximation(op, build)
    names = "abc"[: len(op.operands)]

    def compute(operands: Sequence[Value]) -> Value:
        fields: dict[str, Any] = dict(zip(names, operands, strict=True))
        if isinstance(op, tileaa.SubFOp):
            fields["b"] = build.create(arith.NegFOp, operand=fields["b"]).result
        return build.create(_INSTRUCTIONS[type(op)], **fields, rnd=direction, ftz=ftz).results[0]

    return compute


_INSTRUCTIONS: Final[dict[type[Operation], type[Operation]]] = {
    tileaa.AddFOp: nvvm.AddFOp,
    tileaa.SubFOp: nvvm.AddFOp,
    tileaa.MulFOp: nvvm.MulFOp,
    tileaa.DivFOp: nvvm.DivFOp,
    tileaa.FmaOp: nvvm.FmaOp,
    tileaa.SqrtOp: nvvm.SqrtFOp,
}


def _approximation(op: Rounded, build: Builder) -> Callable[[Sequence[Value]], Value]:
    """Approximate sqrt and div of f32."""
    ftz = op.flush_to_zero
    if isinstance(op, tileaa.SqrtOp):
        return lambda x: build.create(nvvm.SqrtApproxOp, arg=x[0], ftz=ftz).res
    full = op.rounding_mode is RoundingMode.FULL
    return lambda x: build.create(nvvm.DivApproxOp, a=x[0], b=x[1], full=full, ftz=ftz).res


def _unary(op: tileaa.UnaryFloat, new: tileaa.UnaryFloat, build: ConversionBuilder) -> Result:
    """The operation of the same name."""
    return build.create(_UNARY[type(op)], operand=new.source)


@converts(tileaa.RemFOp)
def remainder(op: tileaa.RemFOp, new: tileaa.RemFOp, build: ConversionBuilder) -> Result:
    """A remainder is exact, so there is no rounding mode."""
    return build.create(arith.RemFOp, lhs=new.lhs, rhs=new.rhs)


def extreme(build: Builder, operands: Sequence[Value], *, largest: bool, nan: bool) -> Value:
    """The maximum or minimum of two floats, where -0 is less than +0."""
    kinds = (arith.MaximumFOp, arith.MinimumFOp) if nan else (arith.MaxNumFOp, arith.MinNumFOp)
    return build.create(kinds[not largest], lhs=operands[0], rhs=operands[1]).result


@converts(tileaa.MaxFOp, tileaa.MinFOp)
def extremum(
    op: tileaa.FloatExtremum, new: tileaa.FloatExtremum, build: ConversionBuilder
) -> Result:
    """The other operand if one is NaN, or NaN if it propagates."""
    largest, nan = isinstance(op, tileaa.MaxFOp), op.propagate_nan
    if not op.flush_to_zero:
        return extreme(build, (new.lhs, new.rhs), largest=largest, nan=nan)
    name = f"llvm.nvvm.f{'max' if largest else 'min'}.ftz{'.nan' if nan else ''}.f"
    return map_elements(
        build, lambda pair: call_intrinsic(build, name, F32, *pair), new.lhs, new.rhs
    )


@converts(tileaa.ClampFOp)
def clamp(op: tileaa.ClampFOp, new: tileaa.ClampFOp, build: ConversionBuilder) -> Result:
    """clampf(x, a, b) -> minf(maxf(x, a), b)."""
    nan = op.propagate_nan
    raised = extreme(build, (new.source, new.lower), largest=True, nan=nan)
    return extreme(build, (raised, new.upper), largest=False, nan=nan)


@converts(tileaa.CmpFOp)
def compare(op: tileaa.CmpFOp, new: tileaa.CmpFOp, build: ConversionBuilder) -> Result:
    """The predicates are the same."""
    return build.create(CmpFOp, predicate=op.predicate, lhs=new.lhs, rhs=new.rhs)


PATTERNS: Final[Patterns] = (
    nearest,
    divide,
    rounded,
    ConversionPattern(tuple(_UNARY), _unary, "unary"),
    remainder,
    extremum,
    clamp,
    compare,
)
