"""The vector dialect: vectors of any rank, and their loads and stores."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.vector import attributes, elements, memory, shapes
from tilewright.ir.dialect import Dialect

VECTOR: Final = Dialect(
    "vector",
    attributes,
    elements,
    memory,
    shapes,
    simplifier="tilewright.dialects.vector.folds",
)
