"""Operations that are the same on a thread's registers as on tiles."""

from __future__ import annotations

from typing import Final

from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts, retyped
from tilewright.ir.operation import Operation
from tilewright.support.diagnostics import Unsupported

SAME: Final = frozenset(("arith", "math", "scf", "ub"))
"""The dialects whose operations take vectors, or regions that do, as they take tiles."""


@converts(Operation)
def same(op: Operation, new: Operation, build: ConversionBuilder) -> Result:
    """The operation itself, on vectors in place of tiles."""
    return retyped(op, new, build) if op.dialect in SAME else None


@converts(Operation)
def unknown(op: Operation, new: Operation, build: ConversionBuilder) -> Result:
    """What no other pattern takes we cannot do yet."""
    raise Unsupported(f"'{op.name}' in code for a GPU", op.location)


PATTERNS: Final[Patterns] = (
    same,
    unknown,
)
"""Tried last."""
