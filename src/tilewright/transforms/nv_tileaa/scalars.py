"""Scalar constants that passes build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.ir.attributes import IntegerAttr

if TYPE_CHECKING:
    from tilewright.ir.builder import Builder
    from tilewright.ir.types import IntegerType
    from tilewright.ir.values import Value


def constant(build: Builder, number: int, type: IntegerType) -> Value:
    """A scalar."""
    return build.create(ConstantOp, value=IntegerAttr(number, type), types=[type]).result
