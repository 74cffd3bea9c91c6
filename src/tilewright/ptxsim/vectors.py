"""Operations on short vectors, without the wrappers that dominate NumPy's own at such lengths."""

from __future__ import annotations

import numpy as np

from tilewright.ptxsim.scalar_types import Array


def any_set(mask: Array) -> bool:
    """Whether any element is true, or not zero."""
    return np.count_nonzero(mask) != 0


def all_set(mask: Array) -> bool:
    """Whether every element is true, or not zero."""
    return np.count_nonzero(mask) == mask.size


def distinct(values: Array) -> Array:
    """The distinct elements of a vector, ascending."""
    return distinct_ascending(values if len(values) == 1 else np.sort(values))


def distinct_ascending(values: Array) -> Array:
    """The distinct elements of a vector that is ascending already."""
    is_first = np.empty(len(values), np.bool_)
    is_first[:1] = True
    np.not_equal(values[1:], values[:-1], out=is_first[1:])
    return values[is_first]
