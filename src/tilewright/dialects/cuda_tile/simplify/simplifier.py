"""The simplifications of Tile IR: all folds and rules, and constant materialization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.simplify import (
    adjacent_ifs,
    assumptions,
    branches,
    comparisons,
    conversions,
    floats,
    integers,
    loops,
    selection,
    shapes,
)
from tilewright.dialects.cuda_tile.simplify.constants import materialize

if TYPE_CHECKING:
    from tilewright.ir.rules import Folds, Rules

__all__ = ["FOLDS", "RULES", "materialize"]

FOLDS: Final[Folds] = {
    **assumptions.FOLDS,
    **comparisons.FOLDS,
    **conversions.FOLDS,
    **floats.FOLDS,
    **integers.FOLDS,
    **selection.FOLDS,
    **shapes.FOLDS,
}

RULES: Final[Rules] = (
    *branches.RULES,
    *adjacent_ifs.RULES,
    *conversions.RULES,
    *floats.RULES,
    *loops.RULES,
    *assumptions.RULES,
    *selection.RULES,
    *shapes.RULES,
)
