"""The judge of `tools/cutile_samples.py`: it must see what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")

from cutile_cases import CASES, Result
from cutile_samples import mismatch

EXPECTED = np.array([1.0, 2.0, 3.0])


def found(*numbers: float) -> Result:
    return Result(np.array(numbers, np.float32), EXPECTED, np.array([0.0, 0.25, 0.0]))


def test_results_within_the_bound_match() -> None:
    assert mismatch(found(1, 2.25, 3)) is None


@pytest.mark.parametrize("numbers", [(1, 2.5, 3), (1, 2, 3.0001), (1, np.nan, 3), (np.inf, 2, 3)])
def test_results_outside_of_it_do_not(numbers: tuple[float, ...]) -> None:
    text = mismatch(found(*numbers))
    assert text is not None
    assert "expected" in text


@pytest.mark.parametrize("name", CASES)
def test_no_launch_is_right_before_it_ran(name: str) -> None:
    for build in CASES[name]:
        untouched = [result for result in build().results if np.any(result.expected)]
        assert untouched
        assert all(mismatch(result) for result in untouched)
