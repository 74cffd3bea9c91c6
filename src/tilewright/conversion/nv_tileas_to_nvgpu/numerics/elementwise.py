"""Elementwise operations that are the same on vectors as on tiles."""

from __future__ import annotations

from typing import Final

from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts, retyped
from tilewright.ir.operation import Operation
from tilewright.support.diagnostics import Unsupported

ELEMENTWISE_DIALECTS: Final = frozenset(("arith", "math", "scf", "ub"))
"""The dialects whose operations take vectors, or regions that do, as they take tiles."""


@converts(Operation)
def elementwise(op: Operation, new: Operation, build: ConversionBuilder) -> Result:
    """The operation itself, on vectors in place of tiles."""
    return retyped(op, new, build) if op.dialect in ELEMENTWISE_DIALECTS else None


@converts(Operation)
def unsupported(op: Operation, new: Operation, build: ConversionBuilder) -> Result:
    """Reject an operation that no other pattern takes."""
    raise Unsupported(f"'{op.name}' in code for a GPU", op.location)


PATTERNS: Final[Patterns] = (
    elementwise,
    unsupported,
)
"""Tried last."""
