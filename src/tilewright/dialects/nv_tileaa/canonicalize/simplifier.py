"""The canonicalization of nv_tileaa: all folds and rules, and constant materialization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa.canonicalize import (
    atomics,
    conversion,
    extract,
    floating,
    integer,
    matrix,
    memory,
    misc,
    powers,
    queue,
    shape,
    view,
)
from tilewright.dialects.nv_tileaa.canonicalize.constants import materialize

if TYPE_CHECKING:
    from tilewright.ir.rules import Folds, Rules

__all__ = ["FOLDS", "RULES", "materialize"]

FOLDS: Final[Folds] = {
    **conversion.FOLDS,
    **extract.FOLDS,
    **floating.FOLDS,
    **integer.FOLDS,
    **memory.FOLDS,
    **misc.FOLDS,
    **powers.FOLDS,
    **shape.FOLDS,
    **view.FOLDS,
}

RULES: Final[Rules] = (
    *matrix.RULES,
    *memory.RULES,
    *misc.RULES,
    *powers.RULES,
    *shape.RULES,
    *extract.RULES,
    *conversion.RULES,
    *queue.RULES,
    *atomics.RULES,
)
