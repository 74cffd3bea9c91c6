"""Dots that a GPU has no instruction for, expanded to dots that it has one for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.targets import target_of
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileas.matrix import SPELLED
from tilewright.ir.passes import Pass
from tilewright.ir.rules import apply_rules, rule
from tilewright.ir.types import F8E4M3FN, F8E5M2, F16
from tilewright.transforms.nv_tileaa.scaled_dots import (
    converted,
    dot_of,
    scaled,
    scaled_by_powers,
)

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Replacement, Rules
    from tilewright.support.diagnostics import Sink


@rule(DotOp)
def fp8_to_f16(op: DotOp, build: Rewriter) -> Replacement:
    """fp8 becomes f16, which represents it exactly, where the GPU has no fp8 tensor cores."""
    if op.a_scale is not None or element_of(op.a.type) not in (F8E4M3FN, F8E5M2):
        return None
    if _is_multiplied(op):
        return None
    a, b = (converted(build, tile, F16) for tile in (op.a, op.b))
    return dot_of(build, op, a, b, op.c)


def _is_multiplied(op: DotOp) -> bool:
    """Whether the target has an atom for A; without a target it is assumed to."""
    arch = target_of(op)
    return arch is None or arch.multiplies(SPELLED[element_of(op.a.type)])


RULES: Final[Rules] = (scaled_by_powers, scaled, fp8_to_f16)


class ExpandDots(Pass):
    """Leave only dots that the tensor cores of the GPU compute, or that fma does."""

    name = "expand-dots"
    is_required = True

    def run(self, op: Operation, sink: Sink) -> None:
        if any(isinstance(inner, DotOp) for inner in op.walk()):
            apply_rules(op, RULES, sink=sink)
