"""The comparison of `tools/cutile_samples.py` reports wrong results."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")

from cutile_cases import CASES, Result

from tilewright.testing.estimate import Estimate

EXPECTED = Estimate([1.0, 2.0, 3.0], [0.0, 0.25, 0.0])


def result(*numbers: float) -> Result:
    return Result(np.array(numbers, np.float32), EXPECTED)


def test_results_within_the_bound_match() -> None:
    assert result(1, 2.25, 3).mismatch() is None


@pytest.mark.parametrize("numbers", [(1, 2.5, 3), (1, 2, 3.0001), (1, np.nan, 3), (np.inf, 2, 3)])
def test_results_outside_of_the_bound_do_not_match(numbers: tuple[float, ...]) -> None:
    text = result(*numbers).mismatch()
    assert text is not None
    assert "expected" in text


@pytest.mark.parametrize("name", CASES)
def test_results_mismatch_before_the_launch(name: str) -> None:
    for build in CASES[name]:
        results = build().results
        assert any(result.mismatch() for result in results)
        assert all(result.mismatch() for result in results if result.actual.dtype.kind == "f")
