"""arith: integer and float arithmetic on scalars, vectors and tensors."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.arith import (
    attributes,
    casts,
    comparison,
    constant,
    floating,
    integer,
)
from tilewright.ir.dialect import Dialect

ARITH: Final = Dialect(
    "arith",
    attributes,
    casts,
    comparison,
    constant,
    floating,
    integer,
    simplifier="tilewright.dialects.arith.folds",
)
