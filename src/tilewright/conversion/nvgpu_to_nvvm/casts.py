"""Materializations between levels: unrealized casts whose types convert to the same."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.builtin import UnrealizedConversionCastOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts


@converts(UnrealizedConversionCastOp)
def bridge(
    op: UnrealizedConversionCastOp, new: UnrealizedConversionCastOp, build: ConversionBuilder
) -> Result:
    """Fold `unrealized_conversion_cast` if the converted types of operands and results agree."""
    inputs = [value for old in op.inputs for value in build.values(old)]
    groups = [build.types.convert(result.type) for result in op.results]
    results = [type for group in groups for type in group or ()]
    if None in groups or [value.type for value in inputs] != results:
        return build.reject("expected operands and results of the same converted types")
    values = iter(inputs)
    return [[next(values) for _ in group or ()] for group in groups]


PATTERNS: Final[Patterns] = (bridge,)
