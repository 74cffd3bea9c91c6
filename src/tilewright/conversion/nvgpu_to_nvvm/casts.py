"""Casts that bridge levels: in the end both sides of one are the same."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.builtin import UnrealizedConversionCastOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts


@converts(UnrealizedConversionCastOp)
def bridge(
    op: UnrealizedConversionCastOp, new: UnrealizedConversionCastOp, build: ConversionBuilder
) -> Result:
    """cast(x) -> x, where both have the same converted types."""
    given = [value for old in op.inputs for value in build.values(old)]
    groups = [build.types.convert(result.type) for result in op.results]
    wanted = [type for group in groups for type in group or ()]
    if None in groups or [value.type for value in given] != wanted:
        return build.reject("expected types that become the same")
    values = iter(given)
    return [[next(values) for _ in group or ()] for group in groups]


PATTERNS: Final[Patterns] = (bridge,)
