"""Whether a kernel computes the same under two schedules: equal up to rounding.

Schedules may reassociate accumulations, so floats may differ in their last bits. A bound that
holds for every kernel does not exist without knowing what it adds up; the one here is generous for
rounding and far below what a wrong tile or a race does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tilewright.reference.tile import is_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.reference.tile import Array

ROUNDINGS: Final = {1: 2, 2: 8, 4: 4096, 8: 4096}
"""By bytes of a float, how many units of its rounding results may differ by, relative to the
largest element: narrow results are rounded once, from accumulators that differ little."""


class Tolerance:
    """By how much floats may differ; without numbers, by what rounding explains."""

    __slots__ = ("atol", "rtol")

    def __init__(self, rtol: float | None = None, atol: float | None = None) -> None:
        self.rtol = rtol
        self.atol = atol

    def of(self, expected: Array) -> Any:
        """The largest difference of each element."""
        wide = np.abs(expected.astype(np.float64))
        if self.rtol is not None or self.atol is not None:
            return (self.atol or 0.0) + (self.rtol or 0.0) * wide
        finite = wide[np.isfinite(wide)]
        largest = float(finite.max()) if finite.size else 0.0
        return ROUNDINGS[expected.dtype.itemsize] * unit_roundoff(expected.dtype) * largest


def unit_roundoff(dtype: Any) -> float:
    """Half the distance of 1 to the next float."""
    import ml_dtypes  # noqa: PLC0415

    limits_of: Any = ml_dtypes.finfo
    return float(limits_of(dtype).eps) / 2


def disagreement(expected: Sequence[Any], actual: Sequence[Any], tolerance: Tolerance) -> str:
    """Describe the first array that differs; empty if all agree."""
    for index, (one, other) in enumerate(zip(expected, actual, strict=True)):
        if is_array(one):
            gist = _difference(one, other, tolerance)
            if gist:
                return f"argument {index}: {gist}"
    return ""


def _difference(expected: Array, actual: Array, tolerance: Tolerance) -> str:
    if not is_float(expected.dtype):
        same: Array = np.asarray(expected == actual)
    else:
        wide, other = expected.astype(np.float64), actual.astype(np.float64)
        with np.errstate(invalid="ignore"):
            near: Array = np.abs(wide - other) <= tolerance.of(expected)
        same = near | (wide == other) | (np.isnan(wide) & np.isnan(other))
    if same.all():
        return ""
    first = tuple(int(index) for index in np.argwhere(~same)[0])
    gist = f"expected {expected[first]} at {list(first)}, got {actual[first]}"
    return f"{gist}; {np.count_nonzero(~same)} of {same.size} differ"


def is_float(dtype: Any) -> bool:
    """Whether elements are floats, also those of `ml_dtypes`, whose kind is that of raw bytes."""
    return dtype.kind == "f" or (dtype.kind == "V" and "float" in dtype.name)
