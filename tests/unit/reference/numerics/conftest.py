"""How many elements to try where not all can be."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def sample_size(pytestconfig: pytest.Config) -> int:
    return 2_000 * int(pytestconfig.getoption("--effort") or 1)
