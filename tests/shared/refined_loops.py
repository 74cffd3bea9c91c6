"""Loops over K after the splits of tiles."""

from __future__ import annotations

from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.ir.operation import Operation


def operands(module: Operation) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The shapes of A and B of each dot."""
    dots = [op for op in module.walk() if isinstance(op, DotOp)]
    return [(tuple(shape(dot.a.type)), tuple(shape(dot.b.type))) for dot in dots]
