"""The memref dialect: memory with a shape, accessed by index."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.memref import access, allocation, views
from tilewright.ir.dialect import Dialect

MEMREF: Final = Dialect(
    "memref", access, allocation, views, simplifier="tilewright.dialects.memref.folds"
)
