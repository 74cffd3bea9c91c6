"""Dots that a GPU has no instruction for, expanded to dots that it has one for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.targets import target_of
from tilewright.dialects.elements import element_of, with_element
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.conversion import FpToFpOp
from tilewright.dialects.nv_tileaa.floating import MulFOp
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.shape import BroadcastOp, ViewOp
from tilewright.ir.passes import Pass
from tilewright.ir.rules import apply_rules, rule
from tilewright.ir.types import BF16, F8E4M3FN, F8E5M2, F16, F32, TensorType
from tilewright.target.features import Feature

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Replacement, Rules
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink


@rule(DotOp)
def scaled(op: DotOp, build: Rewriter) -> Replacement:
    """`a, b, c scaled by p, q` becomes `a * p, b * q, c`: bf16 represents both operands exactly."""
    if op.a_scale is None or op.b_scale is None:
        return None
    last = len(shape(op.a.type)) - 1
    a = _scaled(build, op.a, op.a_scale, last)
    b = _scaled(build, op.b, op.b_scale, last - 1)
    return _dot(build, op, a, b)


@rule(DotOp)
def fp8_to_f16(op: DotOp, build: Rewriter) -> Replacement:
    """fp8 becomes f16, which represents it exactly, where the GPU has no fp8 tensor cores."""
    if op.a_scale is not None or element_of(op.a.type) not in (F8E4M3FN, F8E5M2):
        return None
    if _has_fp8(op):
        return None
    return _dot(build, op, _converted(build, op.a, F16), _converted(build, op.b, F16))


def _has_fp8(op: DotOp) -> bool:
    """Whether the target has fp8 tensor cores; without a target it is assumed to."""
    arch = target_of(op)
    return arch is None or Feature.FP8 in arch


def _dot(build: Rewriter, op: DotOp, a: Value, b: Value) -> DotOp:
    return build.create(
        DotOp,
        a=a,
        b=b,
        c=op.c,
        fast_acc=op.fast_acc,
        input_precision=op.input_precision,
        fastmath=op.fastmath,
        types=[op.result.type],
    )


def _converted(build: Rewriter, tile: Value, element: Type) -> Value:
    return build.create(FpToFpOp, source=tile, types=[with_element(tile.type, element)]).result


def _scaled(build: Rewriter, tile: Value, scale: Value, along: int) -> Value:
    """An operand multiplied by its scales, each of which is for a block of elements along K."""
    extents = shape(tile.type)
    blocks = shape(scale.type)[along]
    each = (*extents[:along], blocks, 1, *extents[along + 1 :])
    repeated = (*extents[:along], blocks, extents[along] // blocks, *extents[along + 1 :])
    wide = _converted(build, scale, F32)
    apart = build.create(ViewOp, source=wide, types=[TensorType(each, F32)]).result
    filled = build.create(BroadcastOp, source=apart, types=[TensorType(repeated, F32)]).result
    scales = build.create(ViewOp, source=filled, types=[TensorType(extents, F32)]).result
    elements = _converted(build, tile, F32)
    return _converted(build, build.create(MulFOp, lhs=elements, rhs=scales).result, BF16)


RULES: Final[Rules] = (scaled, fp8_to_f16)


class ExpandDots(Pass):
    """Leave only dots that the tensor cores of the GPU compute, or that fma does."""

    name = "expand-dots"
    is_required = True

    def run(self, op: Operation, sink: Sink) -> None:
        if any(isinstance(inner, DotOp) for inner in op.walk()):
            apply_rules(op, RULES, sink=sink)
