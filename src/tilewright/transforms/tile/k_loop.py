"""Loops over K with more iterations, each of a part of K; accumulation keeps its order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa.attributes import Signedness
from tilewright.dialects.nv_tileaa.conversion import ExtIOp
from tilewright.dialects.nv_tileaa.integer import DivIOp, MulIOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.rules import constant_of
from tilewright.ir.types import I32, I64
from tilewright.transforms.nv_tileaa.scalars import constant
from tilewright.transforms.tile.part_builder import PartBuilder

if TYPE_CHECKING:
    from tilewright.dialects.scf import ForOp
    from tilewright.ir.values import Value
    from tilewright.transforms.tile.closure import Cut


def refine_loop(loop: ForOp, cut: Cut) -> None:
    """Replace a loop by one with an iteration for each part.

    The loop counts up by one, and nothing but indices of tiles depends on its induction variable.
    """
    build = Builder(InsertPoint.before(loop), loop.location)
    bounds = _scaled_bounds(loop, cut.parts, build)
    new = PartBuilder(cut, None, build).loop(loop, bounds)
    for result, replacement in zip(loop.results, new.results, strict=True):
        result.replace_all_uses_with(replacement)
    loop.erase()


def _scaled_bounds(loop: ForOp, parts: int, build: Builder) -> list[Value]:
    """The bounds and step of the new loop, in a type that holds them."""
    lower, upper, step = loop.operands[:3]
    is_small = _stays_small(lower, parts) and _stays_small(upper, parts)
    type = I32 if is_small else I64
    scale = constant(build, parts, type)
    scaled: list[Value] = []
    for bound in (lower, upper):
        wide = bound
        if bound.type is not type:
            signed = Signedness.UNSIGNED if loop.unsigned_cmp else Signedness.SIGNED
            wide = build.create(ExtIOp, source=bound, signedness=signed, types=[type]).result
        scaled.append(build.create(MulIOp, lhs=wide, rhs=scale).result)
    return [*scaled, step if step.type is type else constant(build, 1, type)]


def _stays_small(bound: Value, parts: int) -> bool:
    """Whether a bound still fits into 32 bits when it is scaled."""
    if bound.type is not I32:
        return False
    known, op = constant_of(bound), bound.defining_op()
    if isinstance(known, IntegerAttr):
        return 0 <= known.value * parts < 1 << (I32.width - 1)
    divisor = constant_of(op.rhs) if isinstance(op, DivIOp) else None
    return isinstance(divisor, IntegerAttr) and divisor.value >= 2 * parts
