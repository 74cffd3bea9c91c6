"""Dots that a GPU has no instruction for, expanded to dots that it has one for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from tilewright.analysis.targets import target_of
from tilewright.dialects.elements import element_of, with_element
from tilewright.dialects.nv_tileaa.canonicalize.constants import constant as tile_constant
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.conversion import FpToFpOp
from tilewright.dialects.nv_tileaa.floating import ClampFOp, FmaOp, MaxFOp, MinFOp, MulFOp
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.shape import BroadcastOp, ExtractSliceOp
from tilewright.dialects.nv_tileas.matrix import SPELLED
from tilewright.ir.passes import Pass
from tilewright.ir.rules import apply_rules, rule
from tilewright.ir.types import BF16, F8E4M3FN, F8E5M2, F8E8M0FNU, F16, F32, I32, TensorType
from tilewright.support import floats
from tilewright.transforms.nv_tileaa.scalars import constant, reshaped

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Replacement, Rules
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink

FIRST_EXPONENTS: Final = (63, 64)
"""The largest exponents of the first powers that scales of A and of B are split into.

Exponents of scales are at most 127. So those of both first powers together are at most 127, and so
are those of both second powers, 64 and 63.
"""


@rule(DotOp)
def scaled_by_powers(op: DotOp, build: Rewriter) -> Replacement:
    """`a, b, c scaled by p, q` becomes `c + (a, b) * (p * q)`, block by block of K.

    The powers of two of f8E8M0FNU have all exponents of f32: `a * p` and `p * q` may be beyond
    them where the term `a * p * b * q` is not. So elements are multiplied as f16, which represents
    them exactly, and the dot of a block of K by `p * q`, split into two powers.
    """
    if op.a_scale is None or op.b_scale is None or element_of(op.a_scale.type) is not F8E8M0FNU:
        return None
    zero = tile_constant(0, op.c.type, build)
    blocks = shape(op.a_scale.type)[-1]
    result = op.c
    for index in range(blocks):
        operands = _along_k(build, (op.a, op.b), blocks, index)
        a, b = (_converted(build, tile, F16) for tile in operands)
        part = _dot_of(build, op, a, b, zero).result
        scales = _along_k(build, (op.a_scale, op.b_scale), blocks, index)
        left, right = map(partial(_split, build), scales, FIRST_EXPONENTS)
        first, second = map(partial(_outer, build, op.c.type), left, right)
        part = build.create(MulFOp, lhs=part, rhs=first).result
        result = build.create(FmaOp, lhs=part, rhs=second, acc=result).result
    return result


@rule(DotOp)
def scaled(op: DotOp, build: Rewriter) -> Replacement:
    """`a, b, c scaled by p, q` becomes `a * p, b * q, c`: bf16 represents both operands exactly."""
    if op.a_scale is None or op.b_scale is None or element_of(op.a_scale.type) is F8E8M0FNU:
        return None
    last = len(shape(op.a.type)) - 1
    a = _scaled(build, op.a, op.a_scale, last)
    b = _scaled(build, op.b, op.b_scale, last - 1)
    return _dot_of(build, op, a, b, op.c)


@rule(DotOp)
def fp8_to_f16(op: DotOp, build: Rewriter) -> Replacement:
    """fp8 becomes f16, which represents it exactly, where the GPU has no fp8 tensor cores."""
    if op.a_scale is not None or element_of(op.a.type) not in (F8E4M3FN, F8E5M2):
        return None
    arch = target_of(op)
    if arch is None or arch.multiplies(SPELLED[element_of(op.a.type)]):
        return None
    a, b = (_converted(build, tile, F16) for tile in (op.a, op.b))
    return _dot_of(build, op, a, b, op.c)


RULES: Final[Rules] = (scaled_by_powers, scaled, fp8_to_f16)


class ExpandDots(Pass):
    """Leave only dots that the tensor cores of the GPU compute, or that fma does."""

    name = "expand-dots"
    is_required = True

    def run(self, op: Operation, sink: Sink) -> None:
        if any(isinstance(inner, DotOp) for inner in op.walk()):
            apply_rules(op, RULES, sink=sink)


def _dot_of(build: Rewriter, op: DotOp, a: Value, b: Value, c: Value) -> DotOp:
    """A dot of other operands, without scales."""
    return build.create(
        DotOp,
        a=a,
        b=b,
        c=c,
        fast_acc=op.fast_acc,
        input_precision=op.input_precision,
        fastmath=op.fastmath,
        types=[op.result.type],
    )


def _converted(build: Rewriter, tile: Value, element: Type) -> Value:
    """A tile with its elements converted to another float type."""
    return build.create(FpToFpOp, source=tile, types=[with_element(tile.type, element)]).result


def _split(build: Rewriter, scales: Value, limit: int) -> tuple[Value, Value]:
    """Split powers of two into two each, in f32; exponents of the first are at most `limit`.

    The exponents of the two have the same sign, so that a number times the first overflows or
    underflows only if it does times the scale. A NaN becomes two.
    """
    wide = _converted(build, scales, F32)
    low, one, high = (
        tile_constant(floats.F32.bias + exponent << floats.F32.mantissa_bits, wide.type, build)
        for exponent in (-limit, 0, limit)
    )
    first = build.create(ClampFOp, source=wide, lower=low, upper=high, propagate_nan=True).result
    above, below = (build.create(MulFOp, lhs=wide, rhs=by).result for by in (low, high))
    below = build.create(MinFOp, lhs=below, rhs=one, propagate_nan=True).result
    second = build.create(MaxFOp, lhs=above, rhs=below, propagate_nan=True).result
    return first, second


def _along_k(build: Rewriter, tiles: tuple[Value, ...], blocks: int, index: int) -> list[Value]:
    """The block of K with an index: of A or its scales, and of B or its scales."""
    last = len(shape(tiles[0].type)) - 1
    slices: list[Value] = []
    for tile, along in zip(tiles, (last, last - 1), strict=True):
        extents = list(shape(tile.type))
        extents[along] //= blocks
        indices = [constant(build, index if at == along else 0, I32) for at in range(last + 1)]
        type = TensorType(tuple(extents), element_of(tile.type))
        slice = build.create(ExtractSliceOp, source=tile, indices=indices, types=[type]).result
        slices.append(slice)
    return slices


def _outer(build: Rewriter, type: Type, column: Value, row: Value) -> Value:
    """A column times a row."""
    lhs, rhs = (
        build.create(BroadcastOp, source=each, types=[type]).result for each in (column, row)
    )
    return build.create(MulFOp, lhs=lhs, rhs=rhs).result


def _scaled(build: Rewriter, tile: Value, scale: Value, along: int) -> Value:
    """An operand multiplied by its scales, each of which is for a block of elements along K."""
    extents = shape(tile.type)
    blocks = shape(scale.type)[along]
    each = (*extents[:along], blocks, 1, *extents[along + 1 :])
    repeated = (*extents[:along], blocks, extents[along] // blocks, *extents[along + 1 :])
    wide = _converted(build, scale, F32)
    apart = reshaped(build, wide, each)
    filled = build.create(BroadcastOp, source=apart, types=[TensorType(repeated, F32)]).result
    scales = reshaped(build, filled, extents)
    elements = _converted(build, tile, F32)
    return _converted(build, build.create(MulFOp, lhs=elements, rhs=scales).result, BF16)
