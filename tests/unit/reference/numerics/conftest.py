"""The number of elements to sample where a test is not exhaustive."""

from __future__ import annotations

import pytest
from element_checks import Amount
from repeats import keep_first


@pytest.fixture(scope="session")
def sample_size(pytestconfig: pytest.Config) -> int:
    return 1_000 * int(pytestconfig.getoption("--effort") or 1)


@pytest.fixture(autouse=True, params=keep_first([False, True]), ids=["some", "all"])
def all_elements(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """`make test` checks some of the elements where there are many."""
    monkeypatch.setattr(Amount, "all_elements", request.param)
