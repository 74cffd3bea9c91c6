"""The number of elements to sample where a test is not exhaustive."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def sample_size(pytestconfig: pytest.Config) -> int:
    return 1_000 * int(pytestconfig.getoption("--effort") or 1)
