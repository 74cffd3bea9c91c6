"""math: mathematical functions."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.math import ops
from tilewright.ir.dialect import Dialect

MATH: Final = Dialect("math", ops, simplifier="tilewright.dialects.math.folds")
