"""What simplifies programs of Tile IR: all its folds and rules, and how constants are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.simplify import (
    branches,
    comparisons,
    conversions,
    floats,
    integers,
    loops,
    neighbours,
    promises,
    selection,
    shapes,
)
from tilewright.dialects.cuda_tile.simplify.constants import materialize

if TYPE_CHECKING:
    from tilewright.ir.rules import Folds, Rules

__all__ = ["FOLDS", "RULES", "materialize"]

FOLDS: Final[Folds] = {
    **comparisons.FOLDS,
    **conversions.FOLDS,
    **floats.FOLDS,
    **integers.FOLDS,
    **promises.FOLDS,
    **selection.FOLDS,
    **shapes.FOLDS,
}

RULES: Final[Rules] = (
    *branches.RULES,
    *neighbours.RULES,
    *conversions.RULES,
    *floats.RULES,
    *loops.RULES,
    *promises.RULES,
    *selection.RULES,
    *shapes.RULES,
)
