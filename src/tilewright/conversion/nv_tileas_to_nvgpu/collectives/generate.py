"""generate: the body computes elements from their indices, vectorized over all registers."""

from __future__ import annotations

from typing import Final

from tilewright.conversion.nv_tileas_to_nvgpu.collectives.vectorized_body import vectorize_body
from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import coordinate
from tilewright.dialects.nv_tileas.aggregate import GenerateOp
from tilewright.dialects.nv_tileas.attributes import layout_of
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.layout.linear import REGISTER


@converts(GenerateOp)
def generate(op: GenerateOp, new: GenerateOp, build: ConversionBuilder) -> Result:
    """Every thread computes its own elements."""
    layout = layout_of(op.result)
    indices = [
        coordinate(op, build, layout, dimension).vector(build)
        for dimension in range(len(layout.shape))
    ]
    body = vectorize_body(op.body.block, layout.extent(REGISTER))
    return build.inline_block(body, indices)


PATTERNS: Final[Patterns] = (generate,)
